from __future__ import annotations

import pytest
import torch

from igsd.baselines.infograph import InfoGraph
from igsd.graphs.graphset import GraphSet
from tests.reference import losses as reference
from tests.small_graphs import TINY, make_batch


def test_the_loss_is_that_of_all_pairs_of_nodes_and_graphs(graphs: GraphSet) -> None:
    settings = {key: TINY[key] for key in ("num_layers", "hidden_dim")}
    network = InfoGraph(**settings, epochs=0).fit(graphs).network_
    batch = make_batch(graphs)
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
        assert network(batch).item() == pytest.approx(expected, rel=1e-4)
