"""Locks: one process at a time writes somewhere. The system frees a lock when its owner dies."""

import contextlib
import errno
import glob
import os
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from filelock import FileLock, Timeout

from igsd.errors import StorageError
from igsd.files.atomic import write_failure

# A command that removes what a killed one left holds its lock for an instant.
_PATIENCE = 0.3


class Lock:
    """A lock on a file that exists while somebody holds it, or that its dead owner left.

    ``keeps_folder``: the folder of the file is somebody else's, so it stays if it is empty.
    """

    def __init__(self, path: Path, *, keeps_folder: bool = False) -> None:
        self.path, self._keeps_folder = path, keeps_folder
        self._lock = FileLock(path, thread_local=False)

    def acquire(self) -> bool:
        """Return whether the lock is ours now; raises ``StorageError`` if no file can be made."""
        try:
            while True:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                # An owner that leaves removes the empty folder: then make it again.
                with contextlib.suppress(FileNotFoundError):
                    self._lock.acquire(timeout=_PATIENCE, poll_interval=0.02)
                    return True
        except Timeout:
            return False
        except OSError as error:
            raise StorageError(
                f"Cannot write {self.path}: {error.strerror}. Choose another folder."
            ) from error

    def release(self) -> None:
        """Remove the file and release the lock, and remove the lock's folder if it is empty."""
        self.path.unlink(missing_ok=True)
        self._lock.release()
        if self._keeps_folder:
            return
        with contextlib.suppress(OSError):
            self.path.parent.rmdir()


@contextlib.contextmanager
def owned(folder: Path, parent: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Keep other commands from writing to ``folder`` inside the block.

    The folder is created if needed. At the end it is removed if it is empty, and so is ``parent``.
    Raises ``StorageError`` if another process owns it.
    """
    try:
        with _held(Lock(folder / ".lock"), folder, "folder"):
            yield
    finally:
        if parent is not None:
            with contextlib.suppress(OSError):
                os.rmdir(parent)


@contextlib.contextmanager
def only_writer(path: Path, *, may_replace: bool) -> Iterator[None]:
    """Keep other commands from writing the file ``path`` inside the block.

    Raises ``StorageError`` if another process is writing it, and if it exists and may not be
    replaced.
    """
    lock = Lock(path.with_name(f".{path.name}.lock"), keeps_folder=path.parent.exists())
    with _held(lock, path, "name"):
        if not may_replace:
            refuse_existing(path)
        yield


def refuse_existing(path: Path) -> None:
    """Raise ``StorageError`` if there is a file or folder where a file is to be written."""
    if path.exists():
        raise StorageError(f"{path} exists. Choose another name, or replace it with --force.")


@contextlib.contextmanager
def _held(lock: Lock, path: Path, other: str) -> Iterator[None]:
    """Hold the lock on ``path`` inside the block; raises ``StorageError`` if another process does.

    ``other``: what a user can choose instead.
    """
    if not lock.acquire():
        raise StorageError(
            f"{path} is in use: {_owner(lock.path)} is writing there. Wait until it has ended, or "
            f"choose another {other} with -o."
        )
    try:
        lock.path.write_text(f"{os.getpid()}\n")
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def working_folder(parent: Path, prefix: str, files: Sequence[str]) -> Iterator[Path]:
    """Yield a new folder in ``parent`` for these files, which are removed with it at the end.

    Folders of the same prefix that killed processes left there are removed, too. Raises
    ``StorageError`` if the disk is full.
    """

    def clear(folder: Path) -> None:
        for name in files:
            (folder / name).unlink(missing_ok=True)

    parent.mkdir(parents=True, exist_ok=True)
    for abandoned in parent.glob(f"{glob.escape(prefix)}????????"):
        # Fails if its owner is alive, or is another user.
        with contextlib.suppress(OSError, StorageError):
            if abandoned.is_dir() and not abandoned.is_symlink():
                with owned(abandoned):
                    clear(abandoned)
    folder = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
    with owned(folder):
        try:
            yield folder
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise
            raise StorageError(write_failure(folder, error)) from error
        finally:
            clear(folder)


def _owner(path: Path) -> str:
    """Return which process says that it holds the lock."""
    with contextlib.suppress(OSError, ValueError):
        return f"process {int(path.read_text())}"
    return "another process"
