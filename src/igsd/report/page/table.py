"""``table_section``: a table of the paper with our results beside it."""

from __future__ import annotations

from collections.abc import Sequence

from igsd.report.page.cell import result_cell
from igsd.report.page.html import Html, joined, tag
from igsd.report.page.scroll import scroll_box
from igsd.report.paper_table import PaperRow, PaperTable, run_part


def table_section(table: PaperTable) -> Html:
    """Return the section of a table: what it shows, the table, and where the paper's stands.

    Rows and columns of which nothing was run are named below it.
    """
    table, left = run_part(table)
    width = 1 + len(table.columns)
    header = [tag("th", "method", scope="col", class_="left")]
    header += [tag("th", column.title, scope="col") for column in table.columns]
    statistics = [
        tag("tr", tag("th", title, scope="row", class_="left"), *(tag("td", t) for t in texts))
        for title, texts in table.statistics
    ]
    head = tag("thead", tag("tr", *header), *statistics)
    whole = tag("table", head, *_bodies(table.rows, width), class_="results")
    return tag(
        "section",
        tag("h2", table.title),
        tag("p", table.about),
        scroll_box(whole, table.title),
        tag("p", _not_run(left, table.name), class_="note") if left else None,
        tag("p", f"{table.source}.", class_="source"),
        id=table.name,
    )


def _not_run(titles: Sequence[str], name: str) -> Html:
    named = "; ".join(titles)
    return joined(f"Of these nothing is run: {named}. ", tag("code", f"igsd reproduce {name}"))


def _bodies(rows: Sequence[PaperRow], width: int) -> list[Html]:
    """Return the rows, those under one heading together."""
    bodies: list[Html] = []
    lines: list[Html] = []
    group = None
    for row in rows:
        if row.group != group and row.group:
            bodies.append(tag("tbody", *lines))
            lines = [
                tag("tr", tag("th", row.group, colspan=width, scope="colgroup"), class_="group")
            ]
        group = row.group
        title = tag("th", row.title, scope="row", class_="left")
        lines.append(tag("tr", title, *(result_cell(cell) for cell in row.cells)))
    return [*bodies, tag("tbody", *lines)]
