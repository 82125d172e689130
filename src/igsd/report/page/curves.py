"""The curves of trainings: losses, scores and pseudo-labels over the epochs and rounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any

from igsd.report.page.chart import ChartAxes, ChartSeries, line_chart, thinned
from igsd.report.page.html import Html, joined, tag

History = Sequence[Mapping[str, float]]
"""Values by name, one mapping for each epoch."""

_TITLES = {"total": "loss", "eval_accuracy": "accuracy on the test part in per cent"}


def all_charts(
    before: Mapping[str, History],
    histories: Mapping[str, History],
    rounds: Mapping[str, Mapping[str, Sequence[int]]],
    *,
    level: str,
) -> Html:
    """Return all curves of trainings in their order in time, each kind under a heading.

    ``before``: the epochs before the first label; ``level``: the tag of the headings, e.g. ``h3``.
    Kinds of which no training has any are left out.
    """
    parts = {
        "Self-distillation before the labels, by epoch": history_charts(before),
        "Losses and scores by epoch": history_charts(histories),
        "Self-training": pseudo_label_charts(rounds),
    }
    return joined(*(joined(tag(level, title), part) for title, part in parts.items() if part))


def history_charts(histories: Mapping[str, History]) -> Html | None:
    """Return a chart for each value that trainings noted, with one line for each training.

    None where no training noted anything.
    """
    names = [name for history in histories.values() for entry in history[:1] for name in entry]
    charts = [_history_chart(histories, name) for name in dict.fromkeys(names) if name != "epoch"]
    return tag("div", *charts, class_="charts") if charts else None


def pseudo_label_charts(rounds: Mapping[str, Mapping[str, Sequence[int]]]) -> Html | None:
    """Return charts of how many pseudo-labels there are after each round, and how many are right.

    ``rounds``: for each training ``rounds``, ``given`` and, where it is known, ``right``, round by
    round. None where no training gave any.
    """
    given = {name: values for name, values in rounds.items() if values.get("rounds")}
    if not given:
        return None
    axes = ChartAxes("round of self-training", "pseudo-labels so far")
    totals = [
        ChartSeries(name, values["rounds"], list(accumulate(values["given"])))
        for name, values in given.items()
    ]
    charts = [_framed("Pseudo-labels over the rounds", line_chart(totals, axes, "Pseudo-labels"))]
    shares = [_shares(name, values) for name, values in given.items() if values.get("right")]
    if any(one.points() for one in shares):
        axes = ChartAxes("round of self-training", "right so far in per cent")
        charts.append(_framed("How many are right", line_chart(shares, axes, "Right ones")))
    return tag("div", *charts, class_="charts")


def _shares(name: str, values: Mapping[str, Sequence[int]]) -> ChartSeries:
    checked = values.get("checked") or values["given"]
    pairs = zip(accumulate(values["right"]), accumulate(checked), strict=True)
    shares = [100 * right / known if known else None for right, known in pairs]
    return ChartSeries(name, values["rounds"], shares)


def _history_chart(histories: Mapping[str, History], name: str) -> Html:
    series, factor = [], 100.0 if "accuracy" in name else 1.0
    for title, history in histories.items():
        kept = [entry for entry in history if _is_number(entry.get(name))]
        kept = [kept[i] for i in thinned(kept)]
        x = [float(entry.get("epoch", i)) + 1 for i, entry in enumerate(kept)]
        if kept:
            series.append(ChartSeries(title, x, [factor * entry[name] for entry in kept]))
    title = _TITLES.get(name, name.replace("_", " "))
    return _framed(title, line_chart(series, ChartAxes("epoch", title), f"{title} by epoch"))


def _framed(title: str, chart: Html) -> Html:
    return tag("figure", tag("figcaption", title), chart)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value == value and abs(value) != float("inf")
