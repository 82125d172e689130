"""Embeddings in files: ``.npy``, ``.csv`` and ``.parquet``, written piece by piece."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from igsd.atomic_file import atomic_file, known_suffix
from igsd.errors import DataError, StorageError
from igsd.pickles import refuse_pickle

SUFFIXES = (".npy", ".csv", ".parquet")
_ABOUT = ("graph", "line", "id", "name")


class _Layout(NamedTuple):
    """What a file says beside the numbers: their columns, and what is known of each graph."""

    shape: tuple[int, int]
    columns: Sequence[str]
    about: dict[str, Sequence[Any]]


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a file for embeddings; raises ``StorageError`` for another one."""
    return known_suffix(path, SUFFIXES, "embeddings")


def write_vectors(
    path: str | os.PathLike[str],
    chunks: Iterable[np.ndarray],
    shape: tuple[int, int],
    columns: Sequence[str],
    names: Sequence[str] | None = None,
    lines: np.ndarray | None = None,
    ids: Sequence[str] | None = None,
) -> None:
    """Write embeddings [G, d] that come in pieces, whole or not at all, with bounded memory.

    ``.csv`` and ``.parquet`` get a column ``graph`` (from 0), ``line`` where graphs come from the
    lines of a table, ``id`` where that calls them something, ``name`` where they have names, and
    ``columns``, one per number. Raises ``StorageError`` for another suffix or a failed write.
    """
    write = {".npy": _write_npy, ".csv": _write_csv, ".parquet": _write_parquet}[check_suffix(path)]
    about: dict[str, Sequence[Any]] = {}
    if lines is not None:
        about["line"] = lines.tolist()
    if ids is not None:
        about["id"] = ids
    if names is not None:
        about["name"] = names
    with atomic_file(path) as file:
        write(file, chunks, _Layout(shape, columns, about))


def read_vectors(path: str | os.PathLike[str]) -> np.ndarray:
    """Return the embeddings [G, d] in a file; raises ``StorageError`` where it holds none.

    Of tables every column but ``graph``, ``line``, ``id`` and ``name`` is taken; rows are put in
    the order that ``graph`` gives.
    """
    source, suffix = Path(path).expanduser(), check_suffix(path)
    if not source.is_file():
        raise StorageError(
            f"There is no file with embeddings at {source}. `igsd embed MODEL DATA -o {source}` "
            "writes one."
        )
    refuse_pickle(source)
    try:
        values = np.load(source, allow_pickle=False) if suffix == ".npy" else _read_table(source)
    except (OSError, ValueError, EOFError) as error:
        if isinstance(error, StorageError | DataError):
            raise
        raise StorageError(f"{source} holds no embeddings that can be read: {error}.") from error
    if values.ndim != 2 or values.dtype.kind not in "fiu":
        raise StorageError(
            f"{source} must hold a table of numbers [graphs, features]. "
            f"Got shape {values.shape} of {values.dtype}."
        )
    return values


def _write_npy(file: BinaryIO, chunks: Iterable[np.ndarray], layout: _Layout) -> None:
    header = {"descr": "<f4", "fortran_order": False, "shape": layout.shape}
    np.lib.format.write_array_header_1_0(file, header)
    for rows in chunks:
        file.write(np.ascontiguousarray(rows, "<f4").tobytes())


def _write_csv(file: BinaryIO, chunks: Iterable[np.ndarray], layout: _Layout) -> None:
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["graph", *layout.about, *layout.columns])
    for start, rows in _numbered(chunks):
        for number, row in enumerate(rows, start):
            # Nine digits bring back exactly the same float32.
            values = [f"{value:.9g}" for value in row.tolist()]
            writer.writerow([number, *(v[number] for v in layout.about.values()), *values])
    text.flush()
    text.detach()


def _write_parquet(file: BinaryIO, chunks: Iterable[np.ndarray], layout: _Layout) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds: list[tuple[str, Any]] = [("graph", pa.int64())]
    kinds += [(key, pa.int64() if key == "line" else pa.string()) for key in layout.about]
    schema = pa.schema(kinds + [(column, pa.float32()) for column in layout.columns])
    with pq.ParquetWriter(file, schema) as writer:
        for start, rows in _numbered(chunks):
            stop = start + len(rows)
            arrays = [pa.array(np.arange(start, stop))]
            arrays += [
                pa.array(values[start:stop], schema.field(key).type)
                for key, values in layout.about.items()
            ]
            arrays += [pa.array(column) for column in np.ascontiguousarray(rows.T, np.float32)]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))


def _numbered(chunks: Iterable[np.ndarray]) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each piece with the number of its first row."""
    start = 0
    for rows in chunks:
        yield start, rows
        start += len(rows)


def _read_table(source: Path) -> np.ndarray:
    """Return the numbers of a CSV or Parquet table, rows in the order of its column ``graph``."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    reader = pa.csv.read_csv if source.suffix.lower() == ".csv" else pa.parquet.read_table
    table = reader(source)
    kept = [name for name in table.column_names if name not in _ABOUT]
    for name in kept:
        kind = table.schema.field(name).type
        if not (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            raise StorageError(f"Column {name!r} of {source} holds {kind} instead of numbers.")
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
