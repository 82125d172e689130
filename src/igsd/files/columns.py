"""Vectors, predictions and other columns as files: ``.npy``, ``.csv`` or ``.parquet``."""

import csv
import io
import json
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, BinaryIO

import numpy as np

from igsd.errors import ConfigError, DataError, StorageError
from igsd.files.arrays import refuse_pickle
from igsd.files.atomic import known_suffix, output_file

Columns = dict[str, list[Any]]
_Chunk = Mapping[str, Sequence[Any] | np.ndarray]

SUFFIXES = (".npy", ".csv", ".parquet")
_TRAILER = b"igsd crc-32 "
_SUMS_KEY = "igsd crc-32"
_ROW_GROUP = 10_000
"""The fewest rows of a row group, except the last: many small groups are slow to read."""

_FORMULA = ("=", "+", "-", "@")
_LARGE = 1e8
_KEYS = ("graph", "id", "name", "file", "line")
_NOT_FEATURES = re.compile(
    rf"|class(es)?|labels?|targets?|y|index|unnamed: \d+|__index_level_\d+__|{'|'.join(_KEYS)}",
    re.I,
)
"""Columns of labels and row numbers, which programs leave in a table, and other spellings."""


def write_columns(
    path: str | os.PathLike[str], columns: Columns, *, spreadsheet: bool = False
) -> None:
    """Write a table as ``.csv`` or ``.parquet``, whole or not at all; ``-``: CSV to the output.

    ``spreadsheet``: put an apostrophe before texts in a ``.csv`` file that a spreadsheet would take
    for a formula.
    """
    write = partial(_write_csv, spreadsheet) if _is_csv(path) else _write_parquet
    with output_file(path) as file:
        write(file, [columns])


def check_spreadsheet(path: str | os.PathLike[str]) -> None:
    """Raise ``ConfigError`` unless ``path`` is a ``.csv`` file: others hold no formulas."""
    if not _is_csv(path):
        raise ConfigError(
            f"--spreadsheet is for .csv files: in {Path(path).suffix} files a text is a text. "
            "Leave it out, or write a .csv file."
        )


