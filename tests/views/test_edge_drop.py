from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.views.edge_drop import edge_drop, edge_uniform, splitmix64
from tests.reference.views import dense
from tests.views.random_views import (
    RATES,
    SEEDS,
    assert_alike_in_every_batch,
    assert_names_a_rate_out_of_range,
    view_of_unchanged,
)
from tests.views.strategies import graph_set, graph_sets


def test_splitmix64_gives_its_published_first_numbers() -> None:
    # The generator adds its constant before it mixes, so state 0 is what gives the first number.
    golden = 0x9E3779B97F4A7C15
    states = np.array([0, golden, 2 * golden % 2**64], dtype=np.uint64)
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert splitmix64(states).tolist() == expected


@settings(max_examples=40, deadline=None)
@given(graph_sets(), RATES, SEEDS)
def test_edges_go_in_pairs_and_nothing_else_changes(
    graphs: GraphSet, rate: float, seed: int
) -> None:
    view = view_of_unchanged(edge_drop, graphs, rate, seed)
    for g in range(len(graphs)):
        A, left = (dense(x, graphs.node_ptr, g) for x in (graphs.adjacency, view))
        np.testing.assert_array_equal(left, left.T)
        assert (left <= A).all()


@settings(max_examples=30, deadline=None)
@given(graph_sets(), RATES, SEEDS, st.data())
def test_a_graph_loses_the_same_edges_in_every_batch(
    graphs: GraphSet, rate: float, seed: int, data: st.DataObject
) -> None:
    assert_alike_in_every_batch(edge_drop, graphs, rate, seed, data)


def test_rate_zero_keeps_all_and_weights_follow_their_entries() -> None:
    graphs = graph_set([9, 4], 0.5, seed=0)
    weight = np.arange(graphs.adjacency.num_entries, dtype=np.float32)
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, weight)
    ids = np.arange(2)
    all_kept = edge_drop(weighted, graphs.node_ptr, ids, 0.0, 1)
    np.testing.assert_array_equal(all_kept.col, weighted.col)
    some = edge_drop(weighted, graphs.node_ptr, ids, 0.4, 1)
    assert some.weight is not None
    np.testing.assert_array_equal(weighted.col[some.weight.astype(int)], some.col)


def test_the_share_removed_is_the_rate_and_draws_differ() -> None:
    graphs = graph_set([150, 150], 1.0, seed=0)
    ids = np.arange(2)
    views = [edge_drop(graphs.adjacency, graphs.node_ptr, ids, 0.2, seed) for seed in (1, 2)]
    edges = graphs.adjacency.num_entries
    for view in views:
        # 22,350 edges: the standard deviation of the share is 0.0027.
        assert 1 - view.num_entries / edges == pytest.approx(0.2, abs=0.012)
    first, second = (dense(view, graphs.node_ptr, 0) for view in views)
    other_graph = dense(views[0], graphs.node_ptr, 1)
    for unlike in (second, other_graph):
        both = (first * unlike).sum() / (150 * 149)
        assert both == pytest.approx(0.64, abs=0.02)


def test_numbers_are_uniform() -> None:
    u, v = np.triu_indices(300, 1)
    x = np.sort(edge_uniform(np.zeros(len(u), np.int64), u, v, seed=-5))
    assert x[0] >= 0
    assert x[-1] < 1
    assert np.abs(x - (np.arange(len(x)) + 0.5) / len(x)).max() < 1.63 / np.sqrt(len(x))


def test_a_rate_out_of_range_is_named() -> None:
    assert_names_a_rate_out_of_range(edge_drop, "edge_drop")
