"""``line_chart``: series of values with their uncertainty as SVG, readable without colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from igsd.report.page.html import Html, joined, tag
from igsd.report.page.marks import NUM_STYLES, mark
from igsd.report.page.ticks import nice_ticks, tick_text

WIDTH, HEIGHT = 560.0, 330.0
"""The size of a chart without its legend, in its own units."""

_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 14.0, 14.0, 52.0
# What the turned title takes, and a figure of a tick in the large letters of a small screen.
_BESIDE, _FIGURE = 22.0, 10.8
_MOST_MARKS = 40


@dataclass(frozen=True)
class ChartSeries:
    """A line: ``y`` over ``x`` (None where there is no value), one deviation up and down.

    ``links``: for each point the place in the page that says more. ``title`` names it.
    """

    title: str
    x: Sequence[float]
    y: Sequence[float | None]
    spread: Sequence[float | None] = ()
    links: Sequence[str | None] = ()

    def points(self) -> list[tuple[float, float, float, str | None]]:
        """Return (x, y, deviation, link) of each point that has a value."""
        spread = self.spread or [None] * len(self.x)
        links = self.links or [None] * len(self.x)
        rows = zip(self.x, self.y, spread, links, strict=True)
        return [(x, y, s or 0.0, link) for x, y, s, link in rows if y is not None]


@dataclass(frozen=True)
class ChartAxes:
    """Titles of the axes. ``names``: x counts 0, 1, ... and these stand below, without lines.

    ``level``: a value of y that has a line of its own.
    """

    x_title: str
    y_title: str
    log_x: bool = False
    names: Sequence[str] = ()
    level: float | None = None


@dataclass(frozen=True)
class _Scale:
    """Where a value stands in the picture."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.is_log:
            value, low, high = math.log(value), math.log(low), math.log(high)
        share = (value - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def line_chart(series: Sequence[ChartSeries], axes: ChartAxes, about: str) -> Html:
    """Return a chart with its legend; ``about`` is what a reader who cannot see it is told.

    A sentence in its place where no series has a value.
    """
    parts = chart_parts(series, axes)
    if parts is None:
        return tag("p", "There is nothing to draw yet.", class_="missing")
    box = f"0 0 {WIDTH:.0f} {HEIGHT:.0f}"
    drawing = tag("svg", parts, viewBox=box, class_="chart", role="group", aria_label=about)
    return joined(drawing, _legend(series, axes) if len(series) > 1 else None)


def chart_parts(series: Sequence[ChartSeries], axes: ChartAxes) -> Html | None:
    """Return what stands inside a chart's SVG element, None where no series has a value."""
    points = [point for one in series for point in one.points()]
    points = [point for point in points if point[0] > 0] if axes.log_x else points
    if not points:
        return None
    bounds = [y + side * spread for _, y, spread, _ in points for side in (-1, 1)]
    bounds += [] if axes.level is None else [axes.level]
    y_ticks = nice_ticks(min(bounds), max(bounds))
    y_scale = _Scale(y_ticks[0], y_ticks[-1], HEIGHT - _BOTTOM, _TOP)
    # Places without a value yet are on the axis too.
    places = [x for one in series for x in one.x if x > 0 or not axes.log_x]
    left = _left(y_ticks)
    x_ticks, x_scale = _x_axis(places, axes, left)
    return joined(
        _y_grid(y_ticks, y_scale, left),
        None if axes.level is None else _across(y_scale(axes.level), left, "level"),
        _x_grid(x_ticks, x_scale, axes),
        _titles(axes, left),
        *(_line(place, series, x_scale, y_scale, axes) for place in range(len(series))),
    )


def thinned(values: Sequence[Any], most: int = 120) -> list[int]:
    """Return at most ``most`` positions, evenly spread, with the first and the last."""
    if len(values) <= most:
        return list(range(len(values)))
    return [round(i * (len(values) - 1) / (most - 1)) for i in range(most)]


def _left(ticks: Sequence[float]) -> float:
    """Return where the chart begins: beside it there is room for the longest tick and the title."""
    return max(_LEFT, _BESIDE + _FIGURE * max(len(tick_text(tick, ticks)) for tick in ticks))


def _x_axis(values: list[float], axes: ChartAxes, start: float) -> tuple[list[float], _Scale]:
    end = WIDTH - _RIGHT
    if axes.names:
        places = [float(i) for i in range(len(axes.names))]
        return places, _Scale(-0.5, len(places) - 0.5, start, end)
    if axes.log_x:
        # The values themselves are few and chosen: they are the ticks.
        return sorted(set(values)), _Scale(min(values), max(values), start + 14, end - 14, True)
    ticks = nice_ticks(min(values), max(values))
    low, high = min(values), max(values)
    if all(value == int(value) for value in values):
        ticks = [tick for tick in ticks if tick == int(tick)]
    return [t for t in ticks if low <= t <= high], _Scale(low, high, start + 8, end - 8)


def _y_grid(ticks: Sequence[float], scale: _Scale, left: float) -> Html:
    parts = []
    for tick in ticks:
        y = scale(tick)
        parts.append(_across(y, left, "grid"))
        text = tick_text(tick, ticks)
        parts.append(tag("text", text, x=f"{left - 7:.0f}", y=f"{y + 4:.1f}", class_="end"))
    return joined(*parts)


def _across(y: float, left: float, kind: str) -> Html:
    return tag("path", d=f"M{left:.0f} {y:.1f}H{WIDTH - _RIGHT:.0f}", class_=kind)


def _x_grid(ticks: Sequence[float], scale: _Scale, axes: ChartAxes) -> Html:
    parts, foot = [], HEIGHT - _BOTTOM
    for place, tick in enumerate(ticks):
        x = scale(tick)
        text = axes.names[place] if axes.names else f"{tick:g}"
        parts.append(tag("path", d=f"M{x:.1f} {foot:.0f}v5", class_="tick"))
        parts.append(tag("text", text, x=f"{x:.1f}", y=f"{foot + 19:.0f}", class_="middle"))
    return joined(*parts)


def _titles(axes: ChartAxes, left: float) -> Html:
    middle = (_TOP + HEIGHT - _BOTTOM) / 2
    x = (left + WIDTH - _RIGHT) / 2
    below = tag("text", axes.x_title, x=f"{x:.0f}", y=f"{HEIGHT - 8:.0f}", class_="middle title")
    turned = f"translate(13 {middle:.0f}) rotate(-90)"
    return joined(below, tag("text", axes.y_title, transform=turned, class_="middle title"))


def _line(place: int, series: Sequence[ChartSeries], x: _Scale, y: _Scale, axes: ChartAxes) -> Html:
    """Return the line, the bars of its deviations and a mark for each point."""
    one, style = series[place], place % NUM_STYLES
    points = [point for point in one.points() if not axes.log_x or point[0] > 0]
    # Few places of all series: side by side, so that their bars do not cover each other.
    gap = 7.0 if axes.names else 3.0 if axes.log_x else 0.0
    shift = gap * (place - (len(series) - 1) / 2)
    spots = [(x(a) + shift, y(b), y(b - s), y(b + s), a, b, s, link) for a, b, s, link in points]
    parts = []
    if not axes.names and len(spots) > 1:
        course = "M" + "L".join(f"{spot[0]:.1f} {spot[1]:.1f}" for spot in spots)
        parts.append(tag("path", d=course, class_="line"))
    if len(spots) <= _MOST_MARKS:
        for across, up, low, high, a, b, s, link in spots:
            if s:
                ends = f"M{across - 4:.1f} {low:.1f}h8m-4 0V{high:.1f}m-4 0h8"
                parts.append(tag("path", d=ends, class_="bar"))
            name = axes.names[int(a)] if axes.names else f"{a:g}"
            said = f"{one.title}, {name}: {b:.4g}" + (f" ± {s:.2g}" if s else "")
            shape = tag("path", tag("title", said), d=mark(style, across, up, 4.2), class_="mark")
            parts.append(tag("a", shape, href=link, aria_label=said) if link else shape)
    return tag("g", *parts, class_=f"series s{style}")


def _legend(series: Sequence[ChartSeries], axes: ChartAxes) -> Html:
    """Return the titles with what the points look like, on a line where they have one."""
    entries = []
    for place, one in enumerate(series):
        style = place % NUM_STYLES
        line = None if axes.names else tag("path", d="M1 8H35", class_="line")
        sample = tag("g", line, tag("path", d=mark(style, 18, 8, 4.2), class_="mark"))
        drawn = tag("svg", tag("g", sample, class_=f"series s{style}"), viewBox="0 0 36 16")
        entries.append(tag("li", drawn, one.title))
    return tag("ul", *entries, class_="legend")
