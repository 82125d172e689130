from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from igsd.errors import DataError
from igsd.graphs.build import from_edges, join_sets
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.networkx import from_networkx, to_networkx
from tests.graphs.strategies import graph_sets


def test_any_node_names_and_every_attribute() -> None:
    graph = nx.Graph(label="good", name="first", y=[0.5, 2.0])
    graph.add_node("a", label="C", z=1, pos=(0.0, 1.0), comment="text")
    graph.add_node((1, 2), label="N", z=2.5, pos=np.array([2.0, 3.0]), comment="more")
    graph.add_node(frozenset({3}), z=True, pos=[4, 5])
    graph.add_edge("a", (1, 2), label="single", weight=0.5)
    graphs = from_networkx([graph])
    assert graphs.adjacency.row_ptr.tolist() == [0, 1, 2, 2]
    assert graphs.node_labels is not None
    assert (graphs.node_labels.tolist(), graphs.node_label_names) == ([0, 1, -1], ("C", "N"))
    assert graphs.node_attribute_names == ("pos[0]", "pos[1]", "z")
    assert graphs.node_attributes is not None
    assert graphs.node_attributes.tolist() == [[0, 1, 1], [2, 3, 2.5], [4, 5, 1]]
    assert graphs.node_category_names == ()
    assert (graphs.edge_attribute_names, graphs.edge_label_names) == (("weight",), ("single",))
    assert graphs.edge_attributes is not None
    assert graphs.edge_attributes.tolist() == [[0.5], [0.5]]
    assert (graphs.class_names, graphs.graph_names) == (("good",), ("first",))
    assert graphs.targets is not None
    assert graphs.targets.tolist() == [[0.5, 2.0]]
    assert graphs.notes == ("node attribute 'comment' not used: 1 of 3 nodes has none",)


@pytest.mark.parametrize(
    ("values", "class_names", "targets"),
    [
        ([1, 0], (0, 1), None),
        (["b", "a"], ("a", "b"), None),
        ([np.int64(3), None], (3,), None),
        ([np.array([1]), np.array([2])], (1, 2), None),
        ([0.5, 1.0], (), [[0.5], [1.0]]),
        ([[1, 2], [3, 4]], (), [[1, 2], [3, 4]]),
    ],
)
def test_y_is_a_class_or_targets(
    values: list[object], class_names: tuple[object, ...], targets: list[list[float]] | None
) -> None:
    items = []
    for value in values:
        graph = nx.path_graph(2)
        if value is not None:
            graph.graph["y"] = value
        items.append(graph)
    graphs = from_networkx(items)
    assert graphs.class_names == class_names
    assert (None if graphs.targets is None else graphs.targets.tolist()) == targets


def test_directed_multiple_and_loops() -> None:
    directed = nx.DiGraph([(0, 1), (1, 2), (2, 1)])
    multiple = nx.MultiGraph([(0, 1), (0, 1), (1, 1)])
    graphs = from_networkx([directed, multiple, nx.empty_graph(2)])
    assert graphs.adjacency.row_ptr.tolist() == [0, 1, 3, 4, 5, 6, 6, 6]
    assert graphs.notes == (
        "1 self loop dropped",
        "1 repeated edge merged",
        "directed graphs: 1 edge given in one direction only; directed='ignore', the default, "
        "makes them undirected, directed='both' keeps it",
    )
    assert graphs.directions is not None
    assert graphs.directions.tolist() == [1, 2, 3, 3, 3, 3]


def test_graph_attributes_are_named() -> None:
    graph = nx.Graph([(0, 1)], name="a", year=1999, igsd=2)
    notes = from_networkx([graph, nx.Graph([(0, 1)], label="x", node_default={})]).notes
    assert [note.split(":")[0] for note in notes] == [
        f"graph attribute {key!r} not used" for key in ("igsd", "year")
    ]


def test_undirected_graphs_need_no_note() -> None:
    assert from_networkx([nx.karate_club_graph()]).num_edges == 78
    assert from_networkx([nx.cycle_graph(5)]).notes == ()


def test_numbers_in_names_count() -> None:
    graph = nx.empty_graph(1)
    graph.nodes[0].update({f"x{i}": i for i in range(12)})
    graphs = from_networkx([graph])
    assert graphs.node_attributes is not None
    assert graphs.node_attributes[0].tolist() == list(range(12))


