from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk

from igsd.evaluation.metrics import (
    CLASS_METRICS,
    accuracy,
    calibration_error,
    calibration_sums,
    class_scores,
    mae,
    mean_scores,
    number_scores,
)


@pytest.fixture
def binary() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    p = rng.random(200)
    return (rng.random(200) < p).astype(int), np.stack([1 - p, p], axis=1)


def test_two_classes_agree_with_scikit_learn(binary: tuple[np.ndarray, np.ndarray]) -> None:
    true, p = binary
    found = class_scores(true, p)
    assert tuple(found) == CLASS_METRICS
    predicted = p.argmax(axis=1)
    assert found["roc_auc"] == pytest.approx(sk.roc_auc_score(true, p[:, 1]))
    assert found["auprc"] == pytest.approx(sk.average_precision_score(true, p[:, 1]))
    assert found["accuracy"] == pytest.approx(sk.accuracy_score(true, predicted))
    balanced = sk.balanced_accuracy_score(true, predicted)
    assert found["balanced_accuracy"] == pytest.approx(balanced)
    assert found["log_loss"] == pytest.approx(sk.log_loss(true, p), abs=1e-6)


def test_calibration_by_hand() -> None:
    # Two predictions of 0.25 of which one comes true, and one of 1.0 that does.
    true = np.array([0, 1, 1])
    p = np.array([0.25, 0.25, 1.0])
    sums = calibration_sums(true, np.stack([1 - p, p], axis=1))
    assert sums[:, 2].tolist() == [2, 0.5, 1]
    assert sums[:, 9].tolist() == [1, 1, 1]
    assert calibration_error(sums) == pytest.approx(2 / 3 * 0.25)


def test_honest_probabilities_are_calibrated() -> None:
    rng = np.random.default_rng(1)
    p = rng.random(100_000)
    true = (rng.random(len(p)) < p).astype(int)
    assert class_scores(true, np.stack([1 - p, p], axis=1))["ece"] < 0.01
    sure = np.eye(2)[(p > 0.5).astype(int)]
    assert class_scores(true, sure)["ece"] == pytest.approx(0.25, abs=0.01)


def test_three_classes_and_a_missing_one() -> None:
    p = np.full((6, 3), 0.1) + 0.7 * np.eye(3)[[0, 1, 2, 0, 1, 2]]
    found = class_scores(np.array([0, 1, 2, 0, 1, 2]), p)
    assert (found["roc_auc"], found["auprc"], found["accuracy"]) == (1.0, 1.0, 1.0)
    found = class_scores(np.array([0, 1, 1, 0, 1, 1]), p)
    assert (found["roc_auc"], found["auprc"]) == (None, None)
    assert found["accuracy"] == pytest.approx(4 / 6)


def test_a_certain_error_costs_a_finite_log_loss() -> None:
    assert np.isfinite(
        class_scores(np.array([0, 1]), np.array([[0.0, 1.0], [0.0, 1.0]]))["log_loss"]
    )


def test_numbers() -> None:
    found = number_scores(np.array([0.0, 0.0]), np.array([3.0, -4.0]))
    assert found == {"mae": 3.5, "rmse": pytest.approx(np.sqrt(12.5))}


def test_means_leave_out_what_is_not_defined() -> None:
    mean = mean_scores([{"a": 1.0, "b": None}, {"a": 2.0, "b": None}, {"a": None, "b": None}])
    assert mean == {"a": 1.5, "b": None}


def test_unknown_targets_do_not_count() -> None:
    predicted = np.array([[1.0, 2.0], [3.0, 5.0]])
    assert mae(predicted, np.array([[0, 2], [5, np.nan]])).tolist() == [1.5, 0.0]
    assert float(mae(predicted[:, 0], np.array([0.0, np.nan]))) == 1.0
    assert np.isnan(mae(np.array([1.0, np.nan]), np.zeros(2)))
    assert accuracy(np.array([0, 1, 1]), np.array([0, 0, -1])) == 0.5


def test_the_mean_error_is_the_plain_mean_to_the_last_bit() -> None:
    rng = np.random.default_rng(0)
    for num in (1, 7, 130, 5001):
        predicted, true = rng.normal(size=(2, num, 1))
        assert float(mae(predicted[:, 0], true[:, 0])) == np.abs(predicted - true).mean()
        single = predicted[:, 0].astype(np.float32)
        assert float(mae(single, true[:, 0])) == np.abs(single - true[:, 0]).mean()
