from __future__ import annotations

import pytest
import torch
from torch import nn

from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.node_vectors import encode_with_nodes, node_width
from igsd.errors import ConfigError
from tests.small_graphs import make_batch, make_graphs


@pytest.mark.parametrize("concat", [True, False])
@pytest.mark.parametrize("readout", ["sum", "mean+max"])
def test_the_graphs_are_the_encoders_own(concat: bool, readout: str) -> None:
    batch = make_batch(make_graphs(5))
    encoder = GNNEncoder(
        "gin", batch.x.shape[1], 6, 2, batch_norm=False, readout=readout, concat_layers=concat
    )
    nodes, graphs = encode_with_nodes(encoder, batch)
    torch.testing.assert_close(graphs, encoder(batch))
    assert nodes.shape == (len(batch.x), node_width(encoder))
    if readout == "sum":
        sums = torch.zeros(5, nodes.shape[1]).index_add(0, batch.batch, nodes)
        torch.testing.assert_close(sums, graphs)


def test_an_encoder_of_ones_own() -> None:
    class Own(nn.Module):
        node_dim = 3

        def with_nodes(self, batch):
            return "nodes", "graphs"

    assert node_width(Own()) == 3
    assert encode_with_nodes(Own(), None) == ("nodes", "graphs")
    with pytest.raises(ConfigError, match=r"Linear.*with_nodes"):
        node_width(nn.Linear(2, 2))
