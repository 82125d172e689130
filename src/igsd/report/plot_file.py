"""``plot_file``: a chart as an SVG file of its own, with its legend and its remarks in it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence

from igsd.report.page.assets import asset
from igsd.report.page.chart import HEIGHT, WIDTH, ChartAxes, ChartSeries, chart_parts
from igsd.report.page.html import Html, joined, tag
from igsd.report.page.marks import NUM_STYLES, mark

_MARGIN, _LINE = 14.0, 19.0
_LETTERS = 72
"""How many letters of a remark stand in a line."""


def plot_file(
    series: Sequence[ChartSeries], axes: ChartAxes, about: str, remarks: Sequence[str] = ()
) -> str:
    """Return an SVG file: the chart, below it the legend and ``remarks``, on a ground of its own.

    ``about`` is what a reader who cannot see it is told. The same input gives the same bytes.
    """
    lines = [line for remark in remarks for line in textwrap.wrap(remark, _LETTERS)]
    foot = HEIGHT + _LINE * math.ceil(len(series) / 2)
    height = foot + _LINE * len(lines) + _MARGIN
    nothing = _text("Nothing of this is run yet.", _MARGIN, HEIGHT / 2)
    drawing = tag(
        "svg",
        tag("title", about),
        tag("style", asset("colours.css", "plot.css", "series.css")),
        tag("rect", width=f"{WIDTH:.0f}", height=f"{height:.0f}", class_="back"),
        chart_parts(series, axes) or nothing,
        _legend(series),
        *(_text(line, _MARGIN, foot + _LINE * (row + 0.7)) for row, line in enumerate(lines)),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {WIDTH:.0f} {height:.0f}",
        width="784",
        role="img",
    )
    return f"{drawing}\n"


def _legend(series: Sequence[ChartSeries]) -> Html:
    """Return the marks with their titles, in two columns."""
    entries = []
    for place, one in enumerate(series):
        x, y = _MARGIN + WIDTH / 2 * (place % 2), HEIGHT + _LINE * (place // 2 + 0.7)
        shape = tag("path", d=mark(place, x + 6, y - 4, 4.2), class_="mark")
        entries += [tag("g", shape, class_=f"s{place % NUM_STYLES}"), _text(one.title, x + 20, y)]
    return joined(*entries)


def _text(text: str, x: float, y: float) -> Html:
    return tag("text", text, x=f"{x:.1f}", y=f"{y:.1f}")
