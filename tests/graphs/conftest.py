from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from igsd.graphs import datasets
from tests.graphs.tu_writer import write_tu


@pytest.fixture
def tu_folder(tmp_path: Path) -> Path:
    """Return a small, whole TU data set: a triangle and a path of two nodes, 1-based."""
    return write_tu(
        tmp_path / "TINY",
        A="1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n",
        graph_indicator="1\n1\n1\n2\n2\n",
        graph_labels="-1\n1\n",
        node_labels="3\n3\n7\n7\n3\n",
        edge_labels="0\n0\n1\n1\n0\n0\n1\n1\n",
        node_attributes="0.5, 1\n1.5, 2\n2.5, 3\n3.5, 4\n4.5, 5\n",
        graph_attributes="0.25\n-1.5\n",
    )


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of data sets in a new cache; no data of the user, and no network."""
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("IGSD_DATA", raising=False)
    monkeypatch.setattr(datasets, "TU_SITE", "http://127.0.0.1:1")
    return tmp_path / "cache" / "datasets"


@pytest.fixture
def data(tu_folder: Path, own_cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that ``IGSD_DATA`` names, with TINY in it."""
    (tmp_path / "data").mkdir()
    shutil.move(tu_folder, tmp_path / "data" / "TINY")
    monkeypatch.setenv("IGSD_DATA", str(tmp_path / "data"))
    return tmp_path / "data"
