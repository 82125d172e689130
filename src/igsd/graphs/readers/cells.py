"""How the text of a table is read, whole or in parts: encoding, commas in numbers, SMILES lines."""

import csv
import re
from collections.abc import Sequence

from igsd.errors import enumerated

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


def rows_of_text(text: str) -> list[list[str]]:
    """Return the cells of every line of a table that is not empty and not a comment.

    The first line tells the separator: a tab, comma, semicolon or bar, otherwise blanks.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", "%"))]
    mark = next((mark for mark in "\t,;|" if lines and mark in lines[0]), None)
    if mark is None:
        return [line.split() for line in lines]
    rows = (next(csv.reader([line], delimiter=mark), []) for line in lines)
    return [[cell.strip() for cell in row] for row in rows]
