"""The page on performance shows the newest measurement of each row, and nothing else."""

from __future__ import annotations

import doctest
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks import render
from benchmarks.record import (
    default_path,
    make_record,
    make_torture_record,
    read_all,
    write_record,
)
from benchmarks.row import Row
from igsd.errors import StorageError

ROOT = Path(__file__).parents[2]
ROW = Row("epoch / plain PyG", "NCI1", 1.5, 4.5, 3.0, 2.4, "s", "same loss")


def test_the_page_is_up_to_date() -> None:
    records = ROOT / "results" / "benchmarks"
    if not list(records.glob("*.json")):
        pytest.skip("no benchmarks are recorded yet")
    assert render.main([str(records), str(ROOT / "docs" / "performance.md"), "--check"]) == 0


def test_the_page_on_reliability_is_up_to_date() -> None:
    records = ROOT / "results" / "torture"
    if not list(records.glob("*.json")):
        pytest.skip("no attack is recorded yet")
    assert render.main([str(records), str(ROOT / "docs" / "reliability.md"), "--check"]) == 0


def test_the_largest_attack_is_shown(tmp_path: Path) -> None:
    folder, page = tmp_path / "torture", tmp_path / "page.md"
    row = {"name": "kills: train", "tried": 20, "failed": 0, "skipped": ""}
    disk = {"name": "disks: full", "tried": 0, "failed": 0, "skipped": "no mount"}
    for date, size, rows in (
        ("2026-01-01", "all", [row | {"tried": 100}, disk]),
        ("2026-01-02", "usual", [row]),
    ):
        record = make_torture_record(rows, size, 0) | {"date": f"{date}T00:00:00+00:00"}
        write_record(default_path(record, folder), record)
    page.write_text(f"before\n{render.TORTURE_BEGIN}\n{render.TORTURE_END}\nafter\n")
    assert render.main([str(folder), str(page), "--check"]) == 1
    assert render.main([str(folder), str(page)]) == 0
    text = page.read_text()
    assert "| kills: train | 100 | 0 |" in text
    assert "| disks: full | 0 | skipped: no mount |" in text
    assert "`make torture-all` on 2026-01-01" in text
    with pytest.raises(StorageError, match="not a record of `make bench`"):
        read_all(folder)


def test_a_difference_is_found_and_mended(tmp_path: Path) -> None:
    record = make_record([ROW], 120.0, [0.5, 1.5])
    write_record(default_path(record, tmp_path), record)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{render.BEGIN}\nold\n{render.END}\nafter\n")
    assert render.main([str(tmp_path), str(page), "--check"]) == 1
    assert "old" in page.read_text()
    assert render.main([str(tmp_path), str(page)]) == 0
    assert render.main([str(tmp_path), str(page), "--check"]) == 0
    text = page.read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| epoch / plain PyG | NCI1 | 1.50 | 4.50 |" in text
    assert "load 0.5 and 1.5" in text


def test_each_row_is_the_newest_that_was_measured(tmp_path: Path) -> None:
    other = replace(ROW, data="MUTAG", ratio=1.0)
    rows = {"2026-01-02": [replace(ROW, ratio=9.0)], "2025-12-31": [ROW, other]}
    for date, measured in rows.items():
        record = make_record(measured, 1.0, [0.0]) | {"date": f"{date}T00:00:00+00:00"}
        write_record(default_path(record, tmp_path), record)
    records = read_all(tmp_path)
    assert [record["date"][:10] for record in records] == ["2025-12-31", "2026-01-02"]
    first, second, *runs = render.render(records).splitlines()[2:]
    assert "| NCI1 | 1.50 | 4.50 | s | 9.00 |" in first
    assert "same loss; run 1 |" in first
    assert "| MUTAG | 1.50 | 4.50 | s | 1.00 |" in second
    assert "same loss; run 2 |" in second
    assert [line[:32] for line in runs if line] == [
        "Run 1, measured on 2026-01-02, c",
        "Run 2, measured on 2025-12-31, c",
    ]


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="make bench"):
        read_all(tmp_path)
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(StorageError, match="not a record"):
        read_all(tmp_path)


def test_markers() -> None:
    assert doctest.testmod(render).failed == 0


@pytest.mark.parametrize("text", ["", "[ only", "only ]", "] turned [", "[ a ] [ b ]"])
def test_markers_must_stand_once_and_in_order(text: str) -> None:
    with pytest.raises(StorageError, match="in this order, once"):
        render.replace_between(text, "[", "]", "new")
