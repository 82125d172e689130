"""What a training with labels is given and leaves behind: hidden labels, and pseudo-labels."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from igsd.column_file import Columns
from igsd.errors import ConfigError
from igsd.estimators.classifier import GraphClassifier, IGSDClassifier
from igsd.estimators.label_estimator import LabelEstimator
from igsd.estimators.predictions import about_graphs
from igsd.estimators.regressor import GraphRegressor, IGSDRegressor
from igsd.evaluation.semi import stratified_sample
from igsd.graphs.given_labels import GivenLabels
from igsd.graphs.graphset import GraphSet


def estimator_for(given: GivenLabels) -> type[IGSDClassifier] | type[IGSDRegressor]:
    """Return the estimator that learns such labels."""
    return IGSDClassifier if given.are_classes else IGSDRegressor


def hide_labels(given: GivenLabels, rate: float, seed: int) -> GivenLabels:
    """Return the labels with all but a share of them hidden, of each class alike.

    At least one of each class stays. Raises ``ConfigError`` for a share that is none.
    """
    if not 0 < rate <= 1:
        raise ConfigError(f"The share of labels to show must be between 0 and 1. Got {rate}.")
    known = np.flatnonzero(given.is_known)
    if rate == 1 or not len(known):
        return given
    names = np.array([given.y[i] for i in known]) if given.are_classes else np.zeros(len(known))
    kept = stratified_sample(known, names, rate, np.random.default_rng([seed, 7]))
    if given.are_classes:
        chosen = set(kept.tolist())
        return replace(given, y=[v if i in chosen else None for i, v in enumerate(given.y)])
    numbers = np.full_like(given.y, np.nan)
    numbers[kept] = given.y[kept]
    return replace(given, y=numbers)


def hidden_score(
    model: LabelEstimator, graphs: GraphSet, given: GivenLabels, used: GivenLabels
) -> dict[str, Any]:
    """Return how the model does on the graphs whose label it was not shown; empty without any.

    ``accuracy`` of classes, ``mae`` of numbers. The graphs themselves were in the training set.
    """
    hidden = np.flatnonzero(given.is_known & ~used.is_known)
    if not len(hidden):
        return {}
    part = graphs.take(hidden)
    if isinstance(model, GraphClassifier):
        hits = model.predict(part) == np.array([given.y[i] for i in hidden])
        return {"graphs": len(hidden), "accuracy": float(hits.mean())}
    if not isinstance(model, GraphRegressor):
        return {}
    errors = np.abs(model.predict(part) - given.y[hidden]).reshape(len(hidden), -1)
    per_target = np.nanmean(errors, axis=0)
    return {"graphs": len(hidden), "mae": [float(value) for value in per_target]}


def pseudo_label_columns(
    model: GraphClassifier, graphs: GraphSet, given: GivenLabels | None = None
) -> Columns:
    """Return the pseudo-labels of a training as columns, one entry for each.

    Which graph, the class it was given, ``confidence`` and ``round``; with ``given`` also ``true``,
    the class it really has, where that is known and was hidden.
    """
    found = model.pseudo_labels_
    about = {key: [values[i] for i in found.graphs] for key, values in about_graphs(graphs).items()}
    columns = about | {
        "class": model.classes_[found.codes].tolist() if len(found) else [],
        "confidence": found.confidence.tolist(),
        "round": found.rounds.tolist(),
    }
    if given is not None and given.are_classes:
        columns["true"] = [given.y[i] for i in found.graphs]
    return columns
