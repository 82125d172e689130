from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import MoleculeBatch, MoleculeCollator
from igsd.encoders.mpnn import MPNN, EdgeNetwork, EdgeNetworkLayer, Set2Set
from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.settings.groups import View
from igsd.views.source import bond_type_view
from tests.reference import mpnn as reference
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
        diffusion = bond_type_view(graphs, "single", View(), cache=False)
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


PTR = torch.tensor([0, 3, 4, 9])


def nodes(scale: float = 1.0) -> torch.Tensor:
    rng = torch.Generator().manual_seed(0)
    return scale * torch.randn(9, 4, generator=rng, dtype=torch.float64)


def test_equals_the_plain_loop() -> None:
    module, x = Set2Set(4, 3).double(), nodes()
    out = module(x, PTR)
    assert out.shape == (3, module.out_dim)
    for graph, (a, b) in enumerate(itertools.pairwise(PTR.tolist())):
        expected = reference.set2set(module.memory, x[a:b].numpy(), 3)
        np.testing.assert_allclose(out[graph].detach().numpy(), expected, rtol=1e-10)


def test_equals_pyg_in_value_and_gradient() -> None:
    aggr = pytest.importorskip("torch_geometric.nn.aggr")
    ours, theirs = Set2Set(4, 3).double(), aggr.Set2Set(4, 3).double()
    weights = {f"lstm.{k}_l0": v for k, v in ours.memory.state_dict().items()}
    theirs.load_state_dict(weights)
    a, b = nodes().requires_grad_(), nodes().requires_grad_()
    first, second = ours(a, PTR), theirs(b, torch.tensor([0] * 3 + [1] + [2] * 5))
    torch.testing.assert_close(first, second)
    first.square().sum().backward()
    second.square().sum().backward()
    torch.testing.assert_close(a.grad, b.grad)
    torch.testing.assert_close(ours.memory.weight_ih.grad, theirs.lstm.weight_ih_l0.grad)


def test_large_vectors_stay_finite() -> None:
    module = Set2Set(4).double()
    x = nodes(1e4).requires_grad_()
    out = module(x, PTR)
    out.sum().backward()
    assert out.isfinite().all()
    assert x.grad is not None
    assert x.grad.isfinite().all()


def test_order_of_nodes_does_not_matter() -> None:
    module, x = Set2Set(4).double(), nodes()
    shuffled = x[[2, 0, 1, 3, 8, 7, 6, 5, 4]]
    torch.testing.assert_close(module(x, PTR), module(shuffled, PTR))


def build(graphs: GraphSet) -> tuple[MPNN, MoleculeCollator]:
    features, links = FeatureMap.fit(graphs), LinkFeatures.fit(graphs, 6)
    torch.manual_seed(0)
    model = MPNN(features.dim, links, hidden_dim=4, num_steps=2, edge_hidden_dim=5)
    return model, MoleculeCollator(graphs, features, links, HOST)


@pytest.mark.parametrize("coordinates", [True, False])
def test_equals_the_plain_loop_mpnn(coordinates: bool) -> None:
    graphs = make_molecules(5, coordinates=coordinates)
    model, collator = build(graphs)
    model = model.double()
    batch = collator.molecules(np.arange(5))
    batch.x = batch.x.double()
    out = model(batch)
    assert out.shape == (5, model.out_dim)
    receiver, sender = batch.edge_index.tolist()
    vectors = model.link_table[batch.category].numpy()
    for graph in range(5):
        a, b = int(batch.ptr[graph]), int(batch.ptr[graph + 1])
        links = [
            (i - a, j - a, vector, 1.0)
            for i, j, vector in zip(receiver, sender, vectors, strict=True)
            if a <= i < b
        ]
        expected = reference.encode_molecule(model, batch.x[a:b].numpy(), links)
        np.testing.assert_allclose(out[graph].detach().numpy(), expected, rtol=1e-9, atol=1e-12)


def test_a_molecule_does_not_depend_on_its_batch() -> None:
    model, collator = build(make_molecules(8))
    together = model(collator.molecules(np.arange(8)))
    alone = torch.cat([model(collator.molecules(np.array([i]))) for i in range(8)])
    torch.testing.assert_close(together, alone)
    joined = MoleculeBatch.joined(
        [collator.molecules(np.array([7])), collator.molecules(np.arange(2))]
    )
    torch.testing.assert_close(model(joined), together[[7, 0, 1]])


def test_one_atom_and_no_links() -> None:
    graphs = make_molecules(1)
    assert graphs.num_nodes == 1
    model, collator = build(graphs)
    out = model(collator.molecules(np.array([0])))
    assert out.isfinite().all()
    out.sum().backward()


def test_bond_kinds_matter() -> None:
    graphs = make_molecules(8, coordinates=False)
    model, collator = build(graphs)
    batch = collator.molecules(np.arange(8))
    other = MoleculeBatch(batch.x, batch.ptr, batch.adjacency, (batch.category + 1) % 4)
    assert not torch.allclose(model(batch), model(other))


def test_plain_batch_is_refused() -> None:
    model, collator = build(make_molecules())
    batch = collator.molecules(np.arange(2))
    with pytest.raises(ConfigError, match="MPNN needs a batch whose links have categories"):
        model(Batch(batch.x, batch.ptr, batch.adjacency))


def test_it_learns() -> None:
    model, collator = build(make_molecules(12))
    batch = collator.molecules(np.arange(12))
    goal = torch.randn(12, generator=torch.Generator().manual_seed(3))
    optimizer = torch.optim.Adam(model.parameters(), 0.03)
    losses = []
    for _ in range(30):
        loss = (model(batch).sum(1) - goal).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.5 * losses[0]


def test_weights_alone_are_saved() -> None:
    model, _ = build(make_molecules())
    assert not any("table" in name for name in model.state_dict())
