"""Tables on a terminal, and as plain aligned text everywhere else."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from igsd.experiments.rows import Row
from igsd.report.result_cell import per_cent


def print_table(
    header: Sequence[str],
    lines: Sequence[Sequence[str]],
    title: str = "",
    left: Sequence[int] = (0,),
) -> None:
    """Print a table to standard output; columns ``left`` are flush left, the others right."""
    if not sys.stdout.isatty():
        print(plain_table(header, lines, title, left))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    for position, name in enumerate(header):
        table.add_column(name, justify="left" if position in left else "right")
    for line in lines:
        table.add_row(*line)
    # Names of graphs and classes are the user's: brackets in them are no markup.
    Console(markup=False).print(table)


def plain_table(
    header: Sequence[str],
    lines: Sequence[Sequence[str]],
    title: str = "",
    left: Sequence[int] = (0,),
) -> str:
    """Return the table as text, columns two spaces apart."""
    widths = [max(map(len, column)) for column in zip(header, *lines, strict=True)]
    texts = [title] if title else []
    for line in (header, *lines):
        cells = [
            cell.ljust(width) if position in left else cell.rjust(width)
            for position, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        texts.append("  ".join(cells).rstrip())
    return "\n".join(texts)


def print_scores(rows: Sequence[Row], beside: Sequence[Row] = (), title: str = "") -> None:
    """Print the rows of a score in per cent; ``beside``: the honest rows of an optimistic one."""
    if not beside:
        header = ["method", "accuracy %", "std over seeds", "std over folds"]
        lines = [[row.method, *_cells(row)] for row in rows]
    else:
        header = ["method", "nested %", "std over seeds", "std over folds"]
        header += ["paper % (optimistic)", "std over seeds", "std over folds"]
        lines = [
            [row.method, *_cells(honest), *_cells(row)]
            for row, honest in zip(rows, beside, strict=True)
        ]
    print_table(header, lines, title)


def _cells(row: Row) -> list[str]:
    return [per_cent(share) for share in (row.mean, row.std_over_seeds, row.std_over_folds)]
