from __future__ import annotations

import os

import pytest

from igsd.errors import ConfigError
from igsd.experiments.exhibit import (
    Printed,
    data_facts,
    exhibit_names,
    find_exhibits,
    parse_exhibit,
    read_exhibit,
    short_name,
)
from igsd.experiments.runs import points
from igsd.graphs.catalogue import CATALOGUE
from igsd.graphs.datasets import load_dataset

NAMES = ["table-1", "table-2", "table-3", "gckn", "figure-labels", "figure-negatives"]
NAMES += ["figure-projector", "figure-qm9", "figure-qm9-alone", "b3db", "b3db-logbb", "beyond"]


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
