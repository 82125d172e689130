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
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import NO_KINDS, GraphSet, Name

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


_ORDERS = {*BOND_PARTS["order"], "quadruple", "dative", "hydrogen", "ionic", "zero"}


def has_bonds(graphs: GraphSet) -> bool:
    """Return whether nodes have labels and edges the orders of bonds as theirs."""
    if graphs.node_labels is None or graphs.edge_labels is None:
        return False
    return set(graphs.edge_label_names) <= _ORDERS or is_chemical(graphs)


def check_chemical(graphs: GraphSet) -> None:
    """Raise ``DataError`` for a set that ``chemical`` cannot read: one that has no SMILES."""
    if graphs.atom_kinds is None and graphs.graph_names is None and not is_chemical(graphs):
        raise DataError(
            f"node_features='chemistry' needs molecules read from SMILES, but the graphs of "
            f"{graphs.name!r} have no names to read them from. Use node_features='auto'."
        )


def chemical(graphs: GraphSet) -> GraphSet:
    """Return the molecules of a set with the labels of this module; a chemical set is unchanged.

    A set read from SMILES carries them (``atom_kinds`` and so on). For other sets they are read
    from the names of the graphs, which are SMILES. The atoms may come in another order. Raises
    ``DataError`` if there are no names, or if one of them is another molecule than its graph.
    """
    if is_chemical(graphs):
        return graphs
    check_chemical(graphs)
    made = _from_kinds(graphs) if graphs.atom_kinds is not None else _from_names(graphs)
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
        **NO_KINDS,
    )


def _from_kinds(graphs: GraphSet) -> GraphSet:
    """Return the chemical set of one that carries its labels: its atoms in canonical order."""
    ranks, kinds, bonds = (
        np.asarray(column) for column in (graphs.atom_ranks, graphs.atom_kinds, graphs.bond_kinds)
    )
    if bonds.max(initial=0) >= len(BOND_NAMES):
        raise DataError(
            f"The bonds of {graphs.name!r} are not those of molecules. Import it again."
        )
    place = graphs.node_ptr[:-1].repeat(graphs.node_counts()) + ranks
    adjacency = graphs.adjacency
    rows, columns = place[adjacency.rows()], place[adjacency.global_columns(graphs.node_ptr)]
    order = np.argsort(rows * graphs.num_nodes + columns)
    labels, degrees = np.empty_like(kinds), np.empty_like(place)
    labels[place], degrees[place] = kinds, adjacency.degrees()
    local = ranks[adjacency.global_columns(graphs.node_ptr)][order]
    return replace(
        graphs,
        adjacency=Adjacency(pointers(degrees), local.astype(np.int32)),
        node_labels=labels,
        node_label_names=graphs.atom_kind_names,
        edge_labels=bonds[order],
        edge_label_names=BOND_NAMES,
    )


def _from_names(graphs: GraphSet) -> GraphSet:
    """Return the chemical set of molecules that are read from their names."""
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
    return found.graphs(graphs.name)


AtomKind = tuple[Any, ...]
"""Atomic number, degree, charge, hydrogens, aromatic, ring size, hybridisation and stereo."""
BondKind = tuple[Any, ...]
"""Type, in a ring, conjugated and stereo, as RDKit has them."""