def _is_csv(path: str | os.PathLike[str]) -> bool:
    return known_suffix(path, SUFFIXES[1:], "tables") == ".csv"


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file for embeddings; raises ``StorageError`` for an unknown one."""
    return known_suffix(path, SUFFIXES, "embeddings")


def write_vectors(
    path: str | os.PathLike[str],
    chunks: Iterable[np.ndarray],
    shape: tuple[int, int],
    columns: Sequence[str],
    names: Sequence[str] | None = None,
    lines: np.ndarray | None = None,
    ids: Sequence[str] | None = None,
    *,
    spreadsheet: bool = False,
) -> None:
    """Write embeddings [G, d] that arrive in chunks, whole or not at all, with bounded memory.

    ``.csv`` and ``.parquet`` get a column ``graph`` (from 0), ``line`` if the graphs come from the
    lines of a table, ``id`` if it has ids, ``name`` if the graphs have names, and a column for each
    number, named by ``columns``. ``spreadsheet``: as for ``write_columns``. Raises ``StorageError``
    for another suffix or a failed write.
    """
    suffix = check_suffix(path)
    described = {"line": lines, "id": ids, "name": names}
    known = {key: values for key, values in described.items() if values is not None}
    with output_file(path) as file:
        if suffix == ".npy":
            write_npy(file, chunks, shape)
        else:
            write = partial(_write_csv, spreadsheet) if suffix == ".csv" else _write_parquet
            write(file, _vector_columns(chunks, columns, known))


def write_npy(
    file: BinaryIO, chunks: Iterable[np.ndarray], shape: tuple[int, ...], dtype: str = "<f4"
) -> None:
    """Write rows that arrive in chunks, followed by a checksum, which NumPy ignores.

    Raises ``StorageError`` for numbers that are not finite.
    """
    header = {"descr": dtype, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    checksum = 0
    for rows in _finite(chunks):
        data = np.ascontiguousarray(rows, dtype).tobytes()
        checksum = zlib.crc32(data, checksum)
        file.write(data)
    file.write(_TRAILER + checksum.to_bytes(4, "little"))


def _finite(chunks: Iterable[np.ndarray]) -> Iterator[np.ndarray]:
    """Yield chunks of vectors; raises ``StorageError`` for numbers that are not finite."""
    for rows in chunks:
        if not np.isfinite(rows).all():
            raise StorageError(
                "The vectors have numbers that are not finite, so they are not written. Train "
                "again with a smaller learning_rate, or look for extreme numbers in the data."
            )
        yield rows


def read_npy(source: Path, what: str) -> np.ndarray:
    """Return the array in a ``.npy`` file, its checksum verified where igsd wrote one.

    ``what`` the file should hold, for messages; the caller checks shape and type. Raises
    ``StorageError`` for several arrays, Python objects, and a file with too little or too much.
    """
    with open(source, "rb") as file:
        if file.read(2) == b"PK":
            raise StorageError(
                f"{source} is a zip of several arrays (.npz). Save one array with numpy.save."
            )
        file.seek(0)
        try:
            version = np.lib.format.read_magic(file)
            reads = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
            shape, is_fortran, dtype = reads[version != (1, 0)](file)
            size = dtype.itemsize * math.prod(shape)
        except Exception as error:  # the header is parsed as Python, which fails in many ways
            reason = str(error).partition("\n")[0]
            raise StorageError(f"{source} holds no readable {what}: {reason}.") from error
        if dtype.hasobject or not dtype.itemsize:
            raise StorageError(f"{source} must hold {what} as numbers or text. Got {dtype}.")
        left = source.stat().st_size - file.tell() - size
        if min(shape, default=0) < 0 or left not in (0, len(_TRAILER) + 4):
            raise StorageError(
                f"{source} is damaged: it does not have the {' x '.join(map(str, shape)) or 1} "
                "values that it declares. Copy it again, or create it again."
            )
        data = file.read(size)
        trailer = file.read()
    if trailer and trailer != _TRAILER + zlib.crc32(data).to_bytes(4, "little"):
        raise StorageError(
            f"{source} is damaged: its content has another checksum than when it was written. Copy "
            "it again, or create it again."
        )
    return np.frombuffer(data, dtype).reshape(shape, order="F" if is_fortran else "C")


def _vector_columns(
    chunks: Iterable[np.ndarray], columns: Sequence[str], known: _Chunk
) -> Iterator[_Chunk]:
    """Yield each chunk of vectors as columns, with what is ``known`` of its graphs."""
    start = 0
    for rows in _finite(chunks):
        stop = start + len(rows)
        described = {key: values[start:stop] for key, values in known.items()}
        numbers = dict(zip(columns, np.ascontiguousarray(rows.T, np.float32), strict=True))
        yield {"graph": np.arange(start, stop), **described, **numbers}
        start = stop


def _write_csv(spreadsheet: bool, file: BinaryIO, chunks: Iterable[_Chunk]) -> None:
    """Write the rows of all chunks, with quotes only where they are needed."""
    # Not a TextIOWrapper: where writing fails, that would close standard output with it.
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    quoting = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for number, columns in enumerate(chunks):
        if number == 0:
            writer.writerow(map(_as_text, columns) if spreadsheet else columns)
        plain = [v.tolist() if isinstance(v, np.ndarray) else v for v in columns.values()]
        texts = [v for v in plain if v and not isinstance(v[0], int | float)]
        # The csv module of Python 3.11 does not put quotes around a lone carriage return.
        has_return = any("\r" in str(value) for values in texts for value in values)
        for row in zip(*plain, strict=True):
            cells = [number_text(v) if isinstance(v, float) else v for v in row]
            if spreadsheet:
                pairs = zip(row, cells, strict=True)
                cells = [_as_text(cell) if isinstance(v, str) else cell for v, cell in pairs]
            (quoting if has_return else writer).writerow(cells)
        file.write(text.getvalue().encode(errors="backslashreplace"))
        text.seek(0)
        text.truncate()


def number_text(value: float) -> str:
    """Return a number as text: nine digits, as a float32 needs, or all digits of a large one.

    >>> number_text(0.1), number_text(1000000004.5)
    ('0.1', '1000000004.5')
    """
    return f"{value:.9g}" if abs(value) < _LARGE else repr(value)


def _as_text(text: str) -> str:
    """Return a text with an apostrophe before it if a spreadsheet would take it for a formula."""
    return f"'{text}" if text.lstrip().startswith(_FORMULA) else text


def _write_parquet(file: BinaryIO, chunks: Iterable[_Chunk]) -> None:
    """Write the rows of all chunks, in the types of the first one, as row groups as they come."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = (pa.table({key: _encodable(v) for key, v in c.items()}) for c in chunks)
    first = next(tables)
    sums: dict[str, int] = {}
    waiting: list[Any] = []
    with pq.ParquetWriter(file, first.schema) as writer:
        for table in chain([first], tables):
            waiting.append(table.cast(first.schema))
            sums = _column_sums(table, sums)
            if sum(map(len, waiting)) >= _ROW_GROUP:
                writer.write_table(pa.concat_tables(waiting))
                waiting = []
        if waiting:
            writer.write_table(pa.concat_tables(waiting))
        writer.add_key_value_metadata({_SUMS_KEY: json.dumps(sums)})


