from __future__ import annotations

import numpy as np
import torch

from igsd.encoders.encoder import GNNEncoder
from igsd.graphs.build import from_edges
from igsd.graphs.features import FeatureMap
from igsd.training import graph_source
from igsd.training.graph_source import GraphSource
from igsd.training.predict import predict_outputs
from igsd.views.spec import ViewSpec
from tests.small_graphs import HOST, make_graphs

GRAPHS = make_graphs(9)
FEATURES = FeatureMap.fit(GRAPHS)


class Sizes(torch.nn.Module):
    """Says the number of nodes of a graph; in training it would say something else."""

    def outputs(self, batch):
        return (batch.ptr[1:] - batch.ptr[:-1]).unsqueeze(1) * (-1.0 if self.training else 1.0)


def test_without_a_view() -> None:
    batch, views = GraphSource(GRAPHS, FEATURES, HOST).with_views(np.array([3, 1]), (0, 0))
    assert batch.num_graphs == 2
    assert views == []


def test_with_a_view() -> None:
    source = GraphSource(GRAPHS, FEATURES, HOST, view=ViewSpec(), cache=False)
    batch, (view,) = source.with_views(np.array([3, 1]), (0, 0))
    assert torch.equal(view.x, batch.x)
    assert torch.equal(batch.x, source.batch(np.array([3, 1])).x)
    assert len(view.edge_weight) > len(batch.edge_weight)


def test_pieces_keep_the_order(monkeypatch) -> None:
    monkeypatch.setattr(graph_source, "_CHUNK_NODES", 10)
    source, chosen = GraphSource(GRAPHS, FEATURES, HOST), np.array([8, 0, 3, 3, 5, 1])
    pieces = list(source.pieces(chosen))
    assert len(pieces) > 1
    np.testing.assert_array_equal(np.concatenate(pieces), chosen)
    assert list(source.pieces(chosen[:0])) == []
    network = Sizes().train()
    found = predict_outputs(network, source, chosen)
    np.testing.assert_array_equal(found[:, 0], GRAPHS.node_counts()[chosen])
    assert network.training


def test_merged_rows_give_the_same_representations() -> None:
    graphs = from_edges([12], *np.triu_indices(12, 1))
    features = FeatureMap.fit(graphs)
    encoder = GNNEncoder("gin", features.dim, 4, 2).eval()
    batches = []
    for view in (None, ViewSpec()):
        whole, merged = (
            GraphSource(graphs, features, HOST, view=view, cache=False, merge=merge)
            for merge in (False, True)
        )
        batches += [(whole.batch(np.array([0])), merged.batch(np.array([0])))]
        pairs = [source.with_views(np.array([0]), (0, 0))[1] for source in (whole, merged)]
        batches += list(zip(*pairs, strict=True))
    assert len(batches) == 3
    for whole_batch, merged_batch in batches:
        assert len(merged_batch.x) == 1 < len(whole_batch.x)
        found = [encoder(batch) for batch in (whole_batch, merged_batch)]
        torch.testing.assert_close(*found, rtol=1e-4, atol=1e-5)
