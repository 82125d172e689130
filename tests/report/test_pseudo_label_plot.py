from __future__ import annotations

from pathlib import Path

import numpy as np

from igsd.report.pseudo_label_plot import accumulated, save_pseudo_label_plot


def test_counts_and_shares() -> None:
    numbers, totals, shares = accumulated([1, 3, 3, 1], [True, False, None, None])
    assert numbers.tolist() == [1, 2, 3]
    assert totals.tolist() == [2, 2, 4]
    assert shares.tolist() == [1.0, 1.0, 0.5]


def test_nothing_known() -> None:
    assert np.isnan(accumulated([1, 2], [None, None])[2]).all()


def test_a_picture(tmp_path: Path) -> None:
    save_pseudo_label_plot(tmp_path / "a.png", [1, 2], [True, None], "rounds")
    save_pseudo_label_plot(tmp_path / "b.png", [], [])
    for name in ("a.png", "b.png"):
        assert (tmp_path / name).read_bytes().startswith(b"\x89PNG")
