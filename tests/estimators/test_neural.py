"""Every method that trains a network without labels, IGSD among them, and networks of one's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from torch import Tensor, nn

from igsd.baselines.neural.gcc import GCC
from igsd.baselines.neural.local_global import MVGRL, InfoGraph
from igsd.baselines.neural.two_views import BYOL, BarlowTwins, GraphCL
from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.errors import ConfigError, DataError
from igsd.estimators import IGSD
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.networkx import from_networkx
from igsd.model.network import Dims, Network, Step
from igsd.settings.groups import RANDOM_VIEWS, Batches, Encoder, Features, Training
from igsd.training.task import Task, epoch_batches
from tests.estimators.contract import MeanEncoder, tiny
from tests.small_graphs import TINY, make_graphs

METHODS: tuple[Any, ...] = (IGSD, InfoGraph, MVGRL, GraphCL, GCC, BarlowTwins, BYOL)


class PowerCutError(RuntimeError):
    """Ends a run without giving it the chance to save."""


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
    path, losses = tmp_path / "checkpoint", Task.losses

    def cut(self: Task, epoch: int, step: int) -> Any:
        if (epoch, step) == (1, 1):
            raise PowerCutError
        return losses(self, epoch, step)

    with monkeypatch.context() as patch:
        patch.setattr(Task, "losses", cut)
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
    with pytest.raises(ConfigError, match=f"'encoder' parameter of {name}.*out_dim"):
        tiny(method, encoder=nn.Linear(2, 2)).fit(graphs)
    with pytest.raises(DataError, match=f"{name} compares graphs.*at least 2"):
        tiny(method).fit(graphs.take([0]))


def test_a_recipe_says_what_the_data_is_like() -> None:
    config = GraphCL.from_recipe("social", epochs=7).config()
    assert (config.readout, config.hidden_dim, config.node_features) == ("mean", 256, "degree")
    assert (config.epochs, config.temperature) == (7, 0.2)
    assert GCC.from_recipe("molecules").config().temperature == GCC().config().temperature
    with pytest.raises(ConfigError, match=r"no recipe 'sociable'.*'social'"):
        GraphCL.from_recipe("sociable")


def test_settings_that_a_method_has_no_use_for_are_not_there(method: Any) -> None:
    names = set(method().get_params())
    assert {"devices", "sync_batch_norm", "schedule", "encoder", "checkpoint"} <= names
    assert ("view" in names) == (method in (IGSD, MVGRL, BarlowTwins, BYOL))
    assert ("temperature" in names) == (method in (IGSD, GraphCL, GCC))


def test_chunks_are_the_rows_of_transform(
    method: Any, graphs: GraphSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tiny(method, epochs=1).fit(graphs)
    whole = model.transform(graphs)
    monkeypatch.setattr("igsd.estimators.neural.chunks", lambda ptr, size: [(0, 3), (3, 10)])
    parts = list(model.transform_chunks(graphs))
    assert [len(part) for part in parts] == [3, 7]
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "changes",
    [
        {"encoder": "gcn", "concat_layers": False},
        {"precision": "bf16-mixed"},
        {"schedule": "cosine", "warmup_epochs": 1, "weight_decay": 0.01},
    ],
    ids=["gcn", "bf16", "schedule"],
)
def test_other_layers_precision_and_schedule(method: Any, graphs: GraphSet, changes: Any) -> None:
    settings = {"epochs": 2, "encoder": "gin", "readout": "mean+max"} | changes
    assert np.isfinite(tiny(method, **settings).fit_transform(graphs)).all()


@pytest.mark.parametrize("view", RANDOM_VIEWS)
@pytest.mark.parametrize("method", [IGSD, BarlowTwins, BYOL])
def test_any_random_view(method: Any, graphs: GraphSet, view: str) -> None:
    model = tiny(method, view=view, drop_rate=0.4).fit(graphs)
    vectors = model.transform(graphs)
    assert np.isfinite(vectors).all()
    np.testing.assert_array_equal(clone(model).fit_transform(graphs), vectors)
    other = tiny(method, view=view, drop_rate=0.1).fit_transform(graphs)
    assert not np.array_equal(other, vectors)


def test_attributes_alone(method: Any) -> None:
    plain = make_graphs(labels=False, attributes=3)
    assert np.isfinite(tiny(method, epochs=1).fit_transform(plain)).all()


def test_the_width_for_an_encoder_of_ones_own_counts_the_strength_of_weighted_nodes() -> None:
    """The documents took ``FeatureMap.fit``, without the weights and the recipe of IGSD."""
    networks = [nx.path_graph(n) for n in range(4, 10)]
    for graph in networks:
        nx.set_edge_attributes(graph, {edge: 1.0 + sum(edge) for edge in graph.edges}, "weight")
    weighted = from_networkx(networks)
    features = IGSD(**TINY).features_for(weighted)
    assert features.dim == 4  # degrees 0 to 2, and the strength
    model = IGSD(**TINY, encoder=MeanEncoder(features.dim, 5)).fit(weighted)
    assert model.features_ == features
    star = from_networkx([nx.star_graph(n) for n in (4, 100)])
    assert IGSD().features_for(star).dim == 101  # the recipe for such networks tells more degrees


def own_encoder(method: Any, graphs: GraphSet, out_dim: int = 5) -> MeanEncoder:
    """Return a module of the user's own for the nodes that a method shows."""
    if method is GCC:
        config = GCC().config()
        return MeanEncoder(config.eigenvectors + config.degree_cap + 2, out_dim)
    return MeanEncoder(FeatureMap.fit(graphs).dim, out_dim)


