from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from igsd.evaluation.heads import (
    CUT,
    ColumnScaler,
    fit_classes,
    fit_logistic,
    fit_numbers,
    fit_targets,
)


@pytest.mark.parametrize("head", ["linear", "forest", "svm"])
def test_heads_learn_a_bit(head) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 6)).astype(np.float32)
    y = 3 * X[:, 1] - 1
    assert (fit_classes(X, X[:, 2].astype(int), head).predict(X) == X[:, 2]).all()
    assert np.abs(fit_numbers(X, y, head).predict(X) - y).max() < 0.2
    if head == "svm":
        return
    assert np.abs(fit_targets(X, y[:, None], head).predict(X).ravel() - y).max() < 0.2


def test_too_little_to_choose_by() -> None:
    X = np.eye(4, dtype=np.float32)
    for head in ("linear", "svm"):
        for few in (1, 2):
            assert np.isfinite(fit_numbers(X[:few], X[:few, 1], head).predict(X)).all()
        probabilities = fit_classes(X, np.array([0, 0, 0, 1]), head).predict_proba(X)
        assert probabilities.shape == (4, 2)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)


def test_counts_stay_and_other_columns_are_scaled_and_cut() -> None:
    counts = np.array([[0, 3], [2, 1]], np.float32)
    np.testing.assert_array_equal(ColumnScaler().fit_transform(counts), counts)
    np.testing.assert_array_equal(ColumnScaler(True).fit_transform(counts).toarray(), counts)
    columns = ColumnScaler().fit(counts + 0.5)
    np.testing.assert_allclose(columns.transform(counts + 0.5), [[-1, 1], [1, -1]])
    assert np.abs(columns.transform(np.full((1, 2), 1e9))).max() == CUT


def test_many_rows_choose_by_one_part() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] > 0).astype(int)
    assert (fit_classes(X, y, "linear").predict(X) == y).mean() > 0.99
    assert np.abs(fit_numbers(X, X[:, 0], "linear").predict(X) - X[:, 0]).max() < 0.1


@pytest.fixture
def labelled_rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


def test_the_choice_and_the_model_of_a_grid_search(
    labelled_rows: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = labelled_rows
    strengths, folds = np.logspace(-4, 2, 7), StratifiedKFold(5)
    model = fit_logistic(X, y, strengths.tolist(), list(folds.split(X, y)))
    search = GridSearchCV(
        LogisticRegression(max_iter=1000), {"C": strengths}, cv=folds, scoring="neg_log_loss"
    ).fit(X, y)
    assert model.strength == search.best_params_["C"]
    np.testing.assert_allclose(model.predict_proba(X), search.predict_proba(X), atol=2e-3)
    np.testing.assert_array_equal(model.predict(X), search.predict(X))


def test_sparse_rows_and_no_folds(labelled_rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = labelled_rows
    dense = fit_logistic(X, y, [1.0], [])
    thin = fit_logistic(sparse.csr_matrix(X), y, [1.0], [])
    np.testing.assert_allclose(dense.weights, thin.weights, atol=1e-4)
    expected = LogisticRegression(max_iter=1000).fit(X, y).coef_[0]
    np.testing.assert_allclose(dense.weights, expected, atol=1e-3)


def test_more_columns_than_rows_lose_nothing() -> None:
    rng = np.random.default_rng(1)
    X = rng.poisson(0.3, (30, 200)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int)
    small = fit_classes(X, y, "linear")
    assert small.axes.shape[1] <= 30
    whole = fit_logistic(X, y, [small.model.strength], [])
    np.testing.assert_allclose(
        small.predict_proba(X),
        fit_logistic(
            X, y, [small.model.strength] * 1, [(np.arange(30), np.arange(30))]
        ).predict_proba(X),
        atol=5e-3,
    )
    assert whole.strength == 1.0


def test_classes_keep_their_names(labelled_rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = labelled_rows
    assert set(fit_logistic(X, np.where(y == 1, 7, 3), [1.0], []).predict(X)) <= {3, 7}
