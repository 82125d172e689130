from __future__ import annotations

import numpy as np

from igsd.report.page.map_classes import MapClasses


def test_shapes_colours_and_words() -> None:
    classes = MapClasses(np.array([0, 9, -1]), [str(code) for code in range(10)])
    assert [classes.style(graph) for graph in range(3)] == [
        (0, "s0"),
        (9, "s1"),
        (0, "unknown hollow"),
    ]
    assert [classes.text(graph) for graph in range(3)] == ["class 0", "class 9", ""]


def test_the_legend_counts_what_is_shown() -> None:
    legend = MapClasses(np.array([0, 1, 1, -1]), ["a", "b"]).legend(np.array([1, 2, 3]))
    assert legend is not None
    assert "class a" not in legend
    assert "class b (2)" in legend
    assert "unknown (1)" in legend


def test_many_classes_are_cut() -> None:
    codes = np.arange(30)
    legend = MapClasses(codes, [str(code) for code in codes]).legend(codes)
    assert legend is not None
    assert "and 10 more classes" in legend
    assert MapClasses(np.array([-1]), []).legend(np.array([0])) is None
