"""Atoms and bonds as a chemist sees them, as categories: ``chemical`` and what its labels mean.

The SMILES reader labels an atom by its element and a bond by its order. A *chemical* set has richer
labels on the same molecules. An atom is ``element|degree|charge|hydrogens|aromatic|ring|hybrid|
stereo``, e.g. ``C|3|0|0|1|6|sp2|-`` in benzoic acid: three heavy neighbours, no charge, no
hydrogen, aromatic, its smallest ring of six atoms, sp2, not a stereocentre. A bond is
``order|ring|conjugated|stereo``, e.g. ``double|0|1|E``. Few different atoms and bonds occur, so
such a set is as small as any other.

The labels do not depend on how the SMILES is written: aromaticity is RDKit's own, found again on
every molecule, stereocentres are R, S, r or s and double bonds E or Z by the rules of Cahn, Ingold
and Prelog, and the atoms come in RDKit's canonical order. So a kekulised and an aromatic spelling
of one molecule give the same set.
"""

import contextlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np

from igsd.errors import DataError, counted, need
from igsd.graphs.build import encode_categories, from_edges
from igsd.graphs.graphset import GraphSet, Name

ELEMENTS = (
    *("C", "N", "O", "F", "S", "Cl", "Br", "I", "P", "B", "Si", "Se", "H", "Na", "K", "Li"),
    *("Mg", "Ca", "Al", "Fe", "Zn", "Cu", "As", "Sn", "Hg", "Pt"),
)

ATOM_PARTS: dict[str, tuple[str, ...]] = {
    "element": ELEMENTS,
    "degree": ("0", "1", "2", "3", "4", "5", "6"),
    "charge": ("-2", "-1", "0", "1", "2"),
    "hydrogens": ("0", "1", "2", "3", "4"),
    "aromatic": ("0", "1"),
    "ring": ("0", "3", "4", "5", "6", "7", "8"),
    "hybrid": ("s", "sp", "sp2", "sp3", "sp3d", "sp3d2"),
    "stereo": ("-", "R", "S", "r", "s"),
}
"""What is seen of an atom, and the values with a column; anything else shares a last column."""

BOND_PARTS: dict[str, tuple[str, ...]] = {
    "order": ("single", "double", "triple", "aromatic", "other"),
    "ring": ("0", "1"),
    "conjugated": ("0", "1"),
    "stereo": ("-", "E", "Z"),
}
"""What is seen of a bond; ``other`` orders are dative bonds, bonds to metals and the like."""

BOND_NAMES: tuple[Name, ...] = tuple("|".join(values) for values in product(*BOND_PARTS.values()))
"""The labels that a bond of a chemical set can have."""

ATOM_DIM = sum(len(values) + 1 for values in ATOM_PARTS.values())
"""Width of an atom's vector."""


def atom_table(names: Sequence[Name]) -> np.ndarray:
    """Return the vectors of atom labels, [T, ATOM_DIM] float32: a one-hot for each part.

    A value without a column of its own (another element, a charge of 3) is in the part's last one.
    """
    table = np.zeros((len(names), ATOM_DIM), np.float32)
    for row, name in enumerate(names):
        offset = 0
        for value, known in zip(str(name).split("|"), ATOM_PARTS.values(), strict=True):
            table[row, offset + (known.index(value) if value in known else len(known))] = 1.0
            offset += len(known) + 1
    return table


def bond_table() -> np.ndarray:
    """Return the vectors of ``BOND_NAMES``, [T, k] float32: a one-hot for each part."""
    codes = np.array(list(product(*(range(len(values)) for values in BOND_PARTS.values()))))
    parts = [
        np.eye(len(v), dtype=np.float32)[c]
        for v, c in zip(BOND_PARTS.values(), codes.T, strict=True)
    ]
    return np.concatenate(parts, axis=1)


def is_chemical(graphs: GraphSet) -> bool:
    """Return whether the labels of a set are those of ``chemical``."""
    if graphs.node_labels is None or graphs.edge_labels is None:
        return False
    bars = len(ATOM_PARTS) - 1
    atoms = all(str(name).count("|") == bars for name in graphs.node_label_names)
    return atoms and set(graphs.edge_label_names) <= set(BOND_NAMES)


