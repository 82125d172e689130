from __future__ import annotations

import numpy as np
import pytest

from igsd.evaluation.heads import fit_classes, fit_numbers, fit_targets


@pytest.mark.parametrize("head", ["linear", "forest"])
def test_heads_learn_a_bit(head) -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (40, 6)).astype(np.float32)
    y = 3 * X[:, 1] - 1
    assert (fit_classes(X, X[:, 2].astype(int), head).predict(X) == X[:, 2]).all()
    assert np.abs(fit_numbers(X, y, head).predict(X) - y).max() < 0.2
    assert np.abs(fit_targets(X, y[:, None], head).predict(X).ravel() - y).max() < 0.2


def test_too_little_to_choose_by() -> None:
    X = np.eye(4, dtype=np.float32)
    for few in (1, 2):
        assert np.isfinite(fit_numbers(X[:few], X[:few, 1], "linear").predict(X)).all()
    probabilities = fit_classes(X, np.array([0, 0, 0, 1]), "linear").predict_proba(X)
    assert probabilities.shape == (4, 2)