@settings(max_examples=40, deadline=None)
@given(graph_sets())
def test_round_trip(graphs: GraphSet) -> None:
    assert from_networkx(to_networkx(graphs)) == graphs


def test_round_trip_without_column_names() -> None:
    graphs = from_edges([2], np.array([0]), np.array([1]), node_attributes=np.ones((2, 11), "f4"))
    assert from_networkx(to_networkx(graphs)) == graphs


def test_a_new_label_after_export_is_kept() -> None:
    graphs = from_edges(
        [1, 1], np.array([], int), np.array([], int), classes=np.array([0, 1]), class_names=(4, 5)
    )
    exported = to_networkx(graphs)
    exported[0].graph["label"] = 9
    assert from_networkx(exported).class_names == (5, 9)


def _partly(kind: str) -> nx.Graph:
    graph = nx.path_graph(3)
    if kind == "node":
        graph.nodes[0]["z"] = 1.0
    elif kind == "edge":
        graph.edges[0, 1]["weight"] = 1.0
    elif kind == "text":
        nx.set_node_attributes(graph, {0: 1.0, 1: "x", 2: 2.0}, "z")
    elif kind == "length":
        nx.set_node_attributes(graph, {0: [1.0], 1: [1.0, 2.0], 2: [2.0]}, "z")
    else:
        nx.set_node_attributes(graph, {0: 1.0, 1: float("nan"), 2: 2.0}, "z")
    return graph


def test_attributes_that_do_not_fit() -> None:
    with pytest.raises(DataError, match="must have the same length everywhere"):
        from_networkx([_partly("length")])


def test_numbers_of_nodes_are_checked_where_they_are_used() -> None:
    graphs = from_networkx([_partly("nan")])
    assert graphs.node_attribute_names == ("z",)
    assert graphs.node_attributes is not None
    assert np.isnan(graphs.node_attributes[:, 0]).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("kind", "note"),
    [
        ("node", "node attribute 'z' not used: 2 of 3 nodes have none"),
        ("edge", "1 edge without a weight: counted as 1"),
        ("text", "node attribute 'z' not used: numbers and texts such as 'x' are mixed"),
    ],
)
def test_attributes_that_are_left_out(kind: str, note: str) -> None:
    graphs = from_networkx([_partly(kind)])
    assert note in graphs.notes
    assert graphs.node_attributes is None


def test_texts_and_booleans_are_categories() -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "b", 1: "a", 2: "b"}, "club")
    nx.set_node_attributes(graph, {0: True, 1: False, 2: True}, "vip")
    nx.set_edge_attributes(graph, {(0, 1): "x", (1, 2): "y"}, "type")
    graphs = from_networkx([graph])
    assert graphs.node_attribute_names == ("club", "vip")
    assert graphs.node_category_names == (("a", "b"), (False, True))
    assert graphs.node_attributes is not None
    assert graphs.node_attributes.tolist() == [[1, 1], [0, 0], [1, 1]]
    assert graphs.edge_category_names == (("x", "y"),)
    assert from_networkx(to_networkx(graphs)) == graphs
    assert from_networkx(to_networkx(graphs)[:1]).node_category_names == graphs.node_category_names


@pytest.mark.parametrize("value", ["2020-05-17", datetime(2020, 5, 17), np.datetime64("2020")])
def test_dates_are_named(value: object) -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, value, "born")
    (note,) = from_networkx([graph]).notes
    assert note.startswith("node attribute 'born' not used: dates")


def test_directions_and_weights_come_back() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 2.0), (1, 2, 3.0), (2, 1, 5.0)])
    graphs = from_networkx([graph])
    back = to_networkx(graphs)[0]
    assert back.is_directed()
    assert dict(back.edges) == dict(graph.edges)
    assert from_networkx([back]) == graphs


def test_weights_of_repeated_edges_add_up() -> None:
    graph = nx.MultiGraph()
    graph.add_weighted_edges_from([(0, 1, 2.0), (0, 1, 3.0), (1, 2, 1.0)])
    graphs = from_networkx([graph])
    assert graphs.edge_attributes is not None
    assert graphs.edge_attributes[:, 0].tolist() == [5, 5, 1, 1]


