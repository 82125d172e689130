"""How the cells of a table become text, whole or in parts: encoding, commas, SMILES lines."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from igsd.errors import DataError, enumerated

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_WHOLE = re.compile(r"[+-]?\d+([eE][+-]?\d+)?")


def unclear_commas(columns: Sequence[str]) -> str:
    """Return the note on columns whose commas may be decimal commas or thousands."""
    return (
        f"commas in {enumerated(columns)} may be decimal commas or thousands, so these are "
        "left as text: write points, or no commas"
    )


def is_whole_or_missing(cell: str) -> bool:
    """Return whether a cell is a whole number or stands for no value."""
    return _WHOLE.fullmatch(cell) is not None or cell.lower() in ("na", "n/a", "nan", "-", "?")


def codec_of(raw: bytes) -> tuple[str, str]:
    """Return (codec, note) by the first bytes of a file: UTF-8, or UTF-16 by its marks or zeros."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", "read as UTF-16"
    if b"\x00" in raw[:200] and len(raw) >= 4:
        places = [raw[start:200:2].count(0) for start in (0, 1)]
        is_often = max(places) > len(raw[:200]) // 16  # a single zero is damage in another text
        if min(places) == 0 and is_often:
            return ("utf-16-be", "utf-16-le")[places[1] > 0], "read as UTF-16"
    return "utf-8-sig", ""


def smiles_and_name(line: str) -> list[str]:
    """Return the SMILES of a line and its name, empty if there is none.

    An extension of CXSMILES, between two bars, belongs to the SMILES.
    """
    found = re.fullmatch(r"(\S+(?:\s+\|[^|]*\|)?)\s*(.*)", line)
    return [line, ""] if found is None else [found[1], found[2]]


def cell_text(value: Any) -> str:
    """Return the text of a cell: empty for None and NaN, SMILES for a molecule of RDKit."""
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return ""
    if isinstance(value, float):
        if value != value:
            return ""
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if hasattr(value, "GetNumAtoms"):
        from rdkit import Chem

        return Chem.MolToSmiles(value)
    return str(value).strip()


def rows_of_text(text: str) -> list[list[str]]:
    """Return the cells of every line of a table that is not empty and not a comment.

    The first line tells the separator: a tab, comma, semicolon or bar, otherwise blanks. Raises
    ``DataError`` for a line with a cell that is too large.
    """
    lines = [
        (line, number)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.startswith(("#", "%"))
    ]
    mark = next((mark for mark in "\t,;|" if lines and mark in lines[0][0]), None)
    if mark is None:
        return [line.split() for line, _ in lines]
    rows = []
    for line, number in lines:
        try:
            row = next(csv.reader([line], delimiter=mark), [])
        except csv.Error as error:
            raise DataError(f"line {number}: {error}.") from error
        rows.append([cell.strip() for cell in row])
    return rows


def rows_of_cells(lines: Iterable[str], separator: str) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row that is not empty, and the line on which it ends.

    ``csv.Error`` says on which line the row begins that cannot be read.
    """
    kwargs: Any = {"delimiter": separator, "strict": True, "skipinitialspace": separator == " "}
    reader, first = csv.reader(lines, **kwargs), 1
    try:
        for row in reader:
            if any(map(str.strip, row)):
                yield row, reader.line_num
            first = reader.line_num + 1
    except csv.Error as error:
        to = f" to {reader.line_num}" if reader.line_num > first else ""
        raise csv.Error(f"line {first}{to}: {error} (is a quote left open?)") from error
