"""``table`` and ``figure``: the paper's tables and figures filled from records, ours beside its."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from igsd.errors import ConfigError
from igsd.experiments.exhibit import (
    TARGETS,
    Exhibit,
    Line,
    Printed,
    data_facts,
    read_exhibit,
    short_name,
)
from igsd.experiments.qm9_table import error_ratios, errors_by_split
from igsd.experiments.runs import Run, points, recipe_of, unknown_data
from igsd.report.paper_cell import (
    PaperCell,
    RecordFolder,
    accuracies,
    fresh,
    make_cell,
)


@dataclass(frozen=True)
class Column:
    """A column: one data set under one protocol, titled as the paper does."""

    data: str
    protocol: str
    title: str


@dataclass(frozen=True)
class PaperRow:
    """A row of a table; ``group`` is the heading it stands under, ``method`` what was run."""

    title: str
    group: str
    method: str
    cells: tuple[PaperCell, ...]


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper with our results.

    ``statistics``: (title, text for each column) of the data sets, empty for most tables.
    ``about`` says what the figures are, ``source`` where the paper's stand.
    """

    name: str
    title: str
    about: str
    source: str
    columns: tuple[Column, ...]
    rows: tuple[PaperRow, ...]
    statistics: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True)
class Series:
    """A line of a figure: one cell for each value of x, under one protocol."""

    title: str
    method: str
    protocol: str
    cells: tuple[PaperCell, ...]


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper with our results: ``series`` over the values ``x``."""

    name: str
    title: str
    about: str
    source: str
    data: str
    x_title: str
    y_title: str
    x: tuple[Any, ...]
    log_x: bool
    series: tuple[Series, ...]


def table(
    name: str, records: str | os.PathLike[str], data: Sequence[str] | None = None
) -> PaperTable:
    """Return a table of the paper by its name, e.g. ``table-1``, filled from a folder of records.

    ``data``: names of data sets for the columns in place of the table's own. A folder that does
    not exist gives a table in which nothing was run. Raises ``ConfigError`` for a name that is no
    table, ``StorageError`` where something else stands in the place of a record.
    """
    exhibit = read_exhibit(name)
    if exhibit.axis is not None:
        raise ConfigError(f"{name!r} is a figure. Use figure({name!r}, ...).")
    return fill_table(exhibit, Path(records), data)


def figure(name: str, records: str | os.PathLike[str]) -> PaperFigure:
    """Return a figure of the paper by its name, e.g. ``figure-labels``; otherwise as ``table``."""
    exhibit = read_exhibit(name)
    if exhibit.axis is None:
        raise ConfigError(f"{name!r} is a table. Use table({name!r}, ...).")
    return fill_figure(exhibit, Path(records))


def fill(exhibit: Exhibit, records: Path) -> PaperTable | PaperFigure:
    """Return the table or figure of an exhibit from a folder of records."""
    return fill_figure(exhibit, records) if exhibit.axis else fill_table(exhibit, records)


def fill_table(exhibit: Exhibit, records: Path, data: Sequence[str] | None = None) -> PaperTable:
    """Return the table of an exhibit from a folder of records."""
    columns = tuple(_columns(exhibit, data if data is not None else _data(exhibit, records)))
    folder = RecordFolder(records)
    rows = tuple(
        PaperRow(
            line.title,
            line.group,
            line.method,
            tuple(_cells(exhibit, line, column, folder)[0] for column in columns),
        )
        for line in exhibit.lines
    )
    statistics = tuple(_statistics(columns)) if exhibit.statistics else ()
    about = (exhibit.name, exhibit.title, exhibit.about, exhibit.source)
    return PaperTable(*about, columns, rows, statistics)


def fill_figure(exhibit: Exhibit, records: Path) -> PaperFigure:
    """Return the figure of an exhibit from a folder of records."""
    axis, data = exhibit.axis, exhibit.data[0]
    if axis is None:
        raise ConfigError(f"{exhibit.name!r} has no axis, so it is no figure.")
    series, folder = [], RecordFolder(records)
    for protocol in exhibit.shown:
        for line in exhibit.lines:
            title = line.title if len(exhibit.shown) == 1 else f"{line.title}, {protocol}"
            cells = tuple(_cells(exhibit, line, Column(data, protocol, ""), folder))
            series.append(Series(title, line.method, protocol, cells))
    return PaperFigure(
        exhibit.name,
        exhibit.title,
        exhibit.about,
        exhibit.source,
        data,
        axis.title,
        "accuracy in per cent" if exhibit.baseline is None else "error ratio",
        axis.values,
        axis.log,
        tuple(series),
    )


def _cells(exhibit: Exhibit, line: Line, column: Column, records: RecordFolder) -> list[PaperCell]:
    """Return the cells of a line in one column: one for each of its points."""
    recipe = recipe_of(column.data, records.path, exhibit.protocol)
    printed = line.printed.get(column.data) if column.protocol == exhibit.printed_under else None
    about: dict[str, Any] = {"wanted": exhibit.num_seeds(column.data), "spread": exhibit.spread}
    cells = []
    for run in points(exhibit, line, column.data, recipe):
        found = records.of(run)
        if exhibit.axis is not None and exhibit.axis.varies == TARGETS:
            return _ratios(exhibit, run, records, about)
        values = {r["seed"]: accuracies(r, line.shows, column.protocol) for _, r in found}
        known = {seed: folds for seed, folds in values.items() if folds is not None}
        cells.append(make_cell(found, run, known, printed=printed, **about))
    return cells


def _ratios(
    exhibit: Exhibit, run: Run, records: RecordFolder, about: Mapping[str, Any]
) -> list[PaperCell]:
    """Return the cells of a method in figure-qm9: its errors over those of the baseline."""
    base = replace(run, method=str(exhibit.baseline))
    # A ratio of two versions of the algorithm would mean nothing.
    others = errors_by_split([r for _, r in fresh(records.of(base))], base.method)
    own = errors_by_split([r for _, r in records.of(run)], run.method)
    return [
        make_cell(
            records.of(run),
            run,
            {seed: [ratio] for seed, ratio in error_ratios(own, others, target).items()},
            digits=2,
            **about,
        )
        for target in (exhibit.axis.values if exhibit.axis else ())
    ]


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


__all__ = [
    "Column",
    "PaperCell",
    "PaperFigure",
    "PaperRow",
    "PaperTable",
    "Printed",
    "Series",
    "figure",
    "fill",
    "fill_figure",
    "fill_table",
    "table",
]
