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
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from igsd.errors import DataError, counted, need
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import NO_KINDS, GraphSet, Name
from igsd.graphs.molecule import molecule_of, rdkit

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


_ORDERS = {*BOND_PARTS["order"], "quadruple", "dative", "hydrogen", "ionic", "unspecified", "zero"}


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


_BLOCK = 1000
_ATOM_BITS = (8, 3, 8, 8, 1, 4, 4, 8)
_BOND_BITS = (8, 1, 1, 8)
"""Bits of each part of the number that stands for a kind of atoms or bonds, before recoding."""


class ChemicalColumns:
    """Atoms and bonds of molecules, in columns that grow by a block of molecules at a time."""

    def __init__(self) -> None:
        self._pending: list[tuple[bytes, dict[int, str]]] = []
        self._sizes: list[int] = []
        self._ranks: list[int] = []
        self._blocks: list[tuple[np.ndarray, ...]] = []
        self._stereo: dict[str, int] = {"-": 0}
        self._kinds: dict[int, int] = {}

    @property
    def counts(self) -> np.ndarray:
        """Atoms of each molecule, [G] int64; 0 for a text that is not a molecule."""
        return np.array(self._sizes, np.int64)

    def append(self, molecule: Any, text: Any) -> None:
        """Add the molecule that was read from a text; None if the text is not a molecule."""
        if molecule is None:
            self._sizes.append(0)
            return
        ranks = rdkit().CanonicalRankAtoms(molecule)
        self._sizes.append(len(ranks))
        # By number: RDKit's own iterators are Python, slower than what they do.
        self._ranks.extend(map(ranks.__getitem__, range(len(ranks))))
        # A text without any of these has no stereocentres.
        has_centres = "@" in text or "|" in text or "InChI" in text
        centres = _stereocentres(molecule) if has_centres else {}
        self._pending.append((molecule.ToBinary(0), centres))
        if len(self._pending) == _BLOCK:
            self._flush()

    def _flush(self) -> None:
        """Turn the molecules that were added last into columns."""
        if not self._pending:
            return
        from igsd.graphs.binaries import read_binaries  # not needed without RDKit

        block = read_binaries([binary for binary, _ in self._pending])
        starts = pointers(block.sizes)
        stereo = np.zeros(starts[-1], np.int64)
        for start, (_, centres) in zip(starts[:-1].tolist(), self._pending, strict=True):
            for place, code in centres.items():
                stereo[start + place] = self._stereo.setdefault(code, len(self._stereo))
        self._pending = []
        number, charge, *others = block.atoms
        begin, end, *bond = block.bonds
        offsets = np.repeat(starts[:-1], block.num_bonds)
        ends = np.concatenate([begin + offsets, end + offsets])
        degrees = np.minimum(np.bincount(ends, minlength=starts[-1]), 7)
        kinds = _packed((number, degrees, charge + 128, *others, stereo), _ATOM_BITS)
        known, inverse = np.unique(kinds, return_inverse=True)
        codes = [self._kinds.setdefault(kind, len(self._kinds)) for kind in known.tolist()]
        atoms = np.array(codes, np.int32)[inverse]
        done = sum(len(atoms) for atoms, *_ in self._blocks)
        bonds = _packed(bond, _BOND_BITS)
        places = np.array(self._ranks, np.int32)
        self._blocks.append((atoms, bonds, begin + offsets + done, end + offsets + done, places))
        self._ranks = []

    def graphs(self, name: str, **columns: Any) -> GraphSet:
        """Return the molecules as a chemical set; each must have an atom."""
        made = _from_kinds(self.labelled(name))
        return replace(made, **(NO_KINDS | columns))

    def labelled(self, name: str, **columns: Any) -> GraphSet:
        """Return the molecules as a set labelled by elements and orders of bonds.

        It carries the labels of this module too: see ``chemical``.
        """
        self._flush()
        atoms, bonds, source, target, ranks = map(np.concatenate, zip(*self._blocks, strict=True))
        kinds, kind_names = _recoded(atoms, _atom_names(self._kinds, tuple(self._stereo)))
        symbols = [name.partition("|")[0] for name in kind_names]
        elements, element_names = _recoded(kinds, symbols)
        known = np.flatnonzero(np.bincount(bonds))
        place = np.zeros(known.max(initial=0) + 1, np.int64)
        place[known] = np.arange(len(known))
        orders, names = _bond_names(known)
        bonds = place[bonds]
        labels, label_names = _recoded(bonds, orders)
        codes = np.array([*map(BOND_NAMES.index, names), 0], np.int64)[bonds]
        return from_edges(
            self._sizes,
            np.concatenate([source, target]),
            np.concatenate([target, source]),
            edge_labels=np.tile(labels, 2),
            edge_label_names=label_names,
            node_labels=elements.astype(np.int32),
            node_label_names=element_names,
            atom_kinds=kinds.astype(np.int32),
            atom_kind_names=kind_names,
            atom_ranks=ranks,
            bond_kinds=np.tile(codes, 2),
            name=name,
            **columns,
        )


