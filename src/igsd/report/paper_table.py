"""``table``: a table of the paper filled from records, ours beside its."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from igsd.errors import ConfigError
from igsd.experiments.exhibit import Exhibit, data_facts, read_exhibit, short_name
from igsd.experiments.runs import unknown_data
from igsd.report.line_cells import line_cells
from igsd.report.paired_cells import paired_lines
from igsd.report.paper_cell import NONE, NOT_RUN, PaperCell
from igsd.report.record_folder import RecordFolder


@dataclass(frozen=True)
class Column:
    """A column: one data set under one protocol, titled as the paper does."""

    data: str
    protocol: str
    title: str


@dataclass(frozen=True)
class PaperRow:
    """A row of a table; ``group`` is the heading it stands under, ``method`` what was run.

    ``is_difference``: whether it holds other rows against each other.
    """

    title: str
    group: str
    method: str
    cells: tuple[PaperCell, ...]
    is_difference: bool = False


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper with our results.

    ``statistics``: (title, text for each column) of the data sets, empty for most tables.
    ``about`` says what the figures are, ``source`` where those of others stand.
    """

    name: str
    title: str
    about: str
    source: str
    columns: tuple[Column, ...]
    rows: tuple[PaperRow, ...]
    statistics: tuple[tuple[str, tuple[str, ...]], ...] = ()


def table(
    name: str, records: str | os.PathLike[str], data: Sequence[str] | None = None
) -> PaperTable:
    """Return a table of the paper by its name, e.g. ``table-1``, filled from a folder of records.

    ``data``: names of data sets for the columns in place of the table's own. A folder that does
    not exist gives a table in which nothing was run; a file that is no record is warned of and left
    out. Raises ``ConfigError`` for a name that is no table.
    """
    exhibit = read_exhibit(name)
    if exhibit.axis is not None:
        raise ConfigError(f"{name!r} is a figure. Use figure({name!r}, ...).")
    return fill_table(exhibit, RecordFolder(Path(records)), data)


def fill_table(
    exhibit: Exhibit, folder: RecordFolder, data: Sequence[str] | None = None
) -> PaperTable:
    """Return the table of an exhibit from a folder of records."""
    columns = tuple(_columns(exhibit, data if data is not None else _data(exhibit, folder.path)))
    rows = tuple(
        PaperRow(
            line.title,
            line.group,
            line.method,
            tuple(
                line_cells(exhibit, line, column.data, column.protocol, folder)[0]
                for column in columns
            ),
        )
        for line in exhibit.lines
    )
    rows += tuple(_paired_rows(exhibit, rows, columns))
    statistics = tuple(_statistics(columns)) if exhibit.statistics else ()
    about = (exhibit.name, exhibit.title, exhibit.about, exhibit.source)
    return PaperTable(*about, columns, rows, statistics)


def run_part(table: PaperTable) -> tuple[PaperTable, list[str]]:
    """Return the rows and columns of which anything was run, and the titles of the others.

    Differences of rows stand or fall with their columns.
    """
    own = [row for row in table.rows if not row.is_difference]
    rows = [row for row in table.rows if row.is_difference or any(map(_was_run, row.cells))]
    kept = [i for i in range(len(table.columns)) if any(_was_run(row.cells[i]) for row in own)]
    left = [column.title for i, column in enumerate(table.columns) if i not in kept]
    left += [row.title for row in own if row not in rows]
    part = replace(
        table,
        columns=tuple(table.columns[i] for i in kept),
        rows=tuple(replace(row, cells=tuple(row.cells[i] for i in kept)) for row in rows),
        statistics=tuple(
            (title, tuple(texts[i] for i in kept)) for title, texts in table.statistics
        ),
    )
    return part, left


def _was_run(cell: PaperCell) -> bool:
    return cell.status not in (NOT_RUN, NONE)


def _paired_rows(
    exhibit: Exhibit, rows: Sequence[PaperRow], columns: Sequence[Column]
) -> Iterator[PaperRow]:
    """Yield the rows in which one method is held against others, seed by seed."""
    own = {
        line.method: row
        for line, row in zip(exhibit.lines, rows, strict=True)
        if line.shows == line.method
    }
    cells = {method: row.cells for method, row in own.items()}
    for other, made in paired_lines(exhibit, cells, [column.protocol for column in columns]):
        group = f"{own[exhibit.compared].title} less"
        yield PaperRow(f"... {own[other].title}", group, exhibit.compared, made, True)


def _data(exhibit: Exhibit, records: Path) -> list[str]:
    """Return the data sets of a table, with those of the user where it is open to them."""
    return [*exhibit.data, *(unknown_data(exhibit, records) if exhibit.other_data else ())]


def _columns(exhibit: Exhibit, data: Sequence[str]) -> list[Column]:
    only = len(exhibit.shown) == 1
    return [
        Column(name, protocol, short_name(name) if only else f"{short_name(name)}, {protocol}")
        for name in data
        for protocol in exhibit.shown
    ]


def _statistics(columns: Sequence[Column]) -> list[tuple[str, tuple[str, ...]]]:
    """Return what the paper's table says of the data sets, above its methods."""
    facts = [data_facts().get(column.data) for column in columns]
    counts = {"graphs": "graphs", "classes": "classes", "nodes": "nodes in the mean"}
    return [
        (title, tuple("" if f is None else str(getattr(f, key)) for f in facts))
        for key, title in counts.items()
    ]
