"""Protocol ``qm9``: properties of molecules from few labelled and many unlabelled molecules.

5,000 molecules keep their properties, 10,000 are for validation, 10,000 are the test part, and the
rest are unlabelled. The score of a target is its mean absolute error (MAE) on the test part, in its
own unit, after a number of steps fixed in advance. To compare across papers, use its ratio to the
MAE of the same encoder trained on the same 5,000 molecules alone.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from igsd.errors import DataError
from igsd.evaluation import heads, metrics, semi
from igsd.graphs.graphset import GraphSet

Errors = dict[str, list[float]]
"""The MAE of each target, by part of the split."""


class QM9Sizes(NamedTuple):
    """The numbers of labelled, validation and test molecules; the defaults are the protocol's."""

    labelled: int = 5_000
    validation: int = 10_000
    test: int = 10_000


SIZES = QM9Sizes()


@dataclass(frozen=True, eq=False)
class QM9Split(semi.SemiSplit):
    """Positions of the molecules of each part, ascending and disjoint."""

    validation: np.ndarray


def qm9_split(num_graphs: int, seed: int, sizes: QM9Sizes = SIZES) -> QM9Split:
    """Return the random split for a seed; ``DataError`` if no unlabelled molecule is left."""
    if num_graphs <= sum(sizes):
        raise DataError(
            f"Protocol qm9 takes {sizes.labelled:,} labelled, {sizes.validation:,} validation and "
            f"{sizes.test:,} test molecules, and some without labels. The set has {num_graphs:,}."
        )
    order = np.random.default_rng([seed, 9]).permutation(num_graphs)
    parts = np.split(order, np.cumsum(sizes))
    labelled, validation, test, unlabelled = (np.sort(part) for part in parts)
    return QM9Split(labelled, unlabelled, test, validation)


def score_targets(
    estimator: Any, graphs: GraphSet, targets: np.ndarray, names: tuple[str, ...], split: QM9Split
) -> Errors:
    """Train a method inside a split and return its MAE on ``test`` and ``validation``, [t] each.

    ``estimator``: an unfitted regressor whose ``fit`` takes ``target_names``. ``targets`` [G, t]:
    those of all graphs. The test part is used once, after training.
    """
    estimator.fit(graphs.take(split.train), split.training_targets(targets), target_names=names)
    return _errors(estimator.predict, graphs, targets, split)


def score_target_vectors(
    vectors: Callable[[GraphSet], np.ndarray],
    graphs: GraphSet,
    targets: np.ndarray,
    split: QM9Split,
    head: heads.HeadName = "linear",
) -> Errors:
    """Return the MAE of a head on vectors of graphs, fitted to the labelled molecules.

    ``vectors``: from graphs to [n, d].
    """
    X = vectors(graphs.take(split.labelled))
    model = heads.fit_targets(X, targets[split.labelled], head)

    def predict(part: GraphSet) -> np.ndarray:
        return model.predict(vectors(part)).reshape(len(part), -1)

    return _errors(predict, graphs, targets, split)


def _errors(predict: Callable, graphs: GraphSet, targets: np.ndarray, split: QM9Split) -> Errors:
    parts = {"test": split.test, "validation": split.validation}
    return {
        name: metrics.mae(predict(graphs.take(part)), targets[part]).tolist()
        for name, part in parts.items()
    }
