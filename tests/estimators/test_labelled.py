from __future__ import annotations

import pickle
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd import IGSDClassifier, IGSDRegressor, load_dataset
from igsd.baselines.few_labels.gin import GINClassifier
from igsd.batches.features import FeatureMap
from igsd.errors import ConfigError, DataError, IGSDWarning
from igsd.estimators.labelled import LabelEstimator
from igsd.training import loop
from tests.estimators.contract import MeanEncoder
from tests.estimators.few_labels import (
    CLASSIFIERS,
    REGRESSORS,
    few_graphs,
    small,
    some_classes,
    some_numbers,
)
from tests.small_graphs import make_graphs


def rings_and_stars(count: int = 24) -> tuple[list[nx.Graph], np.ndarray]:
    """Return rings and stars in turn, and what each is."""
    made = [nx.cycle_graph(5 + i % 7) if i % 2 else nx.star_graph(4 + i % 7) for i in range(count)]
    return made, np.array(["ring" if i % 2 else "star" for i in range(count)])


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_method_learns_what_is_plain_to_see(name: str) -> None:
    graphs, shapes = rings_and_stars()
    y: Any = [shape if i < 8 else None for i, shape in enumerate(shapes)]
    settings = {"epochs": 30, "label_batch_size": 8, "learning_rate": 0.02, "readout": "mean"}
    model = CLASSIFIERS[name]()
    model.set_params(**{k: v for k, v in settings.items() if k in model.get_params()})
    if model.get_params().get("self_training"):
        model.set_params(self_training_start=20, self_training_threshold=0.9)
    assert model.fit(graphs, y).score(graphs, shapes) >= 0.9
    assert set(model.predict(graphs)) == {"ring", "star"}


def test_probabilities() -> None:
    graphs = few_graphs()
    model = small(IGSDClassifier, self_training=False).fit(graphs, some_classes(graphs))
    found = model.predict_proba(graphs)
    assert found.shape == (12, 2)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert (model.classes_[found.argmax(axis=1)] == model.predict(graphs)).all()


def test_score_leaves_out_what_has_no_label() -> None:
    graphs = few_graphs()
    y = some_classes(graphs)
    model = small(GINClassifier).fit(graphs, y)
    known = np.arange(0, 12, 2)
    expected = (model.predict(graphs)[known] == np.array(y)[known]).mean()
    assert model.score(graphs, y) == pytest.approx(expected)
    assert model.score(graphs, y, sample_weight=np.ones(12)) == pytest.approx(expected)
    with pytest.raises(DataError, match="has none"):
        model.score(graphs, [None] * 12)


def test_a_class_that_the_model_does_not_know() -> None:
    graphs = few_graphs()
    model = small(GINClassifier).fit(graphs, some_classes(graphs))
    with pytest.raises(DataError, match="does not know 1 class of y: tree"):
        model.score(graphs, ["tree"] * 12)


def test_a_class_with_one_label_still_trains() -> None:
    graphs, y = few_graphs(), ["a"] * 5 + ["b"] * 5 + ["c", None]
    with pytest.warns(IGSDWarning, match="single labelled graph: c"):
        model = small(IGSDClassifier, self_training=False).fit(graphs, y)
    assert model.classes_.tolist() == ["a", "b", "c"]


def test_self_training_that_never_begins_is_told() -> None:
    """It was passed over in silence; with every label given there is nothing to miss."""
    graphs, model = few_graphs(), small(GINClassifier, epochs=2, self_training=True)
    with pytest.warns(IGSDWarning, match="self_training_start=30"):
        model.fit(graphs, some_classes(graphs))
    with warnings.catch_warnings():
        warnings.simplefilter("error", IGSDWarning)
        model.fit(graphs, ["a", "b"] * 6)


def test_cross_validation_and_pipelines() -> None:
    graphs, shapes = rings_and_stars(12)
    model = small(GINClassifier, epochs=1)
    assert np.isfinite(cross_val_score(model, graphs, shapes, cv=2, error_score="raise")).all()
    pipeline = make_pipeline(clone(model), StandardScaler(), SVC())
    assert pipeline.fit(graphs, shapes).predict(graphs).shape == (12,)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_an_encoder_of_ones_own_is_needed_again(name: str, tmp_path: Path) -> None:
    graphs, y = few_graphs(), some_classes(few_graphs())
    width = FeatureMap.fit(graphs).dim
    model = CLASSIFIERS[name]().set_params(encoder=MeanEncoder(width)).fit(graphs, y)
    model.save(tmp_path / "m")
    with pytest.raises(ConfigError, match=r"MeanEncoder.*encoder="):
        type(model).load(tmp_path / "m")
    loaded = type(model).load(tmp_path / "m", encoder=MeanEncoder(width))
    np.testing.assert_array_equal(loaded.predict_proba(graphs), model.predict_proba(graphs))


