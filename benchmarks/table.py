"""The rows as a table: aligned text for the terminal, Markdown for the documentation."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.row import Row
from igsd.report.aligned import plain_table

HEADER = ("what / against what", "data", "ours", "theirs", "unit", "ratio", "bar", "result")
LEFT = (0, 1, 4, 7)


def text_table(rows: Sequence[Row]) -> str:
    """Return the table, and below it what each row compared."""
    lines = [_cells(row) for row in rows]
    notes = [f"{row.name}, {row.data}: {row.note}" for row in rows if row.note]
    return "\n".join([plain_table(HEADER, lines, left=LEFT), "", *notes])


def markdown_table(rows: Sequence[Row]) -> str:
    """Return the table in Markdown, the notes in its last column."""
    lines = ["| " + " | ".join((*HEADER, "what was run and compared")) + " |"]
    rules = [":---" if position in LEFT else "---:" for position in range(len(HEADER))]
    lines.append("| " + " | ".join((*rules, ":---")) + " |")
    for row in rows:
        cells = (*_cells(row), row.note)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines)


def _cells(row: Row) -> list[str]:
    if row.ratio is None:
        return [row.name, row.data, "-", "-", "-", "-", "-", row.status]
    sign = "at most" if row.at_most else "at least"
    bar = "-" if row.bar is None else f"{sign} {row.bar:g}"
    return [
        row.name,
        row.data,
        number(row.ours),
        number(row.theirs),
        row.unit,
        f"{row.ratio:.2f}",
        bar,
        row.status,
    ]


def number(value: float | None) -> str:
    """Return a number with three digits that count, whole from 100 up.

    >>> [number(x) for x in (0.01234, 1.234, 45.67, 12345.6, None)]
    ['0.0123', '1.23', '45.7', '12346', '-']
    """
    if value is None:
        return "-"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:#.3g}"
