from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rdkit")

from hypothesis import given, settings
from hypothesis import strategies as st
from rdkit import Chem

from igsd.errors import DataError
from igsd.graphs.chemistry import (
    ATOM_DIM,
    BOND_NAMES,
    atom_table,
    bond_table,
    chemical,
    is_chemical,
    read_chemical,
)
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.smiles import from_smiles
from tests.small_graphs import make_graphs

DRUGS = (
    "CC(=O)Oc1ccccc1C(=O)O",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "C[C@H](N)C(=O)O",
    "C/C=C/C(=O)Nc1ccc(Cl)cc1",
    "[NH3+]CC(=O)[O-]",
    "C[C@H]1CC[C@@H](C)CC1",
    "c1ccc2[nH]ccc2c1",
    "CN1CCC[C@H]1c1cccnc1",
)


def labels(text: str) -> tuple[list[str], set[tuple[int, int, str]]]:
    made = read_chemical([text]).graphs("one")
    assert made.node_labels is not None
    assert made.edge_labels is not None
    atoms = [str(made.node_label_names[code]) for code in made.node_labels]
    bonds = [str(made.edge_label_names[code]) for code in made.edge_labels]
    ends = zip(made.adjacency.rows().tolist(), made.adjacency.col.tolist(), bonds, strict=True)
    return atoms, {(min(a, b), max(a, b), bond) for a, b, bond in ends}


def test_labels_of_benzoic_acid() -> None:
    atoms, bonds = labels("OC(=O)c1ccccc1")
    assert "C|3|0|0|1|6|sp2|-" in atoms
    assert "O|1|0|1|0|0|sp2|-" in atoms
    kinds = {bond for _, _, bond in bonds}
    assert kinds == {"aromatic|1|1|-", "single|0|1|-", "double|0|1|-"}
    assert kinds <= set(BOND_NAMES)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(DRUGS), st.integers(0, 2**31))
def test_the_order_and_the_spelling_do_not_matter(smiles: str, seed: int) -> None:
    molecule = Chem.MolFromSmiles(smiles)
    order = np.random.default_rng(seed).permutation(molecule.GetNumAtoms()).tolist()
    other = Chem.RenumberAtoms(molecule, order)
    assert labels(Chem.MolToSmiles(other, canonical=False)) == labels(smiles)
    Chem.Kekulize(other, clearAromaticFlags=True)
    assert labels(Chem.MolToSmiles(other, canonical=False, kekuleSmiles=True)) == labels(smiles)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C/C=C/C", "C/C=C\\C"),
        ("C[C@H](N)O", "C[C@@H](N)O"),
        ("C[C@H]1CC[C@@H](C)CC1", "C[C@H]1CC[C@H](C)CC1"),
        ("NCC(=O)O", "[NH3+]CC(=O)[O-]"),
        ("c1ccccc1", "C1CCCCC1"),
        ("CC#C", "CC=C"),
        ("C1CC1", "CCC"),
    ],
)
def test_what_chemists_tell_apart(one: str, other: str) -> None:
    assert labels(one) != labels(other)


def test_vectors_are_one_hot_in_every_part() -> None:
    table = atom_table(["C|3|0|0|1|6|sp2|-", "Xe|9|-4|7|0|0|unspecified|other"])
    assert table.shape == (2, ATOM_DIM)
    assert table.sum(1).tolist() == [8.0, 8.0]
    assert not np.array_equal(*table)
    bonds = bond_table()
    assert len(np.unique(bonds, axis=0)) == len(BOND_NAMES)
    assert (bonds.sum(1) == 4).all()


def test_a_set_keeps_its_names_and_classes() -> None:
    plain = from_smiles(DRUGS)
    made = chemical(plain)
    assert is_chemical(made)
    assert not is_chemical(plain)
    assert made.graph_names == plain.graph_names
    assert np.array_equal(made.node_ptr, plain.node_ptr)
    assert chemical(made) is made


def test_a_set_survives_its_file(tmp_path: object) -> None:
    made = chemical(from_smiles(DRUGS))
    path = f"{tmp_path}/molecules.graphs"
    made.save(path)
    assert is_chemical(GraphSet.load(path))
    assert GraphSet.load(path) == made


@pytest.mark.parametrize("smiles", ["[Xe]", "*CC", "[Na+].[Cl-]", "[NH3]->[Cu]", "C", "[2H]O[2H]"])
def test_odd_molecules_have_labels(smiles: str) -> None:
    made = chemical(from_smiles([smiles]))
    assert atom_table(made.node_label_names).sum() == 8 * len(made.node_label_names)


def test_other_graphs_are_refused() -> None:
    with pytest.raises(DataError, match="have no names"):
        chemical(make_graphs(3))
    with pytest.raises(DataError, match="cannot be read from their names"):
        chemical(make_graphs(3, graph_names=("C", "CC", "no molecule")))
