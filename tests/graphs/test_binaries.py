"""Molecules read from RDKit's binary form are what RDKit says of each atom and bond."""

from __future__ import annotations

import numpy as np
import pytest

from igsd.graphs import binaries
from igsd.graphs.chemistry import chemical
from igsd.graphs.readers.smiles import from_smiles

Chem = pytest.importorskip("rdkit.Chem")

TEXTS = [
    "C",
    "[H][H]",
    "CC(=O)Oc1ccccc1C(=O)O",
    "C[C@H](N)C(=O)[O-]",
    "C/C=C\\C(F)=C",
    "F/C=C/[C@@H]1CC[C@H](O)CC1",
    "[NH4+].[Cl-]",
    "[Fe+3].[O--]",
    "N->[Pt]",
    "O=[N+]([O-])c1ccc2[nH]c(=S)[nH]c2c1",
    "C1CC2CC1CC2",
    "C12C3C4C1C5C2C3C45",
    "C1CCCCCCCCCCC1",
    "S(F)(F)(F)(F)(F)F",
    "C#CC=C=C",
    "[se]1cccc1",
    "[Og]",
    "[CH3]",
]
RARE = ["[13CH4]", "[CH3:7]C", "*C", "C1CC1~C", "C" * 300]
"""An isotope, an atom map, an atom without a kind, a query bond and a long chain."""


def written(texts: list[str]) -> list[bytes]:
    return [Chem.MolFromSmiles(text).ToBinary(0) for text in texts]


def same(one: binaries.Block, two: binaries.Block) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))


def test_molecules_are_read_as_rdkit_describes_them() -> None:
    block, is_read = binaries._decoded(written(TEXTS))
    assert is_read.all()
    assert same(block, binaries._asked(written(TEXTS)))


def test_rare_molecules_are_asked_and_keep_their_places() -> None:
    mixed = [text for pair in zip(TEXTS, RARE * 4, strict=False) for text in pair]
    assert not binaries._decoded(written(RARE))[1].any()
    assert same(binaries.read_binaries(written(mixed)), binaries._asked(written(mixed)))


def test_another_form_is_not_guessed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A later RDKit may write molecules in another way: then every atom is asked for."""
    plain = written(TEXTS)
    changed = [one[:8] + b"\x63" + one[9:] for one in plain]
    shifted = [one[:30] + b"\x00" + one[30:] for one in plain]
    for others in (changed, shifted, [one[:35] for one in plain]):
        assert not binaries._decoded(others)[1].any()
    graphs = from_smiles(TEXTS)
    monkeypatch.setattr(binaries, "_is_known_form", lambda: False)
    again = from_smiles(TEXTS)
    assert again == graphs
    assert chemical(again) == chemical(graphs)


def test_more_molecules_than_a_block() -> None:
    texts = ["CCO", "c1ccccc1N", "[13CH4]"] * 400
    graphs = from_smiles(texts)
    assert graphs.take([0, 1, 2]) == from_smiles(texts[:3])
    assert graphs.take([1197, 1198, 1199]) == from_smiles(texts[:3])