def test_mutag_by_its_own_classes() -> None:
    graphs = load_dataset("MUTAG", allow_download=False)
    names = np.array(graphs.class_names)[graphs.classes]
    few = [int(name) if i % 8 == 0 else None for i, name in enumerate(names)]
    model = small(IGSDClassifier, epochs=2, self_training=False).fit(graphs, few)
    assert model.classes_.tolist() == [-1, 1]
    with pytest.warns(IGSDWarning, match="taken as a class"):
        clone(model).fit(graphs, names)


def test_recipes() -> None:
    model = IGSDClassifier.from_recipe("social", random_state=3)
    assert model.config().seed == 3
    assert model.config().readout == "mean"


@pytest.mark.parametrize("name", REGRESSORS)
def test_every_method_learns_to_count_nodes(name: str) -> None:
    graphs = make_graphs(40, labels=False)
    counts = graphs.node_counts() * 10.0
    y = np.where(np.arange(40) < 20, counts, np.nan)
    settings = {"epochs": 60, "node_features": "constant", "learning_rate": 0.03}
    settings |= {"encoder_batch_norm": False, "num_layers": 1, "label_batch_size": 20}
    model = REGRESSORS[name]().set_params(**settings, recipe=None)
    if "ema_decay" in model.get_params():
        model.set_params(ema_decay=0.8)
    assert model.fit(graphs, y).score(graphs, counts) > 0.3


def test_one_target_or_many() -> None:
    graphs = few_graphs()
    y = some_numbers(graphs)
    assert small(IGSDRegressor).fit(graphs, y).predict(graphs).shape == (12,)
    both = np.stack([y, -2 * y], axis=1)
    both[0, 1] = np.nan  # one target of a graph may be known, the other not
    model = small(IGSDRegressor).fit(graphs, both, target_names=("a", "b"))
    assert model.predict(graphs).shape == (12, 2)
    assert model.scale_.names == ("a", "b")
    assert np.isfinite(model.score(graphs, both))


@pytest.mark.filterwarnings("ignore:All known values")
def test_a_constant_target_is_predicted() -> None:
    """Known values of 1.0 alone gave -3.41."""
    graphs = few_graphs()
    y = np.stack([some_numbers(graphs), np.ones(len(graphs))], axis=1)
    found = small(IGSDRegressor).fit(graphs, y).predict(graphs)
    assert found[:, 1].tolist() == [1.0] * len(graphs)
    assert len(set(found[:, 0])) > 1


def test_units_do_not_count() -> None:
    graphs = few_graphs()
    y = some_numbers(graphs)
    a = small(IGSDRegressor).fit(graphs, y).predict(graphs)
    b = small(IGSDRegressor).fit(graphs, 1000 * y + 7).predict(graphs)
    np.testing.assert_allclose(b, 1000 * a + 7, rtol=1e-4)


