"""``Trial``: one choice of settings in a search, and what it scored."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Trial:
    """One trial of a search, whose trial 0 is the recipe, as far as the user's grid has it.

    ``settings``: the values of the settings that are searched. ``score``: the share of graphs that
    were right inside the training parts, None where the training failed, as ``error`` says.
    """

    number: int
    settings: dict[str, Any]
    score: float | None
    seconds: float
    error: str | None = None

    def in_words(self) -> str:
        """Return the settings as a command line takes them: ``epochs=20 head_dim=256``."""
        return " ".join(f"{key}={value}" for key, value in self.settings.items())


def ranked(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials that have a score, the best first; of equal ones the earlier first."""
    scored = [(trial.score, trial) for trial in trials if trial.score is not None]
    return [trial for _, trial in sorted(scored, key=lambda pair: (-pair[0], pair[1].number))]
