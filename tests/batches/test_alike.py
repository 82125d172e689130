from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.batches import alike as module
from igsd.batches.alike import alike_nodes, merge_adjacency, merged
from igsd.batches.batch import Collator
from igsd.batches.features import FeatureMap, NodeFeatures
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.settings.groups import View
from igsd.views.cache import diffusion_view
from tests.reference.views import dense
from tests.small_graphs import HOST, from_matrix, make_graphs, odd_graphs


def groups_of(graphs: GraphSet, nodes: str = "constant") -> module.NodeGroups:
    features = FeatureMap.fit(graphs, nodes).transform(graphs)
    return alike_nodes(graphs.adjacency, graphs.node_ptr, features)


def test_a_hand_worked_graph() -> None:
    # 0 is linked to all; 1, 2 know each other; 3, 4 know only 0; a second graph of one node.
    edges = np.array([(0, 1), (0, 2), (0, 3), (0, 4), (1, 2)]).T
    graphs = from_edges([5, 1], *edges)
    groups = groups_of(graphs)
    assert groups.group.tolist() == [0, 1, 1, 2, 2, 3]
    assert groups.first.tolist() == [0, 1, 3, 5]
    assert groups.counts.tolist() == [1, 2, 2, 1]
    assert groups.node_ptr.tolist() == [0, 3, 4]
    assert groups.are_worth_it
    merged = merge_adjacency(graphs.adjacency, graphs.node_ptr, groups)
    assert dense(merged, groups.node_ptr, 0).tolist() == [[0, 1, 1], [1, 0.5, 0], [1, 0, 0]]


def test_nodes_of_different_graphs_stay_apart() -> None:
    groups = groups_of(odd_graphs())
    assert groups.counts.tolist() == [1, 3, 2, 1, 3]
    assert groups.node_ptr.tolist() == [0, 1, 2, 4, 5]


def test_features_keep_nodes_apart() -> None:
    graphs = from_edges(
        [3],
        np.array([0, 0]),
        np.array([1, 2]),
        node_labels=np.array([0, 0, 1], np.int32),
        node_label_names=("C", "N"),
    )
    assert groups_of(graphs).counts.tolist() == [1, 2]
    assert groups_of(graphs, "label").counts.tolist() == [1, 1, 1]
    assert not groups_of(graphs, "label").are_worth_it


def test_weights_keep_nodes_apart() -> None:
    graphs = from_edges([4], np.zeros(3, int), np.array([1, 2, 3]))
    matrix = np.zeros((4, 4))
    matrix[0, 1:] = matrix[1:, 0] = [1, 2, 2]
    features = FeatureMap.fit(graphs, "constant").transform(graphs)
    groups = alike_nodes(from_matrix(matrix, weighted=True), graphs.node_ptr, features)
    assert groups.counts.tolist() == [1, 1, 2]


@given(seed=st.integers(0, 500), weighted=st.booleans())
@settings(max_examples=40, deadline=None)
def test_products_with_the_merged_matrix_are_those_of_the_whole(seed: int, weighted: bool) -> None:
    graphs = make_graphs(6, seed=seed, labels=False)
    groups = groups_of(graphs, "degree")
    view = diffusion_view(graphs, View()) if weighted else graphs.adjacency
    merged = merge_adjacency(view, graphs.node_ptr, groups)
    features = FeatureMap.fit(graphs, "degree").transform(graphs)
    smaller = NodeFeatures(features.codes[groups.first], None, features.dim)
    collator = Collator(groups.node_ptr, smaller, HOST, groups.counts)
    batch = collator.batch(np.arange(6), merged)
    x = np.random.default_rng(seed).normal(size=(len(groups.first), 3))
    y = batch.adjacency.multiply(torch.from_numpy(x)).numpy()
    for g in range(6):
        A = dense(view, graphs.node_ptr, g)
        own = slice(graphs.node_ptr[g], graphs.node_ptr[g + 1])
        expected = A @ x[groups.group[own]]
        np.testing.assert_allclose(y[groups.group[own]], expected, atol=1e-6)
        N = dense(merged, groups.node_ptr, g)
        np.testing.assert_allclose(N, N.T, atol=1e-6)


def test_many_small_chunks_give_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = make_graphs(20, labels=False)
    groups = groups_of(graphs)
    whole = merge_adjacency(graphs.adjacency, graphs.node_ptr, groups)
    monkeypatch.setattr(module, "_CHUNK_ENTRIES", 5)
    pieces = merge_adjacency(graphs.adjacency, graphs.node_ptr, groups)
    for name in ("row_ptr", "col", "weight"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(pieces, name))


def test_graphs_without_edges() -> None:
    graphs = from_edges([2, 3], np.zeros(0, int), np.zeros(0, int))
    groups = groups_of(graphs)
    assert groups.counts.tolist() == [2, 3]
    assert merge_adjacency(graphs.adjacency, graphs.node_ptr, groups).num_entries == 0


def collator_of(graphs: GraphSet) -> Collator:
    return Collator(graphs.node_ptr, FeatureMap.fit(graphs).transform(graphs), HOST)


def test_the_leaves_of_a_star_are_one_row() -> None:
    star = from_edges([5], np.zeros(4, np.int64), np.arange(1, 5))
    made, edges, groups = merged(collator_of(star), star.adjacency)
    assert groups is not None
    batch = made.batch(np.array([0]), edges)
    assert batch.counts is not None
    assert sorted(batch.counts.tolist()) == [1, 4]
    assert len(batch.x) == 2


def test_where_few_nodes_are_alike_nothing_changes() -> None:
    path = from_edges([6], np.arange(5), np.arange(1, 6))
    collator = collator_of(path)
    assert merged(collator, path.adjacency) == (collator, path.adjacency, None)
