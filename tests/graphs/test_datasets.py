from __future__ import annotations

import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from igsd.errors import DataError, StorageError
from igsd.graphs import catalogue, datasets
from igsd.graphs.datasets import data_sets, load_dataset, open_data
from igsd.graphs.graphset import GraphSet
from igsd.graphs.tu import read_tu
from tests.graphs.tu_writer import write_tu, zip_folder
from tests.graphs.web_server import serving


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Start every test with an empty cache, without data of the user, and without a network."""
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("IGSD_DATA", raising=False)
    monkeypatch.setattr(datasets, "TU_SITE", "http://127.0.0.1:1")
    return tmp_path / "cache" / "datasets"


@pytest.fixture
def data(tu_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that ``IGSD_DATA`` names, with TINY in it."""
    (tmp_path / "data").mkdir()
    shutil.move(tu_folder, tmp_path / "data" / "TINY")
    monkeypatch.setenv("IGSD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def test_parsed_once_then_opened(data: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = load_dataset("TINY")
    assert [file.name[:5] for file in cache.iterdir()] == ["TINY-"]
    monkeypatch.setattr(datasets, "read_tu", lambda path: pytest.fail("parsed again"))
    second = load_dataset("TINY")
    assert second == first
    assert isinstance(second.adjacency.col, np.memmap)


def test_changed_source_is_parsed_again(data: Path) -> None:
    before = load_dataset("TINY")
    (data / "TINY" / "TINY_graph_labels.txt").write_text("1\n1\n")
    assert load_dataset("TINY") != before


def test_damaged_cache_is_parsed_again(data: Path, cache: Path) -> None:
    before = load_dataset("TINY")
    (file,) = cache.iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert load_dataset("TINY") == before
    assert load_dataset("TINY") == before


def test_cache_that_cannot_be_written(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "file"))
    assert len(load_dataset("TINY")) == 2


def test_the_cache_is_enough(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Once parsed, a set could not be found again without the folder it came from.
    first = load_dataset("TINY")
    monkeypatch.delenv("IGSD_DATA")
    assert load_dataset("TINY") == first
    assert open_data("TINY") == first


def test_the_cache_of_something_else_under_a_known_name(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zip_folder(data / "TINY", data / "MUTAG.zip")
    assert len(load_dataset("MUTAG")) == 2
    monkeypatch.delenv("IGSD_DATA")
    assert len(load_dataset("MUTAG")) == 188


def test_package_that_carries_it() -> None:
    graphs = load_dataset("mutag")
    assert graphs.checksum == catalogue.CATALOGUE["MUTAG"].checksum
    assert (len(graphs), graphs.class_names) == (188, (-1, 1))


def test_data_folder_goes_before_the_package(data: Path) -> None:
    zip_folder(data / "TINY", data / "MUTAG.zip")
    assert len(load_dataset("MUTAG")) == 2


def _entry(monkeypatch: pytest.MonkeyPatch, checksum: str) -> None:
    entry = replace(catalogue.CATALOGUE["NCI1"], checksum=checksum)
    monkeypatch.setitem(catalogue._BY_LOWER_CASE, "nci1", entry)


def test_download_is_checked_and_kept(
    tu_folder: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zip_folder(tu_folder, tmp_path / "x.zip").read_bytes()
    expected = read_tu(tu_folder)
    _entry(monkeypatch, expected.checksum)
    steps: list[int] = []
    with serving({"/NCI1.zip": content}) as address:
        monkeypatch.setattr(datasets, "TU_SITE", address)
        graphs = load_dataset("NCI1", progress=lambda done, total: steps.append(done))
    assert graphs == expected
    assert steps == [len(content)]
    assert [file.name for file in cache.iterdir()] == ["NCI1.graphs"]
    assert load_dataset("NCI1") == expected


def test_download_of_something_else_is_not_kept(
    tu_folder: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zip_folder(tu_folder, tmp_path / "x.zip").read_bytes()
    _entry(monkeypatch, "0" * 64)
    with serving({"/NCI1.zip": content}) as address:
        monkeypatch.setattr(datasets, "TU_SITE", address)
        with pytest.raises(DataError, match="does not hold the graphs it should"):
            load_dataset("NCI1")
    assert list(cache.iterdir()) == []


def test_not_to_be_had() -> None:
    both = (
        r"Fetch http://127.*/NCI1.zip .* set IGSD_DATA .* load_dataset\('NCI1', allow_download=True"
    )
    with pytest.raises(DataError, match=f"NCI1 is not on this machine.*{both}"):
        load_dataset("NCI1", allow_download=False)
    with pytest.raises(DataError, match=r"set IGSD_DATA .* download failed: http://127"):
        load_dataset("NCI1")
    with pytest.raises(DataError, match=r"PTC, the version with hydrogens, .* set IGSD_DATA"):
        load_dataset("PTC")
    with pytest.raises(DataError, match="Did you mean 'MUTAG'"):
        load_dataset("MUTGA")


def test_b3db_without_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "in_package", lambda name: None)
    with pytest.raises(DataError, match=r'pip install "igsd\[chem\]"'):
        load_dataset("B3DB")


def test_list_of_data_sets(data: Path) -> None:
    zip_folder(data / "TINY", data / "PTC.zip")
    infos = {info.name: info for info in data_sets()}
    assert infos["PTC"].where == str(data / "PTC.zip")
    assert Path(infos["MUTAG"].where).exists()
    assert (infos["NCI1"].graphs, infos["NCI1"].classes) == (4110, 2)
    assert infos["NCI1"].where == "downloaded when first used"
    assert all(len(info.where) < 60 or Path(info.where).exists() for info in infos.values())


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
