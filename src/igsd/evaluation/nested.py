"""Protocol ``nested``: every choice is made inside the training part of its fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from igsd.evaluation.folds import OUTER_FOLDS
from igsd.evaluation.inputs import IntArray
from igsd.evaluation.kernels import Kernel, KernelSource, Standardise
from igsd.evaluation.parallel import map_folds
from igsd.evaluation.result import ProtocolResult, chosen_folds
from igsd.evaluation.setup import stratified_setup
from igsd.evaluation.svm import C_GRID, Choice, accuracy, check_grid, choose, predict_grid


def nested(
    X: Any,
    y: Any,
    *,
    seed: int = 0,
    standardise: Standardise | None = None,
    kernel: Kernel = "rbf",
    grid: Sequence[float] = C_GRID,
    num_folds: int = OUTER_FOLDS,
    twins: Any | None = None,
    n_jobs: int = 1,
) -> ProtocolResult:
    """Return the accuracy of an SVM over stratified folds, C chosen inside each training part.

    Implements protocol ``nested``. X is [n, d], or a kernel [n, n] with ``kernel="precomputed"``;
    y [n] holds class codes. Features are standardised inside each training part unless
    ``standardise`` is ``"no"``; ``"search"`` chooses that too, by the same inner folds.
    ``twins`` [n] are group numbers: training graphs in the group of a test graph are left out.

    Raises DataError if features, labels or groups break the rules of ``inputs``.
    Raises ConfigError for an unknown setting.
    """
    setup = stratified_setup(X, y, seed, standardise, kernel, num_folds, twins)
    sources, values = setup.sources, check_grid(grid)
    work = [(sources, setup.codes, train, test, values) for train, test in setup.splits]
    outcomes = map_folds(_score_fold, work, n_jobs)
    return ProtocolResult(
        protocol="nested",
        seed=seed,
        **chosen_folds(outcomes, sources),
        notes=setup.notes,
        train_sizes=setup.train_sizes,
        test_sizes=setup.test_sizes,
    )


def inner_score(
    X: Any,
    y: Any,
    seed: int = 0,
    *,
    standardise: Standardise | None = None,
    num_folds: int = OUTER_FOLDS,
    n_jobs: int = 1,
) -> float:
    """Return the mean over the outer folds of the best accuracy inside their training parts.

    For choosing a recipe: no SVM here sees an outer test part of its fold. Arguments and errors as
    in ``nested``.
    """
    setup = stratified_setup(X, y, seed, standardise, "rbf", num_folds)
    work = [(setup.sources, setup.codes, train, C_GRID) for train, _ in setup.splits]
    choices = map_folds(choose, work, n_jobs)
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
