from __future__ import annotations

import os
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from igsd.errors import ConfigError
from igsd.experiments.exhibits import (
    Printed,
    data_facts,
    exhibit_names,
    find_exhibits,
    narrowed,
    parse_exhibit,
    points,
    read_exhibit,
    recipe_of,
    runs_of,
    short_name,
    unknown_data,
)
from igsd.experiments.run import Run
from igsd.graphs.datasets import CATALOGUE, load_dataset

NAMES = ["table-1", "table-2", "table-3", "gckn", "figure-labels", "figure-negatives"]
NAMES += ["figure-projector", "figure-qm9", "figure-qm9-alone", "b3db", "b3db-logbb", "beyond"]
NAMES += ["molecules", "pretraining"]


def test_names() -> None:
    assert exhibit_names() == NAMES
    assert [exhibit.name for exhibit in find_exhibits("all")] == NAMES


def test_unknown_name() -> None:
    with pytest.raises(ConfigError, match=r"no table or figure 'tabel-1'.*'table-1'"):
        find_exhibits("tabel-1")


@pytest.mark.parametrize("name", NAMES)
def test_every_line_has_settings_and_known_data(name: str) -> None:
    exhibit = read_exhibit(name)
    for data in exhibit.data:
        assert data in CATALOGUE
        for line in exhibit.lines:
            assert set(line.printed) <= set(exhibit.data)
            for run in points(exhibit, line, data, data_facts()[data].recipe):
                assert run.config().seed == 0


def test_figures_of_the_paper() -> None:
    rows = {line.title: line.printed for line in read_exhibit("table-1").lines}
    assert rows["IGSD"]["MUTAG"] == Printed(90.2, 0.7)
    assert rows["IGSD, recipe paper"] == rows["IGSD"]
    assert rows["Random walk"]["NCI1"] == Printed(word="OMR")
    assert rows["Multiscale Laplacian"]["COLLAB"] == Printed(word="> 1 day")
    # The sum of all printed figures, those of the last row twice.
    assert round(sum(p.mean or 0 for row in rows.values() for p in row.values()), 1) == 5601.3
    semi = {line.title: line.printed for line in read_exhibit("table-2").lines}
    assert semi["IGSD (SupCon) + self-training"]["IMDB-MULTI"] == Printed(55.3)
    bars = next(line.printed for line in read_exhibit("gckn").lines if line.title == "IGSD")
    assert [p.mean for p in bars.values()] == [91.6, 75.4, 52.3, 79.4, 63.2]


def test_parse_exhibit() -> None:
    values = {"title": "T", "about": "A", "source": "S", "protocol": "nested", "data": ["X"]}
    rows = [{"title": "a", "method": "wl", "printed": {"X": [1.0]}}]
    rows += [{"title": "b", "method": "igsd", "shows": "untrained", "printed": "a"}]
    exhibit = parse_exhibit("mine", {**values, "seeds": 3, "row": rows, "seeds_of": {"Y": 1}})
    assert exhibit.shown == ("nested",)
    assert exhibit.printed_under == "nested"
    assert exhibit.num_seeds("X") == 3
    assert exhibit.num_seeds("Y") == 1
    assert [line.shows for line in exhibit.lines] == ["wl", "untrained"]
    assert exhibit.lines[1].printed == {"X": Printed(1.0)}


def test_short_names() -> None:
    assert short_name("IMDB-BINARY") == "IMDB-B"
    assert short_name("mine") == "mine"


@pytest.mark.skipif("IGSD_DATA" not in os.environ, reason="IGSD_DATA names no folder with data")
@pytest.mark.parametrize("name", ["MUTAG", "PTC", "NCI1", "IMDB-BINARY", "IMDB-MULTI", "COLLAB"])
def test_statistics_are_those_of_the_data(name: str) -> None:
    facts, graphs = data_facts()[name], load_dataset(name)
    assert facts.graphs == len(graphs)
    assert facts.classes == len(graphs.class_names)
    assert facts.nodes == pytest.approx(graphs.node_ptr[-1] / len(graphs), abs=0.1)


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


