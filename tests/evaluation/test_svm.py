from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.svm import SVC

from igsd.evaluation.folds import outer_folds
from igsd.evaluation.kernels import kernel_sources
from igsd.evaluation.svm import (
    C_GRID,
    choose,
    machines_of,
    middle_of_best,
    predict,
    predict_grid,
)
from tests.reference.grid_search import graph_like_features, grid_search


def kernels(classes: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (K_train, y, K_test) of a linear kernel on noisy points, classes not 0, 1, ..."""
    random = np.random.default_rng(seed)
    y = random.integers(0, classes, 60) * 3 + 2
    X, X_test = random.normal(size=(60, 3)) + y[:, None] / 4, random.normal(size=(40, 3)) + 1
    return X @ X.T, y, X_test @ X.T


@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_equals_libsvm(classes: int, C: float) -> None:
    K, y, K_test = kernels(classes, classes)
    model = SVC(C=C, kernel="precomputed").fit(K, y)
    np.testing.assert_array_equal(predict(machines_of(model, 60), K_test), model.predict(K_test))


def test_a_vote_too_close_for_rounding_is_left_to_libsvm() -> None:
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    asked = []
    machines = machines_of(SVC(C=1.0, kernel="precomputed").fit(K, [0, 1]), 2)
    machines = machines._replace(libsvm=lambda K: asked.append(len(K)) or [1] * len(K))
    assert predict(machines, np.array([[1.0, -1.0]])).tolist() == [0]
    assert not asked
    assert predict(machines, np.array([[0.0, 0.0], [1.0, -1.0]])).tolist() == [1, 1]
    assert asked == [2]


def test_the_grid():
    assert C_GRID == (1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1000.0)


@pytest.mark.parametrize("num_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("standardise", ["no", "yes"])
@pytest.mark.parametrize("seed", [0, 1])
def test_same_choice_and_predictions_as_grid_search(num_classes, kernel, standardise, seed):
    # A linear kernel on raw features takes libsvm very long at large C.
    grid = C_GRID if kernel == "rbf" else C_GRID[:4]
    X, y = graph_like_features(150, 12, num_classes, seed)
    if kernel == "linear":
        X = X / X.std()
    fold = outer_folds(y, seed)[0][0]
    train, test = fold.train, fold.test
    source = kernel_sources(X, kernel, standardise)[0]
    choice = choose([source], y, train, grid)
    K_train, K_test = source.split(train, test)
    predicted = predict_grid(K_train, y[train], K_test, (choice.C,))[0]
    C, score, expected = grid_search(
        X[train], y[train], X[test], grid, standardise=standardise == "yes", kernel=kernel
    )
    assert (choice.C, choice.score) == (C, score)
    np.testing.assert_array_equal(predicted, expected)


@pytest.mark.parametrize("num_classes", [2, 3, 4])
def test_every_row_of_the_grid_is_that_of_svc(num_classes):
    # Includes values of C that are skipped because no multiplier is at its bound.
    X, y = graph_like_features(160, 12, num_classes, 5)
    X = X / X.std(axis=0)
    train, test = np.arange(120), np.arange(120, 160)
    source = kernel_sources(X, standardise="no")[0]
    K_train, K_test = source.split(train, test)
    predicted = predict_grid(K_train, y[train], K_test, (*C_GRID, 1e4, 1e5))
    for row, C in zip(predicted, (*C_GRID, 1e4, 1e5), strict=True):
        np.testing.assert_array_equal(row, SVC(C=C).fit(X[train], y[train]).predict(X[test]))


def test_free_multipliers_end_the_search_early(monkeypatch):
    import igsd.evaluation.svm as svm

    fitted = []
    original = svm._fit
    monkeypatch.setattr(svm, "_fit", lambda K, y, C: fitted.append(C) or original(K, y, C))
    X, y = graph_like_features(60, 12, 2, 0)
    K = kernel_sources(X / X.std(axis=0))[0].split(np.arange(50), np.arange(50, 60))
    predicted = predict_grid(K[0], y[:50], K[1], C_GRID)
    assert fitted == list(C_GRID[: len(fitted)])
    assert len(fitted) < len(C_GRID)
    assert (predicted[len(fitted) :] == predicted[len(fitted) - 1]).all()


def test_libsvm_solves_where_compiled_loops_are_missing(monkeypatch):
    import igsd.evaluation.svm as svm

    find = svm._compiled.__wrapped__
    monkeypatch.delattr("igsd.evaluation.smo", raising=False)
    monkeypatch.setitem(sys.modules, "igsd.evaluation.smo", None)
    assert find() is None  # without numba
    monkeypatch.undo()
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert find() is None  # where LIBSVM rounds in another way
    monkeypatch.setattr(svm, "_LARGE", 2)
    monkeypatch.setattr(svm, "_compiled", lambda: None)
    K, y, K_test = kernels(3, 0)
    expected = SVC(C=1.0, kernel="precomputed").fit(K, y).predict(K_test)
    np.testing.assert_array_equal(predict_grid(K, y, K_test, (1.0,))[0], expected)


def test_a_decision_of_exactly_zero_is_left_to_libsvm():
    K = np.array([[1.0, -1.0], [-1.0, 1.0]])
    model = SVC(kernel="precomputed").fit(K, [0, 1])
    K_test = np.zeros((1, 2))
    assert predict(machines_of(model, 2), K_test) == model.predict(K_test)


def test_one_class_left_predicts_it():
    K = np.eye(3)
    assert (predict_grid(K, np.array([2, 2, 2]), K, C_GRID) == 2).all()


def test_ties_prefer_the_first_kernel_and_the_smaller_c():
    y = np.arange(40) % 2
    X = y[:, None] * 10.0 + np.zeros((40, 2))
    sources = kernel_sources(X, standardise="search")
    choice = choose(sources, y, np.arange(40), (0.1, 1.0, 10.0))
    assert (choice.C, choice.source, choice.score) == (0.1, 0, 1.0)


def test_search_takes_standardising_where_it_helps():
    random = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = np.column_stack([y + 0.1 * random.normal(size=120), 1e4 * random.normal(size=120)])
    sources = kernel_sources(X, standardise="search")
    choice = choose(sources, y, np.arange(120), C_GRID)
    assert sources[choice.source].standardised
    assert choice.score > 0.95


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([0.5], 0), ([0.2, 0.9, 0.1], 1), ([0.9, 0.9], 1), ([0.9, 0.1, 0.9, 0.9, 0.3], 2)],
)
def test_of_equal_scores_the_middle_one_is_taken(scores, expected):
    assert middle_of_best(np.array(scores)) == expected