@dataclass
class ChemicalColumns:
    """Atoms and bonds of molecules, in columns. ``sizes``: atoms, 0 if a text is not a molecule.

    ``atoms`` and ``bonds``: codes of the kinds in ``atom_codes`` and ``bond_codes``. ``ranks``: the
    place of an atom in RDKit's canonical order. ``source`` and ``target``: the ends of a bond,
    counted over all molecules.
    """

    sizes: list[int] = field(default_factory=list)
    atoms: list[int] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    bonds: list[int] = field(default_factory=list)
    source: list[int] = field(default_factory=list)
    target: list[int] = field(default_factory=list)
    atom_codes: dict[AtomKind, int] = field(default_factory=dict)
    bond_codes: dict[BondKind, int] = field(default_factory=dict)

    @property
    def counts(self) -> np.ndarray:
        """Atoms of each molecule, [G] int64."""
        return np.array(self.sizes, np.int64)

    def graphs(self, name: str, **columns: Any) -> GraphSet:
        """Return the molecules as a chemical set; each must have an atom."""
        made = _from_kinds(self.labelled(name))
        return replace(made, **(NO_KINDS | columns))

    def labelled(self, name: str, **columns: Any) -> GraphSet:
        """Return the molecules as a set labelled by elements and orders of bonds.

        It carries the labels of this module too: see ``chemical``.
        """
        kinds, kind_names = _recoded(self.atoms, [_atom_name(kind) for kind in self.atom_codes])
        symbols = [name.partition("|")[0] for name in kind_names]
        elements, element_names = _recoded(kinds, symbols)
        orders = [kind[0].name.lower() for kind in self.bond_codes]
        bonds, bond_names = _recoded(self.bonds, orders)
        codes = [BOND_NAMES.index(_bond_name(*kind)) for kind in self.bond_codes]
        bond_kinds = np.array([*codes, 0], np.int64)[self.bonds]
        source, target = np.array(self.source, np.int64), np.array(self.target, np.int64)
        return from_edges(
            self.sizes,
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            edge_labels=np.tile(bonds, 2),
            edge_label_names=bond_names,
            node_labels=elements.astype(np.int32),
            node_label_names=element_names,
            atom_kinds=kinds.astype(np.int32),
            atom_kind_names=kind_names,
            atom_ranks=np.array(self.ranks, np.int32),
            bond_kinds=np.tile(bond_kinds, 2),
            name=name,
            **columns,
        )


