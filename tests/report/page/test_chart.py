from __future__ import annotations

from igsd.report.page.chart import ChartAxes, ChartSeries, line_chart, thinned

AXES = ChartAxes("x", "y")


def test_a_point_has_a_mark_a_bar_a_text_and_a_link() -> None:
    one = ChartSeries("<a>", [1, 2], [3.0, None], [0.5, None], ["#records/r", None])
    drawn = line_chart([one], AXES, "about")
    assert drawn.count('class="mark"') == 1
    assert drawn.count('class="bar"') == 1
    assert "<title>&lt;a&gt;, 1: 3 ± 0.5</title>" in drawn
    assert 'href="#records/r"' in drawn
    assert "<a>" not in drawn


def test_series_differ_without_colours() -> None:
    series = [ChartSeries(name, [1, 2], [1.0, 2.0]) for name in "ab"]
    drawn = line_chart(series, AXES, "about")
    assert '<g class="series s0">' in drawn
    assert '<g class="series s1">' in drawn
    assert drawn.count("<li>") == 2


def test_places_without_values_are_on_the_axis() -> None:
    axes = ChartAxes("batch", "y", log_x=True)
    drawn = line_chart([ChartSeries("a", [16, 32, 64], [None, 1.0, None])], axes, "about")
    assert all(f">{value}</text>" in drawn for value in (16, 32, 64))


def test_names_on_the_axis_have_no_line() -> None:
    axes = ChartAxes("target", "y", names=["mu", "gap"])
    drawn = line_chart([ChartSeries("a", [0, 1], [1.0, 2.0])], axes, "about")
    assert ">gap</text>" in drawn
    assert 'class="line"' not in drawn
    both = [ChartSeries(name, [0, 1], [1.0, 2.0]) for name in "ab"]
    assert 'class="line"' not in line_chart(both, axes, "about")  # nor has the legend
    assert "<title>a, gap: 2</title>" in drawn


def test_a_level_has_a_line_and_is_on_the_axis() -> None:
    drawn = line_chart([ChartSeries("a", [1], [0.5])], ChartAxes("x", "y", level=1.0), "about")
    assert drawn.count('class="level"') == 1
    assert ">1.0</text>" in drawn


def test_whole_numbers_have_whole_ticks() -> None:
    drawn = line_chart([ChartSeries("a", [1, 2, 3], [1.0, 2.0, 3.0])], AXES, "about")
    assert ">1.5<" not in drawn.split('class="line"')[0].split("v5")[1]


def test_long_ticks_have_room_beside_the_title() -> None:
    for values, start in (([1.0, 2.0], "M58 "), ([2.55, 2.75], "M65 "), ([1500.0, 4000.0], "M76 ")):
        drawn = line_chart([ChartSeries("a", [1, 2], values)], AXES, "about")
        assert f'd="{start}' in drawn


def test_nothing_to_draw() -> None:
    assert "nothing to draw" in line_chart([ChartSeries("a", [1], [None])], AXES, "about")
    assert "nothing to draw" in line_chart([], AXES, "about")


def test_one_point() -> None:
    assert 'class="mark"' in line_chart([ChartSeries("a", [5], [5.0])], AXES, "about")


def test_thinned_keeps_both_ends() -> None:
    assert thinned(range(5), 10) == [0, 1, 2, 3, 4]
    found = thinned(range(1000), 7)
    assert (found[0], found[-1], len(found)) == (0, 999, 7)
