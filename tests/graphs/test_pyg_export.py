from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from igsd.errors import DataError
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.graphs.pyg_export import to_pyg
from igsd.graphs.pyg_graphs import from_pyg
from tests.graphs.strategies import graph_sets

Data = pytest.importorskip("torch_geometric.data", reason="needs the extra igsd[pyg]").Data


def edge(*pairs: tuple[int, int]) -> torch.Tensor:
    return torch.tensor(pairs).T


@settings(max_examples=40, deadline=None)
@given(graph_sets())
def test_round_trip(graphs: GraphSet) -> None:
    assert from_pyg(to_pyg(graphs)) == graphs


def test_round_trip_from_pyg() -> None:
    generator = torch.Generator().manual_seed(0)
    items = [
        Data(
            edge_index=edge((0, 1), (1, 0), (1, 2), (2, 1)),
            x=torch.randn(4, 3, generator=generator),
            edge_attr=torch.randn(4, 2, generator=generator),
            y=torch.tensor([label]),
        )
        for label in (-1, 1, 1)
    ]
    for before, after in zip(items, to_pyg(from_pyg(items)), strict=True):
        assert after.num_nodes == 4
        for key in ("edge_index", "x", "edge_attr", "y"):
            assert torch.equal(before[key], after[key])


def test_export_can_be_batched() -> None:
    from torch_geometric.data import Batch

    items = from_pyg([Data(num_nodes=2, y=torch.tensor([i])) for i in range(3)])
    assert Batch.from_data_list(to_pyg(items)).num_nodes == 6


def test_a_view_cannot_be_exported() -> None:
    graphs = from_pyg([Data(edge_index=edge((0, 1), (1, 0)), num_nodes=2)])
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, np.ones(2, np.float32))
    with pytest.raises(DataError, match="a view cannot be exported"):
        to_pyg(replace(graphs, adjacency=weighted))
