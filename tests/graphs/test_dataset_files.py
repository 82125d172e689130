from __future__ import annotations

import sys
from pathlib import Path

import pytest

from igsd.errors import DataError
from igsd.graphs.dataset_files import downloaded_file, in_cache, in_data_folder, in_package


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
    assert (path / "MUTAG_A.txt").exists()
    assert "grakel" not in set(sys.modules) - already
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
    assert in_cache("X") == tmp_path / "datasets" / "X.graphs"
