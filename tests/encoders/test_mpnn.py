from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.encoders.mpnn import MPNN
from igsd.errors import ConfigError
from igsd.graphs.batch import Batch
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.link_features import LinkFeatures
from igsd.graphs.molecule_batch import MoleculeBatch, MoleculeCollator
from tests.reference import mpnn as reference
from tests.small_graphs import HOST
from tests.small_molecules import make_molecules


def build(graphs: GraphSet, **settings: bool) -> tuple[MPNN, MoleculeCollator]:
    features, links = FeatureMap.fit(graphs), LinkFeatures.fit(graphs, 6)
    torch.manual_seed(0)
    model = MPNN(features.dim, links, hidden_dim=4, num_steps=2, edge_hidden_dim=5, **settings)
    return model, MoleculeCollator(graphs, features, links, HOST)


@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("coordinates", [True, False])
def test_equals_the_plain_loop(mean: bool, coordinates: bool) -> None:
    graphs = make_molecules(5, coordinates=coordinates)
    model, collator = build(graphs, mean=mean)
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
