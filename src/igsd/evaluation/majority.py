"""The majority class as a row to compare with, under the same folds as everything else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from igsd.evaluation.folds import OuterFolds, Split, outer_folds
from igsd.evaluation.inputs import check_codes
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.svm import accuracy


def majority(
    y: Any,
    *,
    seed: int = 0,
    splits: Sequence[Split] | None = None,
    protocol: str = "nested",
) -> ProtocolResult:
    """Return the accuracy of always saying the largest class of the set, on each test part.

    Not that of a training part: where classes are nearly even, a part with more test graphs of one
    class has fewer training graphs of it, and the guess would be wrong again and again. The folds
    are those of ``nested`` for the same seed, or the ``splits`` given. Of classes with equally many
    graphs the one with the smallest code is taken.
    Raises DataError if labels are missing or break another rule of ``inputs``.
    """
    codes = check_codes(y)
    folds = outer_folds(codes, seed) if splits is None else OuterFolds(tuple(splits))
    guess = np.bincount(codes).argmax(axis=0, keepdims=True)
    return ProtocolResult(
        protocol=protocol,
        seed=seed,
        accuracies=tuple(float(accuracy(guess, codes[test])) for _, test in folds.splits),
        train_sizes=tuple(len(train) for train, _ in folds.splits),
        test_sizes=tuple(len(test) for _, test in folds.splits),
        notes=folds.notes,
    )
