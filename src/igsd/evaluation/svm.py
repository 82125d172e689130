"""The search for C on precomputed kernels: GridSearchCV's choices at a fraction of its time.

A kernel matrix is made once for a training part and serves every C. Only savings that do not
change an answer are used; the tests compare with ``GridSearchCV``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.errors import ConfigError
from igsd.evaluation.decisions import predict
from igsd.evaluation.folds import inner_folds
from igsd.evaluation.inputs import FloatArray, IntArray
from igsd.evaluation.kernels import KernelSource

C_GRID: tuple[float, ...] = tuple(float(c) for c in 10.0 ** np.arange(-3, 4))


@dataclass(frozen=True)
class Choice:
    """What a search inside a training part chose, and its cross-validated accuracy there."""

    C: float
    source: int
    score: float


def check_grid(grid: Sequence[float]) -> tuple[float, ...]:
    """Return the values of C as an ascending tuple.

    Raises ConfigError if there is none, or one that is not a positive number.
    """
    values = tuple(sorted({float(c) for c in grid}))
    if not values or not all(np.isfinite(c) and c > 0 for c in values):
        raise ConfigError(f"The grid of C must hold positive numbers. Got {list(grid)}.")
    return values


def predict_grid(
    K_train: FloatArray, y_train: IntArray, K_test: FloatArray, grid: Sequence[float]
) -> IntArray:
    """Return the predicted codes [len(grid), m] of one SVM for each C of an ascending grid.

    K_train [t, t] and K_test [m, t] are kernels. A training part of one class predicts that class.
    """
    predictions = np.empty((len(grid), len(K_test)), dtype=np.int64)
    if (y_train == y_train[0]).all():
        predictions[:] = y_train[0]
        return predictions
    for row, C in enumerate(grid):
        model = _fit(K_train, y_train, C)
        predictions[row] = predict(model, K_test)
        if np.abs(model.dual_coef_).max() < C:
            # No multiplier is at its bound, so the bound plays no part from here on.
            predictions[row + 1 :] = predictions[row]
            break
    return predictions


def choose(
    sources: Sequence[KernelSource], y: IntArray, train: IntArray, grid: Sequence[float]
) -> Choice:
    """Return the kernel and C with the best mean accuracy over the inner folds of a training part.

    Equal means: the first kernel, then the smaller C. Reads rows and codes of ``train`` only.
    """
    folds = inner_folds(y[train])
    if not folds:
        # One class is always right; of classes with one graph each, the one left out never is.
        return Choice(grid[0], 0, float((y[train] == y[train[0]]).all()))
    scores = np.empty((len(sources), len(grid), len(folds)))
    for number, (fit, validation) in enumerate(folds):
        fit, validation = train[fit], train[validation]
        for position, source in enumerate(sources):
            K_fit, K_validation = source.split(fit, validation)
            predicted = predict_grid(K_fit, y[fit], K_validation, grid)
            scores[position, :, number] = accuracy(predicted, y[validation])
    means = np.average(scores, axis=-1)
    best, row = divmod(int(means.argmax()), len(grid))
    return Choice(grid[row], best, float(means[best, row]))


def accuracy(predicted: IntArray, y: IntArray) -> Any:
    """Return the share of codes predicted right, over the last axis: [..., m] and [m] -> [...]."""
    return np.average(predicted == y, axis=-1)


def _fit(K: FloatArray, y: IntArray, C: float) -> Any:
    """Return a fitted SVC on a precomputed kernel, with a cache that holds all of it."""
    from sklearn import config_context
    from sklearn.svm import SVC

    megabytes = max(200.0, 1.1 * 4 * len(K) ** 2 / 2**20)
    # The kernel was checked when it was made: checking it again for every C costs a tenth.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return SVC(C=C, kernel="precomputed", cache_size=megabytes).fit(K, y)
