"""``refuse_pickle``: pickles are recognised by their bytes and refused, never opened.

Opening a pickle runs whatever its author put into it. A suffix says nothing, so the first bytes of
a file are looked at, unpacked if they are compressed. ``pickletools.genops`` only lists operations;
it executes none.
"""

from __future__ import annotations

import bz2
import contextlib
import lzma
import os
import pickletools
import re
import warnings
import zlib
from pathlib import Path

from igsd.errors import StorageError

_ENOUGH = 4096
_PLAIN_NAME = re.compile(r"[\w.]+ [\w.]+")


def refuse_pickle(path: str | os.PathLike[str]) -> None:
    """Raise ``StorageError`` for a pickle: plain, compressed, or by joblib, torch or numpy."""
    source = Path(path)
    with contextlib.suppress(OSError), open(source, "rb") as file, warnings.catch_warnings():
        # Python reads chance bytes of a file that is no pickle as escapes, and warns of bad ones.
        warnings.simplefilter("ignore", DeprecationWarning)
        start = file.read(_ENOUGH)
        if _is_pickle(start) or _is_pickle(_unpacked(start)):
            raise StorageError(
                f"{source} is a pickle. Pickles can run code when they are opened, so igsd never "
                "loads one. Save graphs with `igsd data import` or `GraphSet.save`, models with "
                "`model.save`."
            )


def _is_pickle(start: bytes) -> bool:
    """Say whether bytes begin like a pickle, or like a container whose content is one."""
    if start.startswith(b"PK\x03\x04"):
        return b"data.pkl" in start
    if start.startswith(b"\x93NUMPY"):
        return b"'|O'" in start[:256]
    if len(start) >= 2 and start[0] == 0x80 and 2 <= start[1] <= 5:
        # A safetensors file with a header of 640 (0x0280) bytes begins with the same two bytes.
        return not (start[4:8] == b"\0\0\0\0" and start[8:9] == b"{")
    return _is_old_pickle(start)


def _is_old_pickle(start: bytes) -> bool:
    """Say whether bytes are a pickle of protocol 0 or 1, which have no mark of their own.

    They are, if every operation up to the end (or up to where the bytes were cut) is one that
    those protocols have and every class is named by plain words. Ordinary text soon breaks that.
    """
    count = 0
    try:
        for operation, argument, position in pickletools.genops(start):
            named = operation.name != "GLOBAL" or _PLAIN_NAME.fullmatch(str(argument))
            if operation.proto > 1 or not named:
                return False
            if operation.name == "STOP":
                return not start[(position or 0) + 1 :].strip()
            count += 1
    except ValueError:
        # A long pickle is cut at the end of what was read; short text that failed is no pickle.
        return count > 50 and len(start) == _ENOUGH and _cut_at_end(start, count)
    return False


def _cut_at_end(start: bytes, count: int) -> bool:
    """Say whether the operation that failed, after ``count`` good ones, runs out of the bytes."""
    operations = pickletools.genops(start)
    position = 0
    for _ in range(count):
        position = next(operations)[2] or 0
    return position > len(start) - 1024


def _unpacked(start: bytes) -> bytes:
    """Return the first bytes inside a gzip, zlib, bzip2 or xz file, and nothing for any other."""
    with contextlib.suppress(zlib.error, OSError, lzma.LZMAError, EOFError):
        if start[:2] == b"\x1f\x8b" or start[:1] == b"\x78":
            return zlib.decompressobj(wbits=47).decompress(start, _ENOUGH)
        if start[:3] == b"BZh":
            return bz2.BZ2Decompressor().decompress(start, _ENOUGH)
        if start[:6] == b"\xfd7zXZ\x00":
            return lzma.LZMADecompressor().decompress(start, _ENOUGH)
    return b""
