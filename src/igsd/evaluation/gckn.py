"""Protocol ``gckn``: the published folds, C chosen on one validation part of each."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from igsd.evaluation.folds import TWINS_NOTE, without_twins
from igsd.evaluation.gckn_folds import GCKNFold, read_gckn_folds
from igsd.evaluation.inputs import FloatArray, IntArray, check_groups
from igsd.evaluation.kernels import Kernel, KernelSource, Standardise
from igsd.evaluation.parallel import map_folds
from igsd.evaluation.result import ProtocolResult, chosen_folds
from igsd.evaluation.setup import checked_input
from igsd.evaluation.svm import Choice, accuracy, predict_grid


def gckn(
    X: Any,
    y: Any,
    *,
    dataset: str,
    folder: str | Path | None = None,
    seed: int = 0,
    standardise: Standardise | None = None,
    kernel: Kernel = "rbf",
    twins: Any | None = None,
    n_jobs: int = 1,
) -> ProtocolResult:
    """Return the test accuracies on the published folds of a data set, given in TU order.

    Implements protocol ``gckn``: C from ``1/n * logspace(-3, 4, 60)``, n the size of the training
    part, by the accuracy on the validation part (the middle one of equals), then a fit on both.
    ``seed`` draws the validation parts that are not published (IMDB). Other arguments as in
    ``nested``.
    Raises DataError if the data break a rule, or are not the set that the folds were made for.
    Raises StorageError if the fold files are not there.
    """
    sources, codes = checked_input(X, y, kernel, standardise)
    folds = read_gckn_folds(dataset, codes, folder=folder, seed=seed)
    notes: tuple[str, ...] = (f"published folds of {dataset}",)
    if twins is not None:
        groups = check_groups(twins, len(codes))
        folds = tuple(_drop_twins(fold, groups) for fold in folds)
        notes = (*notes, TWINS_NOTE)
    outcomes = map_folds(_score_fold, [(sources, codes, fold) for fold in folds], n_jobs)
    return ProtocolResult(
        protocol="gckn",
        seed=seed,
        **chosen_folds(outcomes, sources),
        notes=notes,
        train_sizes=tuple(len(fold.fitted) for fold in folds),
        test_sizes=tuple(len(fold.test) for fold in folds),
    )


def gckn_grid(num_train: int) -> tuple[float, ...]:
    """Return the 60 values of C for a training part of this size, ascending."""
    return tuple(float(c) for c in np.logspace(-3, 4, 60) / num_train)


def middle_of_best(scores: FloatArray) -> int:
    """Return the position of the best score; of several, the middle one, or the upper of two.

    On a small validation part many values of C are equally good, and the smallest of them hardly
    fits anything.

    >>> middle_of_best(np.array([0.1, 0.8, 0.8, 0.5, 0.8, 0.2]))
    2
    """
    equal = np.flatnonzero(scores == scores.max())
    return int(equal[len(equal) // 2])


def _drop_twins(fold: GCKNFold, groups: IntArray) -> GCKNFold:
    train = without_twins(fold.train, fold.test, groups)
    return GCKNFold(train, without_twins(fold.validation, fold.test, groups), fold.test)


def _score_fold(
    sources: Sequence[KernelSource], y: IntArray, fold: GCKNFold
) -> tuple[float, Choice]:
    """Return the test accuracy of one fold and the choice made on its validation part."""
    grid = gckn_grid(len(fold.train))
    scores = np.empty((len(sources), len(grid)))
    for position, source in enumerate(sources):
        K_fit, K_validation = source.split(fold.train, fold.validation)
        predicted = predict_grid(K_fit, y[fold.train], K_validation, grid)
        scores[position] = accuracy(predicted, y[fold.validation])
    best = int(scores.max(axis=1).argmax())
    row = middle_of_best(scores[best])
    K_train, K_test = sources[best].split(fold.fitted, fold.test)
    predicted = predict_grid(K_train, y[fold.fitted], K_test, (grid[row],))[0]
    choice = Choice(grid[row], best, float(scores[best, row]))
    return float(accuracy(predicted, y[fold.test])), choice
