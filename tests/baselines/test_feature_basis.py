from __future__ import annotations

import numpy as np

from igsd.baselines.feature_basis import feature_basis, inverse_root, one_hot


def test_one_hot() -> None:
    known = np.array([3, 5, 9], np.uint64)
    rows = one_hot(np.array([5, 3, 4, 11], np.uint64), known).toarray()
    assert rows.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_coordinates_give_back_a_kernel_of_low_rank() -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    K = X @ X.T
    coordinates = K @ feature_basis(K, 10)
    assert coordinates.shape == (8, 3)
    np.testing.assert_allclose(coordinates @ coordinates.T, K, atol=1e-10)
    assert feature_basis(K, 2).shape == (8, 2)


def test_inverse_root() -> None:
    X = np.random.default_rng(0).normal(size=(4, 4))
    K = X @ X.T
    root = inverse_root(K)
    np.testing.assert_allclose(root @ K @ root, np.eye(4), atol=1e-8)
    singular = np.ones((3, 3))
    assert np.isfinite(inverse_root(singular)).all()
