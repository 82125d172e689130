from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import IGSDWarning, StorageError
from igsd.report.page.record_groups import anchor, read_groups
from tests.report.record_files import make_record, write


def test_records_are_grouped_by_place_and_sorted_by_seed(tmp_path: Path) -> None:
    for seed in (10, 2):
        write(tmp_path, make_record("MUTAG", "molecules", seed, {"igsd": 0.5 + seed / 100}))
    (tmp_path / "benchmarks").mkdir()
    groups, _ = read_groups(tmp_path)
    assert list(groups) == ["nested/MUTAG/molecules"]
    group = groups["nested/MUTAG/molecules"]
    assert [record["seed"] for record in group.records] == [2, 10]
    assert (group.data, group.protocol, group.name) == ("MUTAG", "nested", "molecules")
    assert group.method == "igsd"
    assert [row.mean for row in group.rows()] == [pytest.approx(0.56)]


def test_versions_of_the_algorithm_are_not_mixed(tmp_path: Path) -> None:
    write(tmp_path, make_record("A", "social", 0, {"igsd": 0.1}, algorithm=1))
    group = read_groups(tmp_path)[0]["nested/A/social"]
    assert group.is_stale
    write(tmp_path, make_record("A", "social", 1, {"igsd": 0.9}))
    group = read_groups(tmp_path)[0]["nested/A/social"]
    assert not group.is_stale
    assert [row.mean for row in group.rows()] == [0.9]


def test_failed_runs_and_rows_without_accuracies(tmp_path: Path) -> None:
    write(tmp_path, make_record("A", "social", 0, {}, status="failed", error="no"))
    rows = [{"method": "igsd", "protocol": "qm9", "mae": {"mu": 0.1}}]
    write(tmp_path, make_record("A", "social", 1, {}, rows=rows))
    assert read_groups(tmp_path)[0]["nested/A/social"].rows() == []


def test_no_folder(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="There is no folder"):
        read_groups(tmp_path / "none")


def test_a_file_that_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "nested" / "A" / "social" / "seed-0.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    write(tmp_path, make_record("A", "social", 1, {"igsd": 0.9}))
    with pytest.warns(IGSDWarning, match=r"seed-0\.json is not a record"):
        groups, broken = read_groups(tmp_path)
    assert [record["seed"] for record in groups["nested/A/social"].records] == [1]
    assert broken == ["nested/A/social/seed-0.json"]


def test_anchor_of_a_path_is_that_of_its_group() -> None:
    assert anchor("a/b/c/seed-0.json") == anchor("a/b/c") == "records/a/b/c"
