"""``figure``: a figure of the paper filled from records."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.errors import ConfigError
from igsd.experiments.exhibit import Exhibit, read_exhibit
from igsd.report.line_cells import line_cells
from igsd.report.paper_cell import PaperCell
from igsd.report.record_folder import RecordFolder


@dataclass(frozen=True)
class Series:
    """A line of a figure: one cell for each value of x, under one protocol."""

    title: str
    method: str
    protocol: str
    cells: tuple[PaperCell, ...]


@dataclass(frozen=True)
class PaperFigure:
    """A figure of the paper with our results: ``series`` over the values ``x``.

    ``baseline``: the method to which the others are ratios, if they are.
    """

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
    baseline: str | None = None


def figure(name: str, records: str | os.PathLike[str]) -> PaperFigure:
    """Return a figure of the paper by its name, e.g. ``figure-labels``; otherwise as ``table``."""
    exhibit = read_exhibit(name)
    if exhibit.axis is None:
        raise ConfigError(f"{name!r} is a table. Use table({name!r}, ...).")
    return fill_figure(exhibit, RecordFolder(Path(records)))


def fill_figure(exhibit: Exhibit, folder: RecordFolder) -> PaperFigure:
    """Return the figure of an exhibit from a folder of records."""
    axis, data = exhibit.axis, exhibit.data[0]
    if axis is None:
        raise ConfigError(f"{exhibit.name!r} has no axis, so it is no figure.")
    series = []
    for protocol in exhibit.shown:
        for line in exhibit.lines:
            title = line.title if len(exhibit.shown) == 1 else f"{line.title}, {protocol}"
            cells = tuple(line_cells(exhibit, line, data, protocol, folder))
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
        exhibit.baseline,
    )
