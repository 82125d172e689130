from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from igsd.errors import StorageError
from igsd.experiments.scoring import Scoring
from igsd.report import comparison_plot
from igsd.report.comparison import Comparison, compare_records
from igsd.report.comparison_plot import save_comparison_plot
from tests.report.test_comparison import GRAPHS, made, record


@pytest.mark.parametrize("kind", ["mixed", "one seed"])
def test_writes_a_picture_without_pyplot(tmp_path: Path, kind: str) -> None:
    comparison = made()
    if kind == "one seed":
        runs = [record("wl", 0, 0.8, 0.9)]
        comparison = compare_records(GRAPHS, Scoring(), {"wl": runs})
    save_comparison_plot(tmp_path / "p.png", comparison)
    assert (tmp_path / "p.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert "matplotlib.pyplot" not in sys.modules
    assert [path.name for path in tmp_path.iterdir()] == ["p.png"]


@pytest.mark.parametrize(
    ("suffix", "head"), [(".svg", b"<?xml"), (".pdf", b"%PDF-"), (".PNG", b"\x89PNG")]
)
def test_the_suffix_says_the_format_and_the_bytes_are_the_same(
    tmp_path: Path, suffix: str, head: bytes
) -> None:
    places = [tmp_path / f"{name}{suffix}" for name in "ab"]
    for path in places:
        save_comparison_plot(path, made())
    first, second = (path.read_bytes() for path in places)
    assert first.startswith(head)
    assert first == second


def accuracy_axes(comparison: Comparison) -> Any:
    """Return the axes of accuracies as they are drawn."""
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    comparison_plot._draw_accuracy(axes, comparison, comparison.lines)
    return axes


def test_bars_and_figures_end_at_0_and_100_per_cent() -> None:
    runs = {"wl": [record("wl", 0, 1.0, 0.9)], "gcc": [record("gcc", 0, 0.0, 0.1)]}
    axes = accuracy_axes(compare_records(GRAPHS, Scoring(), runs))
    ends = [x for bar in axes.collections for line in bar.get_segments() for x in line[:, 0]]
    assert (min(ends), max(ends)) == (0, 100)
    assert (min(axes.get_xticks()), max(axes.get_xticks())) == (0, 100)
    assert axes.get_xlim() == (-2, 102)


def test_the_picture_says_which_accuracy_it_shows() -> None:
    runs = {"wl": [record("wl", 0, 0.8, 0.9)]}
    for twins in (False, True):
        axes = accuracy_axes(compare_records(GRAPHS, Scoring(twins=twins), runs))
        assert ("twins kept in training" in axes.get_xlabel()) is twins


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"how to write a picture. Use one of .png, .svg, .pdf"):
        save_comparison_plot(tmp_path / "p.jpg", made())
