"""Tables of plain numbers in text files, read quickly and with errors that name the line.

A well-formed file goes through pyarrow's CSV reader (a few hundred MB a second). Whatever that
refuses is read again line by line, which accepts odd but clear spacing and finds the first line
that is not clear.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

import numpy as np

from igsd.errors import DataError

_SEPARATORS = re.compile(rb"[,;\s]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


def parse_numbers(raw: bytes, file: str, *, whole: bool, columns: int | None = None) -> np.ndarray:
    """Return the numbers in ``raw`` as an array [lines, columns], int64 or float64.

    Numbers on a line are separated by commas, semicolons, spaces or tabs; blank lines and either
    kind of line end are fine. ``whole`` asks for whole numbers; ``columns`` fixes their count per
    line, which otherwise is that of the first line.

    Raises ``DataError`` naming ``file`` and line for an empty file, something that is not a finite
    (or whole) number, and a line with another count of numbers.
    """
    raw = raw.removeprefix(_BYTE_ORDER_MARK)
    if not raw.strip():
        raise DataError(f"{file} is empty; at least one line of numbers was expected.")
    table = _parse_quickly(raw, whole)
    if table is None or (columns is not None and table.shape[1] != columns):
        table = _parse_by_line(raw, file, whole, columns)
    if not whole and not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        values = table[row].tolist()
        raise DataError(f"{file}, line {line_of(raw, row)}: numbers must be finite, got {values}.")
    return table


def line_of(raw: bytes, row: int) -> int:
    """Return the line number (from 1) of the ``row``-th line (from 0) that is not blank."""
    for seen, (number, _) in enumerate(_lines(raw)):
        if seen == row:
            return number
    return row + 1


def _parse_quickly(raw: bytes, whole: bool) -> np.ndarray | None:
    """Return the table as pyarrow reads it, or None where it is not a plain CSV of numbers."""
    import pyarrow as pa
    from pyarrow import csv

    start = raw[:4096].lstrip().split(b"\n", 1)[0].strip()
    delimiter = next((mark for mark in (",", "\t", " ") if mark.encode() in start), ",")
    width = start.count(delimiter.encode()) + 1
    names = [str(column) for column in range(width)]
    kind = pa.int64() if whole else pa.float64()
    try:
        table = csv.read_csv(
            pa.BufferReader(raw),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, kind), null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    result = np.empty((width, table.num_rows), np.int64 if whole else np.float64)
    for column in range(width):
        result[column] = table.column(column).to_numpy()
    return result.T


def _parse_by_line(raw: bytes, file: str, whole: bool, columns: int | None) -> np.ndarray:
    """Return the same table the slow way, or say which line cannot be read and why."""
    rows: list[list[float]] = []
    for number, text in _lines(raw):
        values = [
            _number(part, file, number, whole) for part in _SEPARATORS.split(text.strip(b",;"))
        ]
        columns = len(values) if columns is None else columns
        if len(values) != columns:
            raise DataError(
                f"{file}, line {number}: {columns} number{'s' if columns > 1 else ''} expected, "
                f"found {len(values)}: {_shown(text)}. Was the file cut short?"
            )
        rows.append(values)
    return np.array(rows, dtype=np.int64 if whole else np.float64)


def _number(part: bytes, file: str, number: int, whole: bool) -> float:
    """Return one number, an ``int`` where whole numbers are asked for."""
    try:
        value = float(part)
        if not whole:
            return value
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
    except ValueError:
        pass
    kind = "a whole number" if whole else "a number"
    raise DataError(f"{file}, line {number}: {kind} was expected, found {_shown(part)}.")


def _lines(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, stripped text) of every line that is not blank."""
    for number, line in enumerate(io.BytesIO(raw.removeprefix(_BYTE_ORDER_MARK)), start=1):
        text = line.strip()
        if text:
            yield number, text


def _shown(text: bytes) -> str:
    """Return at most 60 characters of what stood there, in quotes."""
    decoded = text.decode("utf-8", "replace")
    return repr(decoded if len(decoded) <= 60 else decoded[:57] + "...")
