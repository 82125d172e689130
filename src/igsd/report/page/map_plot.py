"""``map_plot``: the marks of a map and what they mean."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from igsd.report.page.html import Html, joined, tag
from igsd.report.page.marks import NUM_STYLES, mark
from igsd.report.page.projection import Projection
from igsd.wording import counted

_SIDE, _MARGIN = 520.0, 16.0
_MOST_CLASSES = 20


def map_plot(projection: Projection, codes: np.ndarray) -> Html:
    """Return the map itself; the script finds a graph's mark by its place among the marks."""
    points = _scaled(projection.points)
    size = float(np.clip(110 / np.sqrt(len(points)), 2.2, 5))
    marks = [
        tag("path", d=mark(max(int(code), 0), x, y, size), class_=_style(int(code)))
        for (x, y), code in zip(points, codes, strict=True)
    ]
    label = "Map of the graphs. Arrow keys go from graph to graph, Enter shows the neighbours."
    side = f"{_SIDE:.0f}"
    middle = f"{_SIDE / 2:.0f}"
    below = {"x": middle, "y": f"{_SIDE + 16:.0f}"}
    turned = f"translate(-6 {middle}) rotate(-90)"
    titles = joined(
        tag("text", projection.x_title, **below, class_="middle"),
        tag("text", projection.y_title, transform=turned, class_="middle"),
    )
    return tag(
        "svg",
        tag("rect", width=side, height=side, class_="frame"),
        titles,
        tag("g", class_="links"),
        tag("g", *marks, class_="marks"),
        viewBox=f"-22 -2 {_SIDE + 24:.0f} {_SIDE + 26:.0f}",
        class_="plot",
        tabindex=0,
        role="application",
        aria_label=label,
    )


def _scaled(points: np.ndarray) -> np.ndarray:
    """Return points in the units of the picture, y upwards, each axis as wide as there is room."""
    low, high = points.min(axis=0), points.max(axis=0)
    share = (points - low) / np.where(high > low, high - low, 1.0)
    share = np.where(high > low, share, 0.5)
    room = _SIDE - 2 * _MARGIN
    return np.column_stack([_MARGIN + room * share[:, 0], _SIDE - _MARGIN - room * share[:, 1]])


def _style(code: int) -> str:
    return "unknown" if code < 0 else f"s{code % NUM_STYLES}"


def map_legend(codes: np.ndarray, class_names: Sequence[str]) -> Html | None:
    """Return the marks of the classes with their numbers of graphs."""
    present = [code for code in range(len(class_names)) if (codes == code).any()]
    if not present:
        return None
    entries = []
    for code in [*present[:_MOST_CLASSES], *([-1] if (codes < 0).any() else [])]:
        drawn = tag("path", d=mark(max(code, 0), 8, 8, 4.5), class_=_style(code))
        sample = tag("svg", drawn, viewBox="0 0 16 16", class_="sample")
        name = "unknown" if code < 0 else f"class {class_names[code]}"
        entries.append(tag("li", sample, f"{name} ({int((codes == code).sum())})"))
    more = len(present) - _MOST_CLASSES
    if more > 0:
        entries.append(tag("li", f"and {counted(more, 'more class', 'more classes')}"))
    return tag("ul", *entries, class_="legend")
