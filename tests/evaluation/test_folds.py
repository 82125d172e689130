from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedKFold

from igsd.errors import ConfigError, DataError
from igsd.evaluation.folds import inner_folds, outer_folds, without_twins


def test_outer_folds_are_those_of_scikit_learn():
    y = np.arange(60) % 2
    ours = outer_folds(y, seed=3)
    theirs = StratifiedKFold(10, shuffle=True, random_state=3).split(y, y)
    assert ours.notes == ()
    for (a, b), (c, d) in zip(ours.splits, theirs, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_a_small_class_means_fewer_folds_and_a_note():
    y = np.array([0] * 50 + [1] * 4)
    folds = outer_folds(y, seed=0)
    assert len(folds.splits) == 4
    assert folds.notes == ("4 folds instead of 10: the smallest class has 4 graphs",)
    assert all((y[test] == 1).sum() == 1 for _, test in folds.splits)


@given(st.integers(2, 12), st.integers(10, 40), st.integers(0, 5))
def test_every_graph_is_tested_once(small, large, seed):
    y = np.array([0] * small + [1] * large)
    splits = outer_folds(y, seed).splits
    tested = np.concatenate([test for _, test in splits])
    assert sorted(tested) == list(range(len(y)))
    assert all(not np.intersect1d(train, test).size for train, test in splits)


def test_inner_folds_are_unshuffled():
    y = np.arange(25) % 2
    for (a, b), (c, d) in zip(inner_folds(y), StratifiedKFold(5).split(y, y), strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)


def test_inner_folds_of_few():
    assert len(inner_folds(np.array([0] * 9 + [1] * 3))) == 3
    assert len(inner_folds(np.array([0] * 9 + [1]))) == 2
    assert inner_folds(np.zeros(9, dtype=np.int64)) == ()
    assert inner_folds(np.array([0, 1, 2])) == ()


def test_number_of_folds():
    with pytest.raises(ConfigError, match="at least 2"):
        outer_folds(np.array([0, 0, 1, 1]), 0, num_folds=1)


def test_without_twins():
    groups = np.array([0, 0, 1, 2, 2])
    assert without_twins(np.array([0, 2, 3]), np.array([1]), groups).tolist() == [2, 3]
    with pytest.raises(DataError, match="twins"):
        without_twins(np.array([0]), np.array([1]), groups)
