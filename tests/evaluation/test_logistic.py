from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from igsd.evaluation.heads import fit_classes
from igsd.evaluation.logistic import fit_logistic


@pytest.fixture
def rows() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    return X, (X[:, 0] + rng.normal(size=60) > 0).astype(int)


def test_the_choice_and_the_model_of_a_grid_search(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    strengths, folds = np.logspace(-4, 2, 7), StratifiedKFold(5)
    model = fit_logistic(X, y, strengths.tolist(), list(folds.split(X, y)))
    search = GridSearchCV(
        LogisticRegression(max_iter=1000), {"C": strengths}, cv=folds, scoring="neg_log_loss"
    ).fit(X, y)
    assert model.strength == search.best_params_["C"]
    np.testing.assert_allclose(model.predict_proba(X), search.predict_proba(X), atol=2e-3)
    np.testing.assert_array_equal(model.predict(X), search.predict(X))


def test_sparse_rows_and_no_folds(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
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


def test_classes_keep_their_names(rows: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = rows
    assert set(fit_logistic(X, np.where(y == 1, 7, 3), [1.0], []).predict(X)) <= {3, 7}
