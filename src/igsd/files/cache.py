"""The cache: files that can be made again, in one folder with a limit on its size.

When a file is added, those that were not used for the longest time are removed until the rest is
within ``IGSD_CACHE_LIMIT``. Only files that igsd itself named are counted and removed. Any file may
vanish at any time: whoever reads one makes it again.
"""

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from igsd.errors import ConfigError, StorageError, nearest, warn_user
from igsd.files.atomic import remove_abandoned

T = TypeVar("T")

LIMIT_VARIABLE = "IGSD_CACHE_LIMIT"
"""Environment variable: the most bytes that the cache keeps, such as ``500 MB``."""

DEFAULT_LIMIT = "10 GB"

_HEX = "[0-9a-f]"
_DATASETS, _VIEWS, _VECTORS, _CORPUS = "datasets", "views", "vectors", "corpus"
ENCODERS, NOTES = "encoders", "notes"
_PATTERNS = {
    _DATASETS: re.compile(rf".+-(download|r\d+-{_HEX}{{20}}|{_HEX}{{40}})\.graphs"),
    _VIEWS: re.compile(rf"{_HEX}{{40}}\.safetensors"),
    _VECTORS: re.compile(rf"{_HEX}{{40}}\.safetensors"),
    _CORPUS: re.compile(rf"{_HEX}{{2}}/{_HEX}{{40}}\.safetensors|joined-{_HEX}{{40}}|join-\w+"),
    ENCODERS: re.compile(rf"{_HEX}{{40}}\.(safetensors|checkpoint)"),
    NOTES: re.compile(rf"{_HEX}{{40}}"),
}

KINDS = tuple(_PATTERNS)
"""What is cached, each in a folder of its name.

Data sets, views, vectors, corpora of molecules, encoders that learned from these, and which notes
on tables were shown.
"""

_IN_CORPUS = ("corpus.json", "*.npy", "joined/*", "joined")
# A corpus is many files that are made for hours and then read together; an encoder takes as long.
_KEPT_SECONDS = {_CORPUS: 86_400.0, ENCODERS: 86_400.0}
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_UNITS |= {f"{unit}I": 1024**power for power, unit in enumerate("KMGT", start=1)}


class CachedFile(NamedTuple):
    """A file of the cache, or the folder of a joined corpus; ``used``: when, in seconds."""

    kind: str
    path: Path
    size: int
    used: float


def cache_dir() -> Path:
    """Return the folder for cached files: ``IGSD_CACHE``, or ``igsd`` in the user's cache folder.

    The folder is not created here. It may be removed at any time.
    """
    chosen = os.environ.get("IGSD_CACHE")
    try:
        return Path(chosen).expanduser() if chosen else _user_cache() / "igsd"
    except RuntimeError:  # nobody knows the user's home
        return Path(os.devnull, "igsd")  # where nothing is found and nothing can be written


