from __future__ import annotations

import gzip
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs import datasets
from igsd.graphs.datasets import (
    CATALOGUE,
    data_sets,
    downloaded_file,
    find_entry,
    in_cache,
    in_data_folder,
    in_package,
    load_dataset,
    shown_names,
    unknown_name,
)
from igsd.graphs.readers.tu import read_tu
from tests.graphs.tu_writer import zip_folder
from tests.graphs.web_server import serving


@pytest.mark.parametrize(
    ("name", "exact"),
    [
        ("MUTAG", "MUTAG"),
        ("mutag", "MUTAG"),
        ("IMDB-B", "IMDB-BINARY"),
        ("imdb-m", "IMDB-MULTI"),
        ("ptc_mr", "PTC_MR"),
        (" enzymes ", "ENZYMES"),
    ],
)
def test_names_in_any_case_and_aliases(name: str, exact: str) -> None:
    entry = find_entry(name)
    assert entry is not None
    assert entry.name == exact


def test_unknown_names() -> None:
    assert find_entry("MUTGA") is None
    message = str(unknown_name("MUTGA"))
    assert "no data set named 'MUTGA'. Did you mean 'MUTAG'" in message
    assert "IGSD_DATA" in message


def test_what_can_be_downloaded_has_a_checksum() -> None:
    for entry in CATALOGUE.values():
        assert len(entry.checksum) == 64 or not entry.downloadable


def test_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGSD_DATA", str(tmp_path))
    assert in_data_folder("X") is None
    (tmp_path / "X").mkdir()
    assert in_data_folder("X") == tmp_path / "X"
    (tmp_path / "X.zip").touch()
    assert in_data_folder("X") == tmp_path / "X.zip"
    monkeypatch.setenv("IGSD_DATA", str(tmp_path / "absent"))
    with pytest.raises(DataError, match="IGSD_DATA must name a folder"):
        in_data_folder("X")
    monkeypatch.delenv("IGSD_DATA")
    assert in_data_folder("X") is None


def test_packages_are_found_but_not_imported() -> None:
    already = set(sys.modules)
    path = in_package("MUTAG")
    assert path is not None
    assert path.name == "MUTAG.zip"
    in_package("B3DB")
    assert "B3DB" not in set(sys.modules) - already
    assert in_package("NCI1") is None


def test_package_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert in_package("MUTAG") is None


def test_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path))
    assert in_cache("X") is None
    downloaded_file("X").parent.mkdir()
    downloaded_file("X").touch()
    assert in_cache("X") == tmp_path / "datasets" / "X-download.graphs"


pytestmark = pytest.mark.usefixtures("own_cache")


def test_parsed_once_then_opened(
    data: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = load_dataset("TINY")
    assert [file.name[:5] for file in own_cache.iterdir()] == ["TINY-"]
    monkeypatch.setattr(datasets, "read_tu", lambda path: pytest.fail("parsed again"))
    second = load_dataset("TINY")
    assert second == first
    assert isinstance(second.adjacency.col, np.memmap)


def test_changed_source_is_parsed_again(data: Path) -> None:
    before = load_dataset("TINY")
    (data / "TINY" / "TINY_graph_labels.txt").write_text("1\n1\n")
    assert load_dataset("TINY") != before


def test_damaged_cache_is_parsed_again(data: Path, own_cache: Path) -> None:
    before = load_dataset("TINY")
    (file,) = own_cache.iterdir()
    file.write_bytes(file.read_bytes()[:100])
    assert load_dataset("TINY") == before
    assert load_dataset("TINY") == before


def test_cache_that_cannot_be_written(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "file"))
    with pytest.warns(UserWarning, match="TINY could not be cached.*Set IGSD_CACHE"):
        assert len(load_dataset("TINY")) == 2


