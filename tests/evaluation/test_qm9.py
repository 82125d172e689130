from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.evaluation.qm9 import (
    SIZES,
    QM9Sizes,
    qm9_split,
    score_target_vectors,
    score_targets,
)
from tests.small_molecules import make_molecules

SMALL = QM9Sizes(4, 3, 2)


def test_the_sizes_of_the_protocol() -> None:
    assert SIZES == (5_000, 10_000, 10_000)
    split = qm9_split(130_831, 0)
    assert [len(split.labelled), len(split.validation), len(split.test)] == list(SIZES)
    assert len(split.unlabelled) == 105_831


def test_parts_share_nothing_and_follow_from_the_seed() -> None:
    split, again, other = (qm9_split(20, seed, SMALL) for seed in (3, 3, 4))
    parts = [split.labelled, split.unlabelled, split.validation, split.test]
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.arange(20))
    np.testing.assert_array_equal(split.test, again.test)
    assert split.test.tolist() != other.test.tolist()
    assert split.train.tolist() == sorted([*split.labelled, *split.unlabelled])


def test_targets_are_hidden() -> None:
    targets = np.arange(40.0).reshape(20, 2)
    split = qm9_split(20, 0, SMALL)
    seen = split.training_targets(targets)
    known = np.isin(split.train, split.labelled)
    np.testing.assert_array_equal(seen[known], targets[split.labelled])
    assert np.isnan(seen[~known]).all()
    assert not np.isnan(targets).any()


def test_too_small_a_set() -> None:
    with pytest.raises(DataError, match=r"5,000 labelled, .* The set has 188"):
        qm9_split(188, 0)
    with pytest.raises(DataError, match="The set has 9"):
        qm9_split(9, 0, SMALL)


class Guess:
    """Says the number of the graph's nodes for every target, and remembers what it was given."""

    def fit(self, X, y, *, target_names):
        self.given = (len(X), y, target_names)
        return self

    def predict(self, X):
        return np.repeat(X.node_counts()[:, None].astype(float), 2, axis=1)


def test_the_test_part_is_not_trained_on() -> None:
    graphs, targets = make_molecules(20), np.zeros((20, 2))
    split, guess = qm9_split(20, 0, SMALL), Guess()
    errors = score_targets(guess, graphs, targets, ("a", "b"), split)
    assert guess.given[0] == 15
    assert np.isnan(guess.given[1]).all(axis=1).sum() == 11
    assert guess.given[2] == ("a", "b")
    assert errors["test"] == [graphs.node_counts()[split.test].mean()] * 2


def test_floors() -> None:
    graphs = make_molecules(60)
    counts = graphs.node_counts().astype(float)
    noise = np.random.default_rng(0).normal(size=60)
    targets = np.stack([2 * counts + 5, noise], axis=1)
    split = qm9_split(60, 0, QM9Sizes(30, 10, 10))
    vectors = lambda part: part.node_counts()[:, None].astype(float)  # noqa: E731
    ridge = score_target_vectors(vectors, graphs, targets, split)
    nothing = lambda part: np.zeros((len(part), 0))  # noqa: E731
    constant = score_target_vectors(nothing, graphs, targets, split)
    assert ridge["test"][0] < 0.01 < constant["test"][0]
    mean = targets[split.labelled].mean(axis=0)
    expected = np.abs(mean - targets[split.test]).mean(axis=0)
    np.testing.assert_allclose(constant["test"], expected)
    alone = score_target_vectors(vectors, graphs, targets[:, :1], split)
    assert alone["validation"][0] < 0.01