def test_watched_errors_are_in_the_units_of_the_targets() -> None:
    graphs = few_graphs()
    y = some_numbers(graphs)
    both = np.stack([y, 5 * y], axis=1)
    model = small(IGSDRegressor).fit(graphs, both, eval_set=(graphs, both))
    errors = np.nanmean(np.abs(model.predict(graphs) - both), axis=0)
    last = model.history_[-1]
    assert [last["eval_mae_0"], last["eval_mae_1"]] == pytest.approx(errors.tolist(), rel=1e-5)
    assert last["eval_mae"] == pytest.approx(errors.mean(), rel=1e-5)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([np.nan] * 12, "no target, only NaN"),
        ([1.0] + [np.nan] * 11, "at least two graphs"),
        (np.full((12, 2), [[1.0, np.nan]]), r"target 1 \(0\)"),
        (["a"] * 12, "must hold numbers"),
    ],
)
def test_targets_nothing_can_be_learned_from(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        small(IGSDRegressor).fit(few_graphs(), y)


def test_another_number_of_targets() -> None:
    graphs = few_graphs()
    model = small(IGSDRegressor).fit(graphs, some_numbers(graphs))
    with pytest.raises(DataError, match="predicts 1 targets"):
        model.score(graphs, np.zeros((12, 3)))


def test_no_settings_of_classes() -> None:
    names = IGSDRegressor().get_params()
    assert not {"supcon_weight", "self_training", "pseudo_labels_for"} & set(names)
    assert IGSDRegressor().config().self_weight == 1.0


def test_threads_give_the_numbers_of_one() -> None:
    """Trainings in several threads used to take each other's random numbers."""
    graphs = [nx.path_graph(n) for n in range(3, 9)]

    def vectors(seed: int) -> np.ndarray:
        model = IGSDClassifier(
            random_state=seed, epochs=2, pretraining_epochs=1, head_dropout=0.5, hidden_dim=8
        )
        return model.fit(graphs, [0, 1] * 3).transform(graphs)

    alone = [vectors(seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(vectors, [0, 1, 2, 3] * 3))
    for number, found in enumerate(together):
        np.testing.assert_array_equal(found, alone[number % 4])


def test_calibration_tempers_probabilities_and_is_saved(tmp_path: Path) -> None:
    graphs = make_graphs(30)
    y = ["a" if i % 3 else "b" for i in range(24)] + [None] * 6  # noise: nobody can be sure
    model = small(GINClassifier, epochs=20, learning_rate=0.05).fit(graphs, y)
    plain, classes, weights = model.predict_proba(graphs), model.predict(graphs), model.history_
    assert model.calibration_ is None
    found = model.calibrate(graphs, y).calibration_
    assert (found["folds"], found["graphs"]) == (3, 24)
    assert found["after"] <= found["before"]
    assert found["power"] < 1
    tempered = plain ** found["power"]
    tempered /= tempered.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(graphs), tempered, atol=1e-9)
    assert (model.predict(graphs) == classes).all()
    assert model.history_ is weights
    model.save(tmp_path / "m")
    loaded = GINClassifier.load(tmp_path / "m")
    assert loaded.calibration_ == found
    ((rows, held),) = model.held_out_
    assert len(rows) == found["graphs"] == len(held)
    assert held.sum(axis=1) == pytest.approx(1.0)
    assert np.array_equal(loaded.predict_proba(graphs), model.predict_proba(graphs))
    again = small(GINClassifier, epochs=20, learning_rate=0.05).fit(graphs, y).calibrate(graphs, y)
    assert again.calibration_ == found
    assert model.fit(graphs, y).calibration_ is None
    assert model.held_out_ == ()


def test_calibration_pretrains_once_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, y = make_graphs(12), ["a", "b"] * 5 + [None] * 2
    settings: Any = {"epochs": 2, "pretraining_epochs": 2, "hidden_dim": 8, "random_state": 0}
    titles: list[str] = []
    run = loop.run_training

    def counted(*args: Any, **kwargs: Any) -> Any:
        titles.append(kwargs["title"])
        return run(*args, **kwargs)

    monkeypatch.setattr(loop, "run_training", counted)
    model = IGSDClassifier(**settings).fit(graphs, y).calibrate(graphs, y)
    assert titles == ["pretraining", *["training"] * 4]
    assert pickle.loads(pickle.dumps(model))._pretrained is None
    # Each fold by itself, as if nothing were kept.
    monkeypatch.setattr(LabelEstimator, "_pretrained", property(lambda self: None, lambda *_: None))
    alone = IGSDClassifier(**settings).fit(graphs, y).calibrate(graphs, y)
    assert titles[5:] == ["pretraining", "training"] * 4
    assert alone.calibration_ == model.calibration_
    np.testing.assert_array_equal(alone.held_out_[0][1], model.held_out_[0][1])


def test_another_fit_pretrains_again() -> None:
    settings: Any = {"epochs": 1, "pretraining_epochs": 1, "hidden_dim": 8, "random_state": 0}
    graphs, y = make_graphs(10), ["a", "b"] * 5
    fresh = IGSDClassifier(**settings).fit(graphs[:8], y[:8])
    model = IGSDClassifier(**settings).fit(graphs, y).fit(graphs[:8], y[:8])
    np.testing.assert_array_equal(model.transform(graphs), fresh.transform(graphs))
    assert model.pretraining_history_ == fresh.pretraining_history_


def test_calibration_needs_two_labels_of_each_class() -> None:
    graphs, y = make_graphs(8), ["a", "b", "b", "b", *[None] * 4]
    model = small(GINClassifier).fit(graphs, y)
    assert model.calibrate(graphs, y).calibration_ is None
    with pytest.raises(ConfigError, match="at least 2 folds"):
        model.calibrate(graphs, y, folds=1)


def test_a_network_says_that_0_and_1_are_learned_as_numbers() -> None:
    y = np.column_stack([np.arange(12) % 2, np.arange(12)])
    with pytest.warns(IGSDWarning, match="Only 0 and 1 occur in active.*not a probability"):
        small(IGSDRegressor).fit(few_graphs(), y, target_names=("active", "size"))