def test_the_cache_is_enough(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Once parsed, a set could not be found again without the folder it came from.
    first = load_dataset("TINY")
    monkeypatch.delenv("IGSD_DATA")
    assert load_dataset("TINY") == first


def test_the_cache_of_something_else_under_a_known_name(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zip_folder(data / "TINY", data / "MUTAG.zip")
    assert len(load_dataset("MUTAG")) == 2
    monkeypatch.delenv("IGSD_DATA")
    assert len(load_dataset("MUTAG")) == 188


def test_package_that_carries_it() -> None:
    graphs = load_dataset("mutag")
    assert graphs.checksum == datasets.CATALOGUE["MUTAG"].checksum
    assert (len(graphs), graphs.class_names) == (188, (-1, 1))


def test_data_folder_goes_before_the_package(data: Path) -> None:
    zip_folder(data / "TINY", data / "MUTAG.zip")
    assert len(load_dataset("MUTAG")) == 2


def _entry(monkeypatch: pytest.MonkeyPatch, checksum: str) -> None:
    entry = replace(datasets.CATALOGUE["NCI1"], checksum=checksum)
    monkeypatch.setitem(datasets._BY_LOWER_CASE, "nci1", entry)


def test_download_is_checked_and_kept(
    tu_folder: Path, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
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
    assert [file.name for file in own_cache.iterdir()] == ["NCI1-download.graphs"]
    assert load_dataset("NCI1") == expected


def test_download_of_something_else_is_not_kept(
    tu_folder: Path, tmp_path: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zip_folder(tu_folder, tmp_path / "x.zip").read_bytes()
    _entry(monkeypatch, "0" * 64)
    with serving({"/NCI1.zip": content}) as address:
        monkeypatch.setattr(datasets, "TU_SITE", address)
        with pytest.raises(DataError, match="holds other graphs than expected"):
            load_dataset("NCI1")
    assert not own_cache.exists()


def test_download_without_a_checksum_or_a_cache_gives_notes(
    tu_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = zip_folder(tu_folder, tmp_path / "x.zip").read_bytes()
    _entry(monkeypatch, "")
    (tmp_path / "file").touch()
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "file"))
    with serving({"/NCI1.zip": content}) as address:
        monkeypatch.setattr(datasets, "TU_SITE", address)
        with (
            pytest.warns(UserWarning, match="download of NCI1 could not be verified"),
            pytest.warns(UserWarning, match="NCI1 could not be cached"),
        ):
            assert len(load_dataset("NCI1")) == 2


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


@pytest.mark.parametrize("place", ["molecules/esol_delaney.csv", "esol_delaney.csv.gz"])
def test_a_table_of_molecules_by_name(
    data: Path, own_cache: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    pytest.importorskip("rdkit")
    assert CATALOGUE["ESOL"].file == "molecules/esol_delaney.csv.gz"
    path = data / f"{place.removesuffix('.gz')}.gz"
    path.parent.mkdir(exist_ok=True)
    target = "measured log solubility in mols per litre"
    lines = f"Compound ID,Molecular Weight,{target},smiles\nethane,30,-1.5,CC\nwater,18,0,O\n"
    path.write_bytes(gzip.compress(lines.encode()))
    graphs = load_dataset("delaney")
    assert (graphs.name, len(graphs), graphs.target_names) == ("ESOL", 2, (target,))
    assert graphs.classes is None


def test_a_table_of_molecules_that_is_not_there(data: Path, own_cache: Path) -> None:
    with pytest.raises(DataError, match=r"HIV is not on this machine.*molecules/HIV.csv.gz"):
        load_dataset("HIV")


def test_list_of_data_sets(data: Path) -> None:
    zip_folder(data / "TINY", data / "PTC.zip")
    infos = {info.name: info for info in data_sets()}
    assert infos["PTC"].where == str(data / "PTC.zip")
    assert Path(infos["MUTAG"].where).exists()
    assert (infos["NCI1"].graphs, infos["NCI1"].classes) == (4110, 2)
    assert infos["NCI1"].where == "downloaded when first used"
    assert all(len(info.where) < 60 or Path(info.where).exists() for info in infos.values())


def test_classes_and_labels_have_names_for_people() -> None:
    graphs = load_dataset("MUTAG")
    assert shown_names(graphs, "classes") == ["not mutagenic", "mutagenic"]
    assert shown_names(graphs, "nodes") == ["C", "N", "O", "F", "I", "Cl", "Br"]
    assert shown_names(graphs.take([0, 1]), "edges") == ["aromatic", "single", "double", "triple"]
    # Another set of that name, and one that the catalogue does not describe.
    assert shown_names(replace(graphs, class_names=("a", "b")), "nodes")[0] == "0"
    assert shown_names(replace(graphs, name="mine"), "classes") == ["-1", "1"]
