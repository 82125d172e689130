from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.model_selection import train_test_split

from igsd.errors import DataError, GraphIndexError, StorageError
from igsd.files.arrays import read_arrays, write_arrays
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from tests.graphs.strategies import graph_sets
from tests.reference.graphs import describe
from tests.small_graphs import make_graphs


@pytest.fixture
def pair() -> GraphSet:
    """Return a path of three nodes and a single node."""
    return from_edges(
        [3, 1],
        np.array([0, 1]),
        np.array([1, 2]),
        classes=np.array([0, 1]),
        class_names=("a", "b"),
        graph_names=("path", "dot"),
        name="pair",
    )


def test_counts(pair: GraphSet) -> None:
    assert (len(pair), pair.num_nodes, pair.num_edges) == (2, 4, 2)
    assert pair.node_counts().tolist() == [3, 1]
    assert pair.edge_counts().tolist() == [2, 0]
    assert pair.graph_of_node().tolist() == [0, 0, 0, 1]
    assert repr(pair) == "GraphSet('pair', graphs=2, nodes=4, edges=2, classes=2)"


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.data())
def test_take_equals_the_plain_loop(graphs: GraphSet, data: st.DataObject) -> None:
    position = st.integers(0, len(graphs) - 1)
    indices = data.draw(st.lists(position, min_size=1, max_size=6))
    taken = graphs.take(indices)
    found = [describe(taken, place) for place in range(len(taken))]
    assert found == [describe(graphs, index) for index in indices]
    assert taken.class_names == graphs.class_names


@settings(max_examples=40, deadline=None)
@given(graph_sets())
def test_taking_all_is_the_same_set(graphs: GraphSet) -> None:
    assert graphs.take(np.arange(len(graphs))) == graphs
    assert graphs.take(np.ones(len(graphs), dtype=bool)) == graphs


def test_take_outside_is_an_error(pair: GraphSet) -> None:
    with pytest.raises(DataError, match="Graph 2 is not in the set 'pair'"):
        pair.take([0, 2])
    with pytest.raises(DataError, match="Graph -1 is not"):
        pair.take([-1])
    with pytest.raises(DataError, match="holds no graphs"):
        pair.take([])


def test_square_brackets_give_sets(pair: GraphSet) -> None:
    assert pair[1] == pair[-1] == pair[np.int64(1)] == pair.take([1])
    assert pair[:1] == pair[[0]] == pair[np.array([True, False])] == pair.take([0])
    assert pair[::-1] == pair[[1, 0]] == pair[np.array([-1, 0]), ...] == pair.take([1, 0])
    assert [graph.graph_names for graph in pair] == [("path",), ("dot",)]
    assert pair.shape == (2,)


@pytest.mark.parametrize("key", [2, -3, [0, 2], [True], [[0]], "a", None, 0.5, [0.5]])
def test_square_brackets_around_what_is_not_there(pair: GraphSet, key: object) -> None:
    with pytest.raises(GraphIndexError, match="'pair'") as caught:
        pair[key]
    assert isinstance(caught.value, IndexError)


def test_a_set_is_no_array_of_numbers(pair: GraphSet) -> None:
    with pytest.raises(DataError, match="not an array of numbers"):
        np.asarray(pair)


def test_lines_and_ids_go_with_their_graphs_and_are_no_content(pair: GraphSet) -> None:
    read = replace(pair, lines=np.array([2, 7]), ids=("a", "b"))
    assert read == pair
    assert read.take([1, 1, 0]).ids == ("b", "b", "a")
    assert read.without_labels().lines is not None
    taken = read.take([1, 1, 0]).lines
    assert taken is not None
    assert taken.tolist() == [7, 7, 2]


def test_scikit_learn_splits_a_set() -> None:
    graphs = make_graphs(12, classes=True)
    train, test, y_train, y_test = train_test_split(
        graphs, graphs.classes, test_size=4, stratify=graphs.classes, random_state=0
    )
    assert isinstance(train, GraphSet)
    assert train.classes is not None
    assert train.classes.tolist() == y_train.tolist()
    assert (len(train), len(test), len(y_test)) == (8, 4, 4)


def test_columns_are_read_only(pair: GraphSet) -> None:
    assert pair.classes is not None
    with pytest.raises(ValueError, match="read-only"):
        pair.classes[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        pair.adjacency.col[0] = 2


def test_checksum_sees_everything_but_name_and_notes(pair: GraphSet) -> None:
    same = replace(pair, name="other", notes=("x",))
    assert same == pair
    assert hash(same) == hash(pair)
    assert pair.take([1, 0]) != pair
    assert pair.without_labels() != pair
    assert pair.without_labels().structure_checksum == pair.structure_checksum
    renamed = replace(pair, class_names=("a", "c"))
    assert renamed != pair
    assert pair != "pair"


def test_without_labels(pair: GraphSet) -> None:
    bare = pair.without_labels()
    assert bare.classes is None
    assert bare.class_names == ()
    assert bare.graph_names == pair.graph_names


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


@pytest.mark.parametrize(
    "change",
    [
        {"class_names": None},
        {"class_names": 3},
        {"node_label_names": [[0], {}]},
        {"notes": 1.5},
        {"name": ["a"]},
        {"target_names": [1]},
    ],
)
def test_a_header_that_lies_is_refused(saved: Path, change: dict[str, object]) -> None:
    """With true checksums, such a set ended in a traceback where a name was first used."""
    arrays, header = read_arrays(saved, "graph set")
    write_arrays(saved, arrays, header | change)
    with pytest.raises(StorageError, match=f"damaged: in its header, {next(iter(change))}.* must"):
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


def test_notebooks_show_a_table() -> None:
    graphs = make_graphs(3, name="<b>", classes=True)
    shown = graphs._repr_html_()
    assert "<caption>GraphSet &lt;b&gt;</caption>" in shown
    assert "<th>graphs</th><td>3</td>" in shown
    assert "<th>node labels</th><td>C, N, O</td>" in shown
    assert "<b>" not in shown