def test_references_are_scored_where_a_table_shows_them() -> None:
    shown = 0
    for exhibit in map(read_exhibit, exhibit_names()):
        for data, line in product(exhibit.data, exhibit.lines):
            runs = list(points(exhibit, line, data, data_facts()[data].recipe))
            if runs[0].is_recipe and line.shows.partition(",")[0] in ("untrained", "histogram"):
                assert all(run.has_references for run in runs)
                shown += 1
    assert shown > 20
    variant = Run("nested", "MUTAG", "igsd", "molecules", 0, (("view", "edge-drop"),))
    assert not variant.has_references
    assert not replace(variant, recipe="paper", changes=()).has_references


def test_the_first_seeds_come_first_and_each_run_once() -> None:
    runs = runs_of(read_exhibit("table-1"), {"MUTAG": "molecules", "PTC": "molecules"}, 2)
    assert len(set(runs)) == len(runs) == 2 * 2 * 2 * 15
    assert [run.seed for run in runs] == [0] * 60 + [1] * 60


def test_both_protocols_of_vectors_are_run_and_one_for_few_labels() -> None:
    for name in ("table-1", "table-3", "figure-negatives", "figure-projector"):
        exhibit = read_exhibit(name)
        assert (exhibit.protocol, exhibit.printed_under) == ("nested", "paper")
        runs = runs_of(exhibit, {"IMDB-BINARY": "social"}, 1)
        assert [run.protocol for run in runs[:2]] == ["nested", "paper"]
        assert len({run.fit for run in runs}) == len(runs) / 2
    semi = runs_of(read_exhibit("table-2"), {"IMDB-BINARY": "social"}, 1)
    assert {run.protocol for run in semi} == {"semi"}
    assert [run.fit for run in semi] == semi


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


def test_settings_of_a_data_set_are_no_variant() -> None:
    run = Run("semi", "COLLAB", "gin", "social", 1, fixed=(("epochs", 7),))
    assert run.config().epochs == 7
    assert run.config().seed == 1
    assert run.label == "gin"


def test_settings_of_a_data_set_are_for_methods_that_have_them() -> None:
    settings, run = {"epochs": 7, "encoder_rate": 0.5}, Run("semi", "COLLAB", "gin", "social", 1)
    assert run.with_known(settings).fixed == (("epochs", 7),)
    other = replace(run, method="igsd-self").with_known(settings)
    assert (other.config().epochs, other.config().encoder_rate) == (7, 0.5)
    with pytest.raises(ConfigError, match="no setting 'encoder_rate'"):
        replace(run, fixed=tuple(settings.items())).config()


@pytest.mark.parametrize("name", exhibit_names())
def test_every_setting_of_a_data_set_is_one_of_a_row(name: str) -> None:
    exhibit = read_exhibit(name)
    for data, settings in exhibit.settings_of.items():
        recipe = data_facts()[data].recipe
        runs = [run for line in exhibit.lines for run in points(exhibit, line, data, recipe)]
        known = set().union(*(run.config().to_json() for run in runs))
        assert settings.keys() <= known


def test_the_recipe_of_unknown_data_is_told_by_its_records(tmp_path: Path) -> None:
    assert recipe_of("MUTAG", tmp_path, "nested") == "molecules"
    assert recipe_of("mine", tmp_path, "nested") == "molecules"
    (tmp_path / "nested" / "mine" / "social").mkdir(parents=True)
    assert recipe_of("mine", tmp_path, "nested") == "social"
    assert unknown_data(read_exhibit("beyond"), tmp_path) == ["mine"]


def test_narrowing() -> None:
    everything = find_exhibits("all")
    few = narrowed(everything, ["imdb-b"], ["igsd"])
    names = [exhibit.name for exhibit in few]
    assert names == ["table-1", "table-3", "gckn", "figure-negatives", "figure-projector", "beyond"]
    assert all(exhibit.data == ("IMDB-BINARY",) for exhibit in few)
    assert all(line.method == "igsd" for exhibit in few for line in exhibit.lines)
    assert narrowed(find_exhibits("beyond"), ["mine.csv"], [])[0].data == ("mine.csv",)
    with pytest.raises(ConfigError, match=r"table-1 has no data set 'PTQ'\. Did you mean 'PTC'"):
        narrowed(find_exhibits("table-1"), ["PTQ"], [])
    with pytest.raises(ConfigError, match=r"Nothing has a method 'igds'\. Did you mean 'igsd'"):
        narrowed(everything, [], ["igds"])
    # The method is to blame, not the data set that no exhibit with such a method has.
    with pytest.raises(ConfigError, match="table-1 has no method 'histogram'"):
        narrowed(find_exhibits("table-1"), ["MUTAG"], ["histogram"])
