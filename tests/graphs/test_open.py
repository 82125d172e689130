from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

from igsd.errors import DataError, IGSDError
from igsd.graphs.datasets import load_dataset
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import as_graphset, open_data
from igsd.graphs.readers.networkx import from_networkx
from tests.graphs.tu_writer import write_tu, zip_folder

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
        ([PATH, CYCLE, None], r"Graph 2 of the list is missing \(it is None\)\. Leave such rows"),
        (["CCO", float("nan"), None], r"Graph 1 .* \(it is nan\), and 1 other with it"),
        ([PATH, CYCLE, 3.5], "graph 2 is an object of type float"),
        ([1, 2], "Graph 0 of the list is of type int"),
        ({"a": PATH}, "found dict"),
        ({PATH}, "found a set, whose order is not fixed"),
        (None, "found NoneType"),
        (b"CCO", "found bytes"),
        (3, "Accepted are a GraphSet"),
    ],
)
def test_refused(value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_graphset(value)


pytestmark = pytest.mark.usefixtures("own_cache")


def test_open_data_by_name_path_and_file(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load_dataset("TINY")
    expected.save(tmp_path / "saved.anything")
    zip_folder(data / "TINY", tmp_path / "packed.data")
    for text in ("TINY", str(data / "TINY"), "saved.anything", "packed.data"):
        monkeypatch.chdir(tmp_path)
        assert open_data(text) == expected
    assert open_data(data / "TINY") == expected


def test_open_data_smiles_table(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="needs the extra igsd[chem]")
    (tmp_path / "drugs.csv").write_text("smiles,label\nCCO,1\nC,0\n")
    assert open_data(tmp_path / "drugs.csv").class_names == (0, 1)


def test_a_run_folder_named_like_a_data_set(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "MUTAG").mkdir()
    monkeypatch.chdir(tmp_path)
    assert len(open_data("MUTAG")) == 188


@pytest.mark.parametrize("name", ["x.graphs", "x.zip", "x.csv", "x.csv.gz", "x"])
@pytest.mark.parametrize("protocol", [0, 2, 5])
def test_open_data_refuses_pickles(tmp_path: Path, name: str, protocol: int) -> None:
    (tmp_path / name).write_bytes(pickle.dumps([nx.path_graph(3)], protocol))
    with pytest.raises(IGSDError, match="is a pickle" if protocol else None):
        open_data(tmp_path / name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("./nosuch", "neither a file or folder that exists nor the name of a data set"),
        ("no/such/path", "neither a file or folder that exists nor the name of a data set"),
        ("C" * 5000 + "/x", "neither a file or folder"),
        ("absent.zip", "neither a file or folder that exists nor the name of a data set"),
        ("MUTGA", "no data set named 'MUTGA'. Did you mean 'MUTAG'"),
    ],
)
def test_open_data_that_is_nothing(
    text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataError, match=message):
        open_data(text)


def test_open_data_of_a_foreign_or_empty_place(tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    with pytest.raises(DataError, match="igsd cannot read"):
        open_data(tmp_path / "picture.png")
    (tmp_path / "empty").mkdir()
    # It named only the files of a TU data set, to people who had files of networks.
    message = r"no TU data set.*nothing\. A folder may also hold files of networks \(\.graphml,"
    with pytest.raises(DataError, match=message):
        open_data(tmp_path / "empty")
    write_tu(tmp_path / "D", A="1, 2\n", graph_indicator="1\n1\n")
    assert isinstance(open_data(tmp_path / "D"), GraphSet)


def test_graphs_made_in_python_become_a_set_named_after_its_file(tmp_path: Path) -> None:
    graphs = open_data([nx.path_graph(3), nx.cycle_graph(4)])
    assert (len(graphs), graphs.name) == (2, "graphs")
    graphs.save(tmp_path / "shapes.graphs")
    again = open_data(tmp_path / "shapes.graphs")
    assert again.name == "shapes"
    assert again == graphs


@pytest.mark.parametrize("name", ["n" * 10_000, "./" + "n" * 10_000, "n" * 10_000 + ".csv"])
def test_a_very_long_name_is_shortened(name: str) -> None:
    with pytest.raises(DataError, match=r"n\.\.\.'") as caught:
        open_data(name)
    assert len(str(caught.value)) < 600


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(DataError, match="is a link that leads nowhere, or to itself"):
        open_data(tmp_path / "loop")
