"""What all learned baselines share: settings, errors, the loop, checkpoints."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from igsd.baselines.barlow import BarlowTwins
from igsd.baselines.byol import BYOL
from igsd.baselines.gcc import GCC
from igsd.baselines.graphcl import GraphCL
from igsd.baselines.infograph import InfoGraph
from igsd.baselines.learned_training import LearnedTask
from igsd.baselines.mvgrl import MVGRL
from igsd.errors import ConfigError, DataError
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import TINY, make_graphs

METHODS: tuple[Any, ...] = (InfoGraph, MVGRL, GraphCL, GCC, BarlowTwins, BYOL)


class PowerCutError(RuntimeError):
    """Ends a run without giving it the chance to save."""


def tiny(method: Any, **changes: Any) -> Any:
    """Return an estimator that trains at once."""
    known = inspect.signature(method.__init__).parameters
    return method(**({k: v for k, v in TINY.items() if k in known} | changes))


@pytest.fixture(params=METHODS, ids=lambda method: method.__name__)
def method(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_every_parameter_that_should_is_trained(method: Any, graphs: GraphSet) -> None:
    # The layers of MVGRL's own code stood in a plain list and never trained.
    before = tiny(method, epochs=0).fit(graphs).network_
    after = tiny(method, epochs=2, learning_rate=0.01).fit(graphs).network_
    pairs = zip(before.named_parameters(), after.parameters(), strict=True)
    untouched = [name for (name, old), new in pairs if torch.equal(old, new)]
    assert untouched == []


def test_the_loss_falls(method: Any, graphs: GraphSet) -> None:
    changes = {"queue_size": 8} if method is GCC else {}
    history = tiny(method, epochs=12, learning_rate=0.01, **changes).fit(graphs).history_
    first, last = ([line["total"] for line in part] for part in (history[:3], history[-3:]))
    assert np.mean(last) < np.mean(first)


def test_a_run_that_was_cut_off_goes_on_to_the_same_result(
    method: Any, graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # BatchNorm statistics, teacher, queue, optimiser and the random views must all come back.
    expected = tiny(method).fit(graphs)
    path, losses = tmp_path / "checkpoint", LearnedTask.losses

    def cut(self: LearnedTask, epoch: int, step: int) -> Any:
        if (epoch, step) == (1, 1):
            raise PowerCutError
        return losses(self, epoch, step)

    with monkeypatch.context() as patch:
        patch.setattr(LearnedTask, "losses", cut)
        with pytest.raises(PowerCutError):
            tiny(method, checkpoint=path, checkpoint_every=2).fit(graphs)
    found = tiny(method, checkpoint=path, checkpoint_every=2).fit(graphs)
    assert found.history_ == expected.history_
    states = found.network_.state_dict(), expected.network_.state_dict()
    for name, value in states[0].items():
        assert torch.equal(value, states[1][name]), name


def test_another_methods_checkpoint_is_refused(graphs: GraphSet, tmp_path: Path) -> None:
    tiny(BarlowTwins, checkpoint=tmp_path / "c").fit(graphs)
    with pytest.raises(ConfigError, match="another run"):
        tiny(BYOL, checkpoint=tmp_path / "c").fit(graphs)


def test_seeds_differ_and_the_callers_random_state_stays(method: Any, graphs: GraphSet) -> None:
    before = torch.random.get_rng_state()
    first = tiny(method, epochs=1).fit_transform(graphs)
    assert torch.equal(torch.random.get_rng_state(), before)
    second = tiny(method, epochs=1, random_state=1).fit_transform(graphs)
    assert not np.allclose(first, second)
    drawn = tiny(method, epochs=1, random_state=np.random.default_rng(0)).fit(graphs)
    repeated = tiny(method, epochs=1, random_state=drawn.config_.seed)
    np.testing.assert_array_equal(repeated.fit_transform(graphs), drawn.transform(graphs))


def test_errors_speak_of_the_method(method: Any, graphs: GraphSet) -> None:
    name = method.__name__
    with pytest.raises(ConfigError, match=f"'epochs' parameter of {name} must be at least 0"):
        tiny(method, epochs=-1).fit(graphs)
    with pytest.raises(ConfigError, match=f"'random_state' parameter of {name}"):
        tiny(method, random_state=-1).fit(graphs)
    with pytest.raises(ConfigError, match=f"'readout' parameter of {name}"):
        tiny(method, readout="median").fit(graphs)
    with pytest.raises(DataError, match=f"{name} tells graphs apart.*at least 2"):
        tiny(method).fit(graphs.take([0]))


def test_a_recipe_says_what_the_data_is_like() -> None:
    made = GraphCL.from_recipe("social", epochs=7)
    assert (made.readout, made.hidden_dim, made.node_features) == ("mean", 256, "degree")
    assert (made.epochs, made.temperature) == (7, 0.2)
    assert GCC.from_recipe("molecules").temperature == GCC().temperature
    with pytest.raises(ConfigError, match=r"no recipe 'sociable'.*'social'"):
        GraphCL.from_recipe("sociable")


def test_settings_that_a_method_has_no_use_for_are_not_there(method: Any) -> None:
    given = set(method().get_params())
    assert "devices" not in given
    assert ("view" in given) == (method in (MVGRL, BarlowTwins, BYOL))
    assert ("temperature" in given) == (method in (GraphCL, GCC))


def test_chunks_are_the_rows_of_transform(
    method: Any, graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny(method, epochs=1).fit(graphs)
    whole = model.transform(graphs)
    monkeypatch.setattr("igsd.baselines.learned.chunks", lambda ptr: [(0, 3), (3, 10)])
    pieces = list(model.transform_chunks(graphs))
    assert [len(piece) for piece in pieces] == [3, 7]
    np.testing.assert_allclose(np.concatenate(pieces), whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "changes", [{"encoder": "gcn", "concat_layers": False}, {"precision": "bf16-mixed"}]
)
def test_other_layers_and_precision(method: Any, graphs: GraphSet, changes: Any) -> None:
    settings = {"epochs": 1, "encoder": "gin", "readout": "mean+max"} | changes
    assert np.isfinite(tiny(method, **settings).fit_transform(graphs)).all()


def test_attributes_alone(method: Any) -> None:
    plain = make_graphs(labels=False, attributes=3)
    assert np.isfinite(tiny(method, epochs=1).fit_transform(plain)).all()
