"""``RunFolder``: what a training leaves behind, and whether it may be continued or replaced."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from igsd.atomic_file import atomic_file, check_writable, write_json, write_text
from igsd.errors import StorageError
from igsd.experiments.environment import commit, versions
from igsd.experiments.records import plain_name
from igsd.run_metrics import KIND, read_metrics, stored_metrics
from igsd.settings import Settings

FILES = (
    "metrics.json",
    "config.toml",
    "model.safetensors",
    "embeddings.npy",
    "history.csv",
    "pretraining.csv",
    "embedding.png",
    "pseudo_labels.csv",
    "pseudo_labels.png",
    "checkpoint.safetensors",
    "checkpoint.safetensors.pretraining",
)


class RunFolder:
    """A folder with the files of one training; ``metrics.json`` says that it is one.

    ``state``: ``absent``, ``empty``, ``unfinished``, ``finished``, or ``foreign`` for a folder that
    holds anything else.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def metrics(self) -> dict[str, Any] | None:
        """Return what ``metrics.json`` holds, None where this is no run folder of igsd."""
        return read_metrics(self.path)

    @property
    def state(self) -> str:
        """What stands at this path now."""
        if not self.path.exists():
            return "absent"
        metrics = self.metrics()
        if metrics is not None:
            return "finished" if metrics.get("status") == "finished" else "unfinished"
        if self.path.is_dir() and not self._visible():
            return "empty"
        return "foreign"

    def create(self, metrics: dict[str, Any], config: Settings) -> None:
        """Make the folder and write what is known at the start; raises ``StorageError``."""
        _make(self.path, exist_ok=True)
        values = {"kind": KIND, "status": "unfinished", **metrics}
        write_json(self / "metrics.json", stored_metrics(self.path, values))
        write_text(self / "config.toml", config.to_toml())

    def clear(self) -> None:
        """Remove the files of an earlier run, and nothing that igsd did not write."""
        if self.metrics() is None:
            return
        for folder in self.path.glob("seed-*"):
            if folder.is_dir() and RunFolder(folder).metrics() is not None:
                RunFolder(folder).clear()
                _remove_if_empty(folder)
        self._remove_leftovers()
        # metrics.json goes last: without it the folder would no longer be known as ours.
        for name in reversed(FILES):
            (self / name).unlink(missing_ok=True)

    def write_model(self, model: Any, vectors: np.ndarray) -> None:
        """Write the model of any method, its embeddings [G, d] and the history of its losses.

        That of self-distillation before the first label, where there was one, has its own file.
        """
        model.save(self / "model.safetensors")
        with atomic_file(self / "embeddings.npy") as file:
            np.save(file, vectors, allow_pickle=False)
        write_text(self / "history.csv", _history_csv(getattr(model, "history_", [])))
        if before := getattr(model, "pretraining_history_", []):
            write_text(self / "pretraining.csv", _history_csv(before))

    def finish(self, metrics: dict[str, Any]) -> None:
        """Mark the run as finished and remove what was only needed to continue it."""
        values = {"kind": KIND, "status": "finished", **metrics}
        values |= {"versions": versions(), "commit": commit()}
        write_json(self / "metrics.json", stored_metrics(self.path, values))
        (self / "checkpoint.safetensors").unlink(missing_ok=True)
        self._remove_leftovers()

    def _visible(self) -> list[str]:
        """Return the entries of the folder, those of an interrupted writing left out."""
        return [entry.name for entry in self.path.iterdir() if not entry.name.startswith(".")]

    def _remove_leftovers(self) -> None:
        """Remove the temporary files of a process that was killed while it wrote one of ours."""
        for name in FILES:
            for path in self.path.glob(f".{name}.*"):
                path.unlink(missing_ok=True)


def new_run_folder(parent: str | os.PathLike[str], data: str, recipe: str) -> RunFolder:
    """Make and return the folder ``PARENT/DATA-RECIPE-N`` with the first number not in use.

    Making a folder succeeds for one process only, so two runs started at once get two folders.
    """
    stem = f"{plain_name(data)}-{plain_name(recipe)}"
    check_place(Path(parent) / f"{stem}-1")
    _make(Path(parent), exist_ok=True)
    number = 1
    while not _make(Path(parent) / f"{stem}-{number}", exist_ok=False):
        number += 1
    return RunFolder(Path(parent) / f"{stem}-{number}")


def latest_run_folder(parent: str | os.PathLike[str], data: str, recipe: str) -> RunFolder | None:
    """Return the run folder ``PARENT/DATA-RECIPE-N`` with the largest number, None without one."""
    stem = f"{plain_name(data)}-{plain_name(recipe)}-"
    numbers = [
        int(path.name.removeprefix(stem))
        for path in Path(parent).glob(f"{stem}*")
        if path.name.removeprefix(stem).isdecimal() and RunFolder(path).metrics() is not None
    ]
    return RunFolder(Path(parent) / f"{stem}{max(numbers)}") if numbers else None


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise ``StorageError`` where no run can be written, before the work that is to go there."""
    folder = RunFolder(path)
    if folder.state == "foreign":
        raise StorageError(
            f"{folder.path} exists and is not a run folder of igsd, so it is left as it is. "
            "Give another folder."
        )
    above = next(parent for parent in folder.path.absolute().parents if os.path.lexists(parent))
    if not above.is_dir():
        raise StorageError(
            f"The run folder {folder.path} cannot be made: {_shown(above)} is no folder, and a "
            "run needs a folder in a folder. Give another place, or move that away."
        )
    check_writable(folder / "metrics.json")


def claim(folder: RunFolder, *, force: bool, way_out: str) -> None:
    """Raise ``StorageError`` unless a new run may be written here; with ``force``, clear it first.

    ``way_out`` says what else the user can do about a folder that is in use.
    """
    check_place(folder.path)
    state = folder.state
    if state in ("finished", "unfinished"):
        if not force:
            raise StorageError(f"{folder.path} already holds a run ({state}). {way_out}")
        folder.clear()


def discard(folder: RunFolder, parent: str | os.PathLike[str] | None = None) -> None:
    """Remove what a run has written, its folder where nothing else is in it, and ``parent`` too.

    For a run that failed before it had anything worth keeping. ``parent``: the folder of all runs,
    given where it may have been made for this one.
    """
    folder.clear()
    _remove_if_empty(folder.path)
    if parent is not None:
        with contextlib.suppress(OSError):
            Path(parent).rmdir()


def _make(path: Path, *, exist_ok: bool) -> bool:
    """Make a folder; return False where there is one already and ``exist_ok`` is not set."""
    try:
        path.mkdir(parents=True, exist_ok=exist_ok)
    except OSError as error:
        if isinstance(error, FileExistsError) and not exist_ok:
            return False
        raise StorageError(
            f"Cannot make the run folder {path}: {error.strerror}. Choose another."
        ) from error
    return True


def _shown(path: Path) -> Path:
    """Return a path as short as the user will have written it."""
    here = Path.cwd()
    return path.relative_to(here) if path.is_relative_to(here) else path


def _remove_if_empty(path: Path) -> None:
    if path.is_dir() and not any(path.iterdir()):
        shutil.rmtree(path, ignore_errors=True)


def _history_csv(history: Sequence[dict[str, float]]) -> str:
    """Return the history as CSV, one line per epoch."""
    if not history:
        return "epoch,total\n"
    names = list(history[0])
    lines = [",".join(names)]
    for entry in history:
        values = [str(int(entry[n])) if n == "epoch" else repr(entry[n]) for n in names]
        lines.append(",".join(values))
    return "\n".join(lines) + "\n"
