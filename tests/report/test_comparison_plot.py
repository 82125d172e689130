from __future__ import annotations

import sys
from pathlib import Path

import pytest

from igsd.errors import StorageError
from igsd.experiments.scoring import Scoring
from igsd.report.comparison import compare_records
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


def test_another_suffix_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"how to write a picture. Use one of .png, .svg, .pdf"):
        save_comparison_plot(tmp_path / "p.jpg", made())