def check_chemical(graphs: GraphSet) -> None:
    """Raise ``DataError`` for a set that ``chemical`` cannot read: one that has no SMILES."""
    if not is_chemical(graphs) and graphs.graph_names is None:
        raise DataError(
            f"node_features='chemistry' needs molecules read from SMILES, but the graphs of "
            f"{graphs.name!r} have no names to read them from. Use node_features='auto'."
        )


def chemical(graphs: GraphSet) -> GraphSet:
    """Return the molecules of a set with the labels of this module; a chemical set is unchanged.

    They are read again from the names of the graphs, which are SMILES; the atoms may come in
    another order. Raises ``DataError`` if there are no names, or if one of them is another molecule
    than its graph.
    """
    if is_chemical(graphs):
        return graphs
    check_chemical(graphs)
    names = graphs.graph_names or ()
    found = read_chemical(names)
    wrong = np.flatnonzero(found.counts != graphs.node_counts())
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"{counted(len(wrong), 'graph')} of {graphs.name!r} cannot be read from their names as "
            f"SMILES: graph {row} has {int(graphs.node_counts()[row])} nodes, but its name "
            f"{names[row]!r} has {int(found.counts[row])} atoms. Use node_features='auto'."
        )
    made = found.graphs(graphs.name)
    return replace(
        graphs,
        adjacency=made.adjacency,
        node_labels=made.node_labels,
        node_label_names=made.node_label_names,
        node_attributes=None,
        node_attribute_names=(),
        edge_labels=made.edge_labels,
        edge_label_names=made.edge_label_names,
        edge_attributes=None,
        edge_attribute_names=(),
    )


@dataclass
class ChemicalColumns:
    """Atoms and bonds of molecules, in columns. ``counts`` [G]: atoms, 0 if a text is not one.

    ``atoms`` and ``bonds``: the labels; ``source`` and ``target``: the ends of a bond, counted over
    all molecules.
    """

    sizes: list[int] = field(default_factory=list)
    atoms: list[str] = field(default_factory=list)
    bonds: list[str] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)

    @property
    def counts(self) -> np.ndarray:
        """Atoms of each molecule, [G] int64."""
        return np.array(self.sizes, np.int64)

    def graphs(self, name: str, **columns: Any) -> GraphSet:
        """Return the molecules as a set; each must have an atom."""
        atoms, atom_names = encode_categories(self.atoms)
        codes = {bond: code for code, bond in enumerate(BOND_NAMES)}
        bonds = np.array([codes[bond] for bond in self.bonds], np.int64)
        source, target = np.array(self.source, np.int64), np.array(self.target, np.int64)
        return from_edges(
            self.sizes,
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            edge_labels=np.concatenate([bonds, bonds]),
            edge_label_names=BOND_NAMES,
            node_labels=atoms.astype(np.int32),
            node_label_names=atom_names,
            name=name,
            **columns,
        )


def read_chemical(texts: Sequence[Any]) -> ChemicalColumns:
    """Return the atoms and bonds of SMILES strings; a string that is not a molecule has no atoms.

    As in the SMILES reader, a molecule whose only fault is an impossible valence is kept.
    """
    need("chem", "rdkit.Chem", "Reading SMILES")
    from rdkit import rdBase

    found = ChemicalColumns()
    with rdBase.BlockLogs():
        for text in texts:
            append_molecule(found, molecule_of(text))
    return found


def molecule_of(text: Any) -> Any:
    """Return the molecule of a SMILES string, or None."""
    from rdkit import Chem

    from igsd.graphs.readers.smiles import without_valence_check

    molecule = Chem.MolFromSmiles(text.strip()) if isinstance(text, str) else None
    if molecule is None or molecule.GetNumAtoms() == 0:
        molecule = without_valence_check(text, Chem)
        if molecule is not None:
            Chem.GetSymmSSSR(molecule)
    return molecule


