"""``other_section``: records of data sets, methods and protocols that the paper does not have."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from igsd.experiments.estimates import run_seconds
from igsd.experiments.exhibit import data_facts
from igsd.experiments.rows import Row
from igsd.report.page.cell import seconds_text
from igsd.report.page.html import Html, tag
from igsd.report.page.record_groups import RecordGroup, anchor
from igsd.report.page.scroll import scroll_table
from igsd.report.result_cell import per_cent

_ACCURACY, _ERROR = "accuracy %", "mean absolute error"
_SHARED = ("majority", "mean")
"""Rows that every run on the same data has alike; a table shows them once."""
_AFTER = ("std over seeds", "std over folds", "seeds", "time", "MiB")


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
    parts = [_table(data, protocol, found) for (data, protocol), found in sorted(chosen.items())]
    return tag(
        "section",
        tag("h2", "Other data"),
        tag("p", "Records that belong to none of the tables and figures of the paper."),
        *parts,
        id="other",
    )


def _table(data: str, protocol: str, groups: Sequence[RecordGroup]) -> Html:
    title = f"{data}, protocol {protocol}"
    lines = [line for group in groups for line in _lines(group)]
    best = sorted(groups, key=lambda group: (group.is_stale, -len(group.good)))
    lines += [line for group in best for line in _lines(group, shared=True)][:1]
    figure = _ERROR if any(group.errors() for group in groups) else _ACCURACY
    table = scroll_table(("run", "row", figure, *_AFTER), lines, title, 2)
    return tag("div", tag("h3", title), table)


def _lines(group: RecordGroup, *, shared: bool = False) -> list[list[object]]:
    """Return the lines of a group: one for each row with figures, or what stands instead.

    Those of the folder's own protocol come first. ``shared``: those that other groups have alike.
    """
    link = tag("a", group.name, href=f"#{anchor(group.place)}")
    rows, errors = group.rows(), group.errors()
    if errors:
        return [
            [link, _marked(name, group), *_error_figures(values), *_costs(name, group)]
            for name, values in errors.items()
            if (name in _SHARED) == shared
        ]
    if not rows and not shared:
        ended = [str(r.get("word", r["status"])) for r in group.records]
        return [[link, ", ".join(dict.fromkeys(ended)), *[""] * 6]]
    return [
        [link, _row_name(row, group), *_figures(row), *_costs(row.method, group)]
        for row in sorted(rows, key=lambda row: not group.protocol.startswith(row.protocol))
        if (row.method in _SHARED) == shared
    ]


def _row_name(row: Row, group: RecordGroup) -> str:
    """Return the method of a row, with its protocol where the folder's name is another."""
    name = _marked(row.method, group)
    return name if group.protocol.startswith(row.protocol) else f"{name}, {row.protocol}"


def _marked(name: str, group: RecordGroup) -> str:
    return name + (" (stale)" if group.is_stale else "")


def _figures(row: Row) -> list[str]:
    shares = (row.mean, row.std_over_seeds, row.std_over_folds)
    return [*(per_cent(share) for share in shares), str(len(row.results))]


def _error_figures(values: Sequence[float]) -> list[str]:
    spread = f"{np.std(values):.4f}" if len(values) > 1 else "-"
    return [f"{np.mean(values):.4f}", spread, "-", str(len(values))]


def _costs(method: str, group: RecordGroup) -> list[str]:
    """Return time and memory, which are the method's own and not those of its floors."""
    if method != group.method:
        return ["", ""]
    seconds = float(np.mean([run_seconds(record) for record in group.good]))
    peak = max((record.get("peak_memory_mib") or 0.0) for record in group.good)
    return [seconds_text(seconds), f"{peak:.0f}" if peak else "-"]
