"""The marks of classes and series: shapes that differ where a print has no colours."""

from __future__ import annotations

from typing import NamedTuple

from igsd.report.page.html import Html, tag

NUM_STYLES = 8
"""How many marks and colours there are; the style sheet has as many."""

# Around the origin, of about equal area, as relative moves: one path element draws a mark anywhere.
_SHAPES = (
    "m-{a} 0a{a} {a} 0 1 0 {b} 0a{a} {a} 0 1 0-{b} 0z",
    "m0-{c}l{c} {d}h-{e}z",
    "m-{f}-{f}h{g}v{g}h-{g}z",
    "m0-{c}l{c} {c}l-{c} {c}l-{c}-{c}z",
    "m0 {c}l{c}-{d}h-{e}z",
    "m-{h}-{c}h{i}v{j}h{j}v{i}h-{j}v{j}h-{i}v-{j}h-{j}v-{i}h{j}z",
    "m-{c} 0l{f}-{c}h{f}l{f} {c}l-{f} {c}h-{f}z",
    "m-{c}-{f}h{e}v{g}h-{e}z",
)


class Style(NamedTuple):
    """How a mark looks: the number of its shape, and the class that has its colour."""

    shape: int
    css: str


UNKNOWN = Style(0, "unknown hollow")
"""The mark of a graph of which the class or the number is not known; it hides no other."""


def mark(style: int, x: float, y: float, size: float) -> str:
    """Return the path data of a mark at (x, y); ``size`` is the radius of the round one."""
    a = size
    lengths = {"a": a, "b": 2 * a, "c": 1.25 * a, "d": 2.1 * a, "e": 2.5 * a}
    lengths |= {"f": 0.85 * a, "g": 1.7 * a, "h": 0.42 * a, "i": 0.84 * a, "j": 0.83 * a}
    texts = {key: f"{value:.4g}" for key, value in lengths.items()}
    return f"M{x:.1f} {y:.1f}" + _SHAPES[style % NUM_STYLES].format(**texts)


def sample(style: Style) -> Html:
    """Return the mark of a style alone, for a legend."""
    drawn = tag("path", d=mark(style.shape, 8, 8, 4.5), class_=style.css)
    return tag("svg", drawn, viewBox="0 0 16 16", class_="sample")
