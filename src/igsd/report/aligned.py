"""Texts as an aligned table on standard output."""

import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from igsd.progress import printable, raw

_NARROWEST = 12
_NAMES = ("class", "id", "name")


def plain_table(
    header: Sequence[str],
    lines: Sequence[Sequence[str]],
    title: str = "",
    left: Sequence[int] = (0,),
) -> str:
    """Return texts as an aligned table, columns two spaces apart; ``left``: columns flush left."""
    columns = [*zip(header, *lines, strict=True)]
    padded = []
    for place, column in enumerate(columns):
        side, width = "<" if place in left else ">", max(map(len, column))
        padded.append([f"{cell:{side}{width}}" for cell in column])
    texts = ["  ".join(cells).rstrip() for cells in zip(*padded, strict=True)]
    return "\n".join([title] * bool(title) + texts)


def print_table(
    header: Sequence[str],
    lines: Sequence[Sequence[str]],
    title: str = "",
    left: Sequence[int] = (0,),
) -> None:
    """Print texts as a table to standard output, on a terminal with lines around it.

    Where a terminal is too narrow, the lines go, and headings and columns flush left are broken;
    numbers are not, unless nothing would be left for the names. No letter is cut off.
    """
    if not sys.stdout.isatty():
        print(plain_table(header, lines, title, left))
        return
    from rich import box, console, table

    # The names of graphs and classes are the user's: brackets in them are not markup.
    terminal = console.Console(file=raw(sys.stdout), markup=False)
    columns = [[printable(cell) for cell in column] for column in zip(header, *lines, strict=True)]
    width = sum(max(map(len, column)) + 3 for column in columns) + 1
    is_wide = width <= terminal.width
    look: Any = {} if is_wide else {"box": box.SIMPLE_HEAD, "padding": (0, 1), "pad_edge": False}
    shown = table.Table(title=printable(title) or None, title_justify="left", **look)
    widths = [max(map(len, (*name.split(), *cells, " "))) for name, *cells in columns]
    room = terminal.width - sum(w + 3 for i, w in enumerate(widths) if i not in left)
    for place, (name, *_) in enumerate(columns):
        is_left = place in left
        heading = name if is_wide or is_left else "\n".join(textwrap.wrap(name, widths[place]))
        side: Any = {"justify": "left" if is_left else "right", "overflow": "fold"}
        is_whole = not is_left and room >= _NARROWEST * len(left)
        shown.add_column(heading, **side, no_wrap=is_whole)
    for line in zip(*(cells for _, *cells in columns), strict=True):
        shown.add_row(*line)
    terminal.print(shown)


def print_rows(
    rows: Sequence[Mapping[str, Any]], title: str, left: Sequence[int] | None = None
) -> None:
    """Print rows with the same keys as a table, numbers that are not whole with three decimals.

    ``left``: columns flush left, by default names, ids and classes.
    """
    header = list(rows[0]) if rows else ["graph"]
    if left is None:
        left = [place for place, key in enumerate(header) if key in _NAMES]
    print_table(header, [[_cell(value) for value in row.values()] for row in rows], title, left)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "-" if value is None else str(value)
