from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.errors import ConfigError, DataError
from igsd.evaluation.semi import (
    score_split,
    score_value_vectors,
    score_values,
    score_vectors,
    semi_split,
    stratified_sample,
    value_split,
)
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs

CODES = np.arange(100) % 2


class Curve:
    """Stands in for a method: remembers what it was shown, and has the accuracies it was told."""

    def __init__(self, *accuracies: float) -> None:
        self.history_ = [{"eval_accuracy": value} for value in accuracies]

    def fit(self, X: Any, y: Any, *, eval_set: tuple[Any, Any]) -> Curve:
        self.X, self.y, self.eval_set = X, y, eval_set
        return self


def test_shares_of_a_split() -> None:
    split = semi_split(np.arange(1000) % 2, seed=0)
    assert [len(p) for p in (split.test, split.train, split.labelled)] == [100, 900, 45]
    everyone = np.concatenate([split.labelled, split.unlabelled, split.test])
    np.testing.assert_array_equal(np.sort(everyone), np.arange(1000))


@given(
    sizes=st.lists(st.integers(4, 60), min_size=2, max_size=4),
    rate=st.floats(0.02, 1.0),
    seed=st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_every_class_is_everywhere(sizes: list[int], rate: float, seed: int) -> None:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    split = semi_split(codes, seed, label_rate=rate)
    for part in (split.labelled, split.test, split.train):
        assert len(np.unique(codes[part])) == len(sizes)
    assert not np.intersect1d(split.train, split.test).size


def test_seeds_differ_and_repeat() -> None:
    a, b, c = (semi_split(CODES, seed) for seed in (0, 0, 1))
    assert a.test.tolist() == b.test.tolist() != c.test.tolist()
    assert a.labelled.tolist() == b.labelled.tolist()


def test_all_labelled() -> None:
    assert len(semi_split(CODES, 0, label_rate=1.0).unlabelled) == 0


def test_the_sample_is_of_each_class_alike() -> None:
    codes = np.repeat([0, 1, 2], [70, 20, 10])
    chosen = stratified_sample(np.arange(100), codes, 0.1, np.random.default_rng(0))
    assert np.bincount(codes[chosen]).tolist() == [7, 2, 1]


@pytest.mark.parametrize("share", [0.0, -0.1, 1.5])
def test_shares_that_are_none(share: float) -> None:
    with pytest.raises(ConfigError, match="label_rate"):
        semi_split(CODES, 0, label_rate=share)


def test_classes_that_are_missing_or_too_small() -> None:
    with pytest.raises(DataError, match="Class 0 has 2, 1 has 1"):
        semi_split(np.array([0, 1, -1, 0]), 0)
    with pytest.raises(DataError, match="same label"):
        semi_split(np.zeros(10, np.int64), 0)
    with pytest.raises(DataError, match="No graph has a known class"):
        semi_split(np.full(10, -1), 0)


def test_the_splits_of_the_records_stay() -> None:
    """Records in results/ are of these splits: without gaps the same graphs are drawn."""
    split = semi_split(np.repeat([0, 1], [24, 16]), 3, label_rate=0.2)
    assert split.labelled.tolist() == [4, 5, 9, 15, 30, 31, 32]
    assert split.test.tolist() == [14, 21, 25, 33]


NOTHING = np.zeros((200, 0))


def test_graphs_of_an_unknown_class_are_trained_on_without_a_label() -> None:
    """A column with empty cells was refused."""
    codes = np.where(np.arange(200) % 2, np.arange(200) % 4, -1)
    split = semi_split(codes, 0)
    assert [len(p) for p in (split.test, split.labelled, split.train)] == [10, 5, 190]
    assert (codes[split.test] > 0).all()
    assert (codes[split.labelled] > 0).all()
    labels = split.training_labels(codes)
    shown = [label for label in labels if label is not None]
    assert shown == codes[split.labelled].tolist()
    assert score_vectors(codes[:, None] * 1.0, codes, split, 0)[0].mean == 1.0
    assert score_vectors(NOTHING, codes, split, 0)[0].mean == 0.5


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return make_graphs(40)


def test_the_last_and_the_best_epoch(graphs: GraphSet) -> None:
    codes = np.arange(40) % 2
    split = semi_split(codes, 3)
    honest, optimistic = score_split(Curve(0.5, 0.75, 0.25), graphs, codes, split, 3)
    assert (honest.protocol, honest.mean, honest.optimistic) == ("semi", 0.25, False)
    assert (optimistic.protocol, optimistic.mean, optimistic.optimistic) == (
        "semi-paper",
        0.75,
        True,
    )
    assert "chosen on the test part: 2 of 3" in optimistic.notes[-1]
    assert honest.seed == 3
    assert honest.train_sizes == (36,)


def test_a_test_graph_is_never_trained_on(graphs: GraphSet) -> None:
    codes = np.arange(40) % 2
    split, method = semi_split(codes, 0, label_rate=0.2), Curve(1.0)
    score_split(method, graphs, codes, split, 0)
    assert graphs.take(split.train) == method.X
    shown = [i for i, label in zip(split.train, method.y, strict=True) if label is not None]
    assert shown == split.labelled.tolist()
    assert [method.y[split.train.tolist().index(i)] for i in shown] == codes[shown].tolist()
    assert method.eval_set[1].tolist() == codes[split.test].tolist()


def test_no_epochs(graphs: GraphSet) -> None:
    codes = np.arange(40) % 2
    with pytest.raises(ConfigError, match="epochs"):
        score_split(Curve(), graphs, codes, semi_split(codes, 0), 0)


def test_vectors_are_scored_by_the_labelled_graphs_alone() -> None:
    rng = np.random.default_rng(0)
    X = np.where(CODES[:, None] > 0, 3.0, -3.0) + rng.normal(size=(100, 2))
    split = semi_split(CODES, 0, label_rate=0.1)
    assert score_vectors(X, CODES, split, 0)[0].mean == 1.0
    for head in ("linear", "forest"):
        result, area = score_vectors(X, CODES, split, 0, head=head)
        assert (result.mean, area) == (1.0, 1.0)
    spoilt = CODES.copy()
    spoilt[split.unlabelled] = rng.permutation(spoilt[split.unlabelled])
    assert score_vectors(X, spoilt, split, 0)[0].mean == 1.0


def test_random_labels_are_at_chance() -> None:
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(400, 5)), rng.permutation(np.arange(400) % 2)
    scores = [score_vectors(X, codes, semi_split(codes, s), s)[0].mean for s in range(8)]
    assert 0.4 < np.mean(scores) < 0.6


def test_majority() -> None:
    codes = np.repeat([0, 1], [70, 30])
    assert score_vectors(NOTHING[:100], codes, semi_split(codes, 0), 0)[0].mean == 0.7


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


def test_shares_that_are_none_semi_values() -> None:
    with pytest.raises(DataError, match=r"Of 40 known values, 4 .* and 0 would be learned from"):
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
    assert score_value_vectors(NOTHING[:60], VALUES, split) == pytest.approx(
        np.abs(VALUES[split.test] - mean).mean()
    )
    X = np.nan_to_num(VALUES)[:, None]
    assert score_value_vectors(X, VALUES, split) < 0.1
