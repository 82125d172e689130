from __future__ import annotations

from igsd.report.result_cell import mean_and_std


def test_mean_and_std() -> None:
    assert mean_and_std(90.24, 0.68) == "90.2 ± 0.7"
    assert mean_and_std(90.24, None) == "90.2"
    assert mean_and_std(0.804, 0.1, digits=2) == "0.80 ± 0.10"
