from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from igsd.encoders.edge_network import EdgeNetwork, EdgeNetworkLayer
from igsd.graphs.features import FeatureMap
from igsd.graphs.link_features import LinkFeatures
from igsd.graphs.molecule_batch import MoleculeBatch, MoleculeCollator
from igsd.views.bond_types import bond_type_view
from igsd.views.spec import ViewSpec
from tests.small_graphs import HOST
from tests.small_molecules import make_molecules

DIM, HIDDEN = 5, 7


def molecules(*, view: bool) -> tuple[MoleculeBatch, torch.Tensor]:
    """Return a batch of all molecules, or of their views, and the vectors of its categories."""
    graphs = make_molecules(12)
    links = LinkFeatures.fit(graphs, 6)
    collator = MoleculeCollator(graphs, FeatureMap.fit(graphs), links, HOST)
    every = np.arange(len(graphs))
    batch = collator.molecules(every)
    if view:
        diffusion = bond_type_view(graphs, "single", ViewSpec(), cache=False)
        batch = collator.view(batch, every, diffusion, "single")
    return batch, torch.from_numpy(links.table())


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("mean", [True, False])
def test_equals_nnconv_in_value_and_gradient(mean: bool, dtype: torch.dtype) -> None:
    convolutions = pytest.importorskip("torch_geometric.nn")
    batch, table = molecules(view=False)
    table = table.to(dtype)
    network, layer = EdgeNetwork(table.shape[1], HIDDEN, DIM), EdgeNetworkLayer(DIM, mean=mean)
    network, layer = network.to(dtype), layer.to(dtype)
    plain = nn.Sequential(network.first, nn.ReLU(), network.second)
    conv = convolutions.NNConv(DIM, DIM, plain, aggr="mean" if mean else "add").to(dtype)
    conv.lin.weight, conv.bias = layer.root.weight, layer.root.bias
    shared = [*network.parameters(), *layer.parameters()]
    x = torch.randn(len(batch.x), DIM, dtype=dtype, generator=torch.Generator().manual_seed(1))
    x.requires_grad_()
    ours = layer(x, network(table[batch.links.used]), batch.links)
    receiver, sender = batch.edge_index
    theirs = conv(x, torch.stack([sender, receiver]), table[batch.category])
    torch.testing.assert_close(ours, theirs)
    upstream = torch.randn(ours.shape, dtype=dtype, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(
        torch.autograd.grad(ours, [x, *shared], upstream),
        torch.autograd.grad(theirs, [x, *shared], upstream),
    )


def test_weights_of_a_view_multiply_the_messages() -> None:
    batch, table = molecules(view=True)
    network, layer = EdgeNetwork(table.shape[1], HIDDEN, DIM), EdgeNetworkLayer(DIM, mean=False)
    x = torch.randn(len(batch.x), DIM, generator=torch.Generator().manual_seed(1))
    matrices = network(table[batch.category])
    receiver, sender = batch.edge_index
    sent = batch.edge_weight[:, None] * torch.einsum("ed,edf->ef", x[sender], matrices)
    expected = torch.zeros_like(x).index_add(0, receiver, sent) + layer.root(x)
    torch.testing.assert_close(layer(x, network(table[batch.links.used]), batch.links), expected)