def _recoded(codes: Any, names: Sequence[str]) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return (codes, names) with every name once, in sorted order."""
    ordered = sorted(set(names))
    table = np.array([*(ordered.index(name) for name in names), -1], np.int64)
    return table[np.asarray(codes, np.int64)], tuple(ordered)


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


def molecule_of(text: Any, *, check_valence: bool = False) -> Any:
    """Return the molecule of a SMILES string or InChI, or None if it is none or has no atoms.

    ``check_valence=False`` also reads one whose only fault is an impossible valence.
    """
    from rdkit import Chem

    if not isinstance(text, str):
        return None
    text = text.strip()
    if text.startswith("InChI="):
        molecule = Chem.MolFromInchi(text)
        # As its SMILES is read, so that both give the same molecule.
        molecule = None if molecule is None else Chem.MolFromSmiles(Chem.MolToSmiles(molecule))
    else:
        molecule = Chem.MolFromSmiles(text)
    if molecule is not None and molecule.GetNumAtoms():
        return molecule
    return None if check_valence else _without_valence_check(text)


def _without_valence_check(text: str) -> Any:
    """Return the molecule of a string whose only fault is a valence, otherwise None."""
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(text, sanitize=False)
    if molecule is None or molecule.GetNumAtoms() == 0:
        return None
    problems = Chem.DetectChemistryProblems(molecule)
    if any(problem.GetType() != "AtomValenceException" for problem in problems):
        return None
    molecule.UpdatePropertyCache(strict=False)
    steps = Chem.SanitizeFlags.SANITIZE_ALL ^ Chem.SanitizeFlags.SANITIZE_PROPERTIES
    if Chem.SanitizeMol(molecule, sanitizeOps=steps, catchErrors=True):
        return None
    molecule = Chem.RemoveHs(molecule, sanitize=False)
    Chem.GetSymmSSSR(molecule)
    return molecule


def are_smiles(names: Sequence[str] | None) -> bool:
    """Return whether graphs have names, and these are SMILES that RDKit can read.

    The first and the last are tried. Without RDKit they are not.
    """
    if not names or importlib.util.find_spec("rdkit") is None:
        return False
    from rdkit import rdBase

    with rdBase.BlockLogs():
        return molecule_of(names[0]) is not None and molecule_of(names[-1]) is not None


def append_molecule(found: ChemicalColumns, molecule: Any) -> None:
    """Add the atoms of a molecule and their canonical places, and its bonds."""
    from rdkit import Chem

    if molecule is None:
        found.sizes.append(0)
        return
    ranks = Chem.CanonicalRankAtoms(molecule)
    info, unspecified, codes = molecule.GetRingInfo(), Chem.CHI_UNSPECIFIED, found.atom_codes
    rings = [0] * len(ranks)
    for ring in sorted(info.AtomRings(), key=len, reverse=True):
        for place in ring:
            rings[place] = min(len(ring), 8)
    # Mapped, not looped, and by number: RDKit's own iterators are Python, slower than what they do.
    atoms = list(map(molecule.GetAtomWithIdx, range(len(ranks))))
    bonds = list(map(molecule.GetBondWithIdx, range(molecule.GetNumBonds())))
    atom, bond = Chem.Atom, Chem.Bond
    columns = (
        map(atom.GetAtomicNum, atoms),
        map(atom.GetDegree, atoms),
        map(atom.GetFormalCharge, atoms),
        map(atom.GetTotalNumHs, atoms),
        map(atom.GetIsAromatic, atoms),
        rings,
        map(atom.GetHybridization, atoms),
    )
    kinds: list[AtomKind] = list(zip(*columns, strict=True))
    tags = zip(atoms, map(atom.GetChiralTag, atoms), strict=True)
    centres = [one for one, tag in tags if tag != unspecified]
    for place, code in _stereocentres(molecule, centres).items():
        kinds[place] += (code,)
    offset = len(found.atoms)
    found.sizes.append(len(kinds))
    found.ranks += ranks
    found.atoms += [codes.setdefault(kind, len(codes)) for kind in kinds]
    found.source += [offset + place for place in map(bond.GetBeginAtomIdx, bonds)]
    found.target += [offset + place for place in map(bond.GetEndAtomIdx, bonds)]
    in_ring = [False] * len(bonds)
    for ring in info.BondRings():
        for place in ring:
            in_ring[place] = True
    links = (
        map(bond.GetBondType, bonds),
        in_ring,
        map(bond.GetIsConjugated, bonds),
        map(bond.GetStereo, bonds),
    )
    known = found.bond_codes
    found.bonds += [known.setdefault(kind, len(known)) for kind in zip(*links, strict=True)]


def _atom_name(kind: AtomKind) -> str:
    """Return the label of an atom."""
    from rdkit import Chem

    number, degree, charge, hydrogens, is_aromatic, ring, hybrid, *stereo = kind
    symbol = Chem.GetPeriodicTable().GetElementSymbol(number)
    return "|".join(
        (
            f"{symbol}|{min(degree, 7)}|{charge}|{hydrogens}|{is_aromatic:d}|{ring}",
            hybrid.name.lower(),
            stereo[0] if stereo else "-",
        )
    )


def _bond_name(*kind: Any) -> str:
    """Return the label of a bond of this type, in a ring, conjugated, and with this stereo."""
    order, in_ring, is_conjugated, stereo = kind
    name = order.name.lower()
    name = name if name in BOND_PARTS["order"] else "other"
    side = {"STEREOE": "E", "STEREOZ": "Z", "STEREOTRANS": "E", "STEREOCIS": "Z"}
    return f"{name}|{in_ring:d}|{is_conjugated:d}|{side.get(stereo.name, '-')}"


def _stereocentres(molecule: Any, tagged: list[Any]) -> dict[int, str]:
    """Return R, S, r or s for each specified stereocentre, which are the ``tagged`` atoms.

    A tag of RDKit, clockwise or not, depends on the order of the atoms. Its quick labels, which do
    not, lack the centres that differ only by the stereochemistry of their neighbours (cis and trans
    on a ring): only for these the complete rules are applied.
    """
    if not tagged:
        return {}
    if not all(atom.HasProp("_CIPCode") for atom in tagged):
        from rdkit import Chem
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
