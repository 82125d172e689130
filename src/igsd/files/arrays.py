"""The container of graph sets, views, models and checkpoints: named arrays and a JSON header.

It is a safetensors file. The format holds numbers and text only, so nothing that is loaded can run
code. Pickles, which can, are never opened. The file carries CRC-32 checksums of its table and of
every block of its data, which are verified when it is opened, once per file and process.
"""

import contextlib
import json
import math
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import StorageError
from igsd.files.atomic import atomic_file
from igsd.files.shapes import fault

Header = dict[str, Any]
"""The JSON object of a file: ``kind``, ``version`` and what else its reader needs."""

Schema = Mapping[str, tuple[str, int]]
"""The arrays that a kind of file may hold: the dtype and the number of dimensions of each."""

_KEY = "igsd"
_AGAIN = "Copy it again, or create it again."
_MAX_HEADER = 25_000_000
_MAX_ARRAYS = 60_000
_MAX_DIMENSIONS = 8
_BLOCK = 1 << 22
_UNSUMMED = b'"table": "00000000"'
_SUMMED = re.compile(rb'"table": "([0-9a-f]{8})"')
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


@dataclass(frozen=True)
class Stacked:
    """An array that is written part by part: ``parts()`` yields its rows, twice in all."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    parts: Callable[[], Iterable[np.ndarray]]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return self.dtype.itemsize * math.prod(self.shape)


def write_arrays(
    path: str | os.PathLike[str],
    arrays: Mapping[str, np.ndarray | Stacked],
    header: Mapping[str, Any],
) -> None:
    """Write named arrays and a JSON header to one safetensors file, whole or not at all.

    Arrays are written one by one, without a second copy in memory; those that are ``Stacked`` are
    never in memory as a whole.
    """
    order = sorted(arrays, key=lambda name: (-arrays[name].dtype.itemsize, name))
    codes = {np.dtype(value): key for key, value in _DTYPES.items()}
    for name in order:
        if arrays[name].dtype not in codes:
            raise StorageError(
                f"Array {name!r} has dtype {arrays[name].dtype}, which cannot be saved."
            )
    blocks = json.dumps(checksums(part for name in order for part in _parts(arrays[name])))
    own = {_KEY: json.dumps(header, allow_nan=False), "table": "00000000", "blocks": blocks}
    table: Header = {"__metadata__": own}
    offset = 0
    for name in order:
        array = arrays[name]
        span = [offset, offset + array.nbytes]
        shape = list(array.shape)
        table[name] = {"dtype": codes[array.dtype], "shape": shape, "data_offsets": span}
        offset += array.nbytes
    head = json.dumps(table).encode()
    head += b" " * (-len(head) % 8)
    if len(head) > _MAX_HEADER or len(order) > _MAX_ARRAYS:
        raise StorageError(
            f"{path} would hold {len(order)} arrays and {len(head)} bytes of names, more than is "
            f"read again ({_MAX_ARRAYS} and {_MAX_HEADER}). Use fewer layers, or shorter names."
        )
    # Quotes inside the header are escaped, so nothing in it can look like this entry.
    head = head.replace(_UNSUMMED, b'"table": "%08x"' % zlib.crc32(head), 1)
    with atomic_file(path) as file:
        file.write(len(head).to_bytes(8, "little"))
        file.write(head)
        for name in order:
            # A plain write, not tofile: tofile bypasses the buffer that holds the header.
            written = sum(file.write(part) for part in _parts(arrays[name]))
            if written != arrays[name].nbytes:
                raise StorageError(f"Array {name!r} of {path} changed while it was written.")


def checksums(parts: Iterable[memoryview | bytes]) -> list[int]:
    """Return the CRC-32 of each block of 4 MiB of some bytes that arrive in parts."""
    sums, left = [0], _BLOCK
    for part in parts:
        while len(part):
            sums[-1] = zlib.crc32(part[:left], sums[-1])
            taken = min(left, len(part))
            part, left = part[taken:], left - taken
            if not left:
                sums.append(0)
                left = _BLOCK
    return sums


def read_arrays(
    path: str | os.PathLike[str],
    kind: str,
    version: int | None = None,
    schema: Schema | None = None,
    *,
    needs_checksum: bool = False,
    header_type: Any = dict[str, Any],
) -> tuple[dict[str, np.ndarray], Header]:
    """Return (arrays, header) of a file written by ``write_arrays``; arrays are memory-mapped.

    ``kind``: what the caller expects ("graph set", "model", ...), as the header names it;
    ``version``: of its format; ``schema``: the arrays it may hold. ``needs_checksum``: refuse
    files of earlier versions, which have no checksums. ``header_type``: a ``TypedDict`` of what the
    header must hold. Raises ``StorageError`` for a missing, truncated, damaged, foreign or pickled
    file.
    """
    source = Path(path).expanduser()
    table, start, size = _read_table(source, kind)
    header, blocks = _read_header(source, table, kind)
    _check_version(source, header, kind, version)
    if (reason := fault(header, header_type)) is not None:
        raise StorageError(f"{source} is damaged: in its header, {reason} {_AGAIN}")
    entries = {name: _read_entry(source, name, entry) for name, entry in table.items()}
    _check_entries(source, entries, size - start)
    for name, (dtype, shape, *_) in entries.items():
        if schema is not None and schema.get(name) != (dtype.name, len(shape)):
            raise StorageError(
                f"{source} is damaged: a {kind} has no array {name!r} of {dtype} with "
                f"{len(shape)} dimensions. {_AGAIN}"
            )
    if blocks is None and needs_checksum:
        raise StorageError(f"{source} has no checksums. {_AGAIN}")
    if blocks is not None:
        _verify(source, start, size, blocks)
    # One map for all arrays: a system allows a process some 65,000.
    data = np.memmap(source, np.uint8, "r", start) if size > start else np.zeros(0, np.uint8)
    arrays = {
        name: data[begin:end].view(dtype).reshape(shape)
        for name, (dtype, shape, begin, end) in entries.items()
    }
    return arrays, header


@dataclass(frozen=True)
class Layout:
    """What the table of a file says: the dtype and shape of each array, and the JSON header.

    ``checksum``: that of the table, which holds the checksums of the data.
    """

    shapes: dict[str, tuple[np.dtype[Any], tuple[int, ...]]]
    header: Header
    checksum: str


def read_layout(path: str | os.PathLike[str], kind: str, version: int | None = None) -> Layout:
    """Return the layout of a file with checksums, without reading its data.

    Raises ``StorageError`` as ``read_arrays`` does, except for what only the data show.
    """
    source = Path(path).expanduser()
    table, start, size = _read_table(source, kind)
    header, blocks = _read_header(source, table, kind)
    _check_version(source, header, kind, version)
    if blocks is None:
        raise StorageError(f"{source} has no checksums. {_AGAIN}")
    entries = {name: _read_entry(source, name, entry) for name, entry in table.items()}
    _check_entries(source, entries, size - start)
    with open(source, "rb") as file:
        found = _SUMMED.search(file.read(start))
    shapes = {name: (dtype, shape) for name, (dtype, shape, *_) in entries.items()}
    return Layout(shapes, header, found[1].decode() if found else "")


def _check_version(source: Path, header: Header, kind: str, version: int | None) -> None:
    if version is not None and header.get("version") != version:
        raise StorageError(
            f"{source} is a {kind} of format {header.get('version')}; this igsd reads format "
            f"{version}. Create it again, or use the igsd that wrote it."
        )


def read_header(path: str | os.PathLike[str]) -> Header | None:
    """Return the JSON header of an igsd file, or None if ``path`` is anything else."""
    try:
        source = Path(path).expanduser()
        table, _, _ = _read_table(source, "file")
        return _read_header(source, table, None)[0]
    except StorageError:
        return None


def _parts(array: np.ndarray | Stacked) -> Iterator[memoryview]:
    for part in array.parts() if isinstance(array, Stacked) else [array]:
        yield _bytes(np.asarray(part, array.dtype))


def _bytes(array: np.ndarray) -> memoryview:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def _read_table(source: Path, kind: str) -> tuple[Header, int, int]:
    """Return (table, offset of the data, size of the file) of a safetensors file."""
    if not source.exists():
        raise StorageError(f"There is no {kind} at {source}.")
    if source.is_dir():
        raise StorageError(f"{source} is a folder, not a {kind} file.")
    if not source.is_file():  # opening a pipe would wait for a writer
        raise StorageError(f"{source} is not an ordinary file, so it cannot hold a {kind}.")
    refuse_pickle(source)
    try:
        size = source.stat().st_size
        with open(source, "rb") as file:
            length = int.from_bytes(file.read(8), "little")
            if size < 8 or not 2 <= length <= min(_MAX_HEADER, size - 8):
                raise StorageError(_not_ours(source, kind))
            head = file.read(length)
        too_many = head.count(b'"data_offsets"') > _MAX_ARRAYS  # told before they take memory
        table = {} if too_many else json.loads(head)
    except OSError as error:
        raise StorageError(f"Cannot read {source}: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:
        raise StorageError(_not_ours(source, kind)) from error
    if too_many:
        raise StorageError(f"{source} is refused: it has more than {_MAX_ARRAYS} arrays. {_AGAIN}")
    if not isinstance(table, dict):
        raise StorageError(_not_ours(source, kind))
    if found := _SUMMED.search(head):
        plain = head[: found.start()] + _UNSUMMED + head[found.end() :]
        if zlib.crc32(plain) != int(found[1], 16):
            raise StorageError(f"{source} is damaged: its table has another checksum. {_AGAIN}")
    return table, 8 + length, size


def _read_header(source: Path, table: Header, kind: str | None) -> tuple[Header, list[int] | None]:
    """Remove igsd's own objects from a safetensors table; return (header, checksums of blocks)."""
    try:
        own = table.pop("__metadata__")
        header = json.loads(own[_KEY])
        blocks = json.loads(own["blocks"]) if "blocks" in own else None
        found = header["kind"]
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise StorageError(_not_ours(source, kind or "file")) from error
    if kind is not None and found != kind:
        raise StorageError(f"{source} holds a {found}, but a {kind} was expected here.")
    return header, blocks


