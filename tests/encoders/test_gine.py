from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.batches.batch import Batch
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import MoleculeBatch, MoleculeCollator
from igsd.encoders.encoder import GNNEncoder
from igsd.encoders.gine import GINELayer, added_messages
from igsd.errors import ConfigError
from igsd.estimators import IGSD
from igsd.graphs.build import from_edges
from igsd.settings.groups import View
from igsd.views.cache import diffusion_view
from tests.small_graphs import HOST, TINY, make_graphs
from tests.small_molecules import make_molecules

DIM = 5


def molecules(*, view: bool) -> tuple[MoleculeBatch, LinkFeatures]:
    graphs = make_molecules(12, coordinates=False)
    links = LinkFeatures.fit(graphs)
    collator = MoleculeCollator(graphs, FeatureMap.fit(graphs), links, HOST)
    every = np.arange(len(graphs))
    batch = collator.molecules(every)
    if view:
        batch = collator.view(batch, every, diffusion_view(graphs, View()), None)
    return batch, links


def plain_loop(x: torch.Tensor, vectors: torch.Tensor, batch: MoleculeBatch) -> torch.Tensor:
    """Return x_i + sum_j w_ij relu(x_j + e_ij), edge by edge."""
    rows = list(x)
    edges = zip(*batch.edge_index.tolist(), batch.edge_weight, batch.category, strict=True)
    for receiver, sender, weight, category in edges:
        rows[receiver] = rows[receiver] + weight * (x[sender] + vectors[category]).relu()
    return torch.stack(rows)


@pytest.mark.parametrize("view", [False, True])
def test_equals_the_plain_loop_in_value_and_gradient(view: bool) -> None:
    batch, links = molecules(view=view)
    generator = torch.Generator().manual_seed(0)
    shape = {"dtype": torch.float64, "generator": generator, "requires_grad": True}
    x = torch.randn(len(batch.x), DIM, **shape)  # type: ignore[call-overload]
    vectors = torch.randn(links.num_categories, DIM, **shape)  # type: ignore[call-overload]
    ours = added_messages(x, vectors[batch.links.used], batch.links)
    theirs = plain_loop(x, vectors, batch)
    torch.testing.assert_close(ours, theirs, check_dtype=False)
    upstream = torch.randn(ours.shape, dtype=ours.dtype, generator=generator)
    torch.testing.assert_close(
        torch.autograd.grad(ours, [x, vectors], upstream),
        torch.autograd.grad(theirs, [x, vectors], upstream),
    )


def test_equals_pyg() -> None:
    convolutions = pytest.importorskip("torch_geometric.nn")
    batch, links = molecules(view=False)
    layer = GINELayer(batch.x.shape[1], DIM, batch_norm=False, links=links)
    network = torch.nn.Sequential(layer.first, torch.nn.ReLU(), layer.second, torch.nn.ReLU())
    conv = convolutions.GINEConv(network, edge_dim=layer.edge.in_features)
    conv.lin = layer.edge
    receiver, sender = batch.edge_index
    attributes = layer.link_table[batch.category]
    expected = conv(layer.lift(batch.x), torch.stack([sender, receiver]), attributes)
    torch.testing.assert_close(layer(batch.x, batch), expected)


def test_edges_without_a_label_count_too() -> None:
    graphs = make_graphs(4)
    model = IGSD(**TINY, encoder="gine").fit(graphs)
    assert model.transform(graphs).shape == (4, 16)


def test_sees_the_labels_of_edges() -> None:
    path = {"source": np.array([0, 1]), "target": np.array([1, 2])}
    graphs = from_edges(
        [3, 3],
        np.concatenate([path["source"], path["source"] + 3]),
        np.concatenate([path["target"], path["target"] + 3]),
        edge_labels=np.array([0, 1, 0, 0]),
        edge_label_names=("a", "b"),
        name="two",
    )
    vectors = IGSD(**TINY | {"epochs": 0}, encoder="gine").fit(graphs).transform(graphs)
    assert not np.allclose(vectors[0], vectors[1])
    plain = IGSD(**TINY | {"epochs": 0}, recipe=None).fit(graphs).transform(graphs)
    assert np.allclose(plain[0], plain[1])


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_relabelling_nodes_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    graphs = make_molecules(5, seed=seed % 1000, coordinates=False)
    torch.manual_seed(0)
    links = LinkFeatures.fit(graphs)
    features = FeatureMap.fit(graphs)
    encoder = GNNEncoder("gine", features.dim, 8, 3, links=links).double().eval()
    moved = np.concatenate(
        [
            start + rng.permutation(n)
            for start, n in zip(graphs.node_ptr[:-1], graphs.node_counts(), strict=True)
        ]
    )
    place = np.argsort(moved)
    rows = graphs.adjacency.rows()
    columns = graphs.adjacency.global_columns(graphs.node_ptr)
    assert graphs.node_labels is not None
    other = from_edges(
        graphs.node_counts(),
        place[rows],
        place[columns],
        edge_labels=graphs.edge_labels,
        edge_label_names=graphs.edge_label_names,
        node_labels=graphs.node_labels[moved],
        node_label_names=graphs.node_label_names,
        name="other",
    )
    results = []
    for part in (graphs, other):
        batch = MoleculeCollator(part, features, links, HOST).molecules(np.arange(len(part)))
        batch.x = batch.x.double()
        results.append(encoder(batch))
    torch.testing.assert_close(*results)


@pytest.mark.parametrize("view", ["ppr", "edge-drop", "node-drop", "attribute-mask", "bond-types"])
def test_trains_under_every_view(view: str) -> None:
    model = IGSD(**TINY, encoder="gine", view=view).fit(make_molecules(8))
    assert np.isfinite(model.history_[-1]["total"])


def test_edges_added_without_a_label_are_refused() -> None:
    with pytest.raises(ConfigError, match="adds edges without a kind"):
        IGSD(encoder="gine", view="edge-perturb").fit(make_molecules(8))


def test_a_plain_batch_is_refused() -> None:
    batch, links = molecules(view=False)
    layer = GINELayer(batch.x.shape[1], DIM, batch_norm=True, links=links)
    with pytest.raises(ConfigError, match="MoleculeBatch"):
        layer(batch.x, Batch(batch.x, batch.ptr, batch.adjacency))


@pytest.mark.parametrize("view", ["edge-drop", "node-drop", "attribute-mask", "subgraph", "ppr"])
def test_graphs_without_edges_train(view: str) -> None:
    """The gradient of no categories at all was a stack of nothing, and a traceback."""
    none = np.zeros(0, np.int64)
    labels = np.array([0, 1, 0, 1, 1, 0, 0, 1], np.int32)
    graphs = from_edges([1, 2, 2, 3], none, none, node_labels=labels, node_label_names=("C", "N"))
    model = IGSD(**TINY, encoder="gine", view=view, random_state=0).fit(graphs)
    assert np.isfinite(model.transform(graphs)).all()
