"""Atomic writes: a file is written under a temporary name in its folder, synced and renamed.

The temporary file is locked while it is written. One that nobody holds was left by a process that
was killed, and is removed by the next one that writes the same file.
"""

import contextlib
import errno
import glob
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from igsd.errors import StorageError, shortened
from igsd.files.remote import is_remote, plain_path, remote_file

try:
    import fcntl
except ImportError:  # on Windows, where temporary files of killed processes stay
    fcntl = None  # type: ignore[assignment]


STANDARD_OUTPUT = "-"
"""The name of standard output."""
_LONGEST_NAME = 240
"""Bytes of the name of a file; most systems allow 255, and a temporary name is 11 longer."""


@contextlib.contextmanager
def output_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield the binary file to write, as ``atomic_file``, or standard output for ``-``.

    A URL, such as ``s3://bucket/name``, is written whole or not at all, too.
    """
    path = plain_path(path)
    if is_remote(path):
        with remote_file(str(path)) as file:
            yield file
    elif path == STANDARD_OUTPUT:
        sys.stdout.flush()
        if getattr(sys.stdout, "is_closed", False):  # what stands for it would drop everything
            raise StorageError("Cannot write to standard output: it is closed. Use -o FILE.")
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with atomic_file(path) as file:
            yield file


@contextlib.contextmanager
def atomic_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a binary file that becomes ``path`` only when the block ends without an error.

    Raises ``StorageError`` if the folder is unwritable or the disk is full; an old file is then
    left as it was.
    """
    target = _place_of(path)
    temporary: str | None = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(target.parent, target.name)
        handle, temporary = _locked_temporary(target)
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if fcntl is None:  # Windows renames no open file
                file.close()
            os.chmod(temporary, 0o666 & ~_umask())
            os.replace(temporary, target)
        temporary = None
        _sync_folder(target.parent)
    except OSError as error:
        raise StorageError(write_failure(target, error)) from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)


def remove_abandoned(folder: Path, name: str | None = None) -> None:
    """Remove temporary files whose writers were killed: those of one file, or all in a folder."""
    if fcntl is None:
        return
    for path in folder.glob(f".{'*' if name is None else glob.escape(name)}.????????~"):
        # Fails if the writer is alive, has just renamed it, or is another user.
        with contextlib.suppress(OSError), open(path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            path.unlink()


def _locked_temporary(target: Path) -> tuple[int, str]:
    """Return the handle and the path of a new temporary file that this process has locked."""
    while True:
        handle, path = tempfile.mkstemp("~", f".{target.name}.", target.parent)
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:  # otherwise it was taken for an abandoned one
            return handle, path
        os.close(handle)


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise ``StorageError`` if ``atomic_file`` could not write to ``path``."""
    target = _place_of(path)
    try:
        with tempfile.TemporaryFile(dir=_nearest_folder(target)):
            pass
    except OSError as error:
        raise StorageError(write_failure(target, error)) from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` to ``path`` as UTF-8, whole or not at all."""
    with atomic_file(path) as file:
        file.write(text.encode(errors="backslashreplace"))  # lone surrogates have no bytes


def write_json(path: str | os.PathLike[str], value: Any) -> None:
    """Write ``value`` to ``path`` as readable JSON, whole or not at all."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False) + "\n")


def _place_of(path: str | os.PathLike[str]) -> Path:
    """Resolve a link to a file; raises ``StorageError`` if no file can be written there."""
    if is_remote(path):
        raise StorageError(
            f"Cannot write {path}: this file must be on this machine. Write it here and copy it."
        )
    target = Path(path).expanduser()
    if "\0" in str(target) or len(os.fsencode(target.name)) > _LONGEST_NAME:
        raise StorageError(
            f"Cannot write {shortened(str(target))!r}: the name of a file has at most "
            f"{_LONGEST_NAME} bytes, none of them zero. Use another name."
        )
    if target.is_dir():
        raise StorageError(f"Cannot write {target}: it is a folder. Use the name of a file.")
    if target.exists() and not target.is_file():
        # A rename would put a file in the place of a device.
        raise StorageError(f"Cannot write {target}: it is not an ordinary file. Use another name.")
    folder = _nearest_folder(target)
    if not folder.is_dir():
        raise StorageError(f"Cannot write {target}: {folder} is a file. Choose another folder.")
    if not target.is_symlink():
        return target
    try:
        return target.resolve()
    except (OSError, RuntimeError) as error:
        raise StorageError(
            f"Cannot write {target}: it is a link that leads to itself. Use another name."
        ) from error


def _nearest_folder(target: Path) -> Path:
    """Return the folder of ``target``, or its nearest parent that exists."""
    folder = target.parent
    while not os.path.exists(folder):
        folder = folder.parent
    return folder


def _umask() -> int:
    """Return the umask; it can only be read by setting it for an instant."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, if the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_failure(target: Path, error: OSError) -> str:
    """Return why a file cannot be written, and the way out."""
    way_out = {
        errno.ENOSPC: "The disk is full: free some space or choose another folder.",
        errno.EFBIG: "Files may not be so large here: raise that limit or choose another folder.",
        errno.EDQUOT: "Your disk quota is used up: free some space or choose another folder.",
        errno.EACCES: "You may not write there: choose another folder or change its permissions.",
        errno.EROFS: "The file system is read-only: choose another folder.",
    }.get(error.errno or 0, "Choose another place.")
    return f"Cannot write {target}: {error.strerror}. {way_out} Nothing was changed."


def known_suffix(path: str | os.PathLike[str], suffixes: Iterable[str], what: str) -> str:
    """Return the suffix of a file for ``what``; raises ``StorageError`` if not in ``suffixes``.

    Standard output gets ``.csv``.
    """
    suffix = Path(path).suffix.lower() if path != STANDARD_OUTPUT else ".csv"
    if suffix not in suffixes:
        raise StorageError(
            f"The suffix of {str(path)!r} is not one for {what}. Use one of {', '.join(suffixes)}."
        )
    return suffix
