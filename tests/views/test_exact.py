from __future__ import annotations

import numpy as np
import pytest

import igsd.views.diffusion as batched
from igsd.views.diffusion import dense_stack, padded_sizes, size_chunks
from tests.reference import views as reference
from tests.views.strategies import graph_set


def test_padded_sizes_are_few_and_near() -> None:
    sizes = np.arange(1, 3000)
    padded = padded_sizes(sizes)
    assert (padded >= sizes).all()
    assert (padded - sizes <= np.maximum(3, sizes / 16)).all()
    assert padded[[0, 1, 2, 3, 4, 63, 64, 128]].tolist() == [1, 2, 3, 4, 8, 64, 68, 136]
    assert len(np.unique(padded)) < 120


def test_chunks_hold_each_graph_once_and_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batched, "CHUNK_ENTRIES", 300)
    sizes = np.random.default_rng(0).integers(1, 40, 200)
    node_ptr = np.concatenate([[0], np.cumsum(sizes)])
    chosen = np.arange(0, 200, 3)
    chunks = list(size_chunks(node_ptr, chosen))
    assert sorted(np.concatenate([graphs for graphs, _ in chunks])) == chosen.tolist()
    for graphs, side in chunks:
        assert len(graphs) == 1 or len(graphs) * side**2 <= 300
        assert (padded_sizes(sizes[graphs]) == side).all()


def test_stack_holds_the_adjacency_matrices_with_empty_padding() -> None:
    graphs = graph_set([3, 7, 5], 0.5, seed=1)
    stack = dense_stack(graphs.adjacency, graphs.node_ptr, np.array([2, 0]), 8).numpy()
    for place, graph, n in ((0, 2, 5), (1, 0, 3)):
        A = reference.dense(graphs.adjacency, graphs.node_ptr, graph)
        np.testing.assert_array_equal(stack[place, :n, :n], A)
        assert stack[place].sum() == A.sum()
