from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("rdkit")

from igsd.errors import DataError
from igsd.graphs.qm9_bonds import BOND_NAMES, qm9_bonds
from igsd.graphs.qm9_files import read_qm9_columns
from tests.graphs.qm9_writer import ETHYNE, FORMALDEHYDE, MOLECULES, WATER, Written, write_table

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
