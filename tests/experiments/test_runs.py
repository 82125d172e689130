from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path

from igsd.experiments.exhibit import data_facts, exhibit_names, read_exhibit
from igsd.experiments.runs import Run, points, recipe_of, runs_of, seeds_of, unknown_data


def test_places_of_records() -> None:
    root = Path("r")
    run = Run("nested", "MUTAG", "igsd", "molecules", 2, (("view", "edge-drop"),))
    assert run.path(root) == root / "nested/MUTAG/molecules+view-edge-drop/seed-2.json"
    run = Run("nested", "MUTAG", "mvgrl", "molecules", 0, (("batch_size", 16),))
    assert run.path(root) == root / "nested/MUTAG/mvgrl+batch_size-16/seed-0.json"
    run = Run("semi", "IMDB-BINARY", "gin", "social", 0, label_rate=0.1)
    assert run.path(root) == root / "semi-0.1/IMDB-BINARY/gin/seed-0.json"
    run = Run("qm9", "QM9", "igsd", "qm9", 0)
    assert run.path(root) == root / "qm9/QM9/igsd/seed-0.json"
    run = Run("qm9", "QM9", "igsd", "qm9", 0, target="mu")
    assert run.path(root) == root / "qm9-mu/QM9/igsd/seed-0.json"
    run = Run("semi", "B3DB", "gin", "molecules", 0, target="logBB", label_rate=0.1)
    assert run.path(root) == root / "semi-logBB-0.1/B3DB/gin/seed-0.json"


def test_a_setting_that_the_recipe_has_makes_no_variant() -> None:
    exhibit = read_exhibit("figure-negatives")
    labels = [run.label for run in points(exhibit, exhibit.lines[0], "IMDB-BINARY", "social")]
    assert len(labels) == 6
    assert labels.count("social") == 1


def test_floors_are_scored_where_a_table_shows_them() -> None:
    shown = 0
    for exhibit in map(read_exhibit, exhibit_names()):
        for data, line in product(exhibit.data, exhibit.lines):
            runs = list(points(exhibit, line, data, data_facts()[data].recipe))
            if runs[0].is_recipe and line.shows.partition(",")[0] in ("untrained", "histogram"):
                assert all(run.has_floors for run in runs)
                shown += 1
    assert shown > 20
    variant = Run("nested", "MUTAG", "igsd", "molecules", 0, (("view", "edge-drop"),))
    assert not variant.has_floors
    assert not replace(variant, recipe="paper", changes=()).has_floors


def test_the_first_seeds_come_first_and_each_run_once() -> None:
    runs = runs_of(read_exhibit("table-1"), {"MUTAG": "molecules", "PTC": "molecules"}, 2)
    assert len(set(runs)) == len(runs) == 2 * 2 * 15
    assert [run.seed for run in runs] == [0] * 30 + [1] * 30


def test_table_2_says_how_long_each_set_is_trained() -> None:
    exhibit = read_exhibit("table-2")
    for data in exhibit.data:
        facts = data_facts()[data]
        (run,) = points(exhibit, exhibit.lines[0], data, facts.recipe)
        budget = f"{exhibit.num_seeds(data)} splits and {run.config().epochs} epochs"
        said = next(part for part in exhibit.about.split(";") if facts.short in part)
        assert budget in said


def test_labels_vary_the_protocol_and_nothing_else() -> None:
    exhibit = read_exhibit("figure-labels")
    runs = list(points(exhibit, exhibit.lines[0], "IMDB-BINARY", "social"))
    assert [run.label_rate for run in runs] == [0.01, 0.05, 0.1, 0.2, 0.5, 1.0]
    assert {run.label for run in runs} == {"igsd-supcon+self-training"}


def test_targets_learned_alone_have_runs_of_their_own() -> None:
    exhibit = read_exhibit("figure-qm9-alone")
    runs = list(points(exhibit, exhibit.lines[0], "QM9", "qm9"))
    assert [run.target for run in runs] == ["mu", "r2", "u0"]


def test_seeds() -> None:
    run = Run("nested", "X", "wl", "social", 0)
    assert [each.seed for each in seeds_of(run, 3)] == [0, 1, 2]


def test_settings_of_a_data_set_are_no_variant() -> None:
    run = Run("semi", "COLLAB", "gin", "social", 1, fixed=(("epochs", 7),))
    assert run.config().epochs == 7
    assert run.config().seed == 1
    assert run.label == "gin"


def test_the_recipe_of_unknown_data_is_told_by_its_records(tmp_path: Path) -> None:
    assert recipe_of("MUTAG", tmp_path, "nested") == "molecules"
    assert recipe_of("mine", tmp_path, "nested") == "molecules"
    (tmp_path / "nested" / "mine" / "social").mkdir(parents=True)
    assert recipe_of("mine", tmp_path, "nested") == "social"
    assert unknown_data(read_exhibit("beyond"), tmp_path) == ["mine"]
