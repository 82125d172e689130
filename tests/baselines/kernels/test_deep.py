from __future__ import annotations

import numpy as np
from scipy import sparse

from igsd.baselines.kernels.wl import (
    DeepGraphKernel,
    WLKernel,
    co_occurrences,
    embed,
    mutual_information,
)
from igsd.graphs.build import from_edges
from tests.small_graphs import make_graphs


def test_co_occurrences_worked_by_hand() -> None:
    # The path with patterns 1-2-1 at level 0, nothing else: 1 stands at two nodes, 2 at one,
    # and each 1 beside the 2.
    path = from_edges([3], np.array([0, 1]), np.array([1, 2]))
    colours = np.array([[1, 2, 1]], np.uint64)
    found = co_occurrences(path, colours, np.array([1, 2], np.uint64)).toarray()
    assert found.tolist() == [[2, 2], [2, 1]]


def test_mutual_information() -> None:
    together = sparse.csr_array(np.array([[4.0, 0.0], [0.0, 4.0]]))
    found = mutual_information(together).toarray()
    np.testing.assert_allclose(found, np.log(2) * np.eye(2))


def test_vectors_of_patterns_that_never_meet_are_orthogonal() -> None:
    information = sparse.csr_array(np.kron(np.eye(2), np.ones((2, 2))))
    vectors = embed(information, 2)
    expected = np.kron(np.eye(2), np.ones((2, 2)))
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-12)


def test_kernel_is_the_reweighted_product_of_counts() -> None:
    graphs = make_graphs(8)
    deep = DeepGraphKernel(iterations=1, dim=5, normalise=False).fit(graphs)
    counts = WLKernel(iterations=1, normalise=False).fit(graphs).transform(graphs)
    M = deep.state_["vectors"] @ deep.state_["vectors"].T
    np.testing.assert_allclose(deep.kernel(graphs), counts @ M @ counts.T, rtol=1e-5)


def test_large_tables_use_the_sparse_decomposition() -> None:
    rng = np.random.default_rng(0)
    half = rng.random((300, 5))
    information = half @ half.T
    vectors = embed(sparse.csr_array(information), 5)
    exact = embed(sparse.csr_array(information[:150, :150]), 5)
    assert vectors.shape == (300, 5)
    assert exact.shape == (150, 5)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0)
