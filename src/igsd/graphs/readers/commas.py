"""Commas in numbers of a table: decimal commas, or thousands."""

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
