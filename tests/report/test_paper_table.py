from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import ConfigError
from igsd.report.paper_table import run_part, table
from tests.report.record_files import make_record, write


def test_the_part_that_was_run(tmp_path: Path) -> None:
    write(tmp_path, make_record("PTC", "wl", 0, {"wl": 0.6}, method="wl"))
    part, left = run_part(table("table-1", tmp_path))
    assert [column.title for column in part.columns] == ["PTC"]
    assert [row.title for row in part.rows] == ["WL subtree"]
    assert part.rows[0].cells[0].mean == pytest.approx(60.0)
    assert part.statistics[0] == ("graphs", ("344",))
    assert left[:5] == ["MUTAG", "IMDB-B", "IMDB-M", "NCI1", "COLLAB"]
    assert len(left) == 5 + 17
    assert run_part(part) == (part, [])


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


def test_a_figure_is_no_table() -> None:
    with pytest.raises(ConfigError, match="is a figure"):
        table("figure-qm9", "results")
