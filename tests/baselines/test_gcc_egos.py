from __future__ import annotations

import numpy as np
import torch

from igsd.baselines.gcc import GCCConfig
from igsd.baselines.gcc_egos import EgoSource
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import HOST, TINY

SETTINGS = {key: TINY[key] for key in ("num_layers", "hidden_dim", "head_dim")}


def test_both_subgraphs_hold_the_same_start(graphs: GraphSet) -> None:
    config = GCCConfig(walk_steps=6)
    indices = np.array([5, 2, 8])
    source = EgoSource(graphs, config, HOST)
    pairs = source.step(indices, (1, 0))
    for batch in pairs:
        assert batch.x.shape[1] == config.eigenvectors + config.degree_cap + 2
        is_start = batch.x[:, -1] == 1
        assert batch.batch[is_start].tolist() == [0, 1, 2]
        degrees = batch.x[:, config.eigenvectors : -1]
        assert degrees.sum(dim=1).tolist() == [1.0] * len(batch.x)
        expected = batch.adjacency.row_sums().clamp_max(config.degree_cap)
        assert degrees.argmax(dim=1).tolist() == expected.long().tolist()
    again = EgoSource(graphs, config, HOST).step(indices, (1, 0))
    assert torch.equal(pairs[0].x, again[0].x)


def test_pooled_egos_are_spread_over_the_graph(graphs: GraphSet) -> None:
    source = EgoSource(graphs, GCCConfig(), HOST)
    (egos,) = source.pooled(4)
    sizes = np.minimum(graphs.node_counts(), 4)
    assert egos.graph_ptr.tolist() == [0, *np.cumsum(sizes).tolist()]
    assert egos.batch.num_graphs == sizes.sum()
