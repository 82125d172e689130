from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.svm import SVC

from igsd.evaluation.distances import (
    rbf_kernel,
    rbf_kernel_among,
    scale_gamma,
    squared_distances,
)

TABLES = arrays(
    np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.floats(-100, 100)
)


def test_known_distances():
    A = np.array([[0.0, 0.0], [3.0, 4.0]])
    assert squared_distances(A).tolist() == [[0.0, 25.0], [25.0, 0.0]]
    np.testing.assert_allclose(squared_distances(A, np.array([[3.0, 0.0]])), [[9.0], [16.0]])


@given(TABLES)
def test_equals_the_plain_loop_and_is_symmetric(A):
    plain = np.array([[((a - b) ** 2).sum() for b in A] for a in A])
    distances = squared_distances(A)
    np.testing.assert_allclose(distances, plain, atol=1e-8 * (1 + plain.max()))
    np.testing.assert_array_equal(distances, distances.T)
    assert (distances >= 0).all()
    assert (np.diag(distances) == 0).all()


def test_a_large_mean_does_not_eat_the_digits():
    A = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(squared_distances(A + 1e6), squared_distances(A), atol=1e-7)


def test_input_unchanged():
    A = np.arange(12.0).reshape(4, 3)
    before = A.copy()
    rbf_kernel_among(squared_distances(A), None, 0.5)
    np.testing.assert_array_equal(A, before)


def test_gamma_is_that_of_svc():
    X = np.random.default_rng(0).normal(size=(30, 4)) * 3
    y = np.arange(30) % 2
    assert scale_gamma(X) == SVC().fit(X, y)._gamma
    assert scale_gamma(np.ones((3, 2))) == 1.0


def test_kernel_among_rows_equals_the_whole_kernel():
    # 600 rows: more than one block, the last one not full.
    X = np.random.default_rng(0).normal(size=(600, 3))
    distances = squared_distances(X)
    whole = rbf_kernel(distances, 0.3)
    rows = np.random.default_rng(1).permutation(600)[:555]
    np.testing.assert_array_equal(rbf_kernel_among(distances, None, 0.3), whole)
    np.testing.assert_array_equal(rbf_kernel_among(distances, rows, 0.3), whole[np.ix_(rows, rows)])
