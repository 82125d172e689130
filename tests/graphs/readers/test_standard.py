from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError, IGSDWarning
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import open_data
from igsd.graphs.readers.smiles import from_smiles
from igsd.graphs.readers.standard import repeated_molecules

pytest.importorskip("rdkit")

SALTS = ["[Na+].CC(=O)[O-]", "C[NH3+].[Cl-]", "CCO"]


def test_the_largest_fragment_without_charges() -> None:
    graphs = open_data(SALTS, standardise=True)
    assert graphs.graph_names == ("CC(=O)O", "CN", "CCO")
    assert graphs.standardised == "neutral"
    assert graphs.notes == ("standardised (neutral): 2 of 3 molecules changed",)
    assert graphs == from_smiles(["CC(=O)O", "CN", "CCO"])
    assert open_data(SALTS).standardised == ""


def test_tautomers_only_if_asked() -> None:
    pair = ["O=C1C=CC=CN1", "Oc1ccccn1"]
    assert len(set(open_data(pair, standardise="neutral").graph_names or ())) == 2
    assert len(set(open_data(pair, standardise="tautomer").graph_names or ())) == 1


def test_how_is_kept_in_a_file(tmp_path: Path) -> None:
    open_data(SALTS, standardise="neutral").save(tmp_path / "g.graphs")
    assert GraphSet.load(tmp_path / "g.graphs").standardised == "neutral"
    assert open_data(tmp_path / "g.graphs", standardise="neutral").standardised == "neutral"
    with pytest.raises(DataError, match="read already, standardised as 'neutral'"):
        open_data(tmp_path / "g.graphs", standardise="tautomer")
    with pytest.raises(ConfigError, match=r"must be one of neutral, tautomer\. Got 'salt'"):
        open_data(SALTS, standardise="salt")


def test_repeats_by_inchikey() -> None:
    texts = ["CCO", "OCC", "C[C@H](N)O", "C[C@@H](N)O", "C1=CC=CC=C1", "c1ccccc1", "O=C1C=CC=CN1"]
    texts += ["Oc1ccccn1", "[Na]OC(C)=O", "[Na+].CC(=O)[O-]", "*CC*", "C(*)C*"]
    groups = repeated_molecules(from_smiles(texts))
    assert groups == [[0, 1], [4, 5], [6, 7], [8, 9], [10, 11]]


def test_repeats_of_a_table_are_reported_with_what_they_disagree_in(tmp_path: Path) -> None:
    text = "id,smiles,active,kind\n1,CCO,1,a\n2,OCC,0,a\n3,CC,1,b\n4,C(C)O,1,a\n5,CC,1,\n"
    (tmp_path / "t.csv").write_text(text)
    message = (
        "t.csv: 2 molecules occur more than once by InChIKey, in 5 rows, all kept: lines 2 and 3 "
        r"and 5, 4 and 6; their rows disagree in 'active' \(1\)\.$"
    )
    with pytest.warns(IGSDWarning, match=message):
        graphs = open_data(tmp_path / "t.csv")
    assert len(graphs) == 5


def test_repeats_among_random_spellings() -> None:
    from rdkit import Chem

    drugs = ["CC(=O)Oc1ccccc1C(=O)O", "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "CN1CCC[C@H]1c1cccnc1"]
    draws, spelled = np.random.default_rng(0), []
    for text in drugs:
        molecule = Chem.MolFromSmiles(text)
        order = draws.permutation(molecule.GetNumAtoms()).tolist()
        spelled.append(Chem.MolToSmiles(Chem.RenumberAtoms(molecule, order), canonical=False))
    assert repeated_molecules(from_smiles(drugs + spelled)) == [[0, 3], [1, 4], [2, 5]]
