from __future__ import annotations

import pickle
from pathlib import Path

import networkx as nx
import pytest

from igsd.errors import DataError, StorageError
from igsd.graphs.datasets import load_dataset
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open_data import open_data
from tests.graphs.tu_writer import write_tu, zip_folder

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
    with pytest.raises(StorageError, match="is a pickle"):
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
    with pytest.raises(DataError, match="no data that igsd knows"):
        open_data(tmp_path / "picture.png")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no TU data set"):
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
