from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.baselines.neural.mvgrl import MVGRL
from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.settings.groups import View
from igsd.views.cache import diffusion_view
from tests.baselines.steps import step_of
from tests.reference import losses as reference
from tests.small_graphs import TINY

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
