from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from igsd.errors import StorageError
from igsd.experiments.scoring import Scoring
from igsd.experiments.trained import pseudo_label_counts
from igsd.report.plots import (
    Axes,
    Plot,
    Series,
    comparison_plot,
    embedding_plot,
    figure_plot,
    line_plot,
    number_plot,
    pseudo_label_plot,
    table_plot,
)
from igsd.report.projection import spread_evenly
from igsd.report.scores import compare_records
from igsd.report.summary import Cell, accumulated
from igsd.report.tables import Column, Row, Table
from tests.report.record_files import table
from tests.report.test_scores import GRAPHS, made, record

RNG = np.random.default_rng(0)
XY = Axes("x", "y")


def drawn(*series: Series, axes: Axes = XY, **options: Any) -> Plot:
    plot = line_plot(series, axes, **options)
    assert plot is not None
    return plot


def texts(plot: Plot) -> list[str]:
    """Return the letters of a plot."""
    return re.findall(r"<text[^>]*>([^<]*)</text>", plot.svg())


def test_a_point_has_a_mark_a_bar_a_text_and_a_link() -> None:
    plot = drawn(Series("<a>", [1, 2], [3.0, None], [0.5, None], ["#records/r", None]))
    assert plot.titles == {"point-0-0": "<a>, 1: 3 ± 0.5"}
    svg = plot.svg()
    assert 'id="point-0-0"' in svg
    assert 'xlink:href="#records/r"' in svg
    assert "<a>" not in svg


def test_control_characters_are_no_part_of_a_drawing(tmp_path: Path) -> None:
    """The name of a column in a damaged history ended the whole page."""
    plot = drawn(Series("a\x1b[2J\x00\ufffe", [1, 2], [1.0, 2.0]))
    ElementTree.fromstring(plot.svg())
    plot.save(tmp_path / "p.svg")
    assert (tmp_path / "p.svg").read_text(encoding="utf-8") == plot.svg()


def test_series_differ_without_colours() -> None:
    plot = drawn(*(Series(name, [1, 2], [1.0, 2.0]) for name in "ab"))
    first, second = (line for line in plot.figure.axes[0].lines if line.get_label() in "ab")
    assert first.get_marker() != second.get_marker()
    assert first.get_linestyle() != second.get_linestyle()
    assert texts(plot)[-2:] == ["a", "b"]


def test_published_results_are_hollow() -> None:
    plot = drawn(Series("a", [1], [1.0], hollow=True))
    assert plot.figure.axes[0].lines[0].get_markerfacecolor() == "#ffffff"


def test_places_without_values_are_on_the_axis() -> None:
    axes = Axes("batch", "y", log_x=True)
    found = texts(drawn(Series("a", [16, 32, 64], [None, 1.0, None]), axes=axes))
    assert {"16", "32", "64"} <= {*found}


def test_names_on_the_axis_have_no_line() -> None:
    axes = Axes("target", "y", names=["mu", "gap"])
    plot = drawn(*(Series(name, [0, 1], [1.0, 2.0]) for name in "ab"), axes=axes)
    assert {line.get_linestyle() for line in plot.figure.axes[0].lines} == {"None"}
    assert plot.titles["point-0-1"] == "a, gap: 2"
    assert {"mu", "gap"} <= {*texts(plot)}


def test_a_level_has_a_line() -> None:
    plot = drawn(Series("a", [1], [0.5]), axes=Axes("x", "y", level=1.0))
    assert [1.0, 1.0] in [list(line.get_ydata()) for line in plot.figure.axes[0].lines]


def test_long_curves_have_no_marks() -> None:
    assert drawn(Series("a", range(41), [1.0] * 41)).titles == {}


def test_the_title_of_an_axis_is_inside_the_plot() -> None:
    """Long tick labels once covered the title."""
    for values in ([1.0, 2.0], [2.55001, 2.55002], [1.5e6, 4e6]):
        plot = drawn(Series("a", [1, 2], values))
        plot.figure.draw_without_rendering()
        axis = plot.figure.axes[0].yaxis
        assert axis.label.get_window_extent().x0 >= 0


def test_nothing_to_draw() -> None:
    assert line_plot([Series("a", [1], [None])], XY) is None
    assert line_plot([], XY) is None


def test_notes_stand_below_and_make_it_higher() -> None:
    one = Series("a", [1], [1.0])
    plain, noted = (drawn(one, notes=notes) for notes in ("", "word " * 40))
    assert noted.figure.get_figheight() > plain.figure.get_figheight()
    assert any("word word" in text for text in texts(noted))


def test_the_same_input_gives_the_same_bytes_without_the_network() -> None:
    svg = drawn(Series("a$b$", [1], [1.0])).svg()
    assert svg == drawn(Series("a$b$", [1], [1.0])).svg()
    assert "<script" not in svg
    assert "@import" not in svg


def test_a_figure_of_the_paper(tmp_path: Path) -> None:
    assert figure_plot(table("figure-qm9", tmp_path), lambda cell: None) is None
    shown = table("figure-negatives", tmp_path)
    cell = Cell(folds={0: [0.7], 1: [0.72]}, records=("p/d/r/seed-0.json",))
    rows = (Row("IGSD", (cell, *shown.rows[0].cells[1:]), method="igsd"),)
    plot = figure_plot(Table("F", shown.columns, rows, axis=shown.axis), lambda cell: "#x")
    assert plot is not None
    assert plot.titles == {"point-0-0": "IGSD, 16: 71 ± 1"}


