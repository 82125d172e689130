from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from igsd.errors import StorageError
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_arrays, write_arrays
from tests.graphs.strategies import graph_sets


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(graph_sets())
def test_round_trip(tmp_path: Path, graphs: GraphSet) -> None:
    path = tmp_path / "any name.at all"
    graphs.save(path)
    loaded = GraphSet.load(path)
    assert loaded == graphs
    assert (loaded.name, loaded.notes) == (graphs.name, graphs.notes)
    assert loaded.take([0]) == graphs.take([0])
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    graphs = from_edges([2, 1], np.array([0]), np.array([1]), classes=np.array([0, 0]))
    graphs.save(tmp_path / "set")
    return tmp_path / "set"


def test_loaded_columns_are_memory_mapped(saved: Path) -> None:
    loaded = GraphSet.load(saved)
    assert isinstance(loaded.adjacency.col, np.memmap)
    assert isinstance(loaded.node_ptr, np.memmap)


def test_lines_and_ids_of_the_table_are_kept(tmp_path: Path) -> None:
    graphs = from_edges([2, 1], np.array([0]), np.array([1]), lines=np.array([2, 5]))
    replace(graphs, ids=("mol-1", "")).save(tmp_path / "set")
    assert GraphSet.load(tmp_path / "set").ids == ("mol-1", "")
    lines = GraphSet.load(tmp_path / "set").lines
    assert lines is not None
    assert lines.tolist() == [2, 5]


def test_truncated_file(saved: Path) -> None:
    whole = saved.read_bytes()
    for size in range(0, len(whole), 11):
        saved.write_bytes(whole[:size])
        with pytest.raises(StorageError, match=r"not a graph set|damaged"):
            GraphSet.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "graph set of format 99; this igsd reads format 1"),
        ({"kind": "model"}, "holds a model, but a graph set was expected"),
    ],
)
def test_other_version_or_kind(saved: Path, change: dict[str, object], message: str) -> None:
    arrays, header = read_arrays(saved, "graph set")
    write_arrays(saved, arrays, header | change)
    with pytest.raises(StorageError, match=message):
        GraphSet.load(saved)


@pytest.mark.parametrize("change", ["drop col", "extra", "short classes"])
def test_columns_that_do_not_fit(saved: Path, change: str) -> None:
    arrays, header = read_arrays(saved, "graph set")
    if change == "drop col":
        del arrays["col"]
    elif change == "extra":
        arrays["surprise"] = np.zeros(2)
    else:
        arrays["classes"] = arrays["classes"][:1]
    write_arrays(saved, arrays, header)
    with pytest.raises(StorageError, match="is damaged"):
        GraphSet.load(saved)
