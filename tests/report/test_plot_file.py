from __future__ import annotations

from xml.etree import ElementTree

from igsd.report.page.chart import ChartAxes, ChartSeries
from igsd.report.plot_file import plot_file

AXES = ChartAxes("data", "accuracy", names=["A", "B"])
SERIES = [ChartSeries(f"<{i}>", [0.0, 1.0], [50.0 + i, None], [1.0, None]) for i in range(3)]


def test_a_whole_file_with_legend_and_remarks() -> None:
    text = plot_file(SERIES, AXES, "what it shows", ["not run: <0> on B"])
    root = ElementTree.fromstring(text)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    said = [element.text for element in root.iter("{http://www.w3.org/2000/svg}text")]
    assert said[-4:] == ["<0>", "<1>", "<2>", "not run: <0> on B"]
    assert root[0].text == "what it shows"
    assert text.count('class="bar"') == 3
    assert "prefers-color-scheme: dark" in text


def test_same_input_same_bytes() -> None:
    assert plot_file(SERIES, AXES, "about") == plot_file(SERIES, AXES, "about")


def test_a_longer_legend_and_long_remarks_make_it_higher() -> None:
    def height(num_series: int, remark: str) -> float:
        root = ElementTree.fromstring(plot_file(SERIES[:num_series], AXES, "about", [remark]))
        return float(root.attrib["viewBox"].split()[3])

    assert height(2, "a") == height(1, "a") < height(3, "a") == height(2, "word " * 20)


def test_nothing_to_draw() -> None:
    assert "Nothing of this is run yet." in plot_file([], AXES, "about")
