from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import ConfigError
from igsd.estimators import IGSDClassifier, IGSDRegressor
from igsd.estimators.predictions import prediction_columns
from igsd.experiments.label_runs import (
    estimator_for,
    hidden_score,
    hide_labels,
    pseudo_label_columns,
)
from igsd.graphs.given_labels import GivenLabels
from tests.estimators.few_labels import ROUNDS, few_graphs, small

CLASSES = GivenLabels(["a", "b"] * 5 + [None, None], True, ("kind",))
NUMBERS = GivenLabels(np.append(np.arange(11.0), np.nan), False, ("size",))


def test_a_share_of_each_class_stays() -> None:
    used = hide_labels(CLASSES, 0.4, seed=0)
    assert sorted(v for v in used.y if v is not None) == ["a", "a", "b", "b"]
    assert all(v is None or v == w for v, w in zip(used.y, CLASSES.y, strict=True))
    assert used.y == hide_labels(CLASSES, 0.4, seed=0).y != hide_labels(CLASSES, 0.4, seed=1).y


def test_a_share_of_the_numbers_stays() -> None:
    used = hide_labels(NUMBERS, 0.5, seed=0)
    known = used.is_known
    assert known.sum() == 6
    np.testing.assert_array_equal(used.y[known], NUMBERS.y[known])


def test_all_of_them() -> None:
    assert hide_labels(CLASSES, 1.0, seed=0) is CLASSES


@pytest.mark.parametrize("rate", [0.0, 1.2, -1.0])
def test_no_share(rate: float) -> None:
    with pytest.raises(ConfigError, match="share of labels"):
        hide_labels(CLASSES, rate, seed=0)


def test_which_estimator() -> None:
    assert estimator_for(CLASSES) is IGSDClassifier
    assert estimator_for(NUMBERS) is IGSDRegressor


def test_after_a_training_with_classes() -> None:
    graphs, used = few_graphs(), hide_labels(CLASSES, 0.6, seed=0)
    model = small(IGSDClassifier, **ROUNDS).fit(graphs, used.y)
    hidden = [i for i in range(10) if used.y[i] is None]
    score = hidden_score(model, graphs, CLASSES, used)
    right = model.predict(graphs)[hidden] == [CLASSES.y[i] for i in hidden]
    assert score == {"graphs": 4, "accuracy": pytest.approx(right.mean())}
    assert hidden_score(model, graphs, CLASSES, CLASSES) == {}
    columns = pseudo_label_columns(model, graphs, CLASSES)
    assert columns["graph"] == [i for i in range(12) if used.y[i] is None]
    assert columns["true"] == [CLASSES.y[i] for i in columns["graph"]]
    assert set(columns["class"]) <= {"a", "b"}
    assert set(columns["round"]) == {1}
    table = prediction_columns(model, graphs)
    assert list(table) == ["graph", "class", "probability", "p_a", "p_b"]
    assert table["class"] == model.predict(graphs).tolist()
    np.testing.assert_allclose(np.add(table["p_a"], table["p_b"]), 1.0)


def test_after_a_training_with_numbers() -> None:
    graphs, used = few_graphs(), hide_labels(NUMBERS, 0.5, seed=0)
    model = small(IGSDRegressor).fit(graphs, used.y, target_names=used.names)
    score = hidden_score(model, graphs, NUMBERS, used)
    assert score["graphs"] == 5
    table = prediction_columns(model, graphs)
    assert list(table) == ["graph", "size"]
    assert table["size"] == model.predict(graphs).tolist()
