from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from igsd import IGSDRegressor
from igsd.errors import DataError
from tests.estimators.few_labels import REGRESSORS, few_graphs, small, some_numbers
from tests.small_graphs import make_graphs


@pytest.mark.parametrize("name", REGRESSORS)
def test_every_method_learns_to_count_nodes(name: str) -> None:
    graphs = make_graphs(40, labels=False)
    counts = graphs.node_counts() * 10.0
    y = np.where(np.arange(40) < 20, counts, np.nan)
    settings = {"epochs": 60, "node_features": "constant", "learning_rate": 0.03}
    settings |= {"encoder_batch_norm": False, "num_layers": 1, "label_batch_size": 20}
    model = REGRESSORS[name]().set_params(**settings)
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
        ([np.nan] * 12, "all of it is NaN"),
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
    assert names["self_weight"] == 1.0
