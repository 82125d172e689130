"""``figure_section``: a figure of the paper from our records, and its figures in a table."""

from __future__ import annotations

from collections.abc import Sequence

from igsd.report.page.cell import result_cell
from igsd.report.page.chart import ChartAxes, ChartSeries, line_chart
from igsd.report.page.html import Html, tag
from igsd.report.page.record_groups import anchor
from igsd.report.page.scroll import scroll_box
from igsd.report.paper_figure import PaperFigure, Series


def figure_section(figure: PaperFigure) -> Html:
    """Return the section of a figure: the chart with one deviation up and down, and a table."""
    is_named = any(isinstance(value, str) for value in figure.x)
    x = [float(i) if is_named else float(value) for i, value in enumerate(figure.x)]
    names = [str(value) for value in figure.x] if is_named else []
    level = None if figure.baseline is None else 1.0
    axes = ChartAxes(figure.x_title, figure.y_title, figure.log_x, names, level)
    drawn = [one for one in figure.series if one.method != figure.baseline]
    chart = line_chart([_chart_series(one, x) for one in drawn], axes, figure.title)
    remarks = _remarks(figure, drawn)
    return tag(
        "section",
        tag("h2", figure.title),
        tag("p", figure.about),
        tag("figure", chart, class_="wide"),
        tag("p", " ".join(remarks), class_="note") if remarks else None,
        scroll_box(_figures(figure), f"{figure.title}, the figures"),
        tag("p", f"{figure.source}.", class_="source"),
        id=figure.name,
    )


def _remarks(figure: PaperFigure, drawn: Sequence[Series]) -> list[str]:
    """Return what a reader of the chart must know of its line and its bars, if there is one."""
    points = [cell for one in drawn for cell in one.cells if cell.mean is not None]
    if not points:
        return []
    remarks = ["Bars: one standard deviation."]
    if any(cell.std is None for cell in points):
        remarks.append("Points without one are of one seed, which has no deviation.")
    remarks += [f"The line at 1: {s.title}." for s in figure.series if s.method == figure.baseline]
    return remarks


def _chart_series(one: Series, x: list[float]) -> ChartSeries:
    return ChartSeries(
        one.title,
        x,
        [cell.mean for cell in one.cells],
        [cell.std for cell in one.cells],
        [f"#{anchor(cell.records[0])}" if cell.records else None for cell in one.cells],
    )


def _figures(figure: PaperFigure) -> Html:
    """Return the figures behind the chart, with links to their records."""
    header = [tag("th", figure.x_title, scope="col", class_="left")]
    header += [tag("th", value, scope="col") for value in figure.x]
    rows = [
        tag(
            "tr",
            tag("th", one.title, scope="row", class_="left"),
            *(result_cell(cell) for cell in one.cells),
        )
        for one in figure.series
    ]
    return tag("table", tag("thead", tag("tr", *header)), tag("tbody", *rows), class_="results")
