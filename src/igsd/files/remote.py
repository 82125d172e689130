"""Files in object stores and on other file systems, by a URL such as ``s3://bucket/name``.

fsspec opens them; a store needs its own package, such as s3fs or gcsfs. A file is copied to a
temporary folder before it is read, since igsd maps files into memory.
"""

import contextlib
import re
import shutil
import tempfile
import weakref
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO

from igsd.errors import ConfigError, IGSDError, StorageError, need

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_CHUNK = 1 << 22


def is_remote(path: Any) -> bool:
    """Return whether a path is a URL.

    >>> is_remote("s3://bucket/molecules.csv"), is_remote("runs/first"), is_remote("-")
    (True, False, False)
    """
    return isinstance(path, str) and _URL.match(path) is not None


def plain_path(path: Any) -> Any:
    """Return the path of a URL that names a local file; anything else is returned as it is.

    >>> plain_path("file:///data/molecules.csv"), plain_path("s3://bucket/molecules.csv")
    ('/data/molecules.csv', 's3://bucket/molecules.csv')
    """
    if not is_remote(path) or path.partition("://")[0].lower() not in ("file", "local"):
        return path
    return _file_system(path)[1]


def is_same_file(url: str, other: str) -> bool:
    """Return whether a URL and another path name the same file."""
    return is_remote(other) and _file_system(url) == _file_system(other)


def local_path(path: Any) -> Any:
    """Return a local path as it is, and for a URL the path of a copy of its file.

    The file is copied again only if it has changed. Raises ``ConfigError`` for a kind of URL that
    cannot be opened here, ``StorageError`` for a file that does not exist or cannot be read.
    """
    path = plain_path(path)
    return _copied(path, _state(path)) if is_remote(path) else path


@contextlib.contextmanager
def opened_path(path: Any) -> Iterator[Any]:
    """Yield ``local_path(path)``; errors of igsd in the block name the URL, not the copy."""
    copy = local_path(path)
    try:
        yield copy
    except IGSDError as error:
        if is_remote(plain_path(path)):
            texts = [part.replace(copy, path) if type(part) is str else part for part in error.args]
            error.args = tuple(texts)
        raise


def _state(url: str) -> str:
    """Return what a store says about a file, such as its time; empty if nothing."""
    system, place = _file_system(url)
    try:
        system.invalidate_cache()
        return str(sorted(system.info(place).items(), key=str))
    except Exception:  # copying the file reports what is wrong
        return ""


@cache
def _copied(url: str, state: str) -> str:
    """Return the path of a copy of a file, made once for each ``state`` of the file."""
    system, place = _file_system(url)
    folder = tempfile.mkdtemp(prefix="igsd-")
    weakref.finalize(_copied, shutil.rmtree, folder, ignore_errors=True)
    target = Path(folder, PurePosixPath(place).name or "file")
    try:
        with system.open(place, "rb") as source, open(target, "wb") as file:
            shutil.copyfileobj(source, file, _CHUNK)
    except FileNotFoundError as error:
        raise StorageError(f"There is no file at {url}.") from error
    except Exception as error:  # every store has errors of its own
        raise StorageError(f"Cannot read {url}: {_reason(error)}.") from error
    return str(target)


def check_remote(url: str) -> None:
    """Raise ``ConfigError`` for a kind of URL that cannot be opened here."""
    _file_system(url)


@contextlib.contextmanager
def remote_file(url: str) -> Iterator[BinaryIO]:
    """Yield a binary file that appears at ``url`` only when the block ends without an error.

    Raises ``StorageError`` if it cannot be written.
    """
    system, place = _file_system(url)
    is_written = False
    try:
        with system.transaction, system.open(place, "wb") as file:
            is_written = True
            yield file
            is_written = False
    except Exception as error:  # every store has errors of its own
        if is_written and not isinstance(error, OSError):
            raise  # an error of the caller, who makes the content
        raise StorageError(f"Cannot write {url}: {_reason(error)}. Nothing was changed.") from error


def _file_system(url: str) -> tuple[Any, str]:
    """Return (file system, place on it) of a URL."""
    core = need("cluster", "fsspec.core", f"Opening {url}")
    try:
        return core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        kind = url.partition("://")[0]
        raise ConfigError(
            f"URLs of the kind {kind}:// cannot be opened here: {_reason(error)}. Install the "
            "package that fsspec needs for it, or copy the file to this machine."
        ) from error


def _reason(error: Exception) -> str:
    return (str(error).partition("\n")[0] or type(error).__name__).rstrip(".")
