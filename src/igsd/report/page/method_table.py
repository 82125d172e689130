"""``method_table``: methods on one data set side by side, every figure with its records."""

from __future__ import annotations

from collections.abc import Sequence

from igsd.evaluation import PROTOCOLS
from igsd.report.page.html import Html, joined, tag
from igsd.report.page.method_lines import MethodLine, method_lines
from igsd.report.page.record_groups import RecordGroup, anchor
from igsd.report.page.scroll import scroll_box

_AFTER = ("std over folds", "seeds", "seconds", "MiB")


def method_table(groups: Sequence[RecordGroup], about: str) -> Html:
    """Return a table of runs on the same data under one protocol, and what its columns say."""
    lines = method_lines(groups)
    are_errors = any(group.errors() for group in groups)
    first = "mean absolute error" if are_errors else "accuracy %"
    header = [tag("th", "method", scope="col", class_="left")]
    header += [tag("th", name, scope="col") for name in (first, *_AFTER)]
    rows = [tag("tr", tag("th", li.title, scope="row", class_="left"), *_cells(li)) for li in lines]
    body = tag("tbody", *rows)
    table = tag("table", tag("thead", tag("tr", *header)), body, class_="results")
    note = tag("p", " ".join(_notes(groups[0].protocol, lines, first)), class_="note")
    return joined(scroll_box(table, about), note)


def _cells(line: MethodLine) -> list[Html]:
    """Return the figures of a line, each a link to its records."""
    link = f"#{anchor(line.place)}"
    return [
        tag("td", tag("a", text, href=link) if text not in ("", "-") else text, class_="result")
        for text in (*line.figures, *line.costs)
    ]


def _notes(protocol: str, lines: Sequence[MethodLine], first: str) -> list[str]:
    """Return what a reader must know of the columns."""
    what = {"accuracy %": "Accuracy in per cent"}.get(first, first.capitalize())
    notes = [f"{what}: mean over seeds, and standard deviation where there are two (ddof 0)."]
    taken = "to train on a split and to score it"
    if protocol in PROTOCOLS:
        taken = "to fit a method and to represent all graphs; scoring is not in it"
    notes.append(f"Seconds: the mean time {taken}.")
    if any(line.costs[1] not in ("", "-") for line in lines):
        notes.append("MiB: the most memory its process held, Python and its libraries included.")
    if any(line.costs[0] == "" and line.figures[2] != "-" for line in lines):
        inside = "inside the runs of a method, on the same folds, and lead to its records."
        notes.append(f"Rows without seconds were scored {inside}")
    return [*notes, "Figures lead to their records."]
