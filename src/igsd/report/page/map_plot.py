"""``map_plot``: the marks of a map in their places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from igsd.report.page.html import Html, joined, tag
from igsd.report.page.marks import Style, mark
from igsd.report.page.projection import Projection

_SIDE, _MARGIN = 520.0, 16.0


def map_plot(projection: Projection, styles: Sequence[Style]) -> Html:
    """Return the map itself; the script finds a graph's mark by its place among the marks."""
    points = _scaled(projection.points)
    size = float(np.clip(110 / np.sqrt(len(points)), 2.2, 5))
    marks = [
        tag("path", d=mark(style.shape, x, y, size), class_=style.css)
        for (x, y), style in zip(points, styles, strict=True)
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
