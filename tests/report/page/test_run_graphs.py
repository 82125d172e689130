from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from igsd.report.page.run_data import read_run
from igsd.report.page.run_graphs import graph_classes, graph_texts
from tests.report.page.made_up_run import EVIL, evil_graphs, write_run

GRAPHS = evil_graphs()


def test_classes_of_the_data(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, GRAPHS))
    codes, names = graph_classes(run)
    assert codes.tolist() == [0, 1] * 6
    assert names == [EVIL, "b & c"]
    assert graph_texts(run, codes, names)[1] == f"graph 1, class b & c, {_size(1)} nodes"


def test_the_labels_that_a_run_learned(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("\n".join(["x", "", "y"] * 4) + "\n")
    labels = {"source": str(tmp_path / "labels.txt"), "task": "classes"}
    codes, names = graph_classes(read_run(write_run(tmp_path, GRAPHS, labels=labels)))
    assert codes.tolist() == [0, -1, 1] * 4
    assert names == ["x", "y"]


def test_numbers_and_labels_that_are_gone(tmp_path: Path) -> None:
    for place, labels in enumerate([{"task": "numbers"}, {"task": "classes", "source": "gone"}]):
        run = read_run(write_run(tmp_path / str(place), GRAPHS, labels=labels))
        assert graph_classes(run)[1] == []


def test_no_graphs(tmp_path: Path) -> None:
    run = replace(read_run(write_run(tmp_path, GRAPHS)), graphs=None)
    codes, names = graph_classes(run)
    assert graph_texts(run, codes, names)[3] == "graph 3"


def _size(index: int) -> int:
    return int(GRAPHS.node_counts()[index])
