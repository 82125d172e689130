from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from igsd.baselines.semi_methods import regression_config
from igsd.experiments.qm9_plan import qm9_config
from igsd.experiments.records import record_path, write_record
from igsd.report.paper_figure import figure
from igsd.report.paper_table import table
from tests.report.record_files import make_record


def test_ratios_are_taken_split_by_split(tmp_path: Path) -> None:
    def write_errors(method: str, seed: int, mu: float, **changes: Any) -> None:
        record = make_record("QM9", "qm9", seed, {}, protocol="qm9", **changes)
        record["config"] = qm9_config(method, "qm9", {"seed": seed}).to_json()
        record["rows"] = [{"method": method, "protocol": "qm9", "mae": {"mu": mu}}]
        write_record(record_path(tmp_path, "qm9", "QM9", method, seed), record)

    for seed, (base, ours) in enumerate([(1.0, 0.9), (2.0, 1.4)]):
        write_errors("supervised", seed, base)
        write_errors("igsd", seed, ours)
    write_errors("igsd", 2, 5.0)  # without a supervised run of the same split
    write_errors("infograph", 0, 5.0, status="failed")
    failed = tmp_path / "qm9" / "QM9" / "infograph" / "seed-0.json"
    failed.write_text(json.dumps(json.loads(failed.read_text()) | {"rows": []}))
    made = {series.method: series.cells for series in figure("figure-qm9", tmp_path).series}
    assert made["igsd"][0].text == "0.80 ± 0.10 (2 of 3 seeds)"
    assert made["igsd"][1].text == "-"
    assert made["supervised"][0].mean == 1.0
    assert made["mean-teacher"][0].text == "not run"
    assert made["infograph"][0].text == "failed"


def test_ratios_of_targets_learned_alone(tmp_path: Path) -> None:
    for method, error in (("supervised", 2.0), ("igsd", 1.0)):
        record = make_record("QM9", "qm9", 0, {}, protocol="qm9")
        record["config"] = qm9_config(method, "qm9", {"seed": 0}).to_json()
        record["rows"] = [{"method": method, "protocol": "qm9", "mae": {"r2": error}}]
        write_record(record_path(tmp_path, "qm9-r2", "QM9", method, 0), record)
    made = {series.method: series.cells for series in figure("figure-qm9-alone", tmp_path).series}
    assert [cell.text for cell in made["igsd"]] == ["not run", "0.50", "not run"]


def test_the_time_is_that_of_the_method(tmp_path: Path) -> None:
    scores = {"igsd": 0.9, "majority": 0.6}
    record = make_record("MUTAG", "molecules", 0, scores, seconds={"train": 2.0})
    write_record(record_path(tmp_path, "nested", "MUTAG", "molecules", 0), record)
    rows = {row.title: row.cells[0] for row in table("table-1", tmp_path, ["MUTAG"]).rows}
    assert rows["IGSD"].seconds == 2.0
    assert rows["majority class"].mean == 60.0
    assert rows["majority class"].seconds is None


def test_a_row_without_twins_is_to_be_run_where_another_run_has_it(tmp_path: Path) -> None:
    def word() -> str:
        rows = {row.title: row.cells[0] for row in table("beyond", tmp_path, ["COLLAB"]).rows}
        return rows["IGSD, twins removed"].text

    record = make_record("COLLAB", "social", 0, {"igsd": 0.8})
    write_record(record_path(tmp_path, "nested", "COLLAB", "social", 0), record)
    assert word() == "-"
    record = make_record("COLLAB", "wl", 0, {"wl": 0.8, "wl, twins removed": 0.7}, method="wl")
    record["protocol"]["twins"] = True
    write_record(record_path(tmp_path, "nested", "COLLAB", "wl", 0), record)
    assert word() == "not run"


def test_another_figure_than_the_accuracy(tmp_path: Path) -> None:
    for seed, error in enumerate((0.5, 0.6)):
        record = make_record("B3DB", "molecules", seed, {}, protocol="semi")
        record["config"] = regression_config("gin", "molecules", {"seed": seed}).to_json()
        record["rows"] = [{"method": "gin", "protocol": "semi", "mae": error}]
        write_record(record_path(tmp_path, "semi-logBB", "B3DB", "gin", seed), record)
    rows = {row.title: row.cells for row in table("b3db-logbb", tmp_path).rows}
    assert rows["GIN (supervised only)"][0].text == "0.550 ± 0.050 (2 of 5 seeds)"
