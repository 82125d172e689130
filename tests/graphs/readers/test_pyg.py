from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings

from igsd.errors import DataError
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.pyg import from_pyg, to_pyg
from tests.graphs.strategies import graph_sets

Data = pytest.importorskip("torch_geometric.data", reason="needs the extra igsd[pyg]").Data


def edge(*pairs: tuple[int, int]) -> torch.Tensor:
    return torch.tensor(pairs).T


def test_isolated_nodes_at_the_end_are_kept() -> None:
    graphs = from_pyg(
        [
            Data(edge_index=edge((0, 1), (1, 0)), num_nodes=4),
            Data(edge_index=edge((0, 1), (1, 0)), x=torch.ones(3, 1)),
        ][:1]
    )
    assert graphs.node_counts().tolist() == [4]
    graphs = from_pyg([Data(edge_index=edge((0, 1), (1, 0)), x=torch.ones(3, 1))])
    assert graphs.node_counts().tolist() == [3]


def test_columns() -> None:
    data = Data(
        edge_index=edge((0, 1), (1, 0)),
        x=torch.tensor([[1, 0], [0, 1]]),
        edge_attr=torch.tensor([0.5, 0.25]),
        y=torch.tensor([3]),
        smiles="CC",
        pos=torch.zeros(2, 3),
    )
    graphs = from_pyg([data])
    assert graphs.node_attributes is not None
    assert graphs.node_attributes.tolist() == [[1, 0], [0, 1]]
    assert graphs.node_labels is None
    assert graphs.edge_attributes is not None
    assert graphs.edge_attributes.tolist() == [[0.5], [0.25]]
    assert (graphs.class_names, graphs.graph_names) == ((3,), ("CC",))
    assert [note.split(":")[0] for note in graphs.notes] == ["field 'pos' not used"]


@pytest.mark.parametrize(
    ("values", "class_names", "targets"),
    [
        ([torch.tensor([2]), torch.tensor(1)], (1, 2), None),
        ([torch.tensor([True]), torch.tensor([False])], (False, True), None),
        ([torch.tensor([0.5]), torch.tensor([[1.0]])], (), [[0.5], [1.0]]),
        ([torch.tensor([[1, 2]]), torch.tensor([[3, 4]])], (), [[1, 2], [3, 4]]),
        ([2, 1], (1, 2), None),
        ([0.5, 1.5], (), [[0.5], [1.5]]),
    ],
)
def test_y_is_a_class_or_targets(
    values: list[Any], class_names: tuple[Any, ...], targets: list[list[float]] | None
) -> None:
    graphs = from_pyg([Data(num_nodes=1, y=value) for value in values])
    assert graphs.class_names == class_names
    assert (None if graphs.targets is None else graphs.targets.tolist()) == targets


def test_missing_y_is_an_unknown_class() -> None:
    graphs = from_pyg([Data(num_nodes=1, y=torch.tensor([5])), Data(num_nodes=1)])
    assert graphs.classes is not None
    assert graphs.classes.tolist() == [0, -1]


def test_any_object_with_the_fields_will_do() -> None:
    item = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=3)
    assert from_pyg([item]).node_counts().tolist() == [3]
    bare = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]))
    assert from_pyg([bare]).node_counts().tolist() == [2]


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([], "holds no graphs"),
        ([Data(num_nodes=0)], "Graph 0 of 'graphs' has no nodes"),
        ([Data(edge_index=edge((0, 3)), num_nodes=2), Data(num_nodes=9)], "Graph 0 .* node 3"),
        ([Data(edge_index=torch.zeros(3, 2).long(), num_nodes=1)], r"shape \[2, edges\]"),
        ([Data(edge_index=torch.zeros(2, 2), num_nodes=1)], "whole numbers"),
        ([Data(x=torch.ones(2, 1)), Data(num_nodes=1)], "Graph 1 of 'graphs' has no 'x'"),
        ([Data(x=torch.ones(2, 1)), Data(x=torch.ones(1, 2))], "Graph 0 .* has 1 columns"),
        ([Data(x=torch.ones(2, 1), num_nodes=3)], "'x' has 2 rows, but 'num_nodes' is 3"),
        ([Data(edge_index=edge((0, 1)), edge_attr=torch.ones(3), num_nodes=2)], "has 3 rows"),
        (
            [Data(num_nodes=1, y=torch.tensor([1])), Data(num_nodes=1, y=torch.tensor([0.5]))],
            "'y' of 'graphs' is one integer",
        ),
        ([3], "must be PyG Data, found int"),
    ],
)
def test_broken_input(items: list[Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        from_pyg(items)


Data_pyg_export = pytest.importorskip(
    "torch_geometric.data", reason="needs the extra igsd[pyg]"
).Data


def edge_pyg_export(*pairs: tuple[int, int]) -> torch.Tensor:
    return torch.tensor(pairs).T


@settings(max_examples=40, deadline=None)
@given(graph_sets())
def test_round_trip(graphs: GraphSet) -> None:
    assert from_pyg(to_pyg(graphs)) == graphs


def test_round_trip_from_pyg() -> None:
    generator = torch.Generator().manual_seed(0)
    items = [
        Data_pyg_export(
            edge_index=edge_pyg_export((0, 1), (1, 0), (1, 2), (2, 1)),
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

    items = from_pyg([Data_pyg_export(num_nodes=2, y=torch.tensor([i])) for i in range(3)])
    assert Batch.from_data_list(to_pyg(items)).num_nodes == 6


def test_a_view_cannot_be_exported() -> None:
    graphs = from_pyg([Data_pyg_export(edge_index=edge_pyg_export((0, 1), (1, 0)), num_nodes=2)])
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, np.ones(2, np.float32))
    with pytest.raises(DataError, match="a view cannot be exported"):
        to_pyg(replace(graphs, adjacency=weighted))
