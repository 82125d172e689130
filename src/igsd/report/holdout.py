"""Scores over splits: the table of methods, their learning curves and reliability diagrams."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from igsd.errors import counted
from igsd.experiments.records import Record
from igsd.report.plots import Axes, Plot, Series, line_plot, panels
from igsd.report.summary import METRICS, Cell, difference, number, own_method, summarise
from igsd.report.tables import Column, Row, Table

COMPARED = "morgan"
"""The method that others are compared with, split by split, where it is among them."""

Judged = tuple[np.ndarray, np.ndarray]
"""What was predicted [n], and what came true [n]."""

_FEWEST = 30
"""Predictions that a bin of a reliability diagram needs."""

_MOST_BINS, _FEWEST_ALONE = 8, 8
"""Bins of the predictions of one run, and how many a bin needs: there are few labels."""


def shown_labels(labels: int) -> str:
    """Return a number of labels in words; 0 stands for all."""
    return counted(labels, "label") if labels else "all labels"


def holdout_cell(records: Sequence[Record], metric: str, labels: int) -> Cell:
    """Return the result of the method of these records with a number of labels."""
    return summarise(records, metric, labels=labels)


def holdout_table(
    title: str, found: Mapping[str, Sequence[Record]], metrics: Sequence[str], counts: Sequence[int]
) -> Table:
    """Return a row for each method, by title, and for each number of labels its metrics.

    The first metric is compared with that of ``COMPARED``: the mean difference over the splits of
    both, and its standard error.
    """
    base = next((r for r in found.values() if r and own_method(r[0]) == COMPARED), None)
    columns, rows = list[str](), list[Row]()
    for count in counts:
        for place, metric in enumerate(metrics):
            words = f", {shown_labels(count)}" if len(counts) > 1 else ""
            columns.append(METRICS[metric].title + words)
            columns += [f"minus {COMPARED}"] if base is not None and not place else []
    for name, records in found.items():
        cells: list[Cell | str] = []
        for count in counts:
            for place, metric in enumerate(metrics):
                cell = holdout_cell(records, metric, count)
                cells.append(cell)
                if base is not None and not place:
                    other = holdout_cell(base, metric, count)
                    cells.append("" if records is base else difference(cell, other).word)
        main = holdout_cell(records, metrics[0], counts[0])
        seconds = number(main.run_seconds, ".1f")
        rows.append(Row(name, (*cells, str(main.num_seeds or "-"), seconds)))
    return Table(title, tuple(map(Column, (*columns, "splits", "seconds"))), tuple(rows))


def learning_curves(cells: Mapping[str, Mapping[int, Cell]], *, title: str = "") -> Plot | None:
    """Return the means of methods over the number of labels; all labels stand at the right end."""
    counts = sorted({count for found in cells.values() for count in found}, key=_order)
    metric = next((c.metric for found in cells.values() for c in found.values()), None)
    if metric is None:
        return None
    x = [float(place) for place in range(len(counts))]
    series = [
        Series(
            name, x, [_mean(found.get(n)) for n in counts], [_error(found.get(n)) for n in counts]
        )
        for name, found in cells.items()
    ]
    names = [str(count) if count else "all" for count in counts]
    is_curve = len(counts) > 1
    axes = Axes("labels (bars: one standard error)", metric.axis, names=names, lines=is_curve)
    return line_plot(series, axes, notes=title)


def exhibit_curves(table: Table, kind: str) -> Plot | None:
    """Return the learning curves of a table of splits, a panel for each data set."""
    data = [place for place, column in enumerate(table.columns) if column.data]
    groups = [g for g in dict.fromkeys(row.group for row in table.rows) if g.startswith(kind)]
    drawn = []
    for place in data:
        series = []
        for title in dict.fromkeys(row.title for row in table.rows):
            by_group = {row.group: row.cells[place] for row in table.rows if row.title == title}
            cells: list[Any] = [by_group.get(group) for group in groups]
            y = [None if cell is None else cell.mean for cell in cells]
            if any(value is not None for value in y):
                series.append(Series(title, [float(i) for i in range(len(y))], y))
        if series:
            metric = next(
                c.metric
                for row in table.rows
                for c in [row.cells[place]]
                if isinstance(c, Cell) and c.mean is not None
            )
            names = [group.split(", ")[1].split()[0] for group in groups]
            axes = Axes("labels", metric.title, names=names, lines=True)
            drawn.append((table.columns[place].title, series, axes))
    return panels(drawn) if drawn else None


def reliability(found: Mapping[str, Sequence[Record]], labels: int) -> Plot | None:
    """Plot observed frequency against predicted probability.

    None without classes. Bins hold the predictions of all splits; those with few are left out.
    """
    series = []
    for name, records in found.items():
        rows = [row for r in records for row in r["rows"] if row.get("labels") == labels]
        if not rows or "calibration" not in rows[0]:
            continue
        count, p, events = np.array(rows[0]["calibration"])
        used = count >= _FEWEST
        x, y = p[used] / count[used], events[used] / count[used]
        series.append(Series(name, x.tolist(), y.tolist()))
    axes = Axes("predicted probability", "share that came true", diagonal=(0.0, 1.0))
    return line_plot(series, axes, size=(4.6, 4.2)) if series else None


def calibration_plot(
    judged: Mapping[str, Judged], x_title: str, y_title: str, *, are_events: bool
) -> Plot | None:
    """Return what came true over what was predicted, in bins of about equal size, by title.

    ``are_events``: probabilities of events, 0 or 1, instead of numbers. None if there are too few.
    """
    series = []
    for title, (x, y) in judged.items():
        num_bins = min(_MOST_BINS, len(x) // _FEWEST_ALONE)
        if num_bins < 2:
            continue
        bins, errors = np.array_split(np.argsort(x, kind="stable"), num_bins), []
        for rows in bins:
            # Of eight events that all came true it is not certain that the next will.
            share = (y[rows].sum() + 1) / (len(rows) + 2)
            spread = np.sqrt(share * (1 - share)) if are_events else y[rows].std(ddof=1)
            errors.append(float(spread / np.sqrt(len(rows))))
        at, heights = ([float(values[rows].mean()) for rows in bins] for values in (x, y))
        series.append(Series(title, at, heights, errors))
    if not series:
        return None
    points = [value for one in series for value in (*one.x, *one.y) if value is not None]
    ends = (0.0, 1.0) if are_events else (min(points), max(points))
    return line_plot(series, Axes(x_title, y_title, diagonal=ends), size=(4.6, 4.2))


def _order(count: int) -> float:
    return count or np.inf


def _mean(cell: Cell | None) -> float | None:
    return None if cell is None else cell.mean


def _error(cell: Cell | None) -> float | None:
    return None if cell is None else cell.standard_error
