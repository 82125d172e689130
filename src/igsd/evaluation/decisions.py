"""Predictions of a fitted SVC by one matrix product, with libsvm's own answer where it is close."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from igsd.evaluation.inputs import FloatArray, IntArray

# Sums of products taken in another order differ by less than this share of their absolute sum.
_ROUNDING = 1e-11


def predict(model: Any, K_test: FloatArray) -> IntArray:
    """Return the codes [m] that ``model.predict(K_test)`` gives, for an SVC on K_test [m, t].

    libsvm lets each pair of classes vote, and the first class with most votes wins. A vote so
    close that rounding could turn it is left to libsvm itself.
    """
    pairs = list(combinations(range(len(model.classes_)), 2))
    weights = _pair_weights(model, K_test.shape[1], pairs)
    intercepts = model.intercept_ if len(pairs) > 1 else -model.intercept_
    decisions = K_test @ weights.T + intercepts
    margin = np.abs(K_test).max() * np.abs(weights).sum(axis=1) + np.abs(intercepts)
    if (np.abs(decisions) <= _ROUNDING * margin).any():
        return np.asarray(model.predict(K_test), dtype=np.int64)
    votes = np.zeros((len(K_test), len(model.classes_)), dtype=np.int64)
    for column, (first, second) in enumerate(pairs):
        won = decisions[:, column] > 0
        votes[won, first] += 1
        votes[~won, second] += 1
    return np.asarray(model.classes_[votes.argmax(axis=1)], dtype=np.int64)


def _pair_weights(model: Any, num_train: int, pairs: list[tuple[int, int]]) -> FloatArray:
    """Return the signed multipliers of every pair of classes over the training rows, [pairs, t].

    scikit-learn keeps them as [classes - 1, support vectors], sorted by class, where a support
    vector of class i meets class j in row j - 1 for j > i and in row j for j < i. With two classes
    it turns the sign, so that a positive decision means the second class.
    """
    weights = np.zeros((len(pairs), num_train))
    ends = np.cumsum(model.n_support_)
    rows = [slice(end - size, end) for end, size in zip(ends, model.n_support_, strict=True)]
    sign = 1.0 if len(pairs) > 1 else -1.0
    for pair, (first, second) in enumerate(pairs):
        for own, row in ((first, second - 1), (second, first)):
            weights[pair, model.support_[rows[own]]] = sign * model.dual_coef_[row, rows[own]]
    return weights
