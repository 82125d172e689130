"""``result_plots``: the README's plots of the two main tables, made from the records of runs."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from igsd.experiments.exhibit import Printed, short_name
from igsd.report.page.chart import ChartAxes, ChartSeries
from igsd.report.paper_cell import PaperCell
from igsd.report.paper_table import PaperTable, table
from igsd.report.plot_file import plot_file

OURS, FLOORS = "IGSD", ("untrained encoder", "histogram")
HONEST = "semi"
"""The protocol of Table 2 that chooses no epoch on the test part."""

Rows = Mapping[str, Sequence[PaperCell]]


@dataclass(frozen=True)
class ResultPlot:
    """A plot: the name of its file, what a reader who cannot see it is told, and its SVG."""

    name: str
    about: str
    svg: str


def result_plots(records: str | os.PathLike[str]) -> list[ResultPlot]:
    """Return the plots of Table 1 and Table 2 from a folder of records."""
    return [plot_table_1(table("table-1", records)), plot_table_2(table("table-2", records))]


def plot_table_1(shown: PaperTable) -> ResultPlot:
    """Return the plot of IGSD on each data set: ours, the paper's and the floors."""
    rows = {row.title: row.cells for row in shown.rows if row.title in (OURS, *FLOORS)}
    ours, *floors = [_series(title, rows[title]) for title in (OURS, *FLOORS)]
    printed = [cell.printed or Printed() for cell in rows[OURS]]
    means, stds = [one.mean for one in printed], [one.std for one in printed]
    paper = ChartSeries(f"{OURS}, as the paper printed it", ours.x, means, stds)
    names = [column.title for column in shown.columns]
    about = f"Table 1 as a plot: {OURS} without labels, ours and the paper's, and its floors"
    return _plot(shown.name, about, [ours, paper, *floors], names, rows)


def plot_table_2(shown: PaperTable) -> ResultPlot:
    """Return the plot of the paper's methods for few labels, by the protocol without hindsight."""
    places = [i for i, column in enumerate(shown.columns) if column.protocol == HONEST]
    names = [short_name(shown.columns[i].data) for i in places]
    rows = {
        row.title: [row.cells[i] for i in places]
        for row in shown.rows
        if any(cell.printed for cell in row.cells)
    }
    drawn = [_series(title, cells) for title, cells in rows.items() if _has_value(cells)]
    about = "Table 2 as a plot: methods with 5 % of the labels, accuracy after the last epoch"
    return _plot(shown.name, about, drawn, names, rows)


def _plot(
    name: str, about: str, series: Sequence[ChartSeries], names: Sequence[str], rows: Rows
) -> ResultPlot:
    about = f"{about}, on {', '.join(names)}"
    axes = ChartAxes("mean and one standard deviation", "accuracy in per cent", names=names)
    return ResultPlot(f"{name}.svg", about, plot_file(series, axes, about, _remarks(rows, names)))


def _series(title: str, cells: Sequence[PaperCell]) -> ChartSeries:
    places = [float(i) for i in range(len(cells))]
    return ChartSeries(title, places, [c.mean for c in cells], [c.std for c in cells])


def _has_value(cells: Sequence[PaperCell]) -> bool:
    return any(cell.mean is not None for cell in cells)


def _remarks(rows: Rows, names: Sequence[str]) -> list[str]:
    """Return what is missing in a plot or qualifies it, e.g. ``not run: GIN on NCI1, COLLAB``."""
    found: dict[str, list[str]] = {}
    for title, cells in rows.items():
        places: dict[str, list[str]] = {}
        for name, cell in zip(names, cells, strict=True):
            for word in [cell.word] * (cell.mean is None) + list(cell.notes):
                places.setdefault(word, []).append(name)
        for word, where in places.items():
            on = "" if len(where) == len(names) else f" on {', '.join(where)}"
            found.setdefault(word, []).append(title + on)
    return [f"{word}: {'; '.join(whom)}" for word, whom in found.items()]
