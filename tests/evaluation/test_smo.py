"""The compiled solver against LIBSVM: every multiplier and intercept equal to the last bit."""

import os
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from igsd.evaluation import svm
from igsd.evaluation.kernels import kernel_sources
from tests.reference.grid_search import graph_like_features

smo = svm._compiled()
pytestmark = pytest.mark.skipif(smo is None, reason="needs x86-64 and numba, the extra igsd[speed]")


def solve(K: np.ndarray, num_first: int, C: float) -> tuple[np.ndarray, float, int]:
    kernel = smo.pair_kernel(K, np.arange(len(K)))
    return smo.solve(kernel, np.diag(K).copy(), num_first, C, np.empty_like(kernel))


def assert_equals_libsvm(K: np.ndarray, num_first: int, C: float) -> int:
    """Compare one binary problem; return the number of steps."""
    model = SVC(C=C, kernel="precomputed").fit(K, np.arange(len(K)) >= num_first)
    expected = svm.machines_of(model, len(K))
    weights, intercept, steps = solve(K, num_first, C)
    np.testing.assert_array_equal(weights, expected.weights[0])
    assert intercept == expected.intercepts[0]
    assert steps == model.n_iter_[0]
    return steps


def points(n: int, width: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, width))


@pytest.mark.parametrize("C", svm.C_GRID)
@pytest.mark.parametrize("seed", range(4))
def test_random_kernels(C, seed):
    X = points(150, 4, seed)
    assert_equals_libsvm(rbf_kernel(X), 40 + 20 * seed, C)


@pytest.mark.parametrize("C", svm.C_GRID[:5])
def test_kernels_that_are_not_normalised(C):
    X = points(80, 6, 0) * 3
    assert_equals_libsvm(X @ X.T, 40, C)


@pytest.mark.parametrize("C", svm.C_GRID)
def test_duplicates_of_rows_within_and_across_classes(C):
    # Ties everywhere: LIBSVM takes the last of equal candidates, in the order that it keeps.
    X = points(12, 2, 0)[np.random.default_rng(1).integers(0, 12, 120)]
    assert_equals_libsvm(rbf_kernel(X), 70, C)


@pytest.mark.parametrize("C", svm.C_GRID)
@pytest.mark.parametrize(
    "K", [np.ones((9, 9)), np.zeros((9, 9)), np.eye(9), np.diag([1.0, 0, 1] * 3)]
)
def test_kernels_without_information(K, C):
    assert_equals_libsvm(K, 4, C)


@pytest.mark.parametrize("size", [2, 3, 7])
@pytest.mark.parametrize("C", svm.C_GRID)
def test_tiny_sets(size, C):
    for num_first in range(1, size):
        assert_equals_libsvm(rbf_kernel(points(size, 2, size)), num_first, C)


def test_a_kernel_that_is_not_positive_definite():
    X = points(60, 3, 0)
    K = np.tanh(X @ X.T - 1)
    assert_equals_libsvm((K + K.T) / 2, 30, 1.0)


def test_many_rounds_of_shrinking():
    # Weights leave and enter the active ones every thousand steps.
    X = points(400, 3, 2)
    noisy = np.argsort(X[:, 0] + points(400, 1, 3)[:, 0], kind="stable")
    assert assert_equals_libsvm(rbf_kernel(X[noisy]), 180, 1000.0) > 20_000


def test_a_list_of_swaps_that_fills_up_starts_again():
    # It holds 240 swaps, and there are some every sixty steps.
    X = points(60, 2, 2) * 10
    noisy = np.argsort(X[:, 0] + 10 * points(60, 1, 3)[:, 0], kind="stable")
    assert assert_equals_libsvm(X[noisy] @ X[noisy].T, 30, 10.0) > 50_000


@pytest.mark.parametrize("num_classes", [2, 3])
@pytest.mark.parametrize("standardise", ["no", "yes"])
def test_the_grid_is_that_of_libsvm(num_classes, standardise, monkeypatch):
    X, y = graph_like_features(260, 12, num_classes, 5)
    y = y * 3 + 2
    K_train, K_test = kernel_sources(X, "rbf", standardise)[0].split(
        np.arange(200), np.arange(200, 260)
    )
    expected = svm.predict_grid(K_train, y[:200], K_test, svm.C_GRID)
    monkeypatch.setattr(svm, "_LARGE", 2)
    monkeypatch.setattr(svm, "_fit", None)
    np.testing.assert_array_equal(svm.predict_grid(K_train, y[:200], K_test, svm.C_GRID), expected)


def test_a_vote_too_close_for_rounding_is_left_to_libsvm(monkeypatch):
    monkeypatch.setattr(svm, "_LARGE", 2)
    K, y = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.array([0, 1])
    expected = SVC(kernel="precomputed").fit(K, y).predict(np.zeros((1, 2)))
    assert svm.predict_grid(K, y, np.zeros((1, 2)), (1.0,))[0] == expected


@pytest.mark.slow
@pytest.mark.parametrize("name", ["MUTAG", "PTC_MR", "IMDB-BINARY", "IMDB-MULTI"])
def test_real_graphs(name):
    if "IGSD_DATA" not in os.environ:
        pytest.skip("needs the data sets in IGSD_DATA")
    from igsd.estimators import IGSD
    from igsd.graphs.datasets import load_dataset

    graphs = load_dataset(name)
    X = IGSD(epochs=0, random_state=0).fit_transform(graphs).astype(np.float64)
    y = np.asarray(graphs.classes)
    K = kernel_sources(X)[0].split(np.arange(len(y)), np.arange(1))[0]
    for first, second in combinations(np.unique(y), 2):
        rows = np.concatenate([np.flatnonzero(y == first), np.flatnonzero(y == second)])
        for C in svm.C_GRID:
            assert_equals_libsvm(K[np.ix_(rows, rows)], int((y == first).sum()), C)
