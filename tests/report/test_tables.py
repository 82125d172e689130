from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from igsd.experiments.exhibits import read_exhibit
from igsd.experiments.records import record_path, write_record
from igsd.experiments.run import Run
from igsd.report.summary import Cell
from igsd.report.tables import run_part, under
from tests.report.record_files import make_record, table, write


def cells_of(name: str, folder: Path, *data: str) -> dict[str, list[Cell]]:
    """Return the cells of a table or figure by the title of their row."""
    return {row.title: row.results for row in table(name, folder, *data).rows}


def test_the_part_that_was_run(tmp_path: Path) -> None:
    write(tmp_path, make_record("PTC", "wl", 0, {"wl": 0.6}, method="wl"))
    part, missing = run_part(table("table-1", tmp_path))
    assert [column.title for column in part.columns] == ["PTC, paper", "PTC, nested"]
    assert [row.title for row in part.rows if row.results] == ["WL subtree"]
    assert part.results[1].mean == pytest.approx(60.0)
    assert (part.rows[0].title, part.rows[0].cells) == ("graphs", ("344", ""))
    assert missing[:3] == ["MUTAG, paper", "MUTAG, nested", "IMDB-B, paper"]
    assert len(missing) == 10 + 17
    assert run_part(part) == (part, [])


def test_table_one(tmp_path: Path) -> None:
    scores = {"igsd": 0.9, "untrained": 0.8, "majority": 0.6}
    for seed in range(5):
        record = make_record("MUTAG", "molecules", seed, scores, seconds={"train": 2.0})
        write(tmp_path, record)
    for seed in range(4):
        better = {"igsd": 0.91, "untrained": 0.81}
        write(tmp_path, make_record("MUTAG", "molecules", seed, better, protocol="paper"))
    made = table("table-1", tmp_path)
    assert [c.title for c in made.columns][:3] == ["MUTAG, paper", "MUTAG, nested", "IMDB-B, paper"]
    assert made.rows[0].cells[::2] == ("188", "1000", "1500", "4110", "5000", "344")
    assert set(made.rows[0].cells[1::2]) == {""}
    assert made.rows[2].title == "mean nodes per graph"
    first = {row.title: row.results[0] for row in made.rows if row.results}
    assert first["IGSD"].text == "91.0 ± 0.0 (4 of 5 seeds)"
    assert first["IGSD"].beside == "90.2 ± 0.7 (ours +0.8)"
    assert first["untrained encoder"].text == "81.0 ± 0.0 (4 of 5 seeds)"
    assert first["IGSD"].records[0] == "paper/MUTAG/molecules/seed-0.json"
    # A data set that was run keeps both columns, the others are named.
    part, missing = run_part(made)
    assert [column.title for column in part.columns] == ["MUTAG, paper", "MUTAG, nested"]
    assert missing[:2] == ["IMDB-B, paper", "IMDB-B, nested"]
    ranked = under(made, "nested")
    assert [column.title for column in ranked.columns][:2] == ["MUTAG", "IMDB-B"]
    rows = {row.title: row.results[0] for row in ranked.rows if row.results}
    assert (rows["IGSD"].text, rows["IGSD"].beside) == ("90.0 ± 0.0", "")
    assert rows["untrained encoder"].text == "80.0 ± 0.0"
    assert rows["WL subtree"].text == "not run"
    assert len(rows["IGSD"].records) == 5
    assert (rows["IGSD"].seconds, rows["majority class"].seconds) == (2.0, None)


def test_table_two_has_both_protocols_and_ends_with_differences() -> None:
    made = table("table-2", "no/such/folder")
    assert [c.title for c in made.columns][:2] == ["IMDB-B, semi", "IMDB-B, semi-paper"]
    first = made.rows[0].results
    assert (first[0].printed, first[1].printed_text) == (None, "69.0")
    last = [row for row in made.rows if row.is_difference]
    assert {row.group for row in last} == {"IGSD (SupCon) + self-training less"}
    assert last[0].title == "... Mean Teachers"
    assert [cell.text for cell in last[0].results[:2]] == ["not run", ""]


def test_other_data_have_columns_of_their_own(tmp_path: Path) -> None:
    write(tmp_path, make_record("mine", "social", 0, {"igsd": 0.7}))
    made = table("beyond", tmp_path)
    assert made.columns[-1].title == "mine"
    assert made.rows[0].results[-1].mean == pytest.approx(70)
    assert [column.data for column in table("beyond", tmp_path, "PTC").columns] == ["PTC"]


def test_a_figure_over_a_setting(tmp_path: Path) -> None:
    made = table("figure-negatives", tmp_path)
    assert [column.title for column in made.columns] == ["16", "32", "64", "128", "256", "512"]
    lines = ["IGSD", "CMC-Graph (MVGRL)"]
    titles = [f"{title}, {name}" for name in ("paper", "nested") for title in lines]
    assert [row.title for row in made.rows] == titles
    assert {cell.text for cell in made.results} == {"not run"}


