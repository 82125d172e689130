"""``BoundedReader``: the content of a file that others made, packed or not, in bounded memory.

A zip or gzip file of a megabyte may unpack to ten gigabytes. Files are therefore unpacked in a
stream that is counted, and refused as soon as they exceed a total, a ratio, or the free memory.
"""

import gzip
import io
import os
import re
import sys
import zipfile
from functools import cached_property
from pathlib import Path
from typing import IO, cast

from igsd.errors import DataError
from igsd.limits import GIB, free_memory

MAX_BYTES = 8 * 1024**3
"""Largest content of a file, unpacked, in bytes."""
MAX_RATIO = 100
"""How many times larger than the file its content may be; real data sets stay below 12."""
ALWAYS_READ = 64 * 1024**2
"""Bytes that are read whatever their ratio and the free memory."""

STANDARD_INPUT = "-"
"""The name of standard input."""

_CHUNK = 1 << 20


class BoundedReader:
    """Counts the bytes read from the file at ``path``, over all of its members.

    ``weight``: bytes of memory that a byte of the content takes once it is parsed.
    """

    def __init__(self, path: Path, weight: int = 4, packed: float | None = None) -> None:
        self.path, self.weight = path, weight
        self.packed = os.path.getsize(path) if packed is None else packed
        self.done = 0

    def read(self, stream: IO[bytes] | gzip.GzipFile) -> bytes:
        """Return the rest of a stream of the file's content; raises ``DataError`` if too large."""
        content = io.BytesIO()
        while chunk := stream.read(_CHUNK):
            self.done += len(chunk)
            self.check(self.done)
            content.write(chunk)
        return content.getvalue()

    def check(self, size: float) -> None:
        """Raise ``DataError`` if the content, of ``size`` bytes or more, is too large."""
        if size > ALWAYS_READ and size > self._limit[0]:
            most, rule = self._limit
            raise DataError(
                f"{self.path} is refused: its content has {size / GIB:.2f} GiB or more, and the "
                f"limit is {most / GIB:.2f} GiB, {rule}. If the file is meant to be so large, "
                "unpack it, or split it and use a part."
            )

    def check_ratio(self, size: float) -> None:
        """Raise ``DataError`` if content that is not held in memory grew out of all proportion."""
        if size > max(ALWAYS_READ, MAX_RATIO * self.packed):
            raise DataError(
                f"{self.path} is refused: its content is more than {MAX_RATIO} times the size of "
                "the file (a zip bomb?). If the file is meant to be so large, unpack it."
            )

    @cached_property
    def _limit(self) -> tuple[float, str]:
        """The largest size of the content, and why."""
        free = free_memory()
        most, rule = min(
            (MAX_BYTES, "the most that igsd reads"),
            (MAX_RATIO * self.packed, f"{MAX_RATIO} times the size of the file (a zip bomb?)"),
            (free / self.weight, f"what {free / GIB:.1f} GiB of free memory can hold once parsed"),
        )
        return max(most, ALWAYS_READ), rule


def read_bounded(path: Path, weight: int = 4) -> bytes:
    """Return the content of a file, unpacked if it is a gzip file; see ``BoundedReader``."""
    reader = BoundedReader(path, weight)
    with open(path, "rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        if not is_gzip:
            reader.check(reader.packed)
            return reader.read(file)
        with cast(IO[bytes], gzip.GzipFile(fileobj=file)) as unpacked:
            return reader.read(unpacked)


def check_members(path: Path, entries: list[zipfile.ZipInfo], weight: int = 4) -> None:
    """Raise ``DataError`` if the members of a zip declare to be too large together.

    zipfile never returns more than a member declares, so this also bounds what is read from it.
    """
    BoundedReader(path, weight).check(sum(entry.file_size for entry in entries))


def read_standard_input(weight: int = 4) -> bytes:
    """Return what standard input holds, bounded as a file that is not packed."""
    if sys.stdin is None:
        raise DataError("Cannot read from standard input: it is closed. Name a file instead of -.")
    reader = BoundedReader(Path("standard input"), weight, packed=float("inf"))
    return reader.read(sys.stdin.buffer)


def split_sheet(source: str) -> tuple[Path, str]:
    """Return (file, sheet) of ``FILE.xlsx:SHEET``; any other source has no sheet.

    >>> split_sheet("table.xlsx:Sheet 2")[1]
    'Sheet 2'
    """
    found = re.fullmatch(r"(?is)(.+\.xlsx):([^/\\]+)", source)
    path = Path(source if found is None else found[1]).expanduser()
    return path, "" if found is None else found[2]
