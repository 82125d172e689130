from __future__ import annotations

import os
from dataclasses import replace

import numpy as np
import pytest
import torch

from igsd.batches import distinct
from igsd.batches.batch import Collator
from igsd.batches.distinct import DistinctBatch, distinct_batch
from igsd.batches.features import FeatureMap
from igsd.batches.links import LinkFeatures
from igsd.batches.molecules import MoleculeCollator
from igsd.encoders.encoder import GNNEncoder, distinct_depth
from igsd.graphs.build import from_edges
from igsd.graphs.datasets import load_dataset
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import HOST, make_graphs, odd_graphs
from tests.small_molecules import make_molecules


def both(graphs: GraphSet, parts: str, levels: int = 3) -> tuple[DistinctBatch, object]:
    features = FeatureMap.fit(graphs, parts).transform(graphs)
    collator = Collator(graphs.node_ptr, features, HOST)
    plain = collator.batch(np.arange(len(graphs)), graphs.adjacency)
    return distinct_batch(collator, graphs.adjacency, levels), plain


def test_a_path_of_four_has_two_kinds_of_nodes() -> None:
    path = from_edges([4], np.array([0, 1, 2]), np.array([1, 2, 3]))
    batch, _ = both(path, "constant", levels=2)
    assert len(batch.x) == 1
    assert [len(level.gather) for level in batch.levels] == [2, 2]
    # Ends see themselves and one neighbour, inner nodes two.
    assert sorted(batch.levels[0].gather.to_dense().flatten().tolist()) == [2.0, 3.0]
    assert batch.levels[0].members.to_dense().tolist() == [[2.0, 2.0]]
    assert batch.num_graphs == 1
    assert batch.sizes.tolist() == [4]


@pytest.mark.parametrize("graphs", [make_graphs(), odd_graphs()], ids=["random", "odd"])
@pytest.mark.parametrize("parts", ["constant", "degree"])
@pytest.mark.parametrize("readout", ["sum", "mean", "sum+mean", "sum+max", "max+mean"])
@pytest.mark.parametrize("concat", [True, False])
def test_an_encoder_says_the_same_of_it(graphs, parts, readout, concat) -> None:
    batch, plain = both(graphs, parts)
    torch.manual_seed(0)
    encoder = GNNEncoder("gin", plain.x.shape[1], 8, 3, readout=readout, concat_layers=concat)
    encoder.train()(plain)  # BatchNorm has seen something
    encoder.eval()
    with torch.no_grad():
        torch.testing.assert_close(encoder(batch), encoder(plain), rtol=1e-4, atol=1e-5)


def test_there_are_no_more_rows_than_nodes() -> None:
    graphs = make_graphs()
    batch, _ = both(graphs, "degree")
    rows = [len(batch.x), *[len(level.gather) for level in batch.levels]]
    assert rows == sorted(rows)
    assert rows[-1] <= graphs.num_nodes


@pytest.mark.parametrize(
    ("kind", "readout", "takes"),
    [("gin", "sum", True), ("gin", "mean+sum", True), ("gin", "max", False), ("gcn", "sum", False)],
)
def test_which_encoders_take_it(kind: str, readout: str, takes: bool) -> None:
    assert GNNEncoder(kind, 2, 4, 2, readout=readout).takes_distinct is takes


def test_links_that_are_seen_differ() -> None:
    features = FeatureMap.fit(make_graphs(), "degree")
    encoder = GNNEncoder("gin", features.dim, 4, 2)
    assert distinct_depth(encoder, features) == 2
    links = LinkFeatures.fit(make_molecules(), 0)
    assert distinct_depth(encoder, replace(features, links=links)) == 0


@pytest.mark.parametrize("block", [3, 2000])
@pytest.mark.parametrize("readout", ["sum", "sum+max", "mean"])
def test_bonds_are_part_of_a_neighbourhood(
    block: int, readout: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(distinct, "BLOCK", block)
    graphs = make_molecules(12, coordinates=False)
    links, features = LinkFeatures.fit(graphs), FeatureMap.fit(graphs)
    collator = MoleculeCollator(graphs, features, links, HOST)
    plain = collator.molecules(np.arange(len(graphs)))
    torch.manual_seed(0)
    encoder = GNNEncoder("gine", features.dim, 8, 3, readout=readout, links=links)
    encoder.train()(plain)  # BatchNorm has seen something
    encoder.eval()
    batch = distinct_batch(collator, graphs.adjacency, 3)
    assert len(batch.x) < len(plain.x)
    with torch.no_grad():
        torch.testing.assert_close(encoder(batch), encoder(plain), rtol=1e-4, atol=1e-5)


def test_which_links_gine_takes() -> None:
    graphs, near = make_molecules(4, coordinates=False), make_molecules(4)
    features, links = FeatureMap.fit(graphs, "label"), LinkFeatures.fit(graphs)
    encoder = GNNEncoder("gine", features.dim, 4, 2, links=links)
    assert distinct_depth(encoder, replace(features, links=links)) == 2
    assert distinct_depth(encoder, replace(features, links=links, edge_weight="weight")) == 0
    assert distinct_depth(encoder, replace(features, links=LinkFeatures.fit(near))) == 0


def test_a_graph_without_edges_and_one_of_another_size() -> None:
    graphs = from_edges([1, 3], np.array([1, 2]), np.array([2, 3]))
    batch, plain = both(graphs, "constant", levels=2)
    encoder = GNNEncoder("gin", 1, 4, 2, readout="max").eval()
    with torch.no_grad():
        torch.testing.assert_close(encoder(batch), encoder(plain))


@pytest.mark.slow
@pytest.mark.skipif("IGSD_DATA" not in os.environ, reason="NCI1 is looked for in IGSD_DATA")
def test_what_the_module_says_of_nci1() -> None:
    graphs = load_dataset("NCI1")
    batch, _ = both(graphs, "label+degree")
    assert graphs.num_nodes == 122_747
    assert len(batch.levels[0].gather) == 994
    assert len(batch.levels[2].gather) == 36_099
