from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from igsd.experiments import exhibits
from igsd.experiments.records import Record
from igsd.report.holdout import (
    exhibit_curves,
    holdout_cell,
    holdout_table,
    learning_curves,
    reliability,
)
from igsd.report.records import RecordFolder
from igsd.report.summary import Cell
from igsd.report.tables import Column, Row, Table, fill, run_part


def record(method: str, shift: float = 0.0) -> Record:
    rows: Any = []
    for labels in (16, 0):
        areas = [0.6 + shift, 0.7 + 2 * shift, None]
        sums = [[40.0] * 10, [4.0 * (i + 0.5) for i in range(10)], [4.0 * i for i in range(10)]]
        row = {"method": method, "protocol": "random", "labels": labels, "splits": [0, 1, 2]}
        rows.append(row | {"metrics": {"roc_auc": areas}, "calibration": sums})
    made: Any = {"method": method, "algorithm": 0, "status": "ok", "seed": 0, "rows": rows}
    return made


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("igsd.report.summary.is_fresh", lambda record: True)


def test_splits_are_what_seeds_are_elsewhere() -> None:
    cell = holdout_cell([record("morgan")], "roc_auc", 16)
    assert cell.by_seed == {0: 0.6, 1: 0.7}  # the third is not defined
    assert (cell.figure, cell.num_seeds) == ("0.650 ± 0.050", 2)


def test_differences_are_paired_by_split() -> None:
    found = {"morgan": [record("morgan")], "mine": [record("mine", 0.1)]}
    table = holdout_table("T", found, ["roc_auc"], [16, 0])
    titles = [column.title for column in table.columns]
    assert titles[:3] == ["ROC-AUC, 16 labels", "minus morgan", "ROC-AUC, all labels"]
    assert titles[-2:] == ["splits", "seconds"]
    assert table.rows[0].cells[1] == ""
    assert table.rows[1].cells[1] == "+0.150 ± 0.050"


def test_plots() -> None:
    found = {"morgan": [record("morgan")], "mine": [record("mine", 0.1)]}
    cells = {t: {n: holdout_cell(r, "roc_auc", n) for n in (16, 0)} for t, r in found.items()}
    plot = learning_curves(cells)
    assert plot is not None
    assert ">all<" in plot.svg()
    assert learning_curves({}) is None
    diagram = reliability(found, 16)
    assert diagram is not None
    assert "predicted probability" in diagram.svg()
    assert reliability({"mine": []}, 16) is None


def test_panels_of_a_table() -> None:
    def cell(value: float) -> Cell:
        return Cell(folds={0: [value]})

    rows = tuple(
        Row(title, (cell(0.5 + i / 10), ""), f"random split, {n} labels")
        for n in (16, 32)
        for i, title in enumerate(("A", "B"))
    )
    table = Table("T", (Column("BBBP", "BBBP"), Column("mean")), rows)
    plot = exhibit_curves(table, "random")
    assert plot is not None
    assert ">BBBP<" in plot.svg()
    assert exhibit_curves(table, "scaffold") is None


def test_the_table_of_molecules(tmp_path: Any) -> None:
    table = fill(exhibits.read_exhibit("molecules"), RecordFolder(tmp_path))
    assert len(table.rows) == 2 * 6 * 8
    assert [column.title for column in table.columns][-2:] == ["mean ROC-AUC", "mean error"]
    assert {cell.word for cell in table.results} == {"not run"}
    part, missing = run_part(table)
    assert not part.columns
    assert len(missing) == 7 + 8  # data sets and methods, each once


def test_runs_of_the_table() -> None:
    exhibit = exhibits.read_exhibit("molecules")
    runs = exhibits.runs_of(exhibit, {"HIV": "molecules", "ESOL": "molecules"})
    assert len(runs) == 2 * 2 * 8
    assert {(run.data, run.num_splits, run.numbers) for run in runs} == {
        ("HIV", 3, False),
        ("ESOL", 10, True),
    }
    assert {run.train_labels for run in runs} == {(16, 32, 64, 128, 400, 0)}
    assert {run.num_splits for run in exhibits.runs_of(exhibit, {"HIV": "molecules"}, 2)} == {2}
    assert np.unique([run.seed for run in runs]).tolist() == [0]
