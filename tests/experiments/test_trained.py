from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.registry import configure
from igsd.errors import ConfigError
from igsd.estimators import IGSDClassifier, IGSDRegressor
from igsd.estimators.predictions import prediction_columns
from igsd.experiments.trained import hidden_score, hide_labels, pseudo_label_columns, train_model
from igsd.graphs.labels import GraphLabels
from igsd.settings.igsd import Config
from tests.estimators.few_labels import ROUNDS, few_graphs, small
from tests.small_graphs import TINY, make_graphs


def test_a_model_and_its_vectors() -> None:
    graphs = make_graphs(6)
    trained = train_model(graphs, Config(**TINY).updated({"epochs": 0, "seed": 3}))
    assert trained.seed == 3
    assert np.array_equal(trained.vectors, trained.model.transform(graphs))
    assert set(trained.seconds) == {"train", "embed"}


def test_another_method() -> None:
    trained = train_model(make_graphs(6), configure("wl", "molecules", {}), method="wl")
    assert type(trained.model).__name__ == "WLKernel"
    assert len(trained.vectors) == 6


def test_what_a_run_folder_says_of_it() -> None:
    graphs = make_graphs(6)
    trained = train_model(graphs, Config(**TINY))
    metrics = trained.metrics()
    assert (metrics["seed"], metrics["epochs"]) == (0, 2)
    assert metrics["final_loss"] == trained.model.history_[-1]["total"]
    assert metrics["embedding_dim"] == trained.vectors.shape[1]
    untrained = train_model(graphs, Config(**(TINY | {"epochs": 0})))
    assert untrained.metrics()["final_loss"] is None


def test_labels_decide_what_is_trained() -> None:
    for labels, kind in ((CLASSES, "GINClassifier"), (NUMBERS, "GINRegressor")):
        config = configure("gin", "molecules", {"epochs": 1, "hidden_dim": 4}, labels.task)
        trained = train_model(few_graphs(), config, method="gin", labels=labels)
        assert type(trained.model).__name__ == kind


CLASSES = GraphLabels(["a", "b"] * 5 + [None, None], True, ("kind",))
NUMBERS = GraphLabels(np.append(np.arange(11.0), np.nan), False, ("size",))


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


def test_hidden_probabilities_have_a_roc_auc() -> None:
    class Model:
        are_probabilities_ = (True, False)

        def predict(self, graphs: object) -> np.ndarray:
            return np.column_stack([np.linspace(0, 1, 4), np.zeros(4)])

    y = np.array([[0.0, 1.0], [np.nan, 1.0], [1.0, 2.0], [1.0, np.nan]])
    labels, used = (GraphLabels(v, False, ("active", "size")) for v in (y, np.full_like(y, np.nan)))
    score = hidden_score(Model(), make_graphs(4), labels, used)
    assert score["roc_auc"] == {"active": 1.0}
    assert score["mae"][1] == pytest.approx(4 / 3)
