"""``other_section``: records of data sets, methods and protocols that the paper does not have."""

from __future__ import annotations

from collections.abc import Iterable

from igsd.experiments.exhibit import data_facts
from igsd.report.page.html import Html, tag
from igsd.report.page.method_table import method_table
from igsd.report.page.record_groups import RecordGroup


def other_section(groups: Iterable[RecordGroup], shown: set[str]) -> Html | None:
    """Return a table for each data set and protocol that no table of the paper covers.

    ``shown``: the places of the groups that the tables and figures have. Of a data set that is not
    the paper's, all groups are listed, so that its methods stand side by side. None without any.
    """
    chosen: dict[tuple[str, str], list[RecordGroup]] = {}
    for group in groups:
        if group.data not in data_facts() or group.place not in shown:
            chosen.setdefault((group.data, group.protocol), []).append(group)
    if not chosen:
        return None
    parts = [
        tag("div", tag("h3", title), method_table(found, title))
        for (data, protocol), found in sorted(chosen.items())
        for title in (f"{data}, protocol {protocol}",)
    ]
    return tag(
        "section",
        tag("h2", "Other data"),
        tag("p", "Records that belong to none of the tables and figures of the paper."),
        *parts,
        id="other",
    )
