from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.graphs.graphset import GraphSet
from igsd.views.random import restart_walks, walked_subgraphs
from tests.reference.views import dense
from tests.views.strategies import graph_set, graph_sets


def walks_of(graphs: GraphSet, starts: np.ndarray, *, seed: int = 0, **others: float) -> np.ndarray:
    given = {"num_steps": 12, "restart": 0.3} | others
    return restart_walks(
        graphs.adjacency,
        graphs.node_ptr,
        starts,
        np.arange(len(starts)),
        num_steps=int(given["num_steps"]),
        restart=float(given["restart"]),
        seed=seed,
    )


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.integers(0, 2**62))
def test_steps_follow_edges_or_go_back(graphs: GraphSet, seed: int) -> None:
    starts = np.arange(graphs.num_nodes)
    walks = walks_of(graphs, starts, seed=seed)
    np.testing.assert_array_equal(walks[:, 0], starts)
    rows, cols = graphs.adjacency.rows(), graphs.adjacency.global_columns(graphs.node_ptr)
    edges = set(zip(rows.tolist(), cols.tolist(), strict=True))
    lonely = graphs.adjacency.degrees() == 0
    for walk in walks.tolist():
        for here, there in pairwise(walk):
            assert there == walk[0] or (here, there) in edges or (lonely[here] and here == there)


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.integers(0, 2**62))
def test_subgraphs_are_induced_by_the_nodes_seen(graphs: GraphSet, seed: int) -> None:
    starts = np.arange(graphs.num_nodes)
    walks, graph = walks_of(graphs, starts, seed=seed), graphs.graph_of_node()
    seen = walked_subgraphs(graphs.adjacency, graphs.node_ptr, graph, walks)
    for w, walk in enumerate(walks):
        nodes = np.unique(walk)
        np.testing.assert_array_equal(seen.nodes[seen.node_ptr[w] : seen.node_ptr[w + 1]], nodes)
        A = dense(graphs.adjacency, graphs.node_ptr, int(graph[w]))
        local = nodes - graphs.node_ptr[graph[w]]
        np.testing.assert_array_equal(
            dense(seen.adjacency, seen.node_ptr, w), A[np.ix_(local, local)]
        )


def test_how_often_a_walk_goes_back() -> None:
    graphs = graph_set([60], 1.0, seed=0)
    walks = walks_of(graphs, np.zeros(2000, np.int64), num_steps=20, restart=0.4)
    assert (walks[:, 1:] == 0).mean() == pytest.approx(0.4 + 0.6 * 0.6 / 59, abs=0.02)
    others = np.bincount(walks[:, 1:].ravel(), minlength=60)[1:]
    assert others.min() > 0.7 * others.mean()


def test_a_walk_is_its_id_and_seed() -> None:
    graphs = graph_set([20], 0.3, seed=0)
    starts = np.array([3, 3, 3])
    ids = np.array([5, 6, 5])
    walk = lambda seed: restart_walks(  # noqa: E731
        graphs.adjacency, graphs.node_ptr, starts, ids, num_steps=10, restart=0.2, seed=seed
    )
    np.testing.assert_array_equal(walk(1)[0], walk(1)[2])
    assert (walk(1)[0] != walk(1)[1]).any()
    assert (walk(1)[0] != walk(2)[0]).any()


def test_graphs_without_edges() -> None:
    graphs = graph_set([2, 1], 0.0, seed=0)
    walks = walks_of(graphs, np.arange(3))
    assert (walks == np.arange(3)[:, None]).all()
    seen = walked_subgraphs(graphs.adjacency, graphs.node_ptr, graphs.graph_of_node(), walks)
    assert seen.node_ptr.tolist() == [0, 1, 2, 3]
    assert seen.adjacency.num_entries == 0