def _encodable(values: Any) -> Any:
    """Return a column with lone surrogates, which have no bytes, as their escapes."""
    if isinstance(values, np.ndarray) or not any(isinstance(v, str) for v in values):
        return values
    return [
        v.encode(errors="backslashreplace").decode() if isinstance(v, str) else v for v in values
    ]


def _column_sums(table: Any, before: Mapping[str, int] = MappingProxyType({})) -> dict[str, int]:
    """Return the CRC-32 of every column of numbers, continued from those of earlier chunks."""
    columns = {f.name: table[f.name] for f in table.schema if str(f.type) in ("int64", "float")}
    return {
        name: zlib.crc32(column.to_numpy().tobytes(), before.get(name, 0))
        for name, column in columns.items()
    }


def read_vectors(path: str | os.PathLike[str]) -> np.ndarray:
    """Return the embeddings [G, d] in a file; raises ``StorageError`` if it holds none.

    In a table every column except ``graph``, ``line``, ``id``, ``name`` and ``file`` is a feature;
    rows are put in the order of ``graph``.
    """
    source, suffix = Path(path).expanduser(), check_suffix(path)
    if not source.is_file():
        raise StorageError(
            f"There is no file with embeddings at {source}. `igsd embed MODEL DATA -o {source}` "
            "writes one."
        )
    refuse_pickle(source)
    try:
        values = read_npy(source, "embeddings") if suffix == ".npy" else _read_table(source)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, StorageError | DataError):
            raise
        reason = str(error).partition("\n")[0]
        raise StorageError(f"{source} holds no readable embeddings: {reason}.") from error
    if values.dtype.kind not in "fiu" or values.ndim != 2:
        raise StorageError(
            f"{source} must hold a table of numbers [graphs, features]. "
            f"Got shape {values.shape} of {values.dtype}."
        )
    is_bad = ~(np.abs(values) <= np.finfo(np.float32).max).all(axis=1)
    if is_bad.any():
        raise StorageError(
            f"{source} must hold finite numbers of at most {np.finfo(np.float32).max:.3g} (32-bit "
            f"floats). Graph {int(np.argmax(is_bad))} has another, or a missing value."
        )
    return values


