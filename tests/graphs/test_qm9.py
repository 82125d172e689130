from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rdkit")

from igsd.errors import DataError
from igsd.graphs import datasets
from igsd.graphs.adjacency import pointers, ranges
from igsd.graphs.catalogue import CATALOGUE
from igsd.graphs.dataset_files import in_package
from igsd.graphs.datasets import data_sets, load_dataset
from igsd.graphs.graphset import GraphSet
from igsd.graphs.qm9 import QM9_TARGETS, QM9_UNITS, read_qm9
from igsd.graphs.qm9_bonds import BOND_NAMES, qm9_bonds
from igsd.graphs.qm9_files import TABLE, QM9Columns, qm9_files, read_qm9_columns
from tests.graphs.qm9_writer import write_package, write_table

needs_data = pytest.mark.skipif(
    not Path(os.environ.get("IGSD_DATA", "-"), TABLE).is_file(),
    reason="IGSD_DATA does not name a folder with QM9.csv.gz",
)
ODD = (23, 24, 486, 52466, 59818, 133487)
"""The molecules whose SMILES have the atoms in another order than the geometry."""


def test_columns(tmp_path: Path) -> None:
    graphs = read_qm9(write_package(tmp_path))
    assert graphs.graph_names == ("O gdb_3", "C#C gdb_4", "C=O gdb_6")
    assert graphs.node_label_names == ("C", "F", "H", "N", "O")
    assert graphs.node_labels is not None
    assert graphs.node_labels.tolist() == [4, 2, 2, 0, 0, 2, 2, 0, 4, 2, 2]
    assert graphs.node_attribute_names == ("x", "y", "z")
    assert graphs.edge_label_names == BOND_NAMES
    assert graphs.edge_counts().tolist() == [2, 3, 3]
    assert graphs.target_names[:10] == QM9_TARGETS
    assert tuple(QM9_UNITS) == graphs.target_names
    assert "mu D, alpha bohr^3" in graphs.notes[0]
    assert graphs == read_qm9(write_table(tmp_path / "other"))


def test_how_far_it_is(tmp_path: Path) -> None:
    said: list[tuple[int, int | None]] = []
    read_qm9(write_package(tmp_path), lambda done, total: said.append((done, total)))
    assert said == [(0, 3)]


def test_names_are_molecules_for_rdkit(tmp_path: Path) -> None:
    from rdkit import Chem

    names = read_qm9(write_package(tmp_path)).graph_names or ()
    molecule = Chem.MolFromSmiles(names[1])
    assert molecule.GetProp("_Name") == "gdb_4"


@pytest.fixture
def lookup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache and an empty data folder; no package."""
    monkeypatch.setenv("IGSD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("IGSD_DATA", str(tmp_path / "data"))
    (tmp_path / "data").mkdir()
    monkeypatch.setattr(datasets, "in_package", lambda name: None)
    return tmp_path


def test_found_in_the_data_folder_and_then_in_the_cache(
    lookup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_table(lookup / "data")
    expected = load_dataset("qm9")
    assert len(expected) == 3
    monkeypatch.setattr("igsd.graphs.qm9.read_qm9", lambda source: pytest.fail("read again"))
    assert load_dataset("QM9") == expected


def test_found_in_the_package(lookup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = write_package(lookup / "package")
    monkeypatch.setattr(datasets, "in_package", lambda name: package if name == "QM9" else None)
    assert next(info for info in data_sets() if info.name == "QM9").where == str(package)
    assert len(load_dataset("QM9")) == 3


def test_nowhere(lookup: Path) -> None:
    with pytest.raises(DataError, match=r'pip install "igsd\[qm9\]".*QM9-geometry.npz'):
        load_dataset("QM9")


def sample(columns: QM9Columns, rows: np.ndarray) -> QM9Columns:
    """Return some molecules of the real files."""
    ptr = pointers(columns.counts)
    atoms = ranges(ptr[rows], ptr[rows + 1])
    return QM9Columns(
        columns.gdb_index[rows],
        [columns.smiles[row] for row in rows],
        columns.counts[rows],
        columns.z[atoms],
        columns.positions[atoms],
        columns.properties[rows],
    )


def published_bonds(rows: np.ndarray, counts: np.ndarray) -> set[tuple[int, int, str]]:
    """Return the bonds of an independent derivation, for molecules with these atom counts."""
    file = Path(os.environ["IGSD_DATA"], "QM9-bonds.npz")
    if not file.is_file():
        pytest.skip(f"{file.name} is not in IGSD_DATA")
    bonds = dict(np.load(file, allow_pickle=False))
    ends = pointers(bonds["n_bonds"].astype(np.int64))
    chosen = ranges(ends[rows], ends[rows + 1])
    offset = np.repeat(pointers(counts)[:-1], ends[rows + 1] - ends[rows])
    orders = np.array(["", "single", "double", "triple"])[bonds["bond_order"][chosen]]
    kinds = np.where(bonds["bond_aromatic"][chosen] == 1, "aromatic", orders)
    i, j = offset + bonds["bond_i"][chosen], offset + bonds["bond_j"][chosen]
    return set(zip(i.tolist(), j.tolist(), kinds.tolist(), strict=True))


@needs_data
@pytest.mark.slow
def test_bonds_against_an_independent_derivation() -> None:
    columns = read_qm9_columns(Path(os.environ["IGSD_DATA"], TABLE))
    every = np.arange(0, len(columns.counts), 97)
    rows = np.union1d(every, np.flatnonzero(np.isin(columns.gdb_index, ODD)))
    part = sample(columns, rows)
    source, target, kinds = qm9_bonds(part)
    i, j = np.minimum(source, target), np.maximum(source, target)
    found = zip(i.tolist(), j.tolist(), [BOND_NAMES[k] for k in kinds], strict=True)
    assert set(found) == published_bonds(rows, part.counts)


@needs_data
@pytest.mark.slow
def test_the_whole_set() -> None:
    # CPU time: it is what wall time is on a machine that does nothing else meanwhile.
    start = time.process_time()
    graphs = load_dataset("QM9")
    assert time.process_time() - start < 180
    assert (len(graphs), graphs.num_nodes, graphs.num_edges) == (130_831, 2_359_210, 2_440_360)
    assert graphs.checksum == CATALOGUE["QM9"].checksum
    every = np.arange(len(graphs))
    row = graphs.adjacency.rows()
    column = graphs.adjacency.global_columns(graphs.node_ptr)
    once = row < column
    assert graphs.edge_labels is not None
    kinds = np.array(BOND_NAMES)[graphs.edge_labels[once]]
    found = zip(row[once].tolist(), column[once].tolist(), kinds.tolist(), strict=True)
    assert set(found) == published_bonds(every, graphs.node_counts())
    start = time.process_time()
    assert isinstance(load_dataset("QM9"), GraphSet)
    assert time.process_time() - start < 1


def test_the_package_is_found_by_path_and_not_imported() -> None:
    package = in_package("QM9")
    if package is None:
        pytest.skip("the package qm9pack is not installed")
    assert all(file.is_file() for file in qm9_files(package))
    assert "qm9pack" not in sys.modules
