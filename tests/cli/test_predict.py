from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run


def test_a_model_without_labels_predicts_nothing(igsd: Run, trained: Path, toy: Path) -> None:
    code, _, err = igsd("predict", trained, toy, "-o", "p.csv")
    assert code == 2
    assert "no predictions" in err
    code, _, err = igsd("predict", trained, toy, "-o", "p.txt")
    assert code == 2
    assert ".csv, .parquet" in err
