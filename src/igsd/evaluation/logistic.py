"""``fit_logistic``: a logistic regression of two classes whose strength is chosen inside its data.

scikit-learn's grid search gives the same model. It spends most of its time on checks where rows are
few; here the strengths are one path, each fit starts from the one before, and the path ends when
the held-out loss has risen twice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, special

_STEPS = {"maxiter": 300, "ftol": 1e-7, "gtol": 1e-5}

Fold = tuple[np.ndarray, np.ndarray]
"""Positions to fit on, and positions to choose by."""


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted logistic regression: P(second class) = sigmoid(x w + b)."""

    classes_: np.ndarray
    weights: np.ndarray
    bias: float
    strength: float

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes, [n, 2]."""
        p = special.expit(np.asarray(X @ self.weights).reshape(-1) + self.bias)
        return np.stack([1 - p, p], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class of each row, [n]."""
        found: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found


def fit_logistic(
    X: Any, y: np.ndarray, strengths: Sequence[float], folds: Sequence[Fold]
) -> Logistic:
    """Return the model of X [n, d] (dense or sparse) and two classes y [n].

    It minimises C sum_i log(1 + exp(-s_i (x_i w + b))) + |w|^2 / 2 with s_i = -1 or 1. C is the one
    of the ascending ``strengths`` with the least mean log loss on the held-out parts; without folds
    it is 1.
    """
    classes, codes = np.unique(y, return_inverse=True)
    signs = 2.0 * codes - 1.0
    start = np.zeros(X.shape[1] + 1)
    best, chosen, rises, starts = np.inf, 1.0, 0, [start] * len(folds)
    for strength in strengths if folds else ():
        losses = []
        for place, (train, held_out) in enumerate(folds):
            starts[place] = _solved(X[train], signs[train], strength, starts[place])
            margins = signs[held_out] * _scores(X[held_out], starts[place])
            losses.append(np.logaddexp(0.0, -margins).mean())
        loss = float(np.mean(losses))
        rises = 0 if loss < best else rises + 1
        best, chosen = (loss, float(strength)) if loss < best else (best, chosen)
        if rises == 2:
            break
    solution = _solved(X, signs, chosen, start)
    return Logistic(classes, solution[:-1], float(solution[-1]), chosen)


def _scores(X: Any, solution: np.ndarray) -> np.ndarray:
    return np.asarray(X @ solution[:-1]).reshape(-1) + solution[-1]


def _solved(X: Any, signs: np.ndarray, strength: float, start: np.ndarray) -> np.ndarray:
    """Return weights and bias [d + 1] that minimise the penalised loss, from ``start`` on."""

    def loss(solution: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * _scores(X, solution)
        pull = -strength * signs * special.expit(-margins)
        slope = np.append(np.asarray(X.T @ pull).reshape(-1) + solution[:-1], pull.sum())
        weights = solution[:-1]
        return strength * np.logaddexp(0.0, -margins).sum() + 0.5 * weights @ weights, slope

    return np.asarray(optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options=_STEPS).x)
