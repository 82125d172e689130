from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs import datasets
from igsd.graphs.adjacency import pointers, ranges
from igsd.graphs.datasets import CATALOGUE, data_sets, in_package, load_dataset
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.qm9 import (
    BOND_NAMES,
    QM9_TARGETS,
    QM9_UNITS,
    TABLE,
    QM9Columns,
    qm9_bonds,
    qm9_files,
    read_qm9,
    read_qm9_columns,
    target_unit,
)
from tests.graphs.qm9_writer import (
    ETHYNE,
    FORMALDEHYDE,
    MOLECULES,
    WATER,
    Written,
    write_package,
    write_table,
)

pytest.importorskip("rdkit")


# Hydrogen isocyanide's chain, atoms written in the order N, H, C, C of no SMILES.
CHAIN = Written(
    7, "C#CN", "NHCCHH", [(0, 0, 0), (-1, 0, 0), (2.6, 0, 0), (1.4, 0, 0), (0, 1, 0), (3.66, 0, 0)]
)


def bonds(folder: Path, *molecules: Written) -> set[tuple[int, int, str]]:
    """Return the bonds of these molecules as (smaller atom, larger atom, kind)."""
    source, target, kinds = qm9_bonds(read_qm9_columns(write_table(folder, molecules)))
    rows = zip(source.tolist(), target.tolist(), kinds.tolist(), strict=True)
    found = [(min(a, b), max(a, b), BOND_NAMES[kind]) for a, b, kind in rows]
    assert len(set(found)) == len(found)
    return set(found)


def test_by_hand(tmp_path: Path) -> None:
    assert bonds(tmp_path, *MOLECULES) == {
        (0, 1, "single"),
        (0, 2, "single"),
        (3, 4, "triple"),
        (4, 5, "single"),
        (3, 6, "single"),
        (7, 8, "double"),
        (7, 9, "single"),
        (7, 10, "single"),
    }


def test_ring_is_aromatic(tmp_path: Path) -> None:
    # A regular pentagon of sides 1.4 with four hydrogens 1.08 further out: furan, O first.
    import math

    angles = [math.pi / 2 + 2 * math.pi * k / 5 for k in range(5)]
    ring = [(1.19 * math.cos(a), 1.19 * math.sin(a), 0.0) for a in angles]
    outer = [(2.27 * math.cos(a), 2.27 * math.sin(a), 0.0) for a in angles[1:]]
    found = bonds(tmp_path, Written(52, "O1C=CC=C1", "OCCCCHHHH", [*ring, *outer]))
    assert {kind for a, b, kind in found if b < 5} == {"aromatic"}
    assert len(found) == 9
    assert {(1, 5, "single"), (4, 8, "single")} <= found


def test_another_order_is_found(tmp_path: Path) -> None:
    assert bonds(tmp_path, WATER, CHAIN) == {
        (0, 1, "single"),
        (0, 2, "single"),
        (3, 4, "single"),  # N-H
        (3, 7, "single"),  # N-H
        (3, 6, "single"),  # N-C
        (5, 6, "triple"),
        (5, 8, "single"),  # C-H
    }


def test_the_shortest_bonds_decide_between_like_atoms(tmp_path: Path) -> None:
    # Fluorines, carbons and the SMILES in three orders: F-C-C-F with C-C in the middle.
    line = [(2.6, 0, 0), (0, 0, 0), (1.3, 0, 0), (3.9, 0, 0)]
    found = bonds(tmp_path, Written(9, "FC#CF", "CFCF", line))
    assert found == {(1, 2, "single"), (0, 2, "triple"), (0, 3, "single")}


def test_smiles_of_another_molecule(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gdb_4 of QM9 has 2 heavy atoms .* 1 in its SMILES 'C'"):
        bonds(tmp_path, WATER, replace(ETHYNE, smiles="C"))
    with pytest.raises(DataError, match="gdb_6 of QM9 has other atoms or hydrogens"):
        bonds(tmp_path, WATER, replace(FORMALDEHYDE, smiles="CO"))
    with pytest.raises(DataError, match=r"Molecule 1 .* no valid SMILES: 'C\(C'"):
        bonds(tmp_path, WATER, replace(ETHYNE, smiles="C(C"))


pytest.importorskip("rdkit")


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
    monkeypatch.setattr(
        "igsd.graphs.readers.qm9.read_qm9", lambda source: pytest.fail("read again")
    )
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


def test_known_and_unknown_units() -> None:
    assert all(target_unit("QM9", name) for name in QM9_TARGETS)
    assert target_unit("B3DB", "logBB").startswith("log10 of")
    assert target_unit("B3DB", "class") == target_unit("molecules", "logBB") == ""
