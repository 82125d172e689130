"""What protocols do before any SVM is fitted: check the input, make kernels and folds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from igsd.evaluation.folds import TWINS_NOTE, Split, outer_folds, splits_without_twins
from igsd.evaluation.inputs import IntArray, check_codes, check_groups
from igsd.evaluation.kernels import Kernel, KernelSource, Standardise, kernel_sources


@dataclass(frozen=True)
class Setup:
    """Kernels over all graphs, their class codes [n], the outer splits, and notes about them."""

    sources: tuple[KernelSource, ...]
    codes: IntArray
    splits: tuple[Split, ...]
    notes: tuple[str, ...]

    @property
    def train_sizes(self) -> tuple[int, ...]:
        """Number of training graphs in every split."""
        return tuple(len(train) for train, _ in self.splits)

    @property
    def test_sizes(self) -> tuple[int, ...]:
        """Number of test graphs in every split."""
        return tuple(len(test) for _, test in self.splits)


def checked_input(
    X: Any, y: Any, kernel: Kernel, standardise: Standardise | None
) -> tuple[tuple[KernelSource, ...], IntArray]:
    """Return (kernels, class codes [n]) of features or a kernel matrix X and codes y.

    Raises DataError if they break the rules of ``inputs``, ConfigError for an unknown setting.
    """
    return tuple(kernel_sources(X, kernel, standardise)), check_codes(y, len(X))


def stratified_setup(
    X: Any,
    y: Any,
    seed: int,
    standardise: Standardise | None,
    kernel: Kernel,
    num_folds: int,
    twins: Any | None = None,
) -> Setup:
    """Return what a protocol over stratified folds starts from; arguments as in ``nested``.

    With ``twins`` [n] the training graphs in the group of a test graph are left out of each split.
    """
    sources, codes = checked_input(X, y, kernel, standardise)
    folds = outer_folds(codes, seed, num_folds)
    if twins is None:
        return Setup(sources, codes, folds.splits, folds.notes)
    splits = splits_without_twins(folds.splits, check_groups(twins, len(codes)))
    return Setup(sources, codes, splits, (*folds.notes, TWINS_NOTE))
