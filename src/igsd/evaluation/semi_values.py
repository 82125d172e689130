"""Protocol ``semi`` for numbers: few known values, a test part that nobody looks at, and an error.

10 % of the graphs with a known value are for the test; of the others, 5 % keep their value. All
graphs that are not for the test are in the training part, also those of which nothing is known.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.evaluation.fingerprints import fit_ridge
from igsd.evaluation.semi import LABEL_RATE, TEST_SHARE, SemiSplit, check_shares
from igsd.graphs.graphset import GraphSet
from igsd.wording import counted


def value_split(
    values: np.ndarray,
    seed: int,
    *,
    label_rate: float = LABEL_RATE,
    test_share: float = TEST_SHARE,
) -> SemiSplit:
    """Return the split of graphs with values [G], NaN where unknown, for one seed.

    Raises ``DataError`` where fewer than two values would be left to learn from or one to test on,
    ``ConfigError`` for a share that is none.
    """
    check_shares(label_rate=label_rate, test_share=test_share)
    known = np.flatnonzero(~np.isnan(values))
    shuffled = np.random.default_rng([seed, 6]).permutation(known)
    num_test = round(len(known) * test_share)
    num_labelled = round((len(known) - num_test) * label_rate)
    if num_test < 1 or num_labelled < 2:
        raise DataError(
            f"Of {counted(len(known), 'known value')}, {num_test} would be for the test and "
            f"{num_labelled} to learn from; there must be one and two. Take a larger share."
        )
    test = np.sort(shuffled[:num_test])
    labelled = np.sort(shuffled[num_test : num_test + num_labelled])
    rest = np.setdiff1d(np.arange(len(values)), np.concatenate([test, labelled]))
    return SemiSplit(labelled, rest, test)


def score_values(regressor: Any, graphs: GraphSet, values: np.ndarray, split: SemiSplit) -> float:
    """Train a method inside a split and return its mean absolute error on the test part.

    ``regressor``: an estimator of numbers, unfitted. The error is that of the last epoch.
    """
    hidden = np.where(np.isin(split.train, split.labelled), values[split.train], np.nan)
    regressor.fit(graphs.take(split.train), hidden)
    return _error(regressor.predict(graphs.take(split.test)), values, split)


def score_mean(values: np.ndarray, split: SemiSplit) -> float:
    """Return the error of the mean of the labelled values."""
    return _error(np.full(len(split.test), values[split.labelled].mean()), values, split)


def score_ridge(X: np.ndarray, values: np.ndarray, split: SemiSplit) -> float:
    """Return the error of a ridge regression on vectors [G, d] that knows the labelled alone."""
    model = fit_ridge(X[split.labelled], values[split.labelled])
    return _error(model.predict(X[split.test]), values, split)


def _error(predicted: np.ndarray, values: np.ndarray, split: SemiSplit) -> float:
    return float(np.abs(predicted - values[split.test]).mean())
