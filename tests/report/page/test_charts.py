from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from igsd.report.page.charts import history_charts, inline, pseudo_label_charts
from igsd.report.plots import Axes, Plot, Series, comparison_plot, line_plot
from tests.report.test_scores import made


@dataclass(frozen=True)
class Drawn(Plot):
    """A plot whose SVG is written by hand."""

    figure: Any = None
    titles: dict[str, str] = field(default_factory=dict)
    text: str = ""

    def svg(self) -> str:
        return self.text


def test_shapes_and_letters_are_kept_and_styles_are_attributes() -> None:
    text = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9" onload="evil()">
      <metadata>when</metadata><script>evil()</script><style>* {}</style><g id="axes_1">
      <path id="p1" d="M0 0" style="fill: none; stroke: #123456; cursor: help" onclick="evil()"/>
      <text x="1" style="font-size: 10px; fill: #1c2126; font-family: 'Mine'">a &lt; b</text></g>
      </svg>"""
    assert inline(Drawn(text=text), "about", "one", "picture") == (
        '<svg viewBox="0 0 9 9" class="picture" role="img" aria-label="about"><g>'
        '<path d="M0 0" id="one-p1" fill="none" stroke="#123456"></path>'
        '<text x="1" font-size="10px" fill="var(--text)">a &lt; b</text></g></svg>'
    )


def test_a_plot_refers_to_its_own_shapes() -> None:
    drawn = inline(comparison_plot(made()), "about", "one")
    there = set(re.findall(r' id="([^"]+)"', drawn))
    used = set(re.findall(r'href="#([^"]+)"', drawn)) | set(re.findall(r"url\(#([^)]+)\)", drawn))
    assert used
    assert used <= there
    assert all(name.startswith("one-") for name in there)
    assert "style" not in drawn
    assert ">wl</text>" in drawn
    assert drawn == inline(comparison_plot(made()), "about", "one")


def test_points_link_to_their_records_and_say_their_value() -> None:
    series = Series("<a>", [1, 2], [3.0, 4.0], [0.5, None], ["#records/r", None])
    drawn = inline(line_plot([series], Axes("x", "y")), "about", "one")
    assert drawn.count('<a href="#records/r">') == 1
    assert "<title>&lt;a&gt;, 1: 3 ± 0.5</title>" in drawn
    assert "nothing to draw" in inline(None, "about", "one")


def test_a_chart_for_each_value_that_was_logged() -> None:
    history = [
        {"epoch": 0.0, "total": 2.0, "eval_accuracy": 0.5},
        {"epoch": 1.0, "total": math.nan, "eval_accuracy": 0.75},
    ]
    charts = history_charts({"seed 0": history, "seed 1": history[:1]}, "r")
    assert charts is not None
    assert charts.count("<figure>") == 2
    assert "seed 0, 2: 75" in charts
    assert "nan" not in charts
    assert history_charts({"seed 0": []}, "r") is None


def test_pseudo_labels_add_up() -> None:
    rounds = {"rounds": [1, 2], "given": [4, 6], "right": [4, 1]}
    charts = pseudo_label_charts({"a": rounds}, "r")
    assert charts is not None
    assert "a, 2: 10" in charts
    assert "a, 2: 50" in charts
    assert pseudo_label_charts({"a": {"rounds": []}}, "r") is None


def test_only_those_that_can_be_checked_count_as_right() -> None:
    some = {"rounds": [1], "given": [4], "checked": [2], "right": [1]}
    assert "a, 1: 50" in (pseudo_label_charts({"a": some}, "r") or "")
    none = pseudo_label_charts({"a": some | {"checked": [0], "right": [0]}}, "r") or ""
    assert none.count("<figure>") == 1
    assert "nothing to draw" not in none