def test_an_encoder_of_ones_own(method: Any, graphs: GraphSet, tmp_path: Path) -> None:
    encoder = own_encoder(method, graphs)
    before = encoder.linear.weight.clone()
    model = tiny(method, encoder=encoder)
    vectors = model.fit_transform(graphs)
    assert vectors.shape == (len(graphs), 5)
    assert torch.equal(encoder.linear.weight, before)  # a copy was trained
    np.testing.assert_array_equal(clone(model).fit_transform(graphs), vectors)
    model.save(tmp_path / "m")
    with pytest.raises(ConfigError, match=r"MeanEncoder.*encoder="):
        method.load(tmp_path / "m")
    loaded = method.load(tmp_path / "m", encoder=own_encoder(method, graphs))
    assert loaded.own_encoder_ == "MeanEncoder"
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)


def test_another_encoder_than_the_one_of_training(
    method: Any, graphs: GraphSet, tmp_path: Path
) -> None:
    tiny(method, encoder=own_encoder(method, graphs)).fit(graphs).save(tmp_path / "own")
    tiny(method).fit(graphs).save(tmp_path / "named")
    for path in (tmp_path / "own", tmp_path / "named"):
        with pytest.raises(ConfigError, match="do not fit the given MeanEncoder"):
            method.load(path, encoder=own_encoder(method, graphs, out_dim=7))


@pytest.mark.parametrize("method", [InfoGraph, MVGRL])
def test_vectors_of_nodes_must_be_there_where_they_are_compared(
    method: Any, graphs: GraphSet
) -> None:
    class OnlyGraphs(nn.Module):
        out_dim = 5

    with pytest.raises(ConfigError, match=r"OnlyGraphs.*'with_nodes' and an attribute 'node_dim'"):
        tiny(method, encoder=OnlyGraphs()).fit(graphs)


def test_a_module_of_pytorch_geometric(graphs: GraphSet, tmp_path: Path) -> None:
    geometric = pytest.importorskip("torch_geometric.nn", reason="needs igsd[pyg]")

    class Convolution(nn.Module):
        out_dim = 6

        def __init__(self, in_dim: int) -> None:
            super().__init__()
            self.layer = geometric.GraphConv(in_dim, 6)

        def forward(self, batch: Batch) -> Tensor:
            h = self.layer(batch.x, batch.edge_index, batch.edge_weight).relu()
            return geometric.global_mean_pool(h, batch.batch, batch.num_graphs)

    width = FeatureMap.fit(graphs).dim
    model = IGSD(**TINY, encoder=Convolution(width))
    vectors = model.fit_transform(graphs)
    assert vectors.shape == (10, 6)
    model.save(tmp_path / "m")
    loaded = IGSD.load(tmp_path / "m", encoder=Convolution(width))
    np.testing.assert_array_equal(loaded.transform(graphs), vectors)


class OneNumber(Network):
    """A network with one weight, which is its loss; it keeps its steps."""

    out_dim = 1

    def __init__(self, settings: Any, dims: Dims) -> None:
        super().__init__(settings, dims)
        self.weight = nn.Parameter(torch.rand(1))
        self.steps: list[Step] = []
        self.followed = 0

    def losses(self, step: Step) -> dict[str, Tensor]:
        self.steps.append(step)
        return {"total": self.weight.sum()}

    def after_step(self) -> None:
        self.followed += 1

    def embed(self, step: Step) -> Tensor:
        return self.weight * torch.from_numpy(np.diff(step.source.graphs.node_ptr)).unsqueeze(1)


class OneNumberConfig(Training, Batches, Features, Encoder):
    """The settings that every method has."""

    recipes: ClassVar[str | None] = None


@settings_as_parameters(OneNumberConfig)
class OneNumberEstimator(NeuralEstimator):
    """A method of the user's own: settings and a network."""

    network_class = OneNumber


def test_a_method_of_ones_own(graphs: GraphSet, tmp_path: Path) -> None:
    model = tiny(OneNumberEstimator, random_state=5).fit(graphs)
    network, sizes = model.network_, graphs.node_counts()
    assert network.followed == len(network.steps) == 6
    assert [line["epoch"] for line in model.history_] == [0.0, 1.0]
    assert model.history_[1]["total"] < model.history_[0]["total"]
    assert not network.training
    for number, step in enumerate(network.steps):
        epoch, place = divmod(number, 3)
        assert step.place == (epoch, place)
        assert sorted(step.indices) == sorted(epoch_batches(10, 4, 5, epoch)[place])
        assert (np.diff(sizes[step.indices]) >= 0).all()  # small graphs first
    vectors = model.transform(graphs)
    np.testing.assert_allclose(vectors[:, 0], sizes * network.weight.item(), rtol=1e-6)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(
        OneNumberEstimator.load(tmp_path / "m").transform(graphs), vectors
    )


def test_a_network_without_labels_is_given_none(graphs: GraphSet) -> None:
    step = tiny(OneNumberEstimator).fit(graphs).network_.steps[0]
    with pytest.raises(TypeError, match="trained without"):
        _ = step.labels


def test_settings_left_open_follow_the_recipe_for_the_data() -> None:
    for labels, recipe, readout in ((True, "molecules", "sum"), (False, "social", "mean")):
        model = IGSD(epochs=1, hidden_dim=4).fit(make_graphs(labels=labels))
        assert model.recipe_ == recipe
        assert (model.config_.epochs, model.config_.hidden_dim) == (1, 4)
        assert model.config_.readout == readout
        assert model.get_params()["readout"] is None
    plain = IGSD(epochs=1, hidden_dim=4, recipe=None).fit(make_graphs(labels=False))
    assert plain.config_.readout == type(plain.config_)().readout
