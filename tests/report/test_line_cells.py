from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from igsd.experiments.qm9_plan import qm9_config
from igsd.experiments.records import record_path, write_record
from igsd.report.paper_figure import figure
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
