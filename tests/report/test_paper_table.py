from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from igsd.errors import ConfigError
from igsd.experiments.qm9_plan import qm9_config
from igsd.experiments.records import record_path, write_record
from igsd.report.paper_table import figure, table
from igsd.report.paper_text import exhibit_text, figure_lines, table_lines
from tests.report.record_files import make_record, write


def test_table_one(tmp_path: Path) -> None:
    scores = {"igsd": 0.9, "untrained": 0.8, "majority": 0.6}
    for seed in range(5):
        write(tmp_path, make_record("MUTAG", "molecules", seed, scores))
    made = table("table-1", tmp_path)
    assert [column.title for column in made.columns][:2] == ["MUTAG", "IMDB-B"]
    assert made.statistics[0] == ("graphs", ("188", "1000", "1500", "4110", "5000", "344"))
    rows = {row.title: row.cells[0] for row in made.rows}
    assert (rows["IGSD"].text, rows["IGSD"].printed_text) == ("90.0 ± 0.0", "90.2 ± 0.7")
    assert rows["untrained encoder"].text == "80.0 ± 0.0"
    assert rows["WL subtree"].text == "not run"
    assert len(rows["IGSD"].records) == 5


def test_table_two_has_both_protocols() -> None:
    made = table("table-2", "no/such/folder")
    assert [c.title for c in made.columns][:2] == ["IMDB-B, semi", "IMDB-B, semi-paper"]
    assert made.rows[0].cells[0].printed is None
    assert made.rows[0].cells[1].printed_text == "69.0"


def test_other_data_have_columns_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, make_record("mine", "social", 0, {"igsd": 0.7}))
    made = table("beyond", tmp_path)
    assert made.columns[-1].title == "mine"
    assert made.rows[0].cells[-1].mean == pytest.approx(70)
    assert [column.data for column in table("beyond", tmp_path, ["PTC"]).columns] == ["PTC"]


def test_text_of_a_table() -> None:
    header, lines = table_lines(table("table-1", "no/such/folder", ["MUTAG"]))
    assert header == ["method", "MUTAG", "paper"]
    assert lines[0] == ["graphs", "188", ""]
    assert ["-- kernels", "", ""] in lines
    assert ["WL subtree", "not run", "80.7 ± 3.0"] in lines
    text = exhibit_text(table("table-3", "no/such/folder"))
    assert text.startswith("Table 3: with and without the projector\n")
    assert "\nSource: H. Zhang et al." in text


def test_figure_over_a_setting(tmp_path: Path) -> None:
    made = figure("figure-negatives", tmp_path)
    assert made.x == (16, 32, 64, 128, 256, 512)
    assert [series.title for series in made.series] == ["IGSD", "CMC-Graph (MVGRL)"]
    header, lines = figure_lines(made)
    assert header == ["graphs in a batch", "IGSD", "CMC-Graph (MVGRL)"]
    assert lines[0] == ["16", "not run", "not run"]


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


def test_a_figure_is_no_table() -> None:
    with pytest.raises(ConfigError, match="is a figure"):
        table("figure-qm9", "results")
    with pytest.raises(ConfigError, match="is a table"):
        figure("table-1", "results")
