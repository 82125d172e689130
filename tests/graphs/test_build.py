from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.errors import DataError
from igsd.graphs.build import check_numbers, encode_categories, from_edges, join_sets
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import as_graphset
from tests.graphs.strategies import graph_sets
from tests.reference.graphs import undirected_edges
from tests.small_graphs import make_graphs


def build(counts: list[int], pairs: list[tuple[int, int]], **columns: Any) -> GraphSet:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return from_edges(counts, ends[:, 0], ends[:, 1], **columns)


def test_directed_repeated_and_loops() -> None:
    graphs = build(
        [3, 1],
        [(0, 1), (0, 1), (2, 2), (2, 1), (1, 2)],
        edge_labels=np.array([5, 6, 7, 8, 9]),
        edge_attributes=np.array([[5.0], [6.0], [7.0], [8.0], [9.0]]),
    )
    assert graphs.adjacency.row_ptr.tolist() == [0, 1, 3, 4, 4]
    assert graphs.adjacency.col.tolist() == [1, 0, 2, 1]
    # 0-1 has the first of its two lines in both directions, 1-2 and 2-1 keep their own.
    assert graphs.edge_labels is not None
    assert graphs.edge_labels.tolist() == [5, 5, 9, 8]
    assert graphs.edge_attributes is not None
    assert graphs.edge_attributes[:, 0].tolist() == [5, 5, 9, 8]
    assert graphs.notes == (
        "1 self loop dropped",
        "1 repeated edge merged",
        "1 edge given in one direction only, made undirected",
    )


def test_edges_that_are_all_given_once_need_no_note() -> None:
    """It was said of every undirected edge list, in training too."""
    assert build([3], [(0, 1), (2, 1)]).notes == ()
    one_way = ("1 edge given in one direction only, made undirected",)
    assert build([3], [(0, 1), (1, 0), (2, 1)]).notes == one_way


def test_a_repeated_edge_counts_once() -> None:
    """One that was given twice in both directions counted as two."""
    both = [(0, 1), (1, 0)]
    for pairs, directed in ((both * 2, False), (both * 2, True), (both[:1] * 2, False)):
        assert build([2], pairs, directed=directed).notes == ("1 repeated edge merged",)
    one_way = [*both, *both, (1, 2)]  # here each direction is an edge
    assert build([3], one_way, directed=True).notes[0] == "2 repeated edges merged"


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20))
def test_edges_equal_the_plain_loop(pairs: list[tuple[int, int]]) -> None:
    graphs = build([6], pairs, edge_labels=np.arange(len(pairs)))
    expected = undirected_edges(pairs)
    rows, columns = graphs.adjacency.rows().tolist(), graphs.adjacency.col.tolist()
    assert graphs.edge_labels is not None
    labels = graphs.edge_labels.tolist()
    assert list(zip(rows, columns, strict=True)) == sorted(expected)
    assert labels == [expected[edge] for edge in sorted(expected)]


def test_edgeless_graphs_are_valid() -> None:
    graphs = build([1, 4], [])
    assert graphs.num_edges == 0
    assert graphs.edge_counts().tolist() == [0, 0]
    assert graphs.notes == ()


@pytest.mark.parametrize(
    ("counts", "pairs", "columns", "message"),
    [
        ([], [], {}, "holds no graphs"),
        ([2, 0], [], {}, "Graph 1 of 'x' has no nodes"),
        ([2], [(0, 2)], {}, "names node 2, but the nodes of the set run from 0 to 1"),
        ([2], [(-1, 0)], {}, "names node -1"),
        ([2, 2], [(0, 1), (1, 2)], {}, "Edge 1 of 'x' .* joins graph 0 with graph 1"),
        ([2], [], {"node_labels": [0]}, "'node_labels' of 'x' must have 2 rows. Got 1"),
        ([2], [(0, 1)], {"edge_labels": [0, 1]}, "'edge_labels' of 'x' must have 1 rows. Got 2"),
        ([2], [], {"classes": [0, 1]}, "'classes' of 'x' must have"),
    ],
)
def test_broken_rules(
    counts: list[int], pairs: list[tuple[int, int]], columns: dict[str, Any], message: str
) -> None:
    arrays = {key: np.array(value, dtype=np.float64) for key, value in columns.items()}
    with pytest.raises(DataError, match=message):
        build(counts, pairs, name="x", **arrays)


@pytest.mark.parametrize(
    ("values", "codes", "names"),
    [
        (np.array([7, -1, 7]), [1, 0, 1], (-1, 7)),
        (["b", "a", None], [1, 0, -1], ("a", "b")),
        ([2.0, float("nan"), 1.0], [1, -1, 0], (1, 2)),
        ([0.5, "x", 3], [0, 2, 1], (0.5, 3, "x")),
        ([(1, 2)], [0], ("(1, 2)",)),
        (np.array([True, False]), [1, 0], (False, True)),
        ([], [], ()),
    ],
)
def test_categories(values: Any, codes: list[int], names: tuple[Any, ...]) -> None:
    found, found_names = encode_categories(values)
    assert found.tolist() == codes
    assert found_names == names


@settings(max_examples=25, deadline=None)
@given(graph_sets())
def test_the_graphs_of_a_set_joined_are_the_set(graphs: GraphSet) -> None:
    assert join_sets(list(graphs)) == graphs
    assert join_sets([graphs, graphs]) == graphs.take(np.arange(len(graphs)).tolist() * 2)


def test_graphs_picked_by_a_loop_are_a_list_of_graphs() -> None:
    graphs = replace(make_graphs(classes=True), lines=np.arange(2, 12), ids=tuple("abcdefghij"))
    picked = as_graphset([graph for graph in graphs if graph.num_nodes > 4])
    chosen = np.flatnonzero(graphs.node_counts() > 4)
    assert picked == graphs.take(chosen)
    assert picked.lines is not None
    assert picked.lines.tolist() == (chosen + 2).tolist()
    assert picked.ids == tuple("abcdefghij"[i] for i in chosen)


def test_sets_that_do_not_belong_together() -> None:
    with pytest.raises(DataError, match="'node_labels' of set 1"):
        join_sets([make_graphs(), make_graphs(labels=False)])
    with pytest.raises(DataError, match="'node_label_names' of set 1"):
        join_sets([make_graphs(), make_graphs(node_label_names=("A", "B", "C"))])


def test_more_nodes_than_a_graph_can_have() -> None:
    """NumPy's own error came before: the array is too big."""
    with pytest.raises(DataError, match="a graph has fewer than 2147483648"):
        build([2**62, 2], [(0, 1)])


def test_numbers_of_nodes_that_are_used() -> None:
    values = np.array([[0, 1], [1, 1e300], [2, np.nan]])
    graphs = build([1, 2], [], name="x", node_attributes=values)
    assert graphs.node_attributes is not None
    check_numbers(graphs, graphs.node_attributes[:, :1], ["a"])
    with pytest.raises(DataError, match=r"node 0 of graph 1 of 'x' has b inf\. .*node_attributes="):
        check_numbers(graphs, graphs.node_attributes, ["a", "b"])
    with pytest.raises(DataError, match=r"node 0 of graph 1 of 'x' has \[1.0, inf\]"):
        check_numbers(graphs, graphs.node_attributes, ())
