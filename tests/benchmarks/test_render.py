"""The page on performance shows its newest record, and nothing else."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

from benchmarks import render
from benchmarks.record import default_path, make_record, read_newest, write_record
from benchmarks.row import Row
from igsd.errors import StorageError

ROOT = Path(__file__).parents[2]
ROW = Row("epoch / plain PyG", "NCI1", 1.5, 4.5, 3.0, 2.4, "s", "same loss")


def test_the_page_is_up_to_date() -> None:
    records = ROOT / "results" / "benchmarks"
    if not list(records.glob("*.json")):
        pytest.skip("no benchmarks are recorded yet")
    assert render.main([str(records), str(ROOT / "docs" / "performance.md"), "--check"]) == 0


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


def test_the_last_name_is_the_newest_record(tmp_path: Path) -> None:
    record = make_record([ROW], 1.0, [0.0])
    for date in ("2026-01-02T00:00:00+00:00", "2025-12-31T00:00:00+00:00"):
        dated = record | {"date": date}
        write_record(default_path(dated, tmp_path), dated)
    assert read_newest(tmp_path)["date"].startswith("2026")


def test_other_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="make bench"):
        read_newest(tmp_path)
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(StorageError, match="not a record"):
        read_newest(tmp_path)


def test_markers() -> None:
    assert doctest.testmod(render).failed == 0
    with pytest.raises(StorageError, match="must hold the lines"):
        render.replace_table("no markers", "x")
