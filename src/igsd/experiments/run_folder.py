"""``RunFolder``: the files of one training, and whether it can be continued or replaced."""

import contextlib
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from igsd.errors import StorageError
from igsd.experiments import environment, records
from igsd.experiments.trained import Trained
from igsd.files.atomic import atomic_file, check_writable, write_json, write_text
from igsd.files.bounded import split_sheet
from igsd.files.columns import write_npy
from igsd.files.locks import owned
from igsd.files.models import CHECKPOINT, FILE_NAME, KIND, RunMetrics, read_metrics, stored_metrics
from igsd.limits import library_errors
from igsd.settings.fields import Settings

HELD_OUT = "held_out.csv"
"""What models that had not seen a label predict for it."""

FILES = (
    "metrics.json",
    "config.toml",
    FILE_NAME,
    "embeddings.npy",
    "history.csv",
    "pretraining.csv",
    "embedding.png",
    "pseudo_labels.csv",
    "pseudo_labels.png",
    HELD_OUT,
    CHECKPOINT,
    f"{CHECKPOINT}.pretraining",
)


class RunFolder:
    """A folder with the files of one training, which ``metrics.json`` marks as a run folder."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)

    def __truediv__(self, name: str) -> Path:
        return self.path / name

    def metrics(self, *, needs_all: bool = False) -> RunMetrics | None:
        """Return the content of ``metrics.json`` as ``read_metrics`` does."""
        return read_metrics(self.path, needs_all=needs_all)

    @property
    def state(self) -> Literal["absent", "empty", "unfinished", "finished", "foreign"]:
        """What is at this path now; ``foreign``: anything but a run of igsd."""
        if not self.path.exists():
            return "absent"
        if (metrics := self.metrics()) is not None:
            return "finished" if metrics.get("status") == "finished" else "unfinished"
        # Hidden files are left by a process that was killed while it wrote.
        names = [path.name for path in self.path.iterdir()] if self.path.is_dir() else ["file"]
        return "foreign" if any(not name.startswith(".") for name in names) else "empty"

    @property
    def is_run(self) -> bool:
        """Whether the folder holds a run, finished or not."""
        return self.metrics() is not None

    def older_than(self, source: str) -> Path | None:
        """Return a file of DATA or labels that was written after this run was finished, or None."""
        with contextlib.suppress(OSError):
            finished = os.path.getmtime(self / FILES[0])
            return next((f for f in _files_of(source) if os.path.getmtime(f) > finished), None)
        return None

    def check(self) -> None:
        """Raise ``StorageError`` if no run can be written here, before any work is done."""
        if self.state == "foreign":
            raise StorageError(
                f"{self.path} exists and is not a run folder of igsd, so it is not touched. "
                "Choose another folder."
            )
        above = next(path for path in self.path.absolute().parents if os.path.lexists(path))
        if not above.is_dir():
            here = Path.cwd()
            shown = above.relative_to(here) if above.is_relative_to(here) else above
            raise StorageError(
                f"The run folder {self.path} cannot be created: {shown} is not a folder. Choose "
                "another place, or move that file away."
            )
        check_writable(self / "metrics.json")

    @contextlib.contextmanager
    def owned(self, parent: str | None = None) -> Iterator[None]:
        """Keep other commands from writing here inside the block; see ``igsd.files.locks.owned``.

        What a process left that was killed while it wrote is removed.
        """
        with owned(self.path, parent):
            for folder in (self, *map(RunFolder, self.path.glob("seed-*"))):
                folder._remove_temporary_files()
            yield

    def tidy(self) -> None:
        """Remove the checkpoint of a finished run whose process was killed before it could do so.

        A finished run in use, or on a medium that cannot be written, is left as it is.
        """
        with contextlib.suppress(StorageError), self.owned():
            (self / CHECKPOINT).unlink(missing_ok=True)

    def is_continued(self, held: contextlib.ExitStack) -> bool:
        """Return whether there is a run to continue, which this process then owns.

        It is owned until ``held`` is closed, unless it is finished. Of processes that train
        together, only the first owns it.
        """
        if environment.is_main_process() and self.state == "finished":
            self.tidy()
        elif environment.is_main_process() and self.is_run:
            held.enter_context(self.owned())
            if not self.is_run:  # its owner has just removed it
                held.close()
        return self.is_run

    def claim(self, *, force: bool, way_out: str) -> None:
        """Clear a run with ``force``, or raise ``StorageError`` that ends in the ``way_out``.

        Only the owner of the folder may do so.
        """
        if self.is_run and not force:
            raise StorageError(f"{self.path} already holds a run ({self.state}). {way_out}")
        self.clear()

    def create(self, metrics: RunMetrics, config: Settings) -> None:
        """Create the folder and write what is known at the start; raises ``StorageError``."""
        _make_folder(self.path, exist_ok=True)
        self._write_metrics({"kind": KIND, "status": "unfinished", **metrics})
        write_text(self / "config.toml", config.to_toml())

    @contextlib.contextmanager
    def training(self, resume: str, *, is_new: bool) -> Iterator[None]:
        """Leave the folder in order if the training in this block fails or is stopped.

        It is kept if there is a checkpoint to continue from, and cleared if it is new and has none.
        ``resume``: the command that continues the run.
        """
        try:
            with library_errors():
                yield
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(f"Stopped. To continue: {resume}") from stop
        except (Exception, SystemExit) as error:  # also what code of the user's own raises
            has_checkpoint = (self / CHECKPOINT).exists()
            if isinstance(error, StorageError) and has_checkpoint:
                kept = f"The checkpoint is kept. To continue: {resume}"
                raise StorageError(f"{error} {kept}") from error
            if is_new and not has_checkpoint:
                self.clear()
            raise

    def write_model(self, model: Any, vectors: np.ndarray) -> None:
        """Write a fitted model, its embeddings [G, d] and its losses, of pretraining apart."""
        model.save(self / FILE_NAME)
        with atomic_file(self / "embeddings.npy") as file:
            write_npy(file, [vectors], vectors.shape, vectors.dtype.str)
        write_text(self / "history.csv", _history_csv(getattr(model, "history_", [])))
        if pretraining := getattr(model, "pretraining_history_", []):
            write_text(self / "pretraining.csv", _history_csv(pretraining))

    def finish(self, metrics: RunMetrics) -> None:
        """Mark the run as finished and remove what was only needed to continue it."""
        known: Any = {"versions": environment.versions(), "commit": environment.commit()}
        known["processor"] = environment.processor()
        self._write_metrics({"kind": KIND, "status": "finished", **metrics, **known})
        (self / CHECKPOINT).unlink(missing_ok=True)
        self._remove_temporary_files()

    def clear(self) -> None:
        """Remove the files of an earlier run, and nothing that igsd did not write."""
        if not self.is_run:
            return
        for folder in map(RunFolder, self.path.glob("seed-*")):
            folder.discard()
        self._remove_temporary_files()
        # metrics.json goes last: without it the folder would no longer be recognised.
        for name in reversed(FILES):
            (self / name).unlink(missing_ok=True)

    def discard(self) -> None:
        """Remove what a run has written, and its folder if it is then empty."""
        self.clear()
        with contextlib.suppress(OSError):
            self.path.rmdir()

    def _write_metrics(self, metrics: RunMetrics) -> None:
        write_json(self / "metrics.json", stored_metrics(self.path, metrics))

    def _remove_temporary_files(self) -> None:
        """Remove the temporary files of a process that was killed while it wrote."""
        for name in FILES:
            for path in self.path.glob(f".{name}.*"):
                path.unlink(missing_ok=True)


def _files_of(source: str) -> list[Path]:
    """Return the file that a source names, or those that are read of a folder of graphs."""
    path = split_sheet(source)[0]
    if not os.path.isdir(path):
        return [path] if os.path.isfile(path) else []
    from igsd.graphs.readers.files import LABELS, network_files  # not needed to train

    if networks := network_files(path):
        return [file for file in (*networks, path / LABELS) if file.is_file()]
    # Of a TU folder, or a set in shards; others may keep their results there.
    return [file for file in sorted(path.rglob("*")) if file.suffix in (".txt", ".graphs")]


def new_run_folder(parent: str | os.PathLike[str], data: str, recipe: str) -> RunFolder:
    """Create and return the folder ``PARENT/DATA-RECIPE-N`` with the first free number."""
    stem, number = f"{records.plain_name(data)}-{records.plain_name(recipe)}", 1
    RunFolder(Path(parent) / f"{stem}-1").check()
    _make_folder(Path(parent), exist_ok=True)
    # Creating a folder succeeds for one process only: runs started at once get two.
    while not _make_folder(Path(parent) / f"{stem}-{number}", exist_ok=False):
        number += 1
    return RunFolder(Path(parent) / f"{stem}-{number}")


def latest_run_folder(parent: str | os.PathLike[str], data: str, recipe: str) -> RunFolder | None:
    """Return the run folder ``PARENT/DATA-RECIPE-N`` with the largest number, None without one."""
    stem = f"{records.plain_name(data)}-{records.plain_name(recipe)}-"
    numbers = [
        int(path.name.removeprefix(stem))
        for path in Path(parent).glob(f"{stem}*")
        if path.name.removeprefix(stem).isdecimal() and RunFolder(path).is_run
    ]
    return RunFolder(Path(parent) / f"{stem}{max(numbers)}") if numbers else None


class SeedFolders:
    """A run folder with a model for each seed: the first at its top, the others below it.

    ``write``: writes the files of a trained model into its folder.
    """

    def __init__(
        self,
        folder: RunFolder,
        header: RunMetrics,
        config: Settings,
        write: Callable[[RunFolder, Trained], None],
    ) -> None:
        self.folder, self.header, self.config, self.write = folder, header, config, write
        self.first: RunMetrics | None = None
        try:
            folder.create(header, config)
        except StorageError:
            self.discard()
            raise

    def __call__(self, trained: Trained) -> None:
        """Write a model that was just trained; remove it again if it cannot be written whole."""
        metrics: RunMetrics = self.header | trained.metrics()
        is_first, name = self.first is None, f"seed-{trained.seed}"
        folder = self.folder if is_first else RunFolder(self.folder / name)
        try:
            folder.create(metrics, self.config.updated({"seed": trained.seed}))
            self.write(folder, trained)
            if not is_first:
                folder.finish(metrics)
        except (StorageError, OSError):
            folder.discard()
            raise
        self.first = self.first or metrics

    def discard(self) -> None:
        """Remove the folder unless it holds a model already; then say where it is."""
        if self.first is None:
            self.folder.clear()
        else:
            print(f"run folder, not finished: {self.folder.path}", file=sys.stderr)

    def finish(self, table: Mapping[str, object]) -> None:
        """Mark the folder as finished, with the table in its metrics."""
        stored: Any = {"table": table}
        self.folder.finish((self.first or self.header) | stored)
        print(f"run folder: {self.folder.path}", file=sys.stderr)


def _make_folder(path: Path, *, exist_ok: bool) -> bool:
    """Create a folder; return False if it exists and ``exist_ok`` is not set."""
    try:
        path.mkdir(parents=True, exist_ok=exist_ok)
    except OSError as error:
        if isinstance(error, FileExistsError) and not exist_ok:
            return False
        raise StorageError(
            f"Cannot create the run folder {path}: {error.strerror}. Choose another."
        ) from error
    return True


def _history_csv(history: Sequence[Mapping[str, float]]) -> str:
    """Return the history as CSV, one line per epoch."""
    names = list(history[0]) if history else ["epoch", "total"]
    rows = [names]
    rows += [[str(int(e[n])) if n == "epoch" else repr(e[n]) for n in names] for e in history]
    return "".join(",".join(row) + "\n" for row in rows)
