"""Protocol ``paper``: the C with the best ten-fold mean is the one reported. Optimistic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from igsd.evaluation.folds import OUTER_FOLDS, TWINS_NOTE, outer_folds, splits_without_twins
from igsd.evaluation.inputs import FloatArray, IntArray, check_codes, check_groups
from igsd.evaluation.kernels import Kernel, KernelSource, Standardise, kernel_sources
from igsd.evaluation.parallel import map_folds
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.svm import C_GRID, accuracy, check_grid, predict_grid

OPTIMISTIC = (
    "optimistic: C chosen by the test folds",
    "optimistic: C and standardising chosen by the test folds",
)


def paper(
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
    """Return the folds' accuracies at the one C whose mean over them is best.

    Implements protocol ``paper``: the choice sees the test parts, so the result is marked
    ``optimistic`` and belongs beside ``nested``, never alone. Arguments as in ``nested``; with
    ``standardise="search"`` that is chosen by the test parts as well. Departs from the paper: the
    number of epochs is the recipe's and is not chosen by the test parts too.

    Raises DataError if features, labels or groups break the rules of ``inputs``.
    Raises ConfigError for an unknown setting.
    """
    sources = kernel_sources(X, kernel, standardise)
    codes = check_codes(y, len(X))
    values = check_grid(grid)
    folds = outer_folds(codes, seed, num_folds)
    splits, notes = folds.splits, (*folds.notes, OPTIMISTIC[len(sources) > 1])
    if twins is not None:
        splits = splits_without_twins(splits, check_groups(twins, len(codes)))
        notes = (*notes, TWINS_NOTE)
    work = [(sources, codes, train, test, values) for train, test in splits]
    scores = np.stack(map_folds(_score_grid, work, n_jobs), axis=-1)
    means = scores.mean(axis=-1)
    best, row = divmod(int(means.argmax()), len(values))
    return ProtocolResult(
        protocol="paper",
        seed=seed,
        accuracies=tuple(float(a) for a in scores[best, row]),
        C=(values[row],) * len(splits),
        standardised=(sources[best].standardised,) * len(splits),
        train_sizes=tuple(len(train) for train, _ in splits),
        test_sizes=tuple(len(test) for _, test in splits),
        optimistic=True,
        notes=notes,
    )


def _score_grid(
    sources: Sequence[KernelSource],
    y: IntArray,
    train: IntArray,
    test: IntArray,
    grid: Sequence[float],
) -> FloatArray:
    """Return the test accuracy of one fold for every kernel and C, [kernels, len(grid)]."""
    rows = []
    for source in sources:
        K_train, K_test = source.split(train, test)
        rows.append(accuracy(predict_grid(K_train, y[train], K_test, grid), y[test]))
    return np.stack(rows)