def _user_cache() -> Path:
    """Return the user's cache folder on this system."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def cache_limit() -> float:
    """Return the most bytes that the cache keeps; raises ``ConfigError`` if it is not a size."""
    return parse_size(os.environ.get(LIMIT_VARIABLE) or DEFAULT_LIMIT)


def parse_size(text: str) -> float:
    """Parse a number of bytes; raises ``ConfigError`` if the text is not one.

    >>> parse_size("1.5 GB"), parse_size("2KiB"), parse_size("unlimited")
    (1500000000.0, 2048.0, inf)
    """
    if text.strip().lower() == "unlimited":
        return float("inf")
    found = re.fullmatch(r"(\d{1,20}\.?\d{0,20}|\.\d{1,20}) ?([KMGT]?I?)B?", text.strip().upper())
    if found is None or found[2] not in _UNITS:
        raise ConfigError(
            f"{LIMIT_VARIABLE} must be a number of bytes such as 500 MB, 10 GB or 2 GiB, 0 to keep "
            f"nothing, or unlimited. Got {text[:60]!r} instead."
        )
    return float(found[1]) * _UNITS[found[2]]


def size_text(size: float) -> str:
    """Return a number of bytes in a unit that fits.

    >>> size_text(0), size_text(10**10), size_text(1_540_000), size_text(float("inf"))
    ('0 B', '10 GB', '1.5 MB', 'unlimited')
    """
    if size == float("inf"):
        return "unlimited"
    unit = next((unit for unit in "TGMK" if size >= _UNITS[unit]), "")
    return f"{size / _UNITS[unit]:.1f}".removesuffix(".0") + f" {unit}B"


def recall(path: Path, what: str, read: Callable[[Path], T | None]) -> T | None:
    """Return what ``read`` finds in a cached file; None if it is not there or cannot be used.

    A file that cannot be used causes a warning, which calls it ``what``.
    """
    cache_limit()  # an invalid one is an error, even if nothing is added
    if not os.path.isfile(path):
        return None
    try:
        found = read(path)
    except (ValueError, OSError, KeyError, EOFError) as error:
        if os.path.exists(path):  # otherwise another process has just removed it
            reason = f"{path} lacks {error}." if isinstance(error, KeyError) else error
            warn_user(f"{what} cannot be used and is made again. {reason}")
        return None
    mark_used(path)
    return found


def store(path: Path, what: str, write: Callable[[Path], object]) -> None:
    """Let ``write`` write a cached file, and remove the least recently used ones over the limit.

    A cache that cannot be used only causes a warning, which calls the content ``what``.
    """
    limit = cache_limit()
    try:
        write(path)
    except (StorageError, OSError) as error:
        warn_user(
            f"{what} could not be cached and will be made again next time. {error} Set IGSD_CACHE "
            "to a writable folder."
        )
    else:
        mark_used(path)
        make_room(limit)


def mark_used(path: Path) -> None:
    """Note that a file of the cache is used now; the time of its content stays as it is."""
    with contextlib.suppress(OSError):
        os.utime(path, ns=(time.time_ns(), os.stat(path).st_mtime_ns))


def make_room(limit: float) -> None:
    """Remove files that were not used for the longest time until the rest has ``limit`` bytes.

    Downloads are removed last: making them again needs a network.
    """
    for kind in KINDS:
        remove_abandoned(cache_dir() / kind)
    files = cached_files()
    excess = sum(file.size for file in files) - limit
    now = time.time()
    for file in sorted(files, key=lambda file: (_is_download(file), file.used)):
        if excess <= 0:
            return
        if now - file.used >= _KEPT_SECONDS.get(file.kind, 0.0) or limit == 0:
            remove(file)
            excess -= file.size


def cached_files(kinds: Collection[str] = KINDS) -> list[CachedFile]:
    """Return the files in the cache of these ``kinds``; raises ``ConfigError`` for an unknown one.

    What igsd did not name itself is left out.
    """
    for kind in kinds:
        if kind not in KINDS:
            raise ConfigError(f"The cache has no kind of files {kind!r}. {nearest(kind, KINDS)}")
    return [file for kind in KINDS if kind in kinds for file in _files_of(kind)]


def remove(file: CachedFile) -> None:
    """Remove a file of the cache, which may be gone already."""
    with contextlib.suppress(OSError):
        if not file.path.is_dir():
            file.path.unlink()
            return
        for pattern in _IN_CORPUS:  # first the one without which the folder counts for nothing
            for path in file.path.glob(pattern):
                path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        file.path.rmdir()


def _files_of(kind: str) -> Iterator[CachedFile]:
    folder = cache_dir() / kind
    depth = ("*", "??/*") if kind == _CORPUS else ("*",)
    for path in (path for pattern in depth for path in folder.glob(pattern)):
        if _PATTERNS[kind].fullmatch(path.relative_to(folder).as_posix()) is None:
            continue
        with contextlib.suppress(OSError):
            inside = (part for pattern in _IN_CORPUS for part in path.glob(pattern))
            parts = [part for part in inside if part.is_file()] if path.is_dir() else [path]
            found = [os.stat(part) for part in parts]
            used = max(max(s.st_atime, s.st_mtime) for s in found or [os.stat(path)])
            yield CachedFile(kind, path, sum(s.st_size for s in found), used)


def _is_download(file: CachedFile) -> bool:
    return file.kind == _DATASETS and file.path.stem.endswith("-download")
