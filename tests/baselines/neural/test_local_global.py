from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch import Tensor

from igsd.baselines.neural.local_global import MVGRL, InfoGraph, LocalGlobal
from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.losses.contrastive import local_global_jsd
from igsd.settings.groups import View
from igsd.views.cache import diffusion_view
from tests.baselines.steps import step_of
from tests.reference import losses as reference
from tests.small_graphs import TINY


class Graphs:
    """Stands for a step of one process: the graph of each node, and rows as they are."""

    def __init__(self, owner: list[int]) -> None:
        self.batch = SimpleNamespace(batch=torch.tensor(owner))

    def gathered(self, rows: Tensor) -> tuple[Tensor, int]:
        return rows, 0


def test_nodes_and_graphs_pass_a_perceptron_each() -> None:
    torch.manual_seed(0)
    module, step = LocalGlobal(3, 5, 4), Graphs([0, 0, 0, 1, 1, 1])
    nodes, graphs = torch.randn(6, 3), torch.randn(2, 5)
    expected = local_global_jsd(module.nodes(nodes), module.graphs(graphs), step.batch.batch)
    assert torch.equal(module(step, nodes, graphs), expected)


def test_nodes_that_fit_their_graph_have_a_smaller_loss() -> None:
    module = LocalGlobal(2, 2, 2)
    module.nodes = module.graphs = torch.nn.Identity()  # type: ignore[assignment]
    graphs = 4 * torch.eye(2)
    assert module(Graphs([0, 1]), graphs, graphs) < module(Graphs([1, 0]), graphs, graphs)


def test_the_loss_is_that_of_all_pairs_of_nodes_and_graphs(graphs: GraphSet) -> None:
    settings = {key: TINY[key] for key in ("num_layers", "hidden_dim")}
    model = InfoGraph(**settings, epochs=0).fit(graphs)
    network = model.network_
    step = step_of(model, graphs, len(graphs))
    batch = step.batch
    x, per_layer, sums = batch.x, [], []
    with torch.no_grad():
        for layer in network.encoder.layers:
            x = layer(x, batch)
            per_layer.append(x)
            sums.append(torch.stack([x[batch.batch == g].sum(0) for g in range(len(graphs))]))
        heads = network.local_global
        nodes = heads.nodes(torch.cat(per_layer, 1))
        scores = nodes @ heads.graphs(torch.cat(sums, 1)).T
        own = batch.batch.unsqueeze(1) == torch.arange(len(graphs))
        expected = reference.jsd(scores.tolist(), own.tolist())
        assert network.losses(step)["total"].item() == pytest.approx(expected, rel=1e-4)


SETTINGS = {key: TINY[key] for key in ("num_layers", "hidden_dim", "cache_views")}


def test_nodes_of_one_view_meet_graphs_of_the_other(graphs: GraphSet) -> None:
    model = MVGRL(**SETTINGS, epochs=0).fit(graphs)
    network, step = model.network_, step_of(model, graphs, len(graphs))
    batch, view = step.batch, step.views[0]
    dense = view.adjacency.matrix.to_dense().numpy()
    expected = diffusion_view(graphs, View())
    np.testing.assert_allclose(dense.sum(), expected.weight.sum(), rtol=1e-5)
    sides = []
    with torch.no_grad():
        for encoder, seen in ((network.encoder, batch), (network.of_views, view)):
            x, per_layer = seen.x, []
            for layer in encoder.layers:
                x = layer(x, seen)
                per_layer.append(x)
            nodes = network.local_global.nodes(torch.cat(per_layer, 1))
            sides.append((nodes, network.local_global.graphs(encoder(seen))))
        own = (batch.batch.unsqueeze(1) == torch.arange(len(graphs))).tolist()
        (nodes, whole), (view_nodes, view_whole) = sides
        total = reference.jsd((nodes @ view_whole.T).tolist(), own)
        total += reference.jsd((view_nodes @ whole.T).tolist(), own)
        assert network.losses(step)["total"].item() == pytest.approx(total, rel=1e-4)
        embedding = network.encoder(batch) + network.of_views(view)
    np.testing.assert_allclose(model.transform(graphs), embedding.numpy(), rtol=1e-4, atol=1e-5)


def test_the_two_encoders_are_two(graphs: GraphSet) -> None:
    network = MVGRL(**SETTINGS, epochs=1).fit(graphs).network_
    pairs = zip(network.encoder.parameters(), network.of_views.parameters(), strict=True)
    assert any(not torch.equal(a, b) for a, b in pairs)


def test_heat_but_no_random_view(graphs: GraphSet) -> None:
    assert np.isfinite(MVGRL(**SETTINGS, epochs=1, view="heat").fit_transform(graphs)).all()
    with pytest.raises(ConfigError, match=r"must be one of 'ppr', 'heat'. Got 'edge-drop'"):
        MVGRL(**SETTINGS, view="edge-drop").fit(graphs)
