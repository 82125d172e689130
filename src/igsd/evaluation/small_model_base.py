"""What a small model is: a function of rows kept as arrays, and the head that fits and tries it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from scipy.special import softmax

_SMALLEST = 0.01
"""No probability of a regression on classes is below this, before they are calibrated."""


@dataclass(frozen=True, eq=False)
class SmallModel:
    """A fitted model whose fields are arrays: from rows X [n, d] to outputs [n, o]."""

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the outputs [n, o] of rows."""
        raise NotImplementedError

    def arrays(self, prefix: str) -> dict[str, np.ndarray]:
        """Return the arrays under names with a prefix, for a file."""
        return {f"{prefix}{entry.name}": getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, np.ndarray], prefix: str) -> Self:
        """Return the model that ``arrays`` came from; raises ``KeyError`` if one is missing."""
        return cls(**{entry.name: arrays[f"{prefix}{entry.name}"] for entry in fields(cls)})


Fit = Callable[[np.ndarray, np.ndarray, tuple[Any, ...], bool, int], list[SmallModel]]
"""(X [n, d], Y [n, o], values of the grid, whether Y are classes, seed) -> a model for each value.

Y: one column per class, 1 for the class of a row; or one column of standardised numbers."""

HoldOut = Callable[
    [np.ndarray, np.ndarray, list[np.ndarray], np.ndarray, tuple[Any, ...], bool, int],
    tuple[np.ndarray, list[SmallModel]],
]
"""(X, Y, rows held out together, groups, values of the grid, whether Y are classes, seed)
-> (held-out outputs, fitted models).

Groups [n]: equal for rows of one molecule, which are in one fold.

Outputs [values, n, o]: for each row those of a model that has not seen its label. Models: those
that ``Fit`` would give, if they have come with the outputs; otherwise none."""


@dataclass(frozen=True)
class Head:
    """A kind of small model; ``is_probability``: whether its outputs for classes are no logits.

    ``hold_out``: a way to held-out outputs that takes less than a fit for every fold.
    """

    model: type[SmallModel]
    fit: Fit
    grid: tuple[Any, ...]
    is_probability: bool = False
    classes_only: bool = False
    hold_out: HoldOut | None = None

    def probabilities(self, outputs: np.ndarray) -> np.ndarray:
        """Return the probabilities of classes [n, C] for outputs."""
        if not self.is_probability:
            return softmax(outputs, axis=1)
        positive = np.clip(outputs, _SMALLEST, 1 - _SMALLEST)
        return positive / positive.sum(axis=1, keepdims=True)


def hold_out_folds(
    fit: Fit,
    X: np.ndarray,
    Y: np.ndarray,
    folds: list[np.ndarray],
    groups: np.ndarray,
    values: tuple[Any, ...],
    is_class: bool,
    seed: int,
) -> tuple[np.ndarray, list[SmallModel]]:
    """Return for each row the outputs of models that were fitted without its fold."""
    found = np.empty((len(values), *Y.shape))
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(X)), fold)
        for outputs, model in zip(
            found, fit(X[rest], Y[rest], values, is_class, seed), strict=True
        ):
            outputs[fold] = model(X[fold])
    return found, []
