from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.batches.batch import Collator, chunks
from igsd.batches.features import FeatureMap
from igsd.graphs.build import from_edges
from tests.reference.adjacency import dense
from tests.small_graphs import (
    HOST,
    from_matrix,
    make_batch,
    make_graphs,
    odd_graphs,
    weighted_matrix,
)

GRAPHS = make_graphs()


@given(indices=st.lists(st.integers(0, 9), min_size=1, max_size=12))
@settings(max_examples=25, deadline=None)
def test_a_batch_holds_the_chosen_graphs_in_order(indices: list[int]) -> None:
    batch = make_batch(GRAPHS, indices)
    A = dense(batch)
    assert batch.num_graphs == len(indices)
    for place, g in enumerate(indices):
        alone = make_batch(GRAPHS, [g])
        rows = slice(int(batch.ptr[place]), int(batch.ptr[place + 1]))
        assert torch.equal(batch.x[rows], alone.x)
        np.testing.assert_array_equal(A[rows, rows], dense(alone))
        A[rows, rows] = 0
    assert not A.any()  # no edge joins two graphs


def test_by_hand() -> None:
    batch = make_batch(odd_graphs(), [2, 0])
    assert batch.ptr.tolist() == [0, 3, 4]
    assert batch.batch.tolist() == [0, 0, 0, 1]
    assert batch.edge_index.tolist() == [[0, 1], [1, 0]]
    assert batch.edge_weight.tolist() == [1.0, 1.0]
    assert batch.x.tolist() == [[0, 1, 0], [0, 1, 0], [1, 0, 0], [1, 0, 0]]


def test_edgeless_batch() -> None:
    batch = make_batch(odd_graphs(), [0, 1])
    assert batch.edge_index.shape == (2, 0)
    assert batch.edge_weight.shape == (0,)
    assert batch.x.shape == (4, 3)


def test_edge_list_has_both_directions() -> None:
    A = dense(make_batch(GRAPHS))
    np.testing.assert_array_equal(A, A.T)
    assert A.sum() == 2 * GRAPHS.num_edges


def test_weights_of_a_view_reach_the_edge_list() -> None:
    matrix = weighted_matrix(6)
    graph = from_edges([6], np.array([0]), np.array([1]))
    features = FeatureMap.fit(graph).transform(graph)
    batch = Collator(graph.node_ptr, features, HOST).batch(
        np.array([0]), from_matrix(matrix, weighted=True)
    )
    np.testing.assert_array_equal(dense(batch), matrix)


def test_with_adjacency_keeps_the_nodes() -> None:
    batch = make_batch(GRAPHS)
    other = make_batch(GRAPHS, np.arange(len(GRAPHS)))
    view = batch.with_adjacency(other.adjacency)
    assert view.x is batch.x
    assert view.ptr is batch.ptr
    assert view.adjacency is other.adjacency


@pytest.mark.parametrize("indices", [[3], [0, 0], list(range(10))])
def test_types(indices: list[int]) -> None:
    batch = make_batch(GRAPHS, indices)
    assert batch.x.dtype == torch.float32
    assert batch.ptr.dtype == torch.int64
    assert batch.edge_index.dtype == torch.int64
    assert batch.batch.dtype == torch.int64
    assert batch.edge_weight.dtype == torch.float32


def test_chunks_are_consecutive_and_bounded() -> None:
    ptr = np.array([0, 3, 5, 30, 31, 34])
    assert list(chunks(ptr, 5)) == [(0, 2), (2, 3), (3, 5)]
    assert list(chunks(ptr, 1)) == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert list(chunks(ptr, 100)) == [(0, 5)]
