"""Alternating repeats of two or more sides, and the medians of what they took."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from statistics import median
from typing import Any

from benchmarks.side import Run, Side


@dataclass(frozen=True)
class Measured:
    """All runs of one side; a first one to warm up counts in nothing but the results."""

    setup: float
    runs: tuple[Run, ...]
    warmed: bool

    @property
    def timed(self) -> tuple[Run, ...]:
        """The runs that count."""
        return self.runs[1:] if self.warmed else self.runs

    @property
    def cpu(self) -> float:
        """Median CPU seconds."""
        return median(run.cpu for run in self.timed)

    @property
    def wall(self) -> float:
        """Median wall seconds."""
        return median(run.wall for run in self.timed)

    @property
    def first(self) -> Any:
        """The result of the first run, when both sides still were in the same state."""
        return self.runs[0].result

    @property
    def peak(self) -> float:
        """Peak memory after the last run, MiB."""
        return self.runs[-1].peak


def alternate(sides: Mapping[str, Side], repeats: int, *, warm: bool = True) -> dict[str, Measured]:
    """Return each side's runs: one round to warm up unless ``warm`` is off, then ``repeats``.

    In every round each side runs once, so that a slow minute of the machine meets all of them.
    """
    runs: dict[str, list[Run]] = {name: [] for name in sides}
    for _ in range(repeats + warm):
        for name, side in sides.items():
            runs[name].append(side.run())
    return {name: Measured(side.setup, tuple(runs[name]), warm) for name, side in sides.items()}


def load_note() -> str:
    """Return the load of the machine in the last minute as a text, for rows of wall time."""
    return f"load {os.getloadavg()[0]:.1f}"
