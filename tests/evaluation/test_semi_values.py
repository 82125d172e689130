from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.evaluation.semi_values import score_mean, score_ridge, score_values, value_split
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs

VALUES = np.where(np.arange(60) % 3 == 0, np.nan, np.arange(60.0))


def test_shares_of_what_is_known() -> None:
    split = value_split(VALUES, 0, label_rate=0.25)
    assert (len(split.test), len(split.labelled)) == (4, 9)
    assert not np.isnan(VALUES[np.concatenate([split.test, split.labelled])]).any()
    everyone = np.sort(np.concatenate([split.train, split.test]))
    np.testing.assert_array_equal(everyone, np.arange(60))
    again, other = value_split(VALUES, 0, label_rate=0.25), value_split(VALUES, 1, label_rate=0.25)
    np.testing.assert_array_equal(split.labelled, again.labelled)
    assert not np.array_equal(split.labelled, other.labelled)


def test_shares_that_are_none() -> None:
    with pytest.raises(DataError, match=r"Of 40 known values, 4 .* and 0 to learn from"):
        value_split(VALUES, 0, label_rate=0.01)
    with pytest.raises(ConfigError, match="label_rate"):
        value_split(VALUES, 0, label_rate=0)


class Recorder:
    """A regressor that says 1 and keeps what it was shown."""

    def fit(self, X: GraphSet, y: np.ndarray) -> None:
        self.size, self.y = len(X), y

    def predict(self, X: Any) -> np.ndarray:
        return np.ones(len(X))


def test_a_method_is_shown_the_labelled_values_alone() -> None:
    graphs, values = make_graphs(12), np.append(np.arange(10.0), [np.nan, np.nan])
    split, method = value_split(values, 0, label_rate=0.5), Recorder()
    error = score_values(method, graphs, values, split)
    assert error == np.abs(1 - values[split.test]).mean()
    assert method.size == 11
    np.testing.assert_array_equal(split.train[~np.isnan(method.y)], split.labelled)


def test_what_a_gain_is_measured_against() -> None:
    split = value_split(VALUES, 0, label_rate=0.5)
    mean = VALUES[split.labelled].mean()
    assert score_mean(VALUES, split) == pytest.approx(np.abs(VALUES[split.test] - mean).mean())
    X = np.nan_to_num(VALUES)[:, None]
    assert score_ridge(X, VALUES, split) < 0.1
