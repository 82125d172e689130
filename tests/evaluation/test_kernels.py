from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics import pairwise
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd.errors import ConfigError
from igsd.evaluation.kernels import (
    kernel_sources,
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


X = np.random.default_rng(0).normal(size=(12, 3)) * [1.0, 10.0, 0.1] + 5
X[:, 1] = np.where(np.arange(12) < 8, 2.0, X[:, 1])
TRAIN, TEST = np.arange(8), np.arange(8, 12)


def test_standardised_kernel_uses_the_training_part_only():
    # Feature 1 is constant in the training part, where its scale counts as 1.
    scaler = StandardScaler().fit(X[TRAIN])
    A, B = scaler.transform(X[TRAIN]), scaler.transform(X[TEST])
    gamma = 1 / (3 * A.var())
    K_train, K_test = kernel_sources(X, standardise="yes")[0].split(TRAIN, TEST)
    np.testing.assert_allclose(K_train, pairwise.rbf_kernel(A, A, gamma), rtol=1e-10)
    np.testing.assert_allclose(K_test, pairwise.rbf_kernel(B, A, gamma), rtol=1e-10)


@pytest.mark.parametrize("standardise", ["no", "yes"])
def test_test_rows_do_not_touch_the_training_kernel(standardise):
    changed = X.copy()
    changed[TEST] += 100
    before = kernel_sources(X, standardise=standardise)[0].split(TRAIN, TEST)[0]
    after = kernel_sources(changed, standardise=standardise)[0].split(TRAIN, TEST)[0]
    np.testing.assert_allclose(before, after, rtol=1e-9)


def test_precomputed_blocks():
    K = X @ X.T
    K_train, K_test = kernel_sources(K, "precomputed")[0].split(TRAIN, TEST)
    np.testing.assert_array_equal(K_train, K[:8, :8])
    np.testing.assert_array_equal(K_test, K[8:, :8])


def test_search_offers_the_plain_kernel_first():
    assert [s.standardised for s in kernel_sources(X, standardise="search")] == [False, True]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"kernel": "rfb"}, "Did you mean 'rbf'"),
        ({"standardise": "yess"}, "Did you mean 'yes'"),
        ({"kernel": "precomputed", "standardise": "yes"}, "has no features"),
    ],
)
def test_unknown_settings(settings, words):
    with pytest.raises(ConfigError, match=words):
        kernel_sources(X, **settings)
