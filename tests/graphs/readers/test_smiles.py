from __future__ import annotations

import sys

import pytest

from igsd.errors import ConfigError, DataError
from igsd.graphs.readers.smiles import from_smiles, molecule_codes, read_molecules, smiles_notes
from tests.small_graphs import make_graphs


@pytest.fixture(autouse=True)
def _needs_rdkit() -> None:
    pytest.importorskip("rdkit", reason="needs the extra igsd[chem]")


def test_atoms_and_bonds() -> None:
    graphs = from_smiles(["C=O", "[NH4+]", "c1ccccc1C#N"])
    assert graphs.node_counts().tolist() == [2, 1, 8]
    assert graphs.edge_counts().tolist() == [1, 0, 8]
    assert graphs.node_label_names == ("C", "N", "O")
    assert graphs.node_labels is not None
    assert graphs.node_labels[:3].tolist() == [0, 2, 1]
    assert graphs.edge_label_names == ("aromatic", "double", "single", "triple")
    assert graphs.graph_names == ("C=O", "[NH4+]", "c1ccccc1C#N")
    assert graphs.notes == ()


def test_charge_and_aromaticity_are_not_in_the_label() -> None:
    graphs = from_smiles(["c1ccccc1[N+](=O)[O-]"])
    assert graphs.node_label_names == ("C", "N", "O")


def test_hydrogens_are_implied_and_salts_stay_together() -> None:
    graphs = from_smiles(["[H]C([H])([H])[H]", "[H][H]", "[Na+].[Cl-]"])
    assert graphs.node_counts().tolist() == [1, 2, 2]
    assert graphs.node_label_names == ("C", "Cl", "H", "Na")


BAD = ["CCO", "not smiles", "C(C)(C)(C)(C)C", "", None, "c1cccc1"]


def test_every_bad_string_is_listed() -> None:
    with pytest.raises(DataError) as caught:
        from_smiles(BAD)  # type: ignore[list-item]
    message = str(caught.value)
    assert "5 of the 6 strings" in message
    assert "row 1: 'not smiles': not valid SMILES" in message
    assert "row 2: 'C(C)(C)(C)(C)C': Explicit valence for atom" in message
    assert "row 3: '': empty" in message
    assert "row 4: 'None': text was expected, found NoneType" in message
    assert "row 5: 'c1cccc1': " in message


def test_bad_strings_are_told_apart_from_molecules(capfd: pytest.CaptureFixture[str]) -> None:
    found = read_molecules(BAD, name="m")
    assert found.graphs is not None
    assert found.graphs.graph_names == ("CCO",)
    notes = smiles_notes(found.failures, found.doubtful)
    assert len(notes) == 5
    assert notes[0] == "left out, not a molecule: row 1: 'not smiles': not valid SMILES"
    assert capfd.readouterr().err == ""


def test_odd_valences_can_be_kept() -> None:
    found = read_molecules(["C(C)(C)(C)(C)C", "[H]C", "x"], name="m", check_valence=False)
    assert found.graphs is not None
    assert found.graphs.node_counts().tolist() == [6, 1]
    assert found.kept.tolist() == [0, 1]
    assert [failure.row for failure in found.failures] == [2]
    assert [failure.row for failure in found.doubtful] == [0]


def test_bad_arguments() -> None:
    with pytest.raises(DataError, match="holds no graphs"):
        from_smiles([])
    with pytest.raises(DataError, match="1 of the 1 strings"):
        from_smiles(["?"])


def test_without_rdkit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(ConfigError, match=r'pip install "igsd\[chem\]"'):
        from_smiles(["C"])


def test_equal_molecules_have_equal_codes() -> None:
    texts = ["CCO", "CC(=O)O", "OCC", "CC(=O)[O-].[Na+]", "C[C@H](N)O", "C[C@@H](N)O", "CCO.Cl"]
    assert molecule_codes(from_smiles(texts)).tolist() == [0, 1, 0, 1, 4, 5, 0]


def test_graphs_that_are_no_molecules_have_codes_of_their_own() -> None:
    graphs = make_graphs(3)
    assert molecule_codes(graphs).tolist() == [0, 1, 2]