def vector_texts(path: str | os.PathLike[str]) -> dict[str, list[str]]:
    """Return the columns ``graph``, ``id``, ``name``, ``file`` and ``line`` that a table has.

    Rows are in the order of ``read_vectors``, which is called first.
    """
    source = Path(path).expanduser()
    if source.suffix.lower() == ".npy":
        return {}
    table = _arrow_table(source)
    places = table["graph"].to_numpy() if "graph" in table.column_names else range(len(table))
    order = np.argsort(places)
    texts = {key: table[key].to_pylist() for key in _KEYS if key in table.column_names}
    return {key: [str(values[place]) for place in order] for key, values in texts.items()}


def feature_columns(path: str | os.PathLike[str]) -> list[str]:
    """Return the names of the columns of a table that are numbers of vectors; none of a .npy."""
    source = Path(path).expanduser()
    if source.suffix.lower() == ".npy":
        return []
    return [name for name in _arrow_table(source).column_names if name not in _KEYS]


def _arrow_table(source: Path) -> Any:
    """Return a CSV or Parquet table; ids and names in a CSV file are text, also ``007``."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    if source.suffix.lower() != ".csv":
        return pa.parquet.read_table(source)
    types = dict.fromkeys(("id", "name", "file"), pa.string())
    texts = pa.csv.ConvertOptions(column_types=types)
    return pa.csv.read_csv(source, convert_options=texts)


def _read_table(source: Path) -> np.ndarray:
    """Return the numbers of a CSV or Parquet table, rows in the order of its column ``graph``."""
    import pyarrow as pa
    import pyarrow.parquet

    sums = None
    try:
        table = _arrow_table(source)
        if source.suffix.lower() != ".csv":
            sums = (pa.parquet.read_metadata(source).metadata or {}).get(_SUMS_KEY.encode())
    except (pa.ArrowException, OSError, MemoryError) as error:
        raise StorageError(f"{source} holds no readable embeddings: {error}.") from error
    name, times = max(Counter(table.column_names).items(), key=lambda i: i[1], default=("", 0))
    if table.column_names and all(map(_is_number, table.column_names)):
        raise StorageError(
            f"The first line of {source} must name its columns. Got numbers, such as {name!r}: "
            "write a line of names above them."
        )
    if times > 1:
        raise StorageError(f"{source} has several columns called {name!r}. Rename all but one.")
    if sums is not None and json.loads(sums) != _column_sums(table):
        raise StorageError(
            f"{source} is damaged: its columns have other checksums than when they were written. "
            "Copy it again, or create it again."
        )
    kept = [name for name in table.column_names if name not in _KEYS]
    for name in kept:
        # Beside x, y is a coordinate.
        if _NOT_FEATURES.fullmatch(name) and not (name == "y" and "x" in kept):
            raise StorageError(
                f"Every column of {source} is a number of the vectors, except {', '.join(_KEYS)}. "
                f"Column {name!r} is called like a label or a row number: leave it out, or give it "
                "another name."
            )
        kind = table.schema.field(name).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise StorageError(
                f"Column {name!r} of {source} holds {kind} instead of numbers. If it names the "
                "graphs, call it id, name or file."
            )
    if not kept:
        raise StorageError(f"{source} has no columns of numbers.")
    values = np.column_stack([table[name].to_numpy() for name in kept])
    if "graph" not in table.column_names:
        return values
    order = table["graph"].to_numpy()
    if not np.array_equal(np.sort(order), np.arange(len(values))):
        raise StorageError(
            f"Column 'graph' of {source} must number its {len(values)} rows from 0, each once."
        )
    return values[np.argsort(order)]


def parse_number(text: str | bytes) -> float:
    """Parse a number; raises ``ValueError`` if the text is not one.

    Names such as 2020_01, which Python would read as 202001, are not numbers.

    >>> parse_number("1e3")
    1000.0
    """
    if (b"_" if isinstance(text, bytes) else "_") in text:  # type: ignore[operator]
        raise ValueError(f"not a number: {text!r}")
    return float(text)


def _is_number(text: str) -> bool:
    try:
        parse_number(text)
    except ValueError:
        return False
    return True
