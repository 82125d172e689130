from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.laplacian_features import graph_gaussians, neighbourhood_gaussians, overlaps
from tests.reference.grakel_graphs import adjacency_matrices
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
