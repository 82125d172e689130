from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from igsd import IGSD
from igsd.errors import ConfigError, DataError
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.settings.igsd import Config
from tests.small_graphs import TINY, make_graphs, odd_graphs


def test_wrong_settings_are_told_at_fit(graphs: GraphSet) -> None:
    model = IGSD(**(TINY | {"epochs": -1}))
    with pytest.raises(ConfigError, match=r"'epochs'.*at least 0.*-1"):
        model.fit(graphs)


@pytest.mark.parametrize("seed", ["0", 1.5, -1])
def test_random_state_is_called_by_its_own_name(graphs: GraphSet, seed: Any) -> None:
    with pytest.raises(ConfigError, match="'random_state'"):
        IGSD(**TINY, random_state=seed).fit(graphs)


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_random_state_may_be_a_source_of_seeds(graphs: GraphSet, kind: Any, tmp_path: Path) -> None:
    source = kind(3)
    model = IGSD(**TINY, random_state=source).fit(graphs)
    vectors = model.transform(graphs)
    seed = model.config_.seed
    assert model.config().seed == seed
    np.testing.assert_array_equal(IGSD(**TINY, random_state=kind(3)).fit_transform(graphs), vectors)
    np.testing.assert_array_equal(IGSD(**TINY, random_state=seed).fit_transform(graphs), vectors)
    assert model.fit(graphs).config_.seed != seed
    model.save(tmp_path / "m")
    assert IGSD.load(tmp_path / "m").random_state == model.config_.seed


def test_without_a_random_state_each_fit_is_new(graphs: GraphSet) -> None:
    model = IGSD(**(TINY | {"epochs": 0}), random_state=None)
    first = model.fit(graphs).config_.seed
    assert model.fit(graphs).config_.seed != first
    assert model.get_params()["random_state"] is None


def test_bad_smiles_are_named_by_place_and_text() -> None:
    pytest.importorskip("rdkit", reason="needs igsd[chem]")
    strings = ["CCO", "CCN", "c1ccccc1"]
    model = IGSD(**TINY).fit(strings)
    for use in (model.fit, model.transform, model.fit_transform):
        with pytest.raises(DataError, match=r"1 of the 4 strings .*\n  row 1: 'nope'"):
            use(["CCO", "nope", *strings[1:]])


def test_numpy_scalars_of_a_parameter_grid(graphs: GraphSet) -> None:
    model = IGSD(**TINY).set_params(hidden_dim=np.int64(4), temperature=np.float64(0.5))
    assert np.isfinite(model.fit_transform(graphs)).all()


def test_from_config() -> None:
    config = Config(epochs=3, seed=4, encoder="gcn")
    model = IGSD.from_config(config, verbose=True)
    assert model.config() == config
    assert model.random_state == 4
    assert model.verbose


def test_made_under_a_debugger() -> None:
    # A debugger reads the variables of every frame, and so changes what locals() returned.
    def trace(frame: Any, event: str, argument: Any) -> Any:
        frame.f_locals  # noqa: B018
        return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        model = IGSD(epochs=3)
    finally:
        sys.settrace(previous)
    assert set(vars(model)) == set(model.get_params())


def test_one_graph(graphs: GraphSet) -> None:
    with pytest.raises(DataError, match="at least 2"):
        IGSD(**TINY).fit(graphs.take([0]))
    assert IGSD(**TINY).fit(graphs).transform(graphs.take([0])).shape[0] == 1


def test_history(graphs: GraphSet) -> None:
    assert len(IGSD(**TINY).fit(graphs).history_) == TINY["epochs"]


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_mix_is_linear_in_its_weight(graphs: GraphSet, weight: float) -> None:
    model = IGSD(**(TINY | {"ema_decay": 0.5})).fit(graphs)
    teacher = model.set_params(mix_weight=0.0).transform(graphs)
    student = model.set_params(mix_weight=1.0).transform(graphs)
    found = model.set_params(mix_weight=weight).transform(graphs)
    assert not np.allclose(student, teacher)
    expected = weight * student + (1 - weight) * teacher
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_checkpoint_of_a_finished_fit_is_used(graphs: GraphSet, tmp_path: Path) -> None:
    first = IGSD(**TINY, checkpoint=tmp_path / "c").fit_transform(graphs)
    again = IGSD(**TINY, checkpoint=str(tmp_path / "c")).fit_transform(graphs)
    np.testing.assert_array_equal(first, again)


def test_smiles() -> None:
    pytest.importorskip("rdkit", reason="needs igsd[chem]")
    vectors = IGSD(**TINY).fit_transform(["CCO", "CCN", "c1ccccc1", "C"])
    assert np.isfinite(vectors).all()


def test_attributes_alone() -> None:
    plain = make_graphs(labels=False, attributes=3)
    model = IGSD(**TINY).fit(plain)
    assert model.features_.parts == ("degree", "attributes")
    assert np.isfinite(model.transform(plain)).all()


def test_disjoint_edges_only() -> None:
    pairs = from_edges([2] * 6, np.arange(0, 12, 2), np.arange(1, 12, 2))
    assert np.isfinite(IGSD(**TINY).fit_transform(pairs)).all()
    assert np.isfinite(IGSD(**TINY).fit(pairs).transform(odd_graphs())).all()


def test_the_view_follows_the_graph(graphs: GraphSet) -> None:
    alone = IGSD(**TINY).fit(graphs).transform(graphs)
    both = IGSD(**TINY, embed_views="both").fit(graphs).transform(graphs)
    assert both.shape == (len(graphs), 2 * alone.shape[1])
    np.testing.assert_allclose(both[:, : alone.shape[1]], alone, rtol=1e-5, atol=1e-6)
    assert not np.allclose(both[:, alone.shape[1] :], alone)


def test_equal_neighbourhoods_computed_once_give_the_same(
    graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = IGSD(**TINY).fit(graphs)
    weights = {key: value.clone() for key, value in model.network_.state_dict().items()}
    once = model.transform(graphs)
    assert once.dtype == np.float32
    assert all((value == weights[k]).all() for k, value in model.network_.state_dict().items())
    for module in ("igsd", "network"):
        monkeypatch.setattr(f"igsd.model.{module}.distinct_depth", lambda *_: 0)
    np.testing.assert_allclose(model.transform(graphs), once, rtol=1e-4, atol=1e-5)
