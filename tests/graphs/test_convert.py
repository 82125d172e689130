from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.convert import as_graphset
from igsd.graphs.networkx_graphs import from_networkx

PATH, CYCLE = nx.path_graph(3), nx.cycle_graph(4)


def test_a_set_is_returned_as_it_is() -> None:
    graphs = from_networkx([PATH])
    assert as_graphset(graphs) is graphs


def _object_array(items: list[Any]) -> np.ndarray:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


@pytest.mark.parametrize("wrap", [list, tuple, iter, _object_array])
def test_lists_of_networkx_graphs(wrap: Any) -> None:
    assert as_graphset(wrap([PATH, CYCLE]), name="x") == from_networkx([PATH, CYCLE])


def test_smiles() -> None:
    pytest.importorskip("rdkit", reason="needs the extra igsd[chem]")
    graphs = as_graphset(np.array(["CCO", "C"]), name="x")
    assert graphs.node_counts().tolist() == [3, 1]
    assert graphs.name == "x"


def test_pyg_data_and_batches() -> None:
    data = pytest.importorskip("torch_geometric.data", reason="needs the extra igsd[pyg]")
    items = [data.Data(num_nodes=2), data.Data(num_nodes=1)]
    assert as_graphset(items).node_counts().tolist() == [2, 1]
    assert as_graphset(data.Batch.from_data_list(items)).node_counts().tolist() == [2, 1]
    with pytest.raises(DataError, match="found a single PyG Data"):
        as_graphset(items[0])


def test_pyg_data_sets() -> None:
    data = pytest.importorskip("torch_geometric.data", reason="needs the extra igsd[pyg]")

    class Fixed(data.InMemoryDataset):
        def __init__(self) -> None:
            super().__init__(None)
            items = [data.Data(num_nodes=2, y=0), data.Data(num_nodes=1, y=1)]
            self.data, self.slices = self.collate(items)

    assert as_graphset(Fixed()).node_counts().tolist() == [2, 1]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "list of graphs is empty"),
        (iter(()), "list of graphs is empty"),
        (PATH, "found a single NetworkX graph"),
        ("MUTAG", "found the text 'MUTAG'.*load_dataset"),
        ([PATH, "CCO"], "graph 0 is a NetworkX graph, but graph 1 is SMILES string"),
        ([PATH, CYCLE, None], "graph 2 is an object of type NoneType"),
        ([1, 2], "Graph 0 of the list is of type int"),
        ({"a": PATH}, "found dict"),
        (None, "found NoneType"),
        (b"CCO", "found bytes"),
        (3, "Accepted are a GraphSet"),
    ],
)
def test_refused(value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_graphset(value)
