"""Scores of predictions: pure functions of the true and the predicted values.

Classes: the areas under the ROC curve and under the precision-recall curve (average precision),
accuracy, balanced accuracy, expected calibration error and log loss. Numbers: mean absolute and
root mean squared error.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn import metrics

from igsd.evaluation import CLASS_METRICS

BINS = 10
"""Bins of equal width in which probabilities are compared with frequencies."""

_LEAST = 1e-7

Scores = Mapping[str, float | None]
"""A value by metric, None where it is not defined."""


def class_scores(true: np.ndarray, probabilities: np.ndarray) -> dict[str, float | None]:
    """Return ``CLASS_METRICS`` of probabilities [n, C] of the classes 0..C-1 of ``true`` [n].

    With more than two classes the areas are means over the classes, each against the others. They
    are None where ``true`` lacks a class.
    """
    p = np.clip(np.asarray(probabilities, np.float64), _LEAST, 1.0)
    p /= p.sum(axis=1, keepdims=True)
    num_classes, predicted = p.shape[1], p.argmax(axis=1)
    recalls = [float((predicted[true == code] == code).mean()) for code in np.unique(true)]
    found: dict[str, float | None] = {
        "accuracy": accuracy(predicted, true),
        "balanced_accuracy": float(np.mean(recalls)),
        "ece": calibration_error(calibration_sums(true, p)),
        "log_loss": float(-np.log(p[np.arange(len(true)), true]).mean()),
    }
    areas: dict[str, float | None] = {"roc_auc": None, "auprc": None}
    if len(recalls) == num_classes:
        codes = [1] if num_classes == 2 else range(num_classes)
        pairs = [(true == code, p[:, code]) for code in codes]
        areas["roc_auc"] = float(np.mean([metrics.roc_auc_score(*pair) for pair in pairs]))
        precisions = [metrics.average_precision_score(*pair) for pair in pairs]
        areas["auprc"] = float(np.mean(precisions))
    return {name: (areas | found)[name] for name in CLASS_METRICS}


def roc_auc(true: np.ndarray, scores: np.ndarray) -> float | None:
    """Return the area under the ROC curve of two classes ``true`` [n], None unless both occur."""
    return float(metrics.roc_auc_score(true, scores)) if len(np.unique(true)) == 2 else None


def accuracy(predicted: np.ndarray, true: np.ndarray) -> float:
    """Return the share of right class codes [n], of those that are known (not -1)."""
    return float((predicted == true)[true >= 0].mean())


def mae(predicted: np.ndarray, targets: np.ndarray) -> Any:
    """Return the mean absolute error of numbers [n], or of each target, [n, t] -> [t].

    Rows where the target is NaN do not count; a prediction that is NaN makes the mean NaN.
    """
    found = np.nanmean(np.abs(predicted - targets), axis=0)
    return np.where(np.isnan(predicted).any(axis=0), np.nan, found)


def number_scores(true: np.ndarray, predicted: np.ndarray) -> dict[str, float | None]:
    """Return ``NUMBER_METRICS`` of predicted numbers [n]."""
    predicted = np.asarray(predicted, np.float64).reshape(-1)
    apart = predicted - true
    return {"mae": float(mae(predicted, true)), "rmse": float(np.sqrt(np.square(apart).mean()))}


def calibration_sums(true: np.ndarray, probabilities: np.ndarray) -> np.ndarray:
    """Return for each of ``BINS`` bins how many predictions it holds, and two sums, [3, BINS].

    The sums are of the probabilities and of the events. With two classes the event is class 1, with
    more it is that the most probable class is right. Sums of several test parts can be added.
    """
    if probabilities.shape[1] == 2:
        p, is_event = probabilities[:, 1], true == 1
    else:
        p, is_event = probabilities.max(axis=1), probabilities.argmax(axis=1) == true
    bins = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    weights = (None, p, is_event.astype(np.float64))
    return np.stack([np.bincount(bins, w, BINS).astype(np.float64) for w in weights])


def calibration_error(sums: np.ndarray) -> float:
    """Return the expected calibration error of ``calibration_sums``.

    That is sum_b n_b / n |mean probability of bin b - share of events in it|.
    """
    return float(np.abs(sums[1] - sums[2]).sum() / sums[0].sum())


def mean_scores(scores: "list[Scores]") -> dict[str, float | None]:
    """Return the mean of each metric over the targets for which it is defined."""
    found = {}
    for name in scores[0]:
        values = [value for one in scores if (value := one[name]) is not None]
        found[name] = float(np.mean(values)) if values else None
    return found
