from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.evaluation.folds import TWINS_NOTE, outer_folds
from igsd.evaluation.setup import checked_input, stratified_setup

PLAIN = {"seed": 3, "standardise": "no", "kernel": "rbf", "num_folds": 4}


def test_splits_are_the_outer_folds():
    y = np.arange(40) % 2
    setup = stratified_setup(np.eye(40), y, **PLAIN)
    for (a, b), (c, d) in zip(setup.splits, outer_folds(y, 3, 4).splits, strict=True):
        np.testing.assert_array_equal(a, c)
        np.testing.assert_array_equal(b, d)
    assert (setup.train_sizes, setup.test_sizes) == ((30,) * 4, (10,) * 4)
    assert setup.notes == ()


@pytest.mark.parametrize("seed", range(5))
def test_exactly_the_twins_of_test_graphs_leave(seed):
    """Not only how many: which ones, graph by graph."""
    groups = np.random.default_rng(seed).integers(0, 30, size=40).tolist()
    y = np.arange(40) % 2
    arguments = PLAIN | {"seed": seed}
    whole = stratified_setup(np.eye(40), y, **arguments)
    setup = stratified_setup(np.eye(40), y, twins=groups, **arguments)
    assert TWINS_NOTE in setup.notes
    for (train, test), (kept, same_test) in zip(whole.splits, setup.splits, strict=True):
        in_test = {groups[g] for g in test}
        assert kept.tolist() == [g for g in train if groups[g] not in in_test]
        np.testing.assert_array_equal(test, same_test)


def test_twins_that_leave_nothing_are_an_error():
    with pytest.raises(DataError, match="No training graph is left"):
        stratified_setup(np.eye(40), np.arange(40) % 2, twins=[0] * 40, **PLAIN)


def test_wrong_input():
    y = np.arange(6) % 2
    with pytest.raises(DataError, match="Got 6 codes for 4 graphs"):
        checked_input(np.eye(4), y, "rbf", "no")
    with pytest.raises(ConfigError):
        checked_input(np.eye(6), y, "cubic", "no")