def _packed(parts: Sequence[np.ndarray], bits: Sequence[int]) -> np.ndarray:
    """Return one number for the parts of each atom or bond, [n] int64."""
    packed = np.zeros(len(parts[0]), np.int64)
    for part, width in zip(parts, bits, strict=True):
        packed = packed << width | part
    return packed


def _unpacked(packed: int, bits: Sequence[int]) -> list[int]:
    """Return the parts of a number made by ``_packed``."""
    parts = []
    for width in reversed(bits):
        parts.append(packed & (1 << width) - 1)
        packed >>= width
    return parts[::-1]


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
            found.append(molecule_of(text), text)
    return found


def _atom_names(kinds: Iterable[int], stereo: Sequence[str]) -> list[str]:
    """Return the labels of packed atoms; ``stereo``: the codes of stereocentres."""
    from rdkit import Chem

    names, symbol = [], Chem.GetPeriodicTable().GetElementSymbol
    hybrids = {int(key): kind.name.lower() for key, kind in Chem.HybridizationType.values.items()}
    for kind in kinds:
        number, degree, charge, *others, hybrid, code = _unpacked(kind, _ATOM_BITS)
        plain = (symbol(number), degree, charge - 128, *others, hybrids[hybrid], stereo[code])
        names.append("|".join(map(str, plain)))
    return names


def _bond_names(kinds: np.ndarray) -> tuple[list[str], list[str]]:
    """Return (orders, labels) of packed bonds."""
    from rdkit import Chem

    orders, names = [], []
    side = {"STEREOE": "E", "STEREOZ": "Z", "STEREOTRANS": "E", "STEREOCIS": "Z"}
    for kind in kinds.tolist():
        order, in_ring, is_conjugated, stereo = _unpacked(kind, _BOND_BITS)
        orders.append(Chem.BondType.values[order].name.lower())
        shown = orders[-1] if orders[-1] in BOND_PARTS["order"] else "other"
        sign = side.get(Chem.BondStereo.values[stereo].name, "-")
        names.append(f"{shown}|{in_ring}|{is_conjugated}|{sign}")
    return orders, names


def _stereocentres(molecule: Any) -> dict[int, str]:
    """Return R, S, r or s for each specified stereocentre.

    A tag of RDKit, clockwise or not, depends on the order of the atoms. Its quick labels, which do
    not, lack the centres that differ only by the stereochemistry of their neighbours (cis and trans
    on a ring): only for these the complete rules are applied.
    """
    from rdkit import Chem
    from rdkit.Chem import rdCIPLabeler

    atoms = map(molecule.GetAtomWithIdx, range(molecule.GetNumAtoms()))
    tagged = [atom for atom in atoms if atom.GetChiralTag() != Chem.CHI_UNSPECIFIED]
    if not all(atom.HasProp("_CIPCode") for atom in tagged):
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
