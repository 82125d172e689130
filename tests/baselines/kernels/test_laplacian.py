from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.kernels.laplacian import (
    MultiscaleLaplacian,
    graph_gaussians,
    neighbourhood_gaussians,
    overlaps,
)
from igsd.graphs.graphset import GraphSet
from igsd.limits import MemoryLimitError, limits
from tests.reference.grakel_graphs import adjacency_matrices
from tests.reference.mlg import mlg
from tests.small_graphs import make_graphs

GRAPHS = make_graphs(4, seed=5)
FEATURES = np.random.default_rng(0).normal(size=(GRAPHS.num_nodes, 2))
ETA, GAMMA = 0.1, 0.01


def covariance(A: np.ndarray, U: np.ndarray) -> np.ndarray:
    """Return U' (L + eta I)^-1 U + gamma I by its definition."""
    L = np.diag(A.sum(axis=1)) - A
    inverse = np.linalg.inv(L + ETA * np.eye(len(A)))
    return U.T @ inverse @ U + GAMMA * np.eye(U.shape[1])


def test_the_gaussian_of_a_graph_by_its_definition() -> None:
    made = graph_gaussians(GRAPHS, FEATURES, ETA, GAMMA)
    for g, A in enumerate(adjacency_matrices(GRAPHS)):
        S = covariance(A, FEATURES[GRAPHS.node_ptr[g] : GRAPHS.node_ptr[g + 1]])
        np.testing.assert_allclose(made.inverse[g], np.linalg.inv(S), rtol=1e-8)
        assert made.log_volume[g] == pytest.approx(np.log(np.linalg.det(S)))


def test_the_gaussian_of_a_neighbourhood_by_its_definition() -> None:
    A = adjacency_matrices(GRAPHS)[0]
    near = neighbourhood_gaussians(GRAPHS, FEATURES, 1, ETA, GAMMA)
    n = len(A)
    for node in range(n):
        inside = np.flatnonzero(A[node] + np.eye(n)[node])
        S = covariance(A[np.ix_(inside, inside)], FEATURES[:n][inside])
        np.testing.assert_allclose(near.inverse[node], np.linalg.inv(S), rtol=1e-8)


def test_overlaps_are_symmetric_one_with_itself_and_less_with_others() -> None:
    made = graph_gaussians(GRAPHS, FEATURES, ETA, GAMMA)
    K = overlaps(made)
    np.testing.assert_allclose(np.diag(K), 1.0)
    np.testing.assert_allclose(K, K.T)
    assert (K[~np.eye(4, dtype=bool)] < 1).all()
    np.testing.assert_allclose(overlaps(made.take(np.array([2])), made)[0], K[2])


def one_hot_labels(graphs: GraphSet) -> list[np.ndarray]:
    rows = np.eye(3)[graphs.node_labels]
    return [rows[a:b] for a, b in zip(graphs.node_ptr[:-1], graphs.node_ptr[1:], strict=True)]


@pytest.mark.parametrize("levels", [0, 1, 2])
def test_equals_plain_loops(levels: int) -> None:
    graphs = make_graphs(4, seed=5)
    kernel = MultiscaleLaplacian(levels=levels, dim=3, num_samples=100).fit(graphs)
    expected = mlg(adjacency_matrices(graphs), one_hot_labels(graphs), levels, 3, 0.01, 0.01)
    np.testing.assert_allclose(kernel.kernel(graphs), expected, rtol=1e-6)


def test_equals_grakel_without_levels() -> None:
    # With levels GraKeL's missing factor changes the features; without, it is a constant.
    grakel = pytest.importorskip("grakel.kernels")
    graphs = make_graphs(8, seed=5)
    given = [
        (A, dict(enumerate(rows.tolist())))
        for A, rows in zip(adjacency_matrices(graphs), one_hot_labels(graphs), strict=True)
    ]
    theirs = grakel.MultiscaleLaplacian(
        L=0, P=3, n_samples=1000, normalize=True, random_state=0
    ).fit_transform(given)
    ours = MultiscaleLaplacian(levels=0, dim=3, num_samples=1000).fit(graphs).kernel(graphs)
    np.testing.assert_allclose(ours, theirs, rtol=1e-6)


def test_columns_are_similarities_to_the_graphs_of_fit() -> None:
    graphs, new = make_graphs(6), make_graphs(3, seed=8)
    kernel = MultiscaleLaplacian(levels=1).fit(graphs)
    np.testing.assert_allclose(kernel.transform(new), kernel.kernel(new, graphs), rtol=1e-6)


def test_another_seed_draws_other_nodes() -> None:
    graphs = make_graphs(10)
    kernels = [
        MultiscaleLaplacian(num_samples=5, random_state=seed).fit(graphs).kernel(graphs)
        for seed in (0, 0, 1)
    ]
    np.testing.assert_array_equal(kernels[0], kernels[1])
    assert not np.allclose(kernels[0], kernels[2])


def test_a_graph_too_large_for_it() -> None:
    with limits(memory_gib=1e-6), pytest.raises(MemoryLimitError, match="OMR"):
        MultiscaleLaplacian().fit(make_graphs())
