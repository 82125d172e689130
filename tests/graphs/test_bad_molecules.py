"""What chemists' tables hold besides plain molecules: a rule or a sentence for each."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import igsd
from igsd.batches.features import FeatureMap
from igsd.batches.unseen import warn_of_unseen
from igsd.errors import DataError, IGSDWarning
from igsd.graphs.chemistry import chemical, is_chemical, read_chemical
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import find_labels
from igsd.graphs.labels import check_enough
from igsd.graphs.readers.smiles import from_smiles

pytest.importorskip("rdkit")

CHEMISTRY = FeatureMap(("chemistry",))


def test_an_element_never_seen_and_a_polymer() -> None:
    graphs = from_smiles(["[Ru+2]", "*CC*", "CCO"])
    with pytest.warns(IGSDWarning, match=r"2 molecules of 'molecules' have .* \(\*, Ru\)"):
        warn_of_unseen(CHEMISTRY, graphs)
    with pytest.warns(IGSDWarning, match="2 molecules"):
        warn_of_unseen(CHEMISTRY, chemical(graphs))
    rows = CHEMISTRY.transform(graphs)
    assert rows.table is not None
    assert len(rows.codes) == graphs.num_nodes == 8


def test_a_blank_does_not_cut_a_molecule() -> None:
    """RDKit reads what stands before it: 'C C' was methane."""
    with pytest.raises(DataError, match="row 0: 'C C': a blank inside"):
        from_smiles(["C C", "CCO"])
    assert len(from_smiles(["CCO |$;;$|", " CC "])) == 2


def test_a_metal_complex_and_a_dative_bond() -> None:
    graphs = from_smiles(["Cl[Pt](Cl)(N)N", "N->[Fe]"])
    assert graphs.edge_label_names == ("dative", "single")
    made = chemical(graphs)
    kinds = {str(made.edge_label_names[code]) for code in np.asarray(made.edge_labels)}
    assert kinds == {"single|0|0|-", "other|0|0|-"}


def test_a_peptide_of_two_thousand_atoms(tmp_path: Path) -> None:
    peptide = "N" + "[C@@H](C)C(=O)N" * 400 + "CC(=O)O"
    (tmp_path / "t.csv").write_text(f"smiles\n{peptide}\nCCO\n{peptide}\n")
    with pytest.warns(IGSDWarning, match="1 molecule occurs more than once"):
        graphs = igsd.open_data(tmp_path / "t.csv")
    assert graphs.node_counts().max() > 2000
    assert is_chemical(chemical(graphs))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "'': empty"),
        ("CC(=O)O>>CCO", "a reaction and not a molecule"),
        ("CC>O>CCO", "a reaction and not a molecule"),
        ("InChI=1S/nonsense", "not a valid InChI"),
        ("aspirin", "not valid SMILES"),
        ("C(C)(C)(C)(C)C", "Explicit valence for atom # 0 C, 5, is greater than permitted"),
    ],
)
def test_what_is_no_molecule_is_named(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason.replace("(", r"\(")):
        igsd.open_data(["CCO", text])
    (tmp_path / "t.csv").write_text(f"smiles,id\nCCO,a\n{text},b\nCC,c\n")
    with pytest.warns(IGSDWarning, match=f"1 of 3 rows of t.csv is .* left out: line 3.*{reason}"):
        graphs = igsd.open_data(tmp_path / "t.csv")
    assert graphs.ids == ("a", "c")


def test_a_column_of_inchi_is_read(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('InChI,y\n"InChI=1S/C2H6O/c1-2-3/h3H,2H2,1H3",1\n')
    graphs = igsd.open_data(tmp_path / "t.csv")
    assert graphs.graph_names == ("CCO",)
    assert is_chemical(chemical(graphs))


def test_labels_that_cannot_be_learned(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    rows = [f"{'C' * n}O,{n}.5,yes,{'01'[n % 2] if n < 4 else ''}" for n in range(1, 12)]
    rows[2] = rows[2].replace("3.5", "high")
    path.write_text("smiles,value,one,three\n" + "\n".join(rows) + "\n")
    graphs = igsd.open_data(path)
    with pytest.raises(DataError, match=r"'value' must hold finite numbers .* 'high' \(line 4\)"):
        find_labels(graphs, str(path), "value")
    with pytest.raises(DataError, match="All labels in 'one' are 'yes'"):
        check_enough(find_labels(graphs, str(path), "one"))
    three = find_labels(graphs, str(path), "three")
    check_enough(three)
    assert int(three.is_known.sum()) == 3


def test_a_set_carries_its_chemistry_through_parts_and_files(tmp_path: Path) -> None:
    texts = [
        "CC(=O)Oc1ccccc1C(=O)O",
        "C[C@H](N)C(=O)O",
        "C/C=C/C",
        "[NH3+]CC(=O)[O-]",
        "[Na+].[Cl-]",
    ]
    graphs = from_smiles(texts)
    expected = read_chemical(texts).graphs("molecules")
    graphs.save(tmp_path / "g.graphs")
    loaded = GraphSet.load(tmp_path / "g.graphs")
    assert loaded.checksum == graphs.checksum
    for made in (chemical(graphs), chemical(loaded)):
        assert made.node_labels is not None
        assert made.edge_labels is not None
        assert np.array_equal(made.node_labels, np.asarray(expected.node_labels))
        assert np.array_equal(made.edge_labels, np.asarray(expected.edge_labels))
        assert np.array_equal(made.adjacency.col, expected.adjacency.col)
    part = chemical(graphs.take([3, 0]))
    names = [part.node_label_names[c] for c in np.asarray(part.node_labels)]
    whole = chemical(from_smiles([texts[3], texts[0]]))
    assert names == [whole.node_label_names[c] for c in np.asarray(whole.node_labels)]
    # What the labels follow from is in the checksum already.
    bare = GraphSet(
        graphs.node_ptr,
        graphs.adjacency,
        node_labels=graphs.node_labels,
        node_label_names=graphs.node_label_names,
        edge_labels=graphs.edge_labels,
        edge_label_names=graphs.edge_label_names,
        graph_names=graphs.graph_names,
    )
    assert bare.checksum == graphs.checksum
