"""``figure_section``: a figure of the paper from our records, and its figures in a table."""

from __future__ import annotations

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
    axes = ChartAxes(figure.x_title, figure.y_title, figure.log_x, names)
    chart = line_chart([_chart_series(one, x) for one in figure.series], axes, figure.title)
    return tag(
        "section",
        tag("h2", figure.title),
        tag("p", figure.about),
        tag("figure", chart, class_="wide"),
        scroll_box(_figures(figure), f"{figure.title}, the figures"),
        tag("p", f"{figure.source}.", class_="source"),
        id=figure.name,
    )


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
