from __future__ import annotations

from pathlib import Path

import pytest

from igsd.errors import IGSDWarning, StorageError
from igsd.experiments.run import Run
from igsd.report.records import RecordFolder, RecordGroup, row_title, run_title
from tests.report.record_files import make_record, write

RUN = Run("nested", "MUTAG", "igsd", "molecules", 0)


def test_records_are_found_by_their_run(tmp_path: Path) -> None:
    write(tmp_path, make_record("MUTAG", "molecules", 3, {"igsd": 0.9}))
    write(tmp_path, make_record("MUTAG", "molecules", 0, {"igsd": 0.9}))
    folder = RecordFolder(tmp_path)
    assert [path for path, _ in folder.of(RUN)] == [
        "nested/MUTAG/molecules/seed-0.json",
        "nested/MUTAG/molecules/seed-3.json",
    ]
    assert folder.of(Run("nested", "PTC", "igsd", "molecules", 0)) == []
    (tmp_path / "nested/MUTAG/molecules/seed-4.json").write_text("[]")
    with pytest.warns(IGSDWarning, match=r"seed-4\.json is not a record"):
        assert len(RecordFolder(tmp_path).of(RUN)) == 2


def test_records_are_grouped_by_place_and_sorted_by_seed(tmp_path: Path) -> None:
    for seed in (10, 2):
        write(tmp_path, make_record("MUTAG", "molecules", seed, {"igsd": 0.5 + seed / 100}))
    (tmp_path / "benchmarks").mkdir()
    groups = RecordFolder(tmp_path).groups()
    assert list(groups) == ["nested/MUTAG/molecules"]
    group = groups["nested/MUTAG/molecules"]
    assert [record["seed"] for record in group.records] == [2, 10]
    assert (group.data, group.protocol, group.method) == ("MUTAG", "nested", "igsd")


def test_versions_of_the_algorithm_are_not_mixed(tmp_path: Path) -> None:
    write(tmp_path, make_record("A", "social", 0, {"igsd": 0.1}, algorithm=1))
    group = RecordFolder(tmp_path).groups()["nested/A/social"]
    assert group.is_stale
    assert group.title == "IGSD, recipe social (stale)"
    write(tmp_path, make_record("A", "social", 1, {"igsd": 0.9}))
    group = RecordFolder(tmp_path).groups()["nested/A/social"]
    assert not group.is_stale
    assert [record["seed"] for record in group.good] == [1]


def test_a_file_that_is_not_a_record(tmp_path: Path) -> None:
    path = tmp_path / "nested" / "A" / "social" / "seed-0.json"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    write(tmp_path, make_record("A", "social", 1, {"igsd": 0.9}))
    folder = RecordFolder(tmp_path)
    with pytest.warns(IGSDWarning, match=r"seed-0\.json is not a record"):
        groups = folder.groups()
    assert [record["seed"] for record in groups["nested/A/social"].records] == [1]
    assert folder.broken == ["nested/A/social/seed-0.json"]
    with pytest.raises(StorageError, match="There is no folder"):
        RecordFolder(tmp_path / "none").groups()


@pytest.mark.parametrize(
    ("label", "method", "protocol", "title"),
    [
        ("wl", "wl", "nested", "WL subtree"),
        ("igsd+view-edge-drop+epochs-3", "igsd", "nested", "IGSD, view edge-drop, epochs 3"),
        ("wl+node_features-label+degree", "wl", "nested", "WL subtree, node_features label+degree"),
        ("igsd+recipe-paper+epochs-3", "igsd", "nested", "IGSD, recipe paper, epochs 3"),
        ("wl+0a1b2c3d", "wl", "nested", "WL subtree, settings 0a1b2c3d"),
        ("molecules", None, "paper", "IGSD, recipe molecules"),
        ("paper+epochs-3", "igsd", "nested", "IGSD, recipe paper, epochs 3"),
        ("social+epochs-3", None, "nested", "IGSD, recipe social, epochs 3"),
        ("gin+self-training", "gin+self-training", "semi-0.1", "GIN + self-training"),
        ("gin+epochs-3", "gin", "semi", "GIN (supervised only), epochs 3"),
    ],
)
def test_titles_of_runs(label: str, method: str | None, protocol: str, title: str) -> None:
    assert run_title(label, method, protocol) == title


def test_titles_of_rows() -> None:
    assert row_title("infograph", "nested") == "InfoGraph"
    assert row_title("infograph", "semi") == "InfoGraph (regulariser)"
    assert row_title("majority", "semi") == "majority class"
    assert row_title("igsd, twins removed", "nested") == "IGSD, twins removed"
    assert row_title("histogram", "semi") == "label and degree histogram"
    assert row_title("mine<", "nested") == "mine<"


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        ("nested", ["igsd", "infograph", "wl", "histogram", "mine"]),
        ("semi", ["infograph", "gin", "igsd-supcon", "mine"]),
    ],
)
def test_runs_stand_as_in_the_list_of_methods(protocol: str, names: list[str]) -> None:
    groups = [
        RecordGroup(f"{protocol}/A/{name}", (make_record("A", name, 0, {}, method=name),))
        for name in names
    ]
    assert sorted(groups, key=lambda group: group.order) == groups
