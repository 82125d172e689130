from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.views.edge_drop import edge_uniform
from igsd.views.edge_perturb import edge_perturb
from tests.reference.views import dense
from tests.views.random_views import (
    RATES,
    SEEDS,
    assert_alike_in_every_batch,
    assert_names_a_rate_out_of_range,
    view_of_unchanged,
)
from tests.views.strategies import graph_set, graph_sets


@settings(max_examples=40, deadline=None)
@given(graph_sets(), RATES, SEEDS)
def test_simple_symmetric_graphs_come_out(graphs: GraphSet, rate: float, seed: int) -> None:
    view = view_of_unchanged(edge_perturb, graphs, rate, seed)
    assert view.num_entries <= graphs.adjacency.num_entries
    for row in range(graphs.num_nodes):
        neighbours = view.col[view.row_ptr[row] : view.row_ptr[row + 1]]
        assert (np.diff(neighbours) > 0).all()
    for g in range(len(graphs)):
        A, moved = (dense(x, graphs.node_ptr, g) for x in (graphs.adjacency, view))
        np.testing.assert_array_equal(moved, moved.T)
        assert not np.diag(moved).any()
        u, v = np.nonzero(np.triu(A))
        stays = edge_uniform(np.full(len(u), g), u, v, seed) >= rate
        assert moved[u[stays], v[stays]].all()


@settings(max_examples=20, deadline=None)
@given(graph_sets(), RATES, SEEDS, st.data())
def test_a_graph_changes_alike_in_every_batch(
    graphs: GraphSet, rate: float, seed: int, data: st.DataObject
) -> None:
    assert_alike_in_every_batch(edge_perturb, graphs, rate, seed, data)


def test_rate_zero_changes_nothing_and_a_half_moves_half() -> None:
    graphs = graph_set([30], 0.2, seed=0)
    before = dense(graphs.adjacency, graphs.node_ptr, 0)
    still, moved = (
        edge_perturb(graphs.adjacency, graphs.node_ptr, np.arange(1), rate, 1)
        for rate in (0.0, 0.5)
    )
    still, moved = (dense(view, graphs.node_ptr, 0) for view in (still, moved))
    np.testing.assert_array_equal(before, still)
    share = (before * moved).sum() / before.sum()
    assert 0.35 < share < 0.75
    assert (moved > before).any()


def test_a_sparse_graph_keeps_about_as_many_edges() -> None:
    graphs = graph_set([400], 0.02, seed=0)
    view = edge_perturb(graphs.adjacency, graphs.node_ptr, np.array([0]), 0.3, 1)
    assert view.num_entries == pytest.approx(graphs.adjacency.num_entries, rel=0.03)


def test_weights_move_with_their_edges() -> None:
    graphs = graph_set([12], 0.4, seed=3)
    rows, cols = graphs.adjacency.rows(), graphs.adjacency.col
    weight = (np.minimum(rows, cols) * 12 + np.maximum(rows, cols)).astype(np.float32)
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, weight)
    view = edge_perturb(weighted, graphs.node_ptr, np.array([0]), 0.5, 2)
    matrix = dense(view, graphs.node_ptr, 0)
    np.testing.assert_array_equal(matrix, matrix.T)
    values = matrix[np.triu_indices(12)]
    found = values[values > 0]
    assert len(np.unique(found)) == len(found)
    assert set(found) <= set(weight.tolist())


def test_a_rate_out_of_range_is_named() -> None:
    assert_names_a_rate_out_of_range(edge_perturb, "edge_perturb")
