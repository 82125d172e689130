"""Molecules, their bonds and their distances in every estimator: encoder mpnn, views by bond."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from igsd import IGSD
from igsd.baselines.neural.gcc import GCC
from igsd.baselines.neural.local_global import MVGRL, InfoGraph
from igsd.baselines.neural.two_views import BYOL, BarlowTwins, GraphCL
from igsd.errors import ConfigError, DataError
from igsd.estimators import IGSDClassifier, IGSDRegressor
from tests.estimators.contract import tiny
from tests.estimators.few_labels import CLASSIFIERS, REGRESSORS, small, some_classes, some_numbers
from tests.interrupted import after_label_steps
from tests.small_graphs import TINY, make_graphs
from tests.small_molecules import make_molecules

MPNN = {"encoder": "mpnn", "edge_hidden_dim": 4, "distance_bins": 5, "set2set_steps": 2}
BONDS = {"view": "bond-types", "num_views": 2}
GRAPHS = make_molecules(12)
NEW = make_molecules(5, seed=1)


def with_mpnn(model: Any, **changes: Any) -> Any:
    """Return the estimator with the molecule encoder and, where it has views, those by bond."""
    known = model.get_params()
    settings = MPNN | BONDS | changes
    return model.set_params(**{k: v for k, v in settings.items() if k in known})


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes(name: str, tmp_path: Path) -> None:
    y = some_classes(GRAPHS)
    model = with_mpnn(CLASSIFIERS[name]()).fit(GRAPHS, y)
    found = model.predict_proba(NEW)
    again = with_mpnn(CLASSIFIERS[name]()).fit(GRAPHS, y)
    np.testing.assert_array_equal(again.predict_proba(NEW), found)
    model.save(tmp_path / "model")
    loaded = type(model).load(tmp_path / "model")
    assert loaded.features_ == model.features_
    np.testing.assert_array_equal(loaded.predict_proba(NEW), found)


@pytest.mark.parametrize("name", REGRESSORS)
@pytest.mark.parametrize("coordinates", [True, False])
def test_numbers(name: str, coordinates: bool, tmp_path: Path) -> None:
    graphs = make_molecules(12, coordinates=coordinates)
    new = make_molecules(5, seed=1, coordinates=coordinates)
    model = with_mpnn(REGRESSORS[name]()).fit(graphs, some_numbers(graphs))
    found = model.predict(new)
    assert found.shape == (5,)
    assert np.isfinite(found).all()
    assert model.features_.links.boundaries is None or coordinates
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(type(model).load(tmp_path / "model").predict(new), found)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        (IGSD, BONDS),
        (IGSD, {"view": "ppr"}),
        (IGSD, {"view": "edge-drop"}),
        (IGSD, {"view": "node-drop"}),
        (BarlowTwins, BONDS),
        (BarlowTwins, {"view": "attribute-mask"}),
        (BYOL, BONDS),
        (BYOL, {"view": "subgraph"}),
        (GraphCL, {"augmentations": "node-drop+subgraph+attribute-mask+edge-drop"}),
        (InfoGraph, {}),
        (MVGRL, {"view": "ppr"}),
        (MVGRL, {"view": "heat"}),
    ],
)
def test_without_labels(method: Any, settings: dict[str, Any], tmp_path: Path) -> None:
    model = tiny(method, **MPNN, **settings).fit(GRAPHS)
    vectors = model.transform(NEW)
    assert vectors.shape == (5, 16)
    np.testing.assert_array_equal(clone(model).fit(GRAPHS).transform(NEW), vectors)
    assert len(model.history_) == 2
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(method.load(tmp_path / "model").transform(NEW), vectors)
    alone = np.concatenate([model.transform(NEW.take(np.array([i]))) for i in range(5)])
    np.testing.assert_allclose(alone, vectors, rtol=1e-4, atol=1e-6)


def test_a_view_beside_the_graph() -> None:
    model = IGSD(**(TINY | MPNN), embed_views="both").fit(GRAPHS)
    assert model.transform(NEW).shape == (5, 32)


def test_kinds_of_bonds_count() -> None:
    """Benzene and cyclohexane: atoms and edges alike, another vector each."""
    model = IGSD(**(TINY | MPNN), node_features="label").fit(["c1ccccc1", "C1CCCCC1", "CC=O"])
    first, second = model.transform(["c1ccccc1", "C1CCCCC1"])
    assert np.abs(first - second).max() > 1e-3


def test_plain_encoders_have_views_by_bond_too() -> None:
    model = small(IGSDClassifier, self_training=False, **BONDS).fit(GRAPHS, some_classes(GRAPHS))
    one = small(IGSDClassifier, self_training=False).fit(GRAPHS, some_classes(GRAPHS))
    assert not np.allclose(model.predict_proba(NEW), one.predict_proba(NEW))


def test_graphs_without_bonds_and_coordinates_still_work() -> None:
    graphs = make_graphs(8)
    vectors = IGSD(**(TINY | MPNN)).fit(graphs).transform(graphs)
    assert np.isfinite(vectors).all()


def test_a_stopped_training_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    y = some_numbers(GRAPHS)
    whole = with_mpnn(small(IGSDRegressor)).fit(GRAPHS, y)

    def cut() -> Any:
        return with_mpnn(small(IGSDRegressor)).set_params(checkpoint=tmp_path / "here")

    with monkeypatch.context() as patch:
        after_label_steps(patch, 2)
        with pytest.raises(KeyboardInterrupt):
            cut().fit(GRAPHS, y)
    resumed = cut().fit(GRAPHS, y)
    assert resumed.history_ == whole.history_
    np.testing.assert_array_equal(resumed.predict(NEW), whole.predict(NEW))


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"num_views": 9} | {"view": "bond-types"}, ConfigError, "from 1 to 4"),
        ({"num_views": 2}, ConfigError, "num_views=1, or view='bond-types'"),
        ({"num_views": 0}, ConfigError, "at least 1"),
        ({"distance_bins": 1, "encoder": "mpnn"}, ConfigError, "0 .* or at least 2. Got 1"),
        ({"view": "bond-types", "embed_views": "both"}, ConfigError, "one for each kind of bond"),
        ({"set2set_steps": 0}, ConfigError, "at least 1"),
        ({"view": "edge-perturb", "encoder": "mpnn"}, ConfigError, "edges without a kind"),
    ],
)
def test_settings_that_cannot_be(changes: dict[str, Any], error: Any, message: str) -> None:
    with pytest.raises(error, match=message):
        IGSD(**(TINY | changes)).fit(GRAPHS)


def test_gcc_sees_no_bonds() -> None:
    with pytest.raises(ConfigError, match=r"must be one of 'gin', 'gcn'. Got 'mpnn'"):
        GCC(encoder="mpnn").fit(GRAPHS)


def test_molecules_that_lack_something() -> None:
    with pytest.raises(DataError, match=r"needs edge labels, but .* has none. Use view='ppr'"):
        IGSD(**(TINY | BONDS)).fit(make_molecules(labels=False))
    model = IGSD(**(TINY | MPNN)).fit(GRAPHS)
    with pytest.raises(DataError, match="trained on molecules with coordinates"):
        model.transform(make_molecules(coordinates=False))
    with pytest.raises(DataError, match="trained on graphs with edge labels"):
        model.transform(make_molecules(labels=False))