def are_molecules(graphs: GraphSet) -> bool:
    """Return whether graphs are named by SMILES that RDKit, if it is installed, can read."""
    names = graphs.graph_names
    if not names or importlib.util.find_spec("rdkit") is None:
        return False
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return molecule_of(names[0]) is not None and molecule_of(names[-1]) is not None


def append_molecule(found: ChemicalColumns, molecule: Any) -> None:
    """Add the atoms of a molecule in canonical order, and its bonds."""
    from rdkit import Chem

    if molecule is None:
        found.sizes.append(0)
        return
    ranks = list(Chem.CanonicalRankAtoms(molecule))
    rings = molecule.GetRingInfo()
    stereo = _stereocentres(molecule)
    hybrids = _HYBRIDS or _fill_hybrids()
    labels = [""] * len(ranks)
    for atom, rank in zip(molecule.GetAtoms(), ranks, strict=True):
        place = atom.GetIdx()
        ring = min(rings.MinAtomRingSize(place), 8)
        hybrid = hybrids.get(atom.GetHybridization(), "other")
        labels[rank] = (
            f"{atom.GetSymbol()}|{min(atom.GetDegree(), 7)}|{atom.GetFormalCharge()}|"
            f"{atom.GetTotalNumHs()}|{atom.GetIsAromatic():d}|{ring}|{hybrid}|"
            f"{stereo.get(place, '-')}"
        )
    offset = len(found.atoms)
    found.sizes.append(len(ranks))
    found.atoms += labels
    kinds = []
    for bond in molecule.GetBonds():
        found.source.append(offset + ranks[bond.GetBeginAtomIdx()])
        found.target.append(offset + ranks[bond.GetEndAtomIdx()])
        kinds.append(
            (bond.GetBondType(), bond.IsInRing(), bond.GetIsConjugated(), bond.GetStereo())
        )
    found.bonds += [_bond_name(*kind) for kind in kinds]


_HYBRIDS: dict[Any, str] = {}
_BONDS: dict[tuple[Any, ...], str] = {}


def _fill_hybrids() -> dict[Any, str]:
    from rdkit.Chem import HybridizationType

    for value in HybridizationType.values.values():
        _HYBRIDS[value] = value.name.lower()
    return _HYBRIDS


def _bond_name(*kind: Any) -> str:
    """Return the label of a bond of this type, in a ring, conjugated, and with this stereo."""
    if kind not in _BONDS:
        order, in_ring, is_conjugated, stereo = kind
        name = order.name.lower()
        name = name if name in BOND_PARTS["order"] else "other"
        side = {"STEREOE": "E", "STEREOZ": "Z", "STEREOTRANS": "E", "STEREOCIS": "Z"}
        _BONDS[kind] = f"{name}|{in_ring:d}|{is_conjugated:d}|{side.get(stereo.name, '-')}"
    return _BONDS[kind]


def _stereocentres(molecule: Any) -> dict[int, str]:
    """Return R, S, r or s for each specified stereocentre.

    A tag of RDKit, clockwise or not, depends on the order of the atoms. Its quick labels, which do
    not, lack the centres that differ only by the stereochemistry of their neighbours (cis and trans
    on a ring): only for these the complete rules are applied.
    """
    from rdkit import Chem

    tagged = [atom for atom in molecule.GetAtoms() if atom.GetChiralTag() != Chem.CHI_UNSPECIFIED]
    if not tagged:
        return {}
    if not all(atom.HasProp("_CIPCode") for atom in tagged):
        from rdkit.Chem import rdCIPLabeler

        molecule = Chem.Mol(molecule)
        # It gives up on molecules that would take too long.
        with contextlib.suppress(RuntimeError):
            rdCIPLabeler.AssignCIPLabels(molecule)
        tagged = [molecule.GetAtomWithIdx(atom.GetIdx()) for atom in tagged]
    found = {}
    for atom in tagged:
        code = atom.GetProp("_CIPCode") if atom.HasProp("_CIPCode") else "other"
        found[atom.GetIdx()] = code
    return found
