from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from igsd.report.page.map_classes import MapClasses
from igsd.report.page.map_numbers import MapNumbers
from igsd.report.page.run_data import read_run
from igsd.report.page.run_graphs import graph_labels, graph_texts
from tests.report.page.made_up_run import EVIL, evil_graphs, write_run

GRAPHS = evil_graphs()


def test_classes_of_the_data(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, GRAPHS))
    labels = graph_labels(run)
    assert isinstance(labels, MapClasses)
    assert labels.codes.tolist() == [0, 1] * 6
    assert labels.names == [EVIL, "b & c"]
    assert graph_texts(run, labels, 12)[1] == f"graph 1, class b & c, {_size(1)} nodes"


def test_the_classes_that_a_run_learned(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("\n".join(["x", "", "y"] * 4) + "\n")
    learned = {"source": str(tmp_path / "labels.txt"), "task": "classes"}
    labels = graph_labels(read_run(write_run(tmp_path, GRAPHS, labels=learned)))
    assert isinstance(labels, MapClasses)
    assert labels.codes.tolist() == [0, -1, 1] * 4
    assert labels.names == ["x", "y"]


def test_the_numbers_that_a_run_learned(tmp_path: Path) -> None:
    (tmp_path / "logBB.txt").write_text("\n".join(["0.5", "", "-1"] * 4) + "\n")
    learned = {"source": str(tmp_path / "logBB.txt"), "task": "numbers"}
    run = read_run(write_run(tmp_path, GRAPHS, labels=learned))
    labels = graph_labels(run)
    assert isinstance(labels, MapNumbers)
    assert (labels.name, labels.note) == ("logBB", "")
    np.testing.assert_array_equal(labels.values, [0.5, np.nan, -1] * 4)
    assert graph_texts(run, labels, 12)[2] == f"graph 2, logBB -1, {_size(2)} nodes"


def test_the_first_of_several_numbers(tmp_path: Path) -> None:
    values = np.arange(24.0).reshape(12, 2)
    graphs = replace(GRAPHS, targets=values, target_names=("mu", "gap"))
    learned = {"source": "gap,mu", "task": "numbers"}
    labels = graph_labels(read_run(write_run(tmp_path, graphs, labels=learned)))
    assert isinstance(labels, MapNumbers)
    assert labels.values.tolist() == values[:, 1].tolist()
    assert labels.note == "The colours tell gap; learned as well: mu."


def test_labels_that_are_gone(tmp_path: Path) -> None:
    for place, learned in enumerate([{"task": "numbers"}, {"task": "classes", "source": "gone"}]):
        run = read_run(write_run(tmp_path / str(place), GRAPHS, labels=learned))
        assert graph_labels(run).legend(np.arange(12)) is None


def test_no_graphs(tmp_path: Path) -> None:
    run = replace(read_run(write_run(tmp_path, GRAPHS)), graphs=None)
    assert graph_texts(run, graph_labels(run), 12)[3] == "graph 3"


def _size(index: int) -> int:
    return int(GRAPHS.node_counts()[index])
