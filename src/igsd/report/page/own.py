"""``own_section``: all methods that were run on a data set of the user's, as table and picture."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from igsd.experiments.rows import Row
from igsd.experiments.scoring import Scoring
from igsd.report.comparison import Comparison, ComparisonLine, comparison_line
from igsd.report.comparison_plot import comparison_svg
from igsd.report.page.html import Html, tag
from igsd.report.page.inline_svg import inline_svg
from igsd.report.page.method_table import method_table
from igsd.report.page.record_groups import RecordGroup
from igsd.report.page.scroll import scroll_box


def own_section(data: str, groups: Sequence[RecordGroup], name: str) -> Html:
    """Return the section of a data set: for each protocol a table and the picture of `compare`.

    ``name``: the identifier of the section.
    """
    parts = []
    for protocol, found in groupby(groups, key=lambda group: group.protocol):
        runs = sorted(found, key=lambda group: group.order)
        title = f"Protocol {protocol}"
        about = f"{data}, protocol {protocol}"
        picture = _picture(data, runs, about, f"{name}-{protocol}")
        parts += [tag("h3", title), method_table(runs, about), picture]
    return tag("section", tag("h2", data), *parts, id=name)


def compare_groups(data: str, groups: Sequence[RecordGroup]) -> Comparison:
    """Return the comparison of the runs of groups, which were scored by the same protocol."""
    first = groups[0].records[0]
    scoring = Scoring(first["protocol"]["name"], twins=bool(first["protocol"].get("twins")))
    lines = [comparison_line(group.title, _runs(group)) for group in groups]
    num_seeds = max(len(group.good) for group in groups)
    shared = [r for g in groups for r in g.rows() if r.method == "majority"]
    longest: dict[str, Row] = {}
    for row in sorted(shared, key=lambda row: len(row.results)):
        longest[row.protocol] = row
    majority = ComparisonLine("majority", longest)
    return Comparison(data, scoring, tuple(lines), majority, num_seeds, first["data"])


def _runs(group: RecordGroup) -> list[dict[str, object]]:
    return [*group.good, *(record for record in group.records if record["status"] != "ok")]


def _picture(data: str, groups: Sequence[RecordGroup], about: str, name: str) -> Html | None:
    """Return the picture of accuracies, None where there are none."""
    if any(group.errors() for group in groups):
        return None
    comparison = compare_groups(data, groups)
    if not comparison.has_scores():
        return None
    drawn = inline_svg(comparison_svg(comparison), f"{about} as a picture", name)
    return tag("figure", scroll_box(drawn, f"{about}, the picture"), class_="picture")
