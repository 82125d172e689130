"""Small sets with few labels, and every estimator that learns from them, as small as it gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from igsd.baselines.few_labels.gin import GINClassifier, GINRegressor
from igsd.baselines.few_labels.infograph import (
    InfoGraphClassifier,
    InfoGraphRegressor,
    InfoGraphStarClassifier,
    InfoGraphStarRegressor,
)
from igsd.baselines.few_labels.mean_teacher import MeanTeacherClassifier, MeanTeacherRegressor
from igsd.estimators import IGSDClassifier, IGSDRegressor
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY, make_graphs

ROUNDS = {"self_training": True, "self_training_start": 1, "self_training_rounds": 2}
ROUNDS |= {"self_training_threshold": 0.5, "epochs": 3}
"""Two rounds of self-training in which every guess becomes a label."""


def small(cls: type, **changes: Any) -> Any:
    """Return an estimator with tiny settings, those that it has."""
    known = cls().get_params()
    settings = {"recipe": None} | TINY | {"label_batch_size": 4} | changes
    return cls(**{key: value for key, value in settings.items() if key in known})


CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "IGSD supcon": lambda: small(IGSDClassifier, self_training=False),
    "IGSD self-sup": lambda: small(IGSDClassifier, self_weight=1.0, supcon_weight=0.0, **ROUNDS),
    "IGSD both": lambda: small(IGSDClassifier, self_weight=0.5, **ROUNDS),
    "GIN": lambda: small(GINClassifier),
    "GIN self-training": lambda: small(GINClassifier, **ROUNDS),
    "Mean Teachers": lambda: small(MeanTeacherClassifier),
    "InfoGraph": lambda: small(InfoGraphClassifier),
    "InfoGraph*": lambda: small(InfoGraphStarClassifier),
}
REGRESSORS: dict[str, Callable[[], Any]] = {
    "IGSD": lambda: small(IGSDRegressor),
    "GIN": lambda: small(GINRegressor),
    "Mean Teachers": lambda: small(MeanTeacherRegressor),
    "InfoGraph": lambda: small(InfoGraphRegressor),
    "InfoGraph*": lambda: small(InfoGraphStarRegressor),
}


def some_classes(graphs: GraphSet) -> list[str | None]:
    """Return a class for every other graph, None for the rest."""
    return [None if i % 2 else ("ring", "star")[i // 2 % 2] for i in range(len(graphs))]


def some_numbers(graphs: GraphSet) -> np.ndarray:
    """Return the number of nodes for every other graph, NaN for the rest."""
    counts = graphs.node_counts().astype(float)
    counts[1::2] = np.nan
    return counts


def few_graphs() -> GraphSet:
    """Return twelve small graphs with node labels."""
    return make_graphs(12)
