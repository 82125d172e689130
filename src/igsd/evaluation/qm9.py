"""Protocol ``qm9``: few molecules with known properties, many without, and the error on others.

5,000 molecules keep their properties, 10,000 are for validation, 10,000 for the test, and the rest
are unlabelled. The score of a target is its mean absolute error (MAE) on the test part, in its own
unit, after a number of steps fixed in advance; what compares across papers is its ratio to the MAE
of the same encoder trained on the same 5,000 molecules alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from igsd.errors import DataError
from igsd.evaluation.inputs import IntArray
from igsd.graphs.graphset import GraphSet

# Apart from the streams of random numbers that other protocols draw their splits from.
_STREAM = 9

Errors = dict[str, list[float]]
"""The MAE of each target, by part of the split."""


class QM9Sizes(NamedTuple):
    """How many molecules keep their properties, are for validation, and for the test."""

    labelled: int = 5_000
    validation: int = 10_000
    test: int = 10_000


SIZES = QM9Sizes()
"""The protocol's."""


@dataclass(frozen=True, eq=False)
class QM9Split:
    """Positions of the molecules of each part, ascending; none is in two."""

    labelled: IntArray
    unlabelled: IntArray
    validation: IntArray
    test: IntArray

    @property
    def train(self) -> IntArray:
        """What a method may look at: labelled and unlabelled molecules, ascending."""
        return np.sort(np.concatenate([self.labelled, self.unlabelled]))

    def training_targets(self, targets: np.ndarray) -> np.ndarray:
        """Return the targets [n, t] of ``train``, NaN where they are hidden."""
        hidden = np.array(targets[self.train], np.float64)
        hidden[np.isin(self.train, self.unlabelled)] = np.nan
        return hidden

    def scored(self) -> dict[str, IntArray]:
        """Return the parts that an error is reported of, by name."""
        return {"test": self.test, "validation": self.validation}


class TargetEstimator(Protocol):
    """What the protocol asks of a method."""

    def fit(self, X: Any, y: Any, *, target_names: Any) -> Any:
        """Train on graphs with gaps in ``y``."""

    def predict(self, X: Any) -> np.ndarray:
        """Return the targets [n, t] of graphs, in their own units."""


def qm9_split(num_graphs: int, seed: int, sizes: QM9Sizes = SIZES) -> QM9Split:
    """Return the split of a set for one seed, drawn at random.

    Raises ``DataError`` for a set that is too small to leave an unlabelled molecule.
    """
    if num_graphs <= sum(sizes):
        raise DataError(
            f"Protocol qm9 takes {sizes.labelled:,} labelled, {sizes.validation:,} validation and "
            f"{sizes.test:,} test molecules, and some without labels. The set has {num_graphs:,}."
        )
    order = np.random.default_rng([seed, _STREAM]).permutation(num_graphs)
    parts = np.split(order, np.cumsum(sizes))
    labelled, validation, test, unlabelled = (np.sort(part) for part in parts)
    return QM9Split(labelled, unlabelled, validation, test)


def mean_absolute_errors(predicted: np.ndarray, targets: np.ndarray) -> list[float]:
    """Return the MAE of each target over the molecules where it is known; both are [n, t]."""
    return [float(value) for value in np.nanmean(np.abs(predicted - targets), axis=0)]


def score_targets(
    estimator: TargetEstimator,
    graphs: GraphSet,
    targets: np.ndarray,
    names: tuple[str, ...],
    split: QM9Split,
) -> Errors:
    """Train a method inside a split and return its MAE on ``test`` and ``validation``, [t] each.

    ``targets`` [G, t] are those of all graphs. The test part is looked at once, when the training
    has ended.
    """
    estimator.fit(graphs.take(split.train), split.training_targets(targets), target_names=names)
    return {
        name: mean_absolute_errors(estimator.predict(graphs.take(part)), targets[part])
        for name, part in split.scored().items()
    }


def score_constant(targets: np.ndarray, split: QM9Split) -> Errors:
    """Return the MAE of always saying the mean of the labelled molecules: the floor."""
    mean = targets[split.labelled].mean(axis=0)
    return {
        name: mean_absolute_errors(mean, targets[part]) for name, part in split.scored().items()
    }


def score_descriptors(
    vectors: Callable[[GraphSet], np.ndarray],
    graphs: GraphSet,
    targets: np.ndarray,
    split: QM9Split,
) -> Errors:
    """Return the MAE of ridge regression on vectors of graphs, fitted to the labelled molecules.

    ``vectors``: from graphs to [n, d]. The penalty of each target is chosen by leave-one-out.
    """
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    ridge = RidgeCV(alphas=np.logspace(-4, 4, 9), alpha_per_target=targets.shape[1] > 1)
    model = make_pipeline(StandardScaler(), ridge)
    model.fit(vectors(graphs.take(split.labelled)), targets[split.labelled])

    def errors(part: IntArray) -> list[float]:
        found = model.predict(vectors(graphs.take(part))).reshape(len(part), -1)
        return mean_absolute_errors(found, targets[part])

    return {name: errors(part) for name, part in split.scored().items()}
