"""The folds of the protocols: stratified, seeded outside, unshuffled inside."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from igsd.errors import ConfigError, DataError
from igsd.evaluation.inputs import IntArray
from igsd.wording import counted

TWINS_NOTE = "twins of test graphs removed from training"
OUTER_FOLDS = 10
INNER_FOLDS = 5

Split = tuple[IntArray, IntArray]


@dataclass(frozen=True)
class OuterFolds:
    """Training and test positions of every outer fold, and what should be said about them."""

    splits: tuple[Split, ...]
    notes: tuple[str, ...] = ()


def outer_folds(y: IntArray, seed: int, num_folds: int = OUTER_FOLDS) -> OuterFolds:
    """Return the shuffled stratified folds of class codes y [n] for one seed.

    Every class must reach every test part, so the number of folds is the size of the smallest
    class where that is below ``num_folds``; a note says so. The splits are those of
    ``StratifiedKFold(num_folds, shuffle=True, random_state=seed)``.

    Raises ConfigError if ``num_folds`` is below 2.
    """
    from sklearn.model_selection import StratifiedKFold

    if num_folds < 2:
        raise ConfigError(f"num_folds must be at least 2. Got {num_folds}.")
    smallest = int(np.unique(y, return_counts=True)[1].min())
    count = min(num_folds, smallest)
    folds = StratifiedKFold(count, shuffle=True, random_state=seed).split(y, y)
    notes: tuple[str, ...] = ()
    if count < num_folds:
        size = counted(smallest, "graph")
        notes = (f"{count} folds instead of {num_folds}: the smallest class has {size}",)
    return OuterFolds(tuple(folds), notes)


def inner_folds(y_train: IntArray, num_folds: int = INNER_FOLDS) -> tuple[Split, ...]:
    """Return the unshuffled stratified folds inside a training part, as GridSearchCV makes them.

    With fewer than ``num_folds`` members in the smallest class: as many folds as it has, at least
    two. No folds at all where only one class is left, or one graph of each (twins removed): there
    is nothing to choose by then.
    """
    from sklearn.model_selection import StratifiedKFold

    counts = np.unique(y_train, return_counts=True)[1]
    if len(counts) < 2 or counts.max() < 2:
        return ()
    count = min(num_folds, max(2, int(counts.min())))
    with warnings.catch_warnings():
        # A class of one member (twins removed) cannot be in both parts; that is no error here.
        warnings.simplefilter("ignore", UserWarning)
        return tuple(StratifiedKFold(count).split(y_train, y_train))


def splits_without_twins(splits: Sequence[Split], groups: IntArray) -> tuple[Split, ...]:
    """Return the splits with the twins of each test part taken out of its training part.

    Raises DataError if a training part would be empty.
    """
    return tuple((without_twins(train, test, groups), test) for train, test in splits)


def without_twins(train: IntArray, test: IntArray, groups: IntArray) -> IntArray:
    """Return the training positions that share no twin group with any test graph.

    Raises DataError if nothing is left to train on.
    """
    kept = train[~np.isin(groups[train], groups[test])]
    if not kept.size:
        raise DataError(
            "No training graph is left after removing the twins of the test graphs: every graph "
            "is indistinguishable from one in the test part. Score with twins instead."
        )
    return kept
