"""The container of graph sets, views, models and checkpoints: named arrays and a JSON header.

It is a safetensors file. The format holds numbers and text only, so nothing that is loaded can run
code. Pickles, which can, are never opened.
"""

import contextlib
import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import StorageError
from igsd.files.atomic import atomic_file

Header = dict[str, Any]
"""The JSON object of a file: ``kind``, ``version`` and what else its reader needs."""

_KEY = "igsd"
_AGAIN = "Copy it again, or create it again."
_MAX_HEADER = 100_000_000
_DTYPES = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I8": np.int8,
    "I16": np.int16,
    "I32": np.int32,
    "I64": np.int64,
    "F16": np.float16,
    "F32": np.float32,
    "F64": np.float64,
}


def refuse_pickle(path: str | os.PathLike[str]) -> None:
    """Raise ``StorageError`` for a file that begins like a pickle, also by torch, joblib or numpy.

    This only makes the message clear: no reader of igsd runs code, whatever a file holds.
    """
    with contextlib.suppress(OSError), open(path, "rb") as file:
        start = file.read(4096)
        # A safetensors file whose header has 640 (0x0280) bytes begins with the same two bytes.
        is_plain = start[:1] == b"\x80" and b"\x02" <= start[1:2] <= b"\x05" and start[8:9] != b"{"
        is_torch = start.startswith(b"PK") and b"data.pkl" in start
        is_numpy = start.startswith(b"\x93NUMPY") and b"'|O'" in start[:256]
        if is_plain or is_torch or is_numpy:
            raise StorageError(
                f"{path} is a pickle. Pickles can run code when they are opened, so igsd never "
                "loads one. Save graphs with `igsd data import` or `GraphSet.save`, models with "
                "`model.save`."
            )


def write_arrays(
    path: str | os.PathLike[str], arrays: Mapping[str, np.ndarray], header: Mapping[str, Any]
) -> None:
    """Write named arrays and a JSON header to one safetensors file, whole or not at all.

    Arrays are written one by one, without a second copy in memory.
    """
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    codes = {np.dtype(value): key for key, value in _DTYPES.items()}
    table: Header = {"__metadata__": {_KEY: json.dumps(header, allow_nan=False)}}
    offset = 0
    for name in order:
        array = arrays[name]
        if array.dtype not in codes:
            raise StorageError(f"Array {name!r} has dtype {array.dtype}, which cannot be saved.")
        table[name] = {
            "dtype": codes[array.dtype],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    head = json.dumps(table).encode()
    head += b" " * (-len(head) % 8)
    with atomic_file(path) as file:
        file.write(len(head).to_bytes(8, "little"))
        file.write(head)
        for name in order:
            # A plain write, not tofile: tofile bypasses the buffer that holds the header.
            file.write(np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data)


def read_arrays(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, np.ndarray], Header]:
    """Return (arrays, header) of a file written by ``write_arrays``; arrays are memory-mapped.

    ``kind``: what the caller expects ("graph set", "model", ...), as the header names it. Raises
    ``StorageError`` for a missing, truncated, foreign or pickled file.
    """
    source = Path(path)
    table, start, size = _read_table(source, kind)
    header = _read_header(source, table, kind)
    arrays = {}
    for name, entry in table.items():
        dtype, shape, begin, end = _read_entry(source, name, entry)
        is_inside = 0 <= begin <= end <= size - start
        if not is_inside or end - begin != dtype.itemsize * math.prod(shape):
            raise StorageError(
                f"{source} is damaged: array {name!r} does not fit into the file. {_AGAIN}"
            )
        if begin == end:
            arrays[name] = np.zeros(shape, dtype)
        else:
            arrays[name] = np.memmap(source, dtype, "r", start + begin, shape)
    return arrays, header


def read_header(path: str | os.PathLike[str]) -> Header | None:
    """Return the JSON header of an igsd file, or None if ``path`` is anything else."""
    try:
        table, _, _ = _read_table(Path(path), "file")
        return _read_header(Path(path), table, None)
    except StorageError:
        return None


def _read_table(source: Path, kind: str) -> tuple[Header, int, int]:
    """Return (table, offset of the data, size of the file) of a safetensors file."""
    if not source.exists():
        raise StorageError(f"There is no {kind} at {source}.")
    if source.is_dir():
        raise StorageError(f"{source} is a folder, not a {kind} file.")
    refuse_pickle(source)
    try:
        size = source.stat().st_size
        with open(source, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or not 2 <= length <= min(_MAX_HEADER, size - 8):
                raise StorageError(_not_ours(source, kind))
            table = json.loads(file.read(length))
            if not isinstance(table, dict):
                raise StorageError(_not_ours(source, kind))
    except OSError as error:
        raise StorageError(f"Cannot read {source}: {error.strerror}.") from error
    except ValueError as error:
        raise StorageError(_not_ours(source, kind)) from error
    return table, 8 + length, size


def _read_header(source: Path, table: Header, kind: str | None) -> Header:
    """Remove igsd's own JSON object from a safetensors table and return it."""
    try:
        header = json.loads(table.pop("__metadata__")[_KEY])
        found = header["kind"]
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(_not_ours(source, kind or "file")) from error
    if kind is not None and found != kind:
        raise StorageError(f"{source} holds a {found}, but a {kind} was expected here.")
    return header


def _read_entry(
    source: Path, name: str, entry: Any
) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Return (dtype, shape, begin, end) of one array as the table declares it."""
    try:
        begin, end = (int(offset) for offset in entry["data_offsets"])
        shape = tuple(int(side) for side in entry["shape"])
        return np.dtype(_DTYPES[entry["dtype"]]), shape, begin, end
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"{source} is damaged: array {name!r} is not described. {_AGAIN}"
        ) from error


def _not_ours(source: Path, kind: str) -> str:
    return (
        f"{source} is not a {kind} written by igsd, or it was cut short while being copied. If it "
        "is a pickle: igsd never opens those, because they can run code."
    )
