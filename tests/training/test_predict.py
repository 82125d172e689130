from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.training import graph_source
from igsd.training.graph_source import GraphSource
from igsd.training.predict import predict_outputs
from tests.small_graphs import HOST, make_graphs

GRAPHS = make_graphs(10)


class SumNetwork(nn.Module):
    """Two outputs of each graph, behind dropout and BatchNorm."""

    def __init__(self, in_dim: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.BatchNorm1d(in_dim), nn.Dropout(0.5), nn.Linear(in_dim, 2))

    def outputs(self, batch: Batch) -> Tensor:
        """Return a linear map of the sums over nodes."""
        sums = batch.x.new_zeros(batch.num_graphs, batch.x.shape[1])
        return self.layers(sums.index_add(0, batch.batch, batch.x))


@pytest.fixture
def source() -> GraphSource:
    return GraphSource(GRAPHS, FeatureMap.fit(GRAPHS), HOST)


def test_rows_in_the_order_asked_for_whatever_the_pieces(
    source: GraphSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    network = SumNetwork(source.batch(np.array([0])).x.shape[1])
    whole = predict_outputs(network, source, np.arange(10))
    assert whole.shape == (10, 2)
    assert not whole.requires_grad
    monkeypatch.setattr(graph_source, "_CHUNK_NODES", 9)
    order = np.array([7, 0, 3, 9, 9])
    torch.testing.assert_close(predict_outputs(network, source, order), whole[order])


@pytest.mark.parametrize("mode", [True, False])
def test_the_network_comes_back_as_it_was(source: GraphSource, mode: bool) -> None:
    network = SumNetwork(source.batch(np.array([0])).x.shape[1]).train(mode)
    before = {name: value.clone() for name, value in network.state_dict().items()}
    first = predict_outputs(network, source, np.arange(10))
    assert torch.equal(predict_outputs(network, source, np.arange(10)), first)
    assert network.training == mode
    assert all(torch.equal(value, before[name]) for name, value in network.state_dict().items())


def test_a_failure_does_not_leave_it_in_another_mode(source: GraphSource) -> None:
    network = SumNetwork(1)
    with pytest.raises(RuntimeError):
        predict_outputs(network, source, np.arange(3))
    assert network.training
