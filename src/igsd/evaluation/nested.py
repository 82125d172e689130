"""Protocol ``nested``: every choice is made inside the training part of its fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from igsd.errors import ConfigError
from igsd.evaluation.folds import OUTER_FOLDS, TWINS_NOTE, outer_folds, splits_without_twins
from igsd.evaluation.inputs import IntArray, check_codes, check_groups
from igsd.evaluation.kernels import Kernel, KernelSource, Standardise, kernel_sources
from igsd.evaluation.parallel import map_folds
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.svm import C_GRID, Choice, accuracy, check_grid, choose, predict_grid


def nested(
    X: Any,
    y: Any,
    *,
    seed: int = 0,
    standardise: Standardise = "no",
    kernel: Kernel = "rbf",
    grid: Sequence[float] = C_GRID,
    num_folds: int = OUTER_FOLDS,
    twins: Any | None = None,
    n_jobs: int = 1,
) -> ProtocolResult:
    """Return the accuracy of an SVM over stratified folds, C chosen inside each training part.

    Implements protocol ``nested``. X is [n, d], or a kernel [n, n] with ``kernel="precomputed"``;
    y [n] holds class codes. ``standardise="search"`` chooses that too, by the same inner folds.
    ``twins`` [n] are group numbers: training graphs in the group of a test graph are left out.

    Raises DataError if features, labels or groups break the rules of ``inputs``.
    Raises ConfigError for an unknown setting.
    """
    sources = kernel_sources(X, kernel, standardise)
    codes = check_codes(y, len(X))
    values = check_grid(grid)
    folds = outer_folds(codes, seed, num_folds)
    splits, notes = folds.splits, folds.notes
    if twins is not None:
        splits = splits_without_twins(splits, check_groups(twins, len(codes)))
        notes = (*notes, TWINS_NOTE)
    work = [(sources, codes, train, test, values) for train, test in splits]
    outcomes = map_folds(_score_fold, work, n_jobs)
    return ProtocolResult(
        protocol="nested",
        seed=seed,
        accuracies=tuple(score for score, _ in outcomes),
        C=tuple(choice.C for _, choice in outcomes),
        standardised=tuple(sources[choice.source].standardised for _, choice in outcomes),
        inner=tuple(choice.score for _, choice in outcomes),
        train_sizes=tuple(len(train) for train, _ in splits),
        test_sizes=tuple(len(test) for _, test in splits),
        notes=notes,
    )


def inner_score(
    X: Any,
    y: Any,
    seed: int = 0,
    *,
    standardise: Standardise = "no",
    kernel: Kernel = "rbf",
    grid: Sequence[float] = C_GRID,
    num_folds: int = OUTER_FOLDS,
    max_folds: int | None = None,
    n_jobs: int = 1,
) -> float:
    """Return the mean over the outer folds of the best accuracy inside their training parts.

    For choosing a recipe: no SVM here sees an outer test part of its fold. ``max_folds`` uses only
    the first so many outer folds.

    Raises DataError if features or labels break the rules of ``inputs``.
    Raises ConfigError for an unknown setting.
    """
    if max_folds is not None and max_folds < 1:
        raise ConfigError(f"max_folds must be at least 1. Got {max_folds}.")
    sources = kernel_sources(X, kernel, standardise)
    codes = check_codes(y, len(X))
    splits = outer_folds(codes, seed, num_folds).splits[:max_folds]
    values = check_grid(grid)
    choices = map_folds(choose, [(sources, codes, train, values) for train, _ in splits], n_jobs)
    return float(np.mean([choice.score for choice in choices]))


def _score_fold(
    sources: Sequence[KernelSource],
    y: IntArray,
    train: IntArray,
    test: IntArray,
    grid: Sequence[float],
) -> tuple[float, Choice]:
    """Return the test accuracy of one fold and the choice made inside its training part."""
    choice = choose(sources, y, train, grid)
    K_train, K_test = sources[choice.source].split(train, test)
    predicted = predict_grid(K_train, y[train], K_test, (choice.C,))[0]
    return float(accuracy(predicted, y[test])), choice