def test_other_bad_input() -> None:
    with pytest.raises(DataError, match="holds no graphs"):
        from_networkx([])
    with pytest.raises(DataError, match="Graph 1 of 'graphs' has no nodes"):
        from_networkx([nx.path_graph(2), nx.Graph()])
    with pytest.raises(DataError, match="Item 1 of 'graphs' must be a NetworkX graph, found int"):
        from_networkx([nx.path_graph(2), 3])
    uneven = [nx.path_graph(2), nx.path_graph(2)]
    uneven[0].graph["y"], uneven[1].graph["y"] = [0.5, 1.0], [0.5]
    with pytest.raises(DataError, match="Graph 1 of 'graphs' has 1 targets"):
        from_networkx(uneven)


def partial_graphs() -> list[nx.Graph]:
    """Return a path and a directed cycle whose nodes and edges lack some attributes."""
    path, cycle = nx.path_graph(3), nx.cycle_graph(3, create_using=nx.DiGraph)
    path.nodes[0].update(age=3.5, club="x", place=[1.0, 2.0])
    cycle.nodes[1].update(age=-1.0, club="y", born="2020-01-01")
    for graph in (path, cycle):
        nx.set_node_attributes(graph, 7.0, "size")
    path.edges[0, 1].update(kind="a", length=2.0)
    cycle.edges[1, 2]["length"] = 4.0
    return [path, cycle]


def test_attributes_that_some_lack_are_kept_apart() -> None:
    graphs = from_networkx(partial_graphs())
    assert graphs.node_attribute_names == ("size",)
    assert graphs.partial_node_names == ("age", "club", "place[0]", "place[1]")
    assert graphs.partial_node_category_names == ((), ("x", "y"), (), ())
    assert graphs.partial_edge_names == ("kind", "length")
    assert "node attribute 'age' not used: 4 of 6 nodes have none" in graphs.notes
    path, cycle = to_networkx(graphs)
    assert path.nodes[0] == {"size": 7, "age": 3.5, "club": "x", "place[0]": 1, "place[1]": 2}
    assert path.nodes[1] == {"size": 7}
    assert cycle.nodes[1] == {"size": 7, "age": -1, "club": "y"}
    assert path.edges[0, 1] == {"kind": "a", "length": 2}
    assert path.edges[1, 2] == {}
    assert dict(cycle.edges) == {(0, 1): {}, (1, 2): {"length": 4}, (2, 0): {}}
    assert from_networkx([path, cycle]) == graphs


def test_attributes_that_some_lack_in_parts_and_files(tmp_path: Path) -> None:
    graphs = from_networkx(partial_graphs())
    assert to_networkx(graphs[1])[0].nodes[1] == {"size": 7, "age": -1, "club": "y"}
    assert join_sets([graphs[0], graphs[1]]) == graphs
    whole = from_networkx([nx.path_graph(2)])
    bare = replace(graphs, node_attributes=None, node_attribute_names=())
    assert join_sets([bare, whole]).partial_node_attributes is None
    graphs.save(tmp_path / "some.graphs")
    loaded = GraphSet.load(tmp_path / "some.graphs")
    assert loaded == graphs
    assert to_networkx(loaded)[0].nodes[0]["club"] == "x"


def test_attributes_that_cannot_be_kept() -> None:
    ragged, nothing = nx.path_graph(3), nx.path_graph(3)
    ragged.nodes[0]["z"], ragged.nodes[1]["z"] = [1.0], [1.0, 2.0]
    nothing.nodes[0]["z"] = None
    for graph in (ragged, nothing):
        graphs = from_networkx([graph])
        assert graphs.partial_node_attributes is None
        assert len(graphs.notes) == 1


def test_what_a_self_loop_lacks_does_not_count() -> None:
    """A loop, which is dropped, without an attribute made that of all edges unused."""
    graph = nx.path_graph(3)
    nx.set_edge_attributes(graph, {(0, 1): "a", (1, 2): "b"}, "kind")
    graph.add_edge(1, 1)
    found = from_networkx([graph])
    assert found.edge_attribute_names == ("kind",)
    assert found.edge_counts().tolist() == [2]


def test_numbers_with_more_digits_than_are_kept() -> None:
    """Times in seconds became equal without a word."""
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {v: 1_700_000_000 + v for v in graph}, "time")
    notes = from_networkx([graph]).notes
    assert any("node attribute 'time': some numbers differ only beyond seven" in n for n in notes)
    nx.set_node_attributes(graph, {v: 1_700_000_000 + 1000 * v for v in graph}, "time")
    assert not from_networkx([graph]).notes
