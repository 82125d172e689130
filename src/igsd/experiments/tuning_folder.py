"""``TuningFolder``: what a search leaves behind, complete after every trial.

``tuning.json`` is what a search goes on from; ``trials.csv`` shows the trials, ``recipe.toml`` is
the best one for ``--config``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from igsd.atomic_file import write_json, write_text
from igsd.column_file import write_columns
from igsd.config import Config
from igsd.errors import ConfigError, StorageError
from igsd.experiments.identity import Identity
from igsd.experiments.tuning_trial import Trial

KIND = "igsd tuning"


class TuningFolder:
    """A folder with the files of one search; ``tuning.json`` says that it is one."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    @property
    def recipe(self) -> Path:
        """The file with the best settings so far."""
        return self.path / "recipe.toml"

    def read(self, identity: Identity, *, force: bool = False) -> list[Trial]:
        """Return the trials of this very search, none where the folder is new.

        Raises ``StorageError`` for a folder of anything else, ``ConfigError`` for one of another
        search unless ``force`` says that it may be replaced; then there are no trials either.
        """
        stored = self._stored()
        if stored is None or force or not stored["trials"]:
            return []
        differences = identity.differences(stored)
        if differences:
            raise ConfigError(
                f"{self.path} holds another search: {differences[0]}"
                + (f", and {len(differences) - 1} more" if len(differences) > 1 else "")
                + ". Give another folder, or begin anew: --force, or force=True in Python."
            )
        return [Trial(**values) for values in stored["trials"]]

    def begin(self, identity: Identity) -> None:
        """Make this the folder of a search, before there is any other file of it.

        However the first trial ends, the folder is then known as ours.
        """
        self._write_trials(identity, ())
        for path in (self.recipe, self.path / "trials.csv"):
            path.unlink(missing_ok=True)  # of a search that is replaced

    def write(self, identity: Identity, trials: Sequence[Trial], recipe: str | None) -> None:
        """Write the trials, and the best settings where there are any.

        What a search goes on from comes last: a trial without it is made again.
        """
        if recipe is not None:
            write_text(self.recipe, recipe)
        write_columns(self.path / "trials.csv", _columns(trials))
        self._write_trials(identity, trials)

    def _write_trials(self, identity: Identity, trials: Sequence[Trial]) -> None:
        values: dict[str, Any] = {"kind": KIND, "data": {"checksum": identity.checksum}}
        values |= {"algorithm": identity.algorithm, "protocol": identity.protocol}
        values |= {"config": identity.config.to_json(), "trials": [asdict(t) for t in trials]}
        write_json(self.path / "tuning.json", values)

    def _stored(self) -> dict[str, Any] | None:
        """Return what ``tuning.json`` holds, None where there is nothing at all."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return None
        try:
            values = json.loads((self.path / "tuning.json").read_text())
            if values["kind"] == KIND and "trials" in values:
                return values
        except (OSError, ValueError, KeyError, TypeError):
            pass
        if (self.path / "tuning.json").exists():
            raise StorageError(
                f"{self.path / 'tuning.json'} is damaged, so the search cannot go on. Its trials "
                "are still in trials.csv, its best settings in recipe.toml. Give another folder."
            )
        raise StorageError(
            f"{self.path} exists and holds no search of `igsd tune`, so it is left as it is. Give "
            "another folder."
        )


def recipe_toml(config: Config, about: str) -> str:
    """Return settings as a TOML text for ``--config``, under a comment ``about`` them.

    Without the seed and where it runs: those belong to a run and not to a recipe.
    """
    runtime = f"# {config.groups['runtime']}\n"
    blocks = [b for b in config.to_toml().split("\n\n") if not f"{b}\n".startswith(runtime)]
    lines = [line for line in "\n\n".join(blocks).splitlines() if not line.startswith("seed = ")]
    return f"# {' '.join(about.split())}\n\n" + "\n".join(lines).rstrip() + "\n"


def _columns(trials: Sequence[Trial]) -> dict[str, list[Any]]:
    """Return the columns of ``trials.csv``: number, score, seconds, settings, error."""
    columns: dict[str, list[Any]] = {
        "trial": [trial.number for trial in trials],
        "score": [trial.score for trial in trials],
        "seconds": [trial.seconds for trial in trials],
    }
    for key in trials[0].settings if trials else ():
        columns[key] = [trial.settings[key] for trial in trials]
    return columns | {"error": [trial.error for trial in trials]}