_Entry = tuple[np.dtype[Any], tuple[int, ...], int, int]


def _read_entry(source: Path, name: str, entry: Any) -> _Entry:
    """Return (dtype, shape, begin, end) of one array as the table declares it."""
    try:
        begin, end = entry["data_offsets"]
        shape = tuple(entry["shape"])
        dtype = np.dtype(_DTYPES[entry["dtype"]])
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"{source} is damaged: array {name!r} is not described. {_AGAIN}"
        ) from error
    numbers = (begin, end, *shape)
    is_sound = all(type(number) is int and 0 <= number < 2**62 for number in numbers)
    if not is_sound or len(shape) > _MAX_DIMENSIONS:
        raise StorageError(
            f"{source} is damaged: array {name!r} has an impossible shape or place. {_AGAIN}"
        )
    return dtype, shape, begin, end


def _check_entries(source: Path, entries: Mapping[str, _Entry], size: int) -> None:
    """Raise ``StorageError`` unless the arrays fill the data without gaps or overlaps."""
    place = 0
    for name, (dtype, shape, begin, end) in sorted(entries.items(), key=lambda item: item[1][2:]):
        if begin != place or end - begin != dtype.itemsize * math.prod(shape) or end > size:
            raise StorageError(
                f"{source} is damaged: array {name!r} does not fit into the file. {_AGAIN}"
            )
        place = end
    if place != size:
        raise StorageError(f"{source} is damaged: it has bytes that belong to no array. {_AGAIN}")


_verified: dict[tuple[int, ...], None] = {}


def _verify(source: Path, start: int, size: int, sums: Any) -> None:
    """Raise ``StorageError`` if a block of the data has another checksum than it had when written.

    A file is read once per process, in blocks, in two threads where it is large.
    """
    status = os.stat(source)
    key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    if key in _verified:
        return
    places = range(start, max(size, start + 1), _BLOCK)
    jobs = min(len(places), 2, os.cpu_count() or 1)
    with open(source, "rb") as file, ThreadPoolExecutor(jobs) as pool:
        found = list(pool.map(lambda place: _checksum_at(file.fileno(), place), places))
    # The last block is empty where the data end with a whole block.
    found += [0] * (len(found) * _BLOCK == size - start)
    if found != sums:
        raise StorageError(
            f"{source} is damaged: its content has another checksum than when it was written. "
            f"{_AGAIN}"
        )
    _verified[key] = None


def _checksum_at(file: int, place: int) -> int:
    return zlib.crc32(os.pread(file, _BLOCK, place))


def _not_ours(source: Path, kind: str) -> str:
    return (
        f"{source} is not a {kind} written by igsd, or it was cut short while being copied. If it "
        "is a pickle: igsd never opens those, because they can run code."
    )
