"""Plots inside the page: Matplotlib's SVG made safe to inline, and the curves of trainings."""

import math
import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree

from igsd.report import plots
from igsd.report.page.html import Html, joined, tag
from igsd.report.projection import spread_evenly
from igsd.report.summary import accumulated

History = Sequence[Mapping[str, float]]
"""Values by name, one mapping for each epoch."""

_ELEMENTS = frozenset({"a", "clipPath", "defs", "g", "path", "rect", "svg", "text", "tspan", "use"})
_ATTRIBUTES = ("x", "y", "width", "height", "d", "transform", "viewBox")
_STYLES = re.compile("(fill|stroke|opacity)(-[a-z]+)?|font-size|text-anchor")
_NAMES = {plots.TEXT: "text", plots.QUIET: "quiet", plots.GRID: "line", plots.BACK: "back"}
_NAMES |= {colour: f"s{place}" for place, colour in enumerate(plots.COLOURS)}
_TITLES = {"total": "loss", "eval_accuracy": "accuracy on the test part in per cent"}
_MOST_POINTS = 120


def inline(plot: plots.Plot | None, about: str, name: str, class_: str = "chart") -> Html:
    """Return a plot as an SVG element with its shapes, letters and links, and nothing else.

    ``about`` is for readers who cannot see it; ``name`` makes its identifiers unique in the page.
    The page forbids inline styles and has other colours on a dark background, hence attributes.
    """
    if plot is None:
        return tag("p", "There is nothing to draw yet.", class_="missing")
    root = ElementTree.fromstring(plot.svg())
    parts = [_element(child, name, plot.titles) for child in root]
    role = "group" if plot.titles else "img"
    box = root.get("viewBox")
    return tag("svg", *parts, viewBox=box, class_=class_, role=role, aria_label=about)


def training_charts(
    before: Mapping[str, History],
    histories: Mapping[str, History],
    rounds: Mapping[str, Mapping[str, Sequence[int]]],
    *,
    level: str,
    name: str,
) -> Html:
    """Return all curves of trainings, each kind that there is under a heading of a ``level``.

    ``before``: the epochs before the first label; ``name``: the identifier of the section.
    """
    parts = {
        "Self-distillation before the labels, by epoch": history_charts(before, f"{name}/before"),
        "Losses and scores by epoch": history_charts(histories, f"{name}/history"),
        "Self-training": pseudo_label_charts(rounds, f"{name}/rounds"),
    }
    return joined(*(joined(tag(level, title), part) for title, part in parts.items() if part))


def history_charts(histories: Mapping[str, History], name: str) -> Html | None:
    """Return a chart of each value that trainings logged, a line for each; None without any."""
    keys = [key for history in histories.values() for entry in history[:1] for key in entry]
    charts = []
    for number, key in enumerate(key for key in dict.fromkeys(keys) if key != "epoch"):
        series, factor = [], 100.0 if "accuracy" in key else 1.0
        for title, history in histories.items():
            there = [(place, e) for place, e in enumerate(history) if e.get(key) is not None]
            known = [(place, entry) for place, entry in there if math.isfinite(entry[key])]
            kept = [known[i] for i in spread_evenly(len(known), _MOST_POINTS)]
            x = [float(entry.get("epoch", place)) + 1 for place, entry in kept]
            if kept:
                series.append(plots.Series(title, x, [factor * entry[key] for _, entry in kept]))
        title = _TITLES.get(key, key.replace("_", " "))
        plot = plots.line_plot(series, plots.Axes("epoch", title))
        chart = inline(plot, f"{title} by epoch", f"{name}-{number}")
        charts.append(tag("figure", tag("figcaption", title), chart))
    return tag("div", *charts, class_="charts") if charts else None


def pseudo_label_charts(
    rounds: Mapping[str, Mapping[str, Sequence[int]]], name: str
) -> Html | None:
    """Return charts of how many pseudo-labels there are after each round, and how many are right.

    ``rounds``: ``rounds``, ``given`` and, where known, ``right`` and ``checked`` of each training.
    """
    totals, shares = [], []
    for title, values in rounds.items():
        if not values.get("rounds"):
            continue
        x, given, right = (column.tolist() for column in accumulated(values))
        totals.append(plots.Series(title, x, given))
        if values.get("right"):
            known = [None if math.isnan(share) else 100 * share for share in right]
            shares.append(plots.Series(title, x, known))
    if not totals:
        return None
    charts: list[Html] = []
    for title, y_title, series in (
        ("Pseudo-labels over the rounds", "pseudo-labels so far", totals),
        ("How many are right", "right so far in per cent", shares),
    ):
        plot = plots.line_plot(series, plots.Axes("round of self-training", y_title))
        if plot is not None:
            chart = inline(plot, title, f"{name}-{len(charts)}")
            charts.append(tag("figure", tag("figcaption", title), chart))
    return tag("div", *charts, class_="charts")


def _element(element: ElementTree.Element, name: str, titles: Mapping[str, str]) -> Html | None:
    kind = element.tag.split("}")[-1]
    if kind not in _ELEMENTS:
        return None
    children = [_element(child, name, titles) for child in element]
    if kind in ("a", "g", "defs") and not any(children):
        return None
    letters = element.text if kind in ("text", "tspan") and element.text else ""
    title = titles.get(element.get("id", "")) if kind == "g" else None
    shown = None if title is None else tag("title", title)
    return tag(kind, shown, letters.strip(), *children, **_attributes(element, kind, name))


def _attributes(element: ElementTree.Element, kind: str, name: str) -> dict[str, str]:
    """Return the attributes that an element keeps; groups lose their identifiers."""
    there = {key.split("}")[-1]: value for key, value in element.attrib.items()}
    kept = {key: there[key] for key in _ATTRIBUTES if key in there}
    if "id" in there and kind not in ("a", "g"):
        kept["id"] = f"{name}-{there['id']}"
    if kind == "use":
        kept["href"] = f"#{name}-{there['href'].removeprefix('#')}"
    elif kind == "a":
        kept["href"] = there["href"]
    if clip := re.fullmatch(r"url\(#([\w-]+)\)", there.get("clip-path", "")):
        kept["clip-path"] = f"url(#{name}-{clip[1]})"
    pairs = (part.split(":", 1) for part in there.get("style", "").split(";") if ":" in part)
    styles = {key.strip(): value.strip() for key, value in pairs}
    return kept | {
        key: f"var(--{_NAMES[value]})" if value in _NAMES else value
        for key, value in styles.items()
        if _STYLES.fullmatch(key)
    }