def test_ratios_are_taken_split_by_split(tmp_path: Path) -> None:
    def write_errors(method: str, seed: int, mu: float, **changes: Any) -> None:
        record = make_record("QM9", "qm9", seed, {}, protocol="qm9", method=method, **changes)
        run = Run("qm9", "QM9", method, "qm9", seed)
        record |= {"config": run.config().to_json(), "protocol": run.rules.settings(run)}
        record["rows"] = [{"method": method, "protocol": "qm9", "mae": {"mu": mu}}]
        write_record(record_path(tmp_path, "qm9", "QM9", method, seed), record)

    for seed, (base, ours) in enumerate([(1.0, 0.9), (2.0, 1.4)]):
        write_errors("supervised", seed, base)
        write_errors("igsd", seed, ours)
    write_errors("igsd", 2, 5.0)  # without a supervised run of the same split
    write_errors("infograph", 0, 5.0, status="failed")
    failed = tmp_path / "qm9" / "QM9" / "infograph" / "seed-0.json"
    failed.write_text(json.dumps(json.loads(failed.read_text()) | {"rows": []}))
    rows = {row.title: row.results for row in table("figure-qm9", tmp_path).rows}
    assert [cell.text for cell in rows["IGSD"][:2]] == ["0.80 ± 0.10 (2 of 3 seeds)", "-"]
    assert rows["supervised"][0].mean == 1.0
    assert rows["Mean Teachers"][0].text == "not run"
    assert rows["InfoGraph"][0].text == "failed"


def test_ratios_of_changed_settings_are_to_the_plain_baseline(tmp_path: Path) -> None:
    line = next(x for x in read_exhibit("figure-qm9").lines if x.settings)
    for method, changes, error in (("supervised", {}, 2.0), ("igsd", line.settings, 1.0)):
        run = Run("qm9", "QM9", method, "qm9", 0, changes=tuple(changes.items()))
        record = make_record("QM9", "qm9", 0, {}, protocol="qm9", method=method)
        record |= {"config": run.config().to_json(), "protocol": run.rules.settings(run)}
        record["rows"] = [{"method": method, "protocol": "qm9", "mae": {"mu": error}}]
        write_record(run.path(tmp_path), record)
    rows = {row.title: row.results for row in table("figure-qm9", tmp_path).rows}
    assert rows[line.title][0].mean == 0.5
    assert rows["IGSD"][0].text == "not run"


def test_ratios_of_targets_learned_alone(tmp_path: Path) -> None:
    for method, error in (("supervised", 2.0), ("igsd", 1.0)):
        record = make_record("QM9", "qm9", 0, {}, protocol="qm9", method=method)
        run = Run("qm9", "QM9", method, "qm9", 0, target="r2")
        record |= {"config": run.config().to_json(), "protocol": run.rules.settings(run)}
        record["rows"] = [{"method": method, "protocol": "qm9", "mae": {"r2": error}}]
        write_record(record_path(tmp_path, "qm9-r2", "QM9", method, 0), record)
    rows = {row.method: row.results for row in table("figure-qm9-alone", tmp_path).rows}
    assert [cell.text for cell in rows["igsd"]] == ["not run", "0.50", "not run"]


def test_a_row_without_twins_is_to_be_run_where_another_run_has_it(tmp_path: Path) -> None:
    def word() -> str:
        return cells_of("beyond", tmp_path, "COLLAB")["IGSD, twins removed"][0].text

    record = make_record("COLLAB", "social", 0, {"igsd": 0.8})
    write_record(record_path(tmp_path, "nested", "COLLAB", "social", 0), record)
    assert word() == "-"
    record = make_record("COLLAB", "wl", 0, {"wl": 0.8, "wl, twins removed": 0.7}, method="wl")
    record["protocol"]["twins"] = True
    write_record(record_path(tmp_path, "nested", "COLLAB", "wl", 0), record)
    assert word() == "not run"


def test_another_metric_than_the_accuracy(tmp_path: Path) -> None:
    for seed, error in enumerate((0.5, 0.6)):
        record = make_record("B3DB", "molecules", seed, {}, protocol="semi", method="gin")
        run = Run("semi", "B3DB", "gin", "molecules", seed, target="logBB")
        record |= {"config": run.config().to_json(), "protocol": run.rules.settings(run)}
        record["rows"] = [{"method": "gin", "protocol": "semi", "mae": error}]
        write_record(record_path(tmp_path, "semi-logBB", "B3DB", "gin", seed), record)
    rows = cells_of("b3db-logbb", tmp_path)
    assert rows["GIN (supervised only)"][0].text == "0.550 ± 0.050 (2 of 5 seeds)"
