from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd import IGSDClassifier, load_dataset
from igsd.baselines.gin_supervised import GINClassifier
from igsd.errors import ConfigError, DataError, IGSDWarning
from tests.estimators.few_labels import CLASSIFIERS, few_graphs, small, some_classes


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
    with pytest.raises(DataError, match="holds none"):
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


def test_an_encoder_of_ones_own_is_needed_again(tmp_path: Any) -> None:
    from tests.training.runs import DroppingEncoder

    graphs, y = few_graphs(), some_classes(few_graphs())
    width = small(GINClassifier, epochs=0).fit(graphs, y).features_.dim
    encoder = DroppingEncoder(width)
    model = small(IGSDClassifier, encoder=encoder, self_training=False).fit(graphs, y)
    model.save(tmp_path / "m")
    with pytest.raises(ConfigError, match=r"DroppingEncoder.*encoder="):
        IGSDClassifier.load(tmp_path / "m")
    loaded = IGSDClassifier.load(tmp_path / "m", encoder=DroppingEncoder(width))
    np.testing.assert_array_equal(loaded.predict_proba(graphs), model.predict_proba(graphs))


def test_mutag_by_its_own_classes() -> None:
    graphs = load_dataset("MUTAG", allow_download=False)
    names = np.array(graphs.class_names)[graphs.classes]
    few = [int(name) if i % 8 == 0 else None for i, name in enumerate(names)]
    model = small(IGSDClassifier, epochs=2, self_training=False).fit(graphs, few)
    assert model.classes_.tolist() == [-1, 1]
    with pytest.raises(DataError, match="None or NaN"):
        clone(model).fit(graphs, names)


def test_recipes() -> None:
    model = IGSDClassifier.from_recipe("social", random_state=3)
    assert model.config().seed == 3
    assert model.config().readout == "mean"