def test_a_table_as_a_plot_says_what_is_missing(tmp_path: Path) -> None:
    known, missing = Cell(folds={0: [0.9]}, notes=("1 of 5 seeds",)), Cell("not run", "not run")
    rows = (Row("IGSD", (known, missing)), Row("GIN", (missing, missing)))
    plot = table_plot(Table("T", (Column("A"), Column("B")), rows), ["IGSD", "GIN"])
    assert plot is not None
    assert [t for t in texts(plot) if ":" in t] == [
        "1 of 5 seeds: IGSD on A",
        "not run: IGSD on B; GIN",
    ]
    published = table_plot(table("table-1", tmp_path), ["IGSD"], printed="IGSD")
    assert published is not None
    assert published.titles["point-0-0"] == "IGSD, as published, MUTAG, paper: 90.2 ± 0.7"


@pytest.mark.parametrize("num_seeds", [1, 2])
def test_a_comparison_without_pyplot(tmp_path: Path, num_seeds: int) -> None:
    runs = {"wl": [record("wl", 0, 0.8, 0.9)]}
    comparison = made() if num_seeds == 2 else compare_records(GRAPHS, Scoring(), runs)
    comparison_plot(comparison).save(tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert "matplotlib.pyplot" not in sys.modules
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


@pytest.mark.parametrize(
    ("suffix", "head"), [(".svg", b"<?xml"), (".pdf", b"%PDF-"), (".PNG", b"\x89PNG")]
)
def test_the_suffix_sets_the_format_and_the_bytes_are_the_same(
    tmp_path: Path, suffix: str, head: bytes
) -> None:
    places = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in places:
        comparison_plot(made()).save(path)
    first, second = (path.read_bytes() for path in places)
    assert first.startswith(head)
    assert first == second
    with pytest.raises(StorageError, match=r"not one for a picture. Use one of .png, .svg, .pdf"):
        comparison_plot(made()).save(tmp_path / "p.jpg")


def test_bars_and_ticks_end_at_0_and_100_per_cent() -> None:
    runs = {"wl": [record("wl", 0, 1.0, 0.9)], "gcc": [record("gcc", 0, 0.0, 0.1)]}
    axes = comparison_plot(compare_records(GRAPHS, Scoring(), runs)).figure.axes[0]
    ends = [x for bar in axes.collections for line in bar.get_segments() for x in line[:, 0]]
    assert (min(ends), max(ends)) == (0, 100)
    assert (min(axes.get_xticks()), max(axes.get_xticks())) == (0, 100)
    assert axes.get_xlim() == (-2, 102)


def test_no_text_of_a_comparison_is_markup() -> None:
    """The powers of ten on the axis of seconds were shown as their source."""
    assert [text for text in texts(comparison_plot(made())) if "$" in text] == []


@pytest.mark.parametrize("twins", [False, True])
def test_a_comparison_says_which_accuracy_it_shows(twins: bool) -> None:
    runs = {"wl": [record("wl", 0, 0.8, 0.9)]}
    axes = comparison_plot(compare_records(GRAPHS, Scoring(twins=twins), runs)).figure.axes[0]
    assert ("indistinguishable graphs kept" in axes.get_xlabel()) is twins


@pytest.mark.parametrize("classes", [None, np.arange(30) % 3, np.arange(30) % 3 - 1])
def test_embeddings_by_class(tmp_path: Path, classes: np.ndarray | None) -> None:
    names = () if classes is None else ("a", "b", "c")
    embedding_plot(RNG.normal(size=(30, 4)), classes, names, "title").save(tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


def test_embeddings_by_number(tmp_path: Path) -> None:
    vectors = RNG.normal(size=(30, 4))
    values = np.where(np.arange(30) % 3, np.arange(30.0), np.nan)
    for name, numbers in (("some", values), ("none", np.full(30, np.nan)), ("one", np.ones(30))):
        number_plot(vectors, numbers, "logBB", "title").save(tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"


@pytest.mark.parametrize(("known", "num_axes"), [(20, 2), (0, 1)])
def test_an_outlier_does_not_set_the_scale(known: int, num_axes: int) -> None:
    values = np.where(np.arange(30) < known, np.arange(30.0), np.nan)
    values[:known][:1] = 1e6
    figure = number_plot(RNG.normal(size=(30, 2)), values, "logBB", "title").figure
    assert len(figure.axes) == num_axes  # the second one is the scale
    if known:
        assert figure.axes[0].collections[-1].get_clim()[1] < 1e6


def test_pseudo_labels_add_up(tmp_path: Path) -> None:
    counts = pseudo_label_counts([1, 3, 3, 1], [True, False, None, None])
    assert counts == {"rounds": [1, 3], "given": [2, 2], "checked": [1, 1], "right": [1, 0]}
    numbers, totals, shares = accumulated(counts)
    assert (numbers.tolist(), totals.tolist()) == ([1, 3], [2, 4])
    assert shares.tolist() == [1.0, 0.5]
    assert np.isnan(accumulated(pseudo_label_counts([1, 2], [None, None]))[2]).all()
    plot = pseudo_label_plot(counts)
    bars, (line,) = plot.figure.axes[0].patches, plot.figure.axes[1].lines
    assert [bar.get_height() for bar in bars] == [2, 2, 4]
    assert line.get_ydata().tolist() == [100.0, 100.0, 50.0]
    some = pseudo_label_counts([1, 2], [True, None])
    pseudo_label_plot(some, "rounds").save(tmp_path / "a.png")
    pseudo_label_plot(pseudo_label_counts([], [])).save(tmp_path / "b.png")


def test_spread_evenly() -> None:
    assert spread_evenly(0, 5).tolist() == []
    assert spread_evenly(3, 5).tolist() == [0, 1, 2]
    assert spread_evenly(101, 3).tolist() == [0, 50, 100]
