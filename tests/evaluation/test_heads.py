from __future__ import annotations

import numpy as np
import pytest

from igsd.evaluation.heads import CUT, Columns, fit_classes, fit_numbers, fit_targets


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
    np.testing.assert_array_equal(Columns().fit_transform(counts), counts)
    np.testing.assert_array_equal(Columns(True).fit_transform(counts).toarray(), counts)
    columns = Columns().fit(counts + 0.5)
    np.testing.assert_allclose(columns.transform(counts + 0.5), [[-1, 1], [1, -1]])
    assert np.abs(columns.transform(np.full((1, 2), 1e9))).max() == CUT


def test_many_rows_choose_by_one_part() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = (X[:, 0] > 0).astype(int)
    assert (fit_classes(X, y, "linear").predict(X) == y).mean() > 0.99
    assert np.abs(fit_numbers(X, X[:, 0], "linear").predict(X) - X[:, 0]).max() < 0.1
