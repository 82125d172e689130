"""``read_qm9``: the molecules of QM9 as graphs, with bonds from SMILES and geometry.

QM9 publishes atoms and coordinates, not bonds. Bonds between heavy atoms are those that RDKit reads
in the SMILES, whose atoms are in the order of the geometry. Each hydrogen is bound to the nearest
heavy atom. If the two disagree on the number of hydrogens of a heavy atom (six molecules of
130,831), the SMILES is in another order, and the order that fits is searched for.

Nodes are all atoms including hydrogens, labelled by element; their attributes are the coordinates
x, y, z in Angstrom. Edges are bonds, labelled as by the reader of SMILES. The name of a graph is
its SMILES and its number, ``"CCO gdb_14"``: RDKit reads that as a molecule with a name.

The targets are the ten of protocol qm9, in its order, then the other five; for units see
``QM9_UNITS``. Molecules that QM9's authors marked as uncharacterised are left out.
"""

import itertools
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from igsd.errors import DataError, need
from igsd.graphs.adjacency import pointers
from igsd.graphs.build import from_edges
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.qm9_files import ELEMENTS, PROPERTIES, QM9Columns, read_qm9_columns

BOND_NAMES = ("aromatic", "double", "single", "triple")
"""The kinds of bonds in QM9, with the names and order of the reader of SMILES."""

_SINGLE = BOND_NAMES.index("single")
_CHUNK = 200_000
_PIECE = 1000


@dataclass(frozen=True)
class _Skeletons:
    """Heavy atoms and bonds of many SMILES, packed.

    ``counts`` [G] atoms, ``z`` and ``hydrogens`` one per atom, ``bond_counts`` [G], ``source`` and
    ``target`` atoms counted inside the molecule, ``kinds`` codes into ``BOND_NAMES``.
    """

    counts: np.ndarray
    z: np.ndarray
    hydrogens: np.ndarray
    bond_counts: np.ndarray
    source: np.ndarray
    target: np.ndarray
    kinds: np.ndarray


def qm9_bonds(
    columns: QM9Columns, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (source, target, kind) of every bond, each once: [M] int64, [M] int64, [M] int32.

    ``progress`` is called with (molecules read, total) from time to time. Atoms are counted over
    all molecules; ``kind`` is a code into ``BOND_NAMES``. Raises ``ConfigError`` without RDKit,
    ``DataError`` for a molecule whose SMILES does not fit its atoms.
    """
    smiles = _read_smiles(columns.smiles, progress)
    graph = np.repeat(np.arange(len(columns.counts)), columns.counts)
    heavy = np.flatnonzero(columns.z != 1)
    first = pointers(np.bincount(graph[heavy], minlength=len(columns.counts)))
    _check_counts(smiles, np.diff(first), columns)
    hydrogen = np.flatnonzero(columns.z == 1)
    owner = first[graph[hydrogen]] + _nearest_heavy(columns, graph, heavy, first, hydrogen)
    found = np.bincount(owner, minlength=len(heavy))
    wrong = (smiles.z != columns.z[heavy]) | (smiles.hydrogens != found)
    order = np.arange(len(heavy))
    for molecule in np.unique(graph[heavy[wrong]]).tolist():
        atoms = slice(first[molecule], first[molecule + 1])
        order[atoms] = first[molecule] + _fitting_order(
            molecule, smiles, columns, heavy[atoms], found[atoms], atoms
        )
    offsets = np.repeat(first[:-1], smiles.bond_counts)
    return (
        np.concatenate([heavy[order[offsets + smiles.source]], heavy[owner]]),
        np.concatenate([heavy[order[offsets + smiles.target]], hydrogen]),
        np.concatenate([smiles.kinds, np.full(len(hydrogen), _SINGLE, np.int32)]),
    )


def _read_smiles(texts: Sequence[str], progress: Progress | None) -> _Skeletons:
    """Return the heavy atoms and bonds that RDKit reads, one molecule at a time."""
    Chem = need("qm9", "rdkit.Chem", "Reading the bonds of QM9 from SMILES")
    kinds = {getattr(Chem.BondType, name.upper()): code for code, name in enumerate(BOND_NAMES)}
    # Flat arrays: lists of Python objects would take ten times the memory.
    counts, z, hydrogens, bond_counts, source, target, kind = (array("i") for _ in range(7))
    for row, text in enumerate(texts):
        if progress is not None and row % _PIECE == 0:
            progress(row, len(texts))
        molecule = Chem.MolFromSmiles(text)
        if molecule is None:
            raise DataError(
                f"Molecule {row} of QM9 (counted from 0) has no valid SMILES: {text!r}."
            )
        counts.append(molecule.GetNumAtoms())
        bond_counts.append(molecule.GetNumBonds())
        for atom in molecule.GetAtoms():
            z.append(atom.GetAtomicNum())
            hydrogens.append(atom.GetTotalNumHs())
        for bond in molecule.GetBonds():
            source.append(bond.GetBeginAtomIdx())
            target.append(bond.GetEndAtomIdx())
            kind.append(kinds[bond.GetBondType()])
    columns = (counts, z, hydrogens, bond_counts, source, target, kind)
    return _Skeletons(*(np.array(column, dtype=np.int32) for column in columns))


def _check_counts(smiles: _Skeletons, heavy_counts: np.ndarray, columns: QM9Columns) -> None:
    wrong = np.flatnonzero(smiles.counts != heavy_counts)
    if len(wrong):
        row = int(wrong[0])
        raise DataError(
            f"Molecule gdb_{columns.gdb_index[row]} of QM9 has {int(heavy_counts[row])} heavy "
            f"atoms in its geometry, but {int(smiles.counts[row])} in its SMILES "
            f"{columns.smiles[row]!r}. The files are damaged or from different versions."
        )


def _nearest_heavy(
    columns: QM9Columns,
    graph: np.ndarray,
    heavy: np.ndarray,
    first: np.ndarray,
    hydrogen: np.ndarray,
) -> np.ndarray:
    """Return for each hydrogen its nearest heavy atom, counted inside the molecule, [H] int64."""
    counts = np.diff(first)
    block = np.full((len(counts), int(counts.max()), 3), np.inf, np.float32)
    local = np.arange(len(heavy)) - np.repeat(first[:-1], counts)
    block[graph[heavy], local] = columns.positions[heavy]
    nearest = np.empty(len(hydrogen), np.int64)
    for start in range(0, len(hydrogen), _CHUNK):
        atoms = hydrogen[start : start + _CHUNK]
        gaps = block[graph[atoms]] - columns.positions[atoms][:, None]
        nearest[start : start + _CHUNK] = np.square(gaps).sum(-1).argmin(1)
    return nearest


def _fitting_order(
    molecule: int,
    smiles: _Skeletons,
    columns: QM9Columns,
    heavy: np.ndarray,
    hydrogens: np.ndarray,
    atoms: slice,
) -> np.ndarray:
    """Return the place in the geometry of each heavy atom of a SMILES, [k] int64.

    Of all orders that agree in elements and hydrogens, the one with the shortest bonds; molecules
    of QM9 have at most nine heavy atoms, so all orders can be tried.
    """
    wanted = list(zip(smiles.z[atoms].tolist(), smiles.hydrogens[atoms].tolist(), strict=True))
    there = list(zip(columns.z[heavy].tolist(), hydrogens.tolist(), strict=True))
    if sorted(wanted) != sorted(there):
        raise DataError(
            f"Molecule gdb_{columns.gdb_index[molecule]} of QM9 has other atoms or hydrogens in "
            f"its geometry than in its SMILES {columns.smiles[molecule]!r}. The files are damaged "
            "or do not belong together."
        )
    orders = np.zeros((1, len(wanted)), np.int64)
    for kind in sorted(set(wanted)):
        slots = [i for i, own in enumerate(wanted) if own == kind]
        places = [i for i, own in enumerate(there) if own == kind]
        choices = np.array(list(itertools.permutations(places)))
        orders, repeats = np.repeat(orders, len(choices), axis=0), len(orders)
        orders[:, slots] = np.tile(choices, (repeats, 1))
    begin = int(smiles.bond_counts[:molecule].sum())
    bonds = slice(begin, begin + int(smiles.bond_counts[molecule]))
    gaps = columns.positions[heavy][:, None] - columns.positions[heavy]
    lengths = np.sqrt(np.square(gaps).sum(-1))
    total = lengths[orders[:, smiles.source[bonds]], orders[:, smiles.target[bonds]]].sum(1)
    return orders[int(total.argmin())]


QM9_TARGETS = ("mu", "alpha", "homo", "lumo", "gap", "r2", "zpve", "u0", "u298", "h298")
"""The ten targets of protocol ``qm9``, in the paper's order: the first ten columns of the set."""

QM9_UNITS = {
    "mu": "D",
    "alpha": "bohr^3",
    "homo": "Ha",
    "lumo": "Ha",
    "gap": "Ha",
    "r2": "bohr^2",
    "zpve": "Ha",
    "u0": "Ha",
    "u298": "Ha",
    "h298": "Ha",
    "g298": "Ha",
    "cv": "cal/mol/K",
    "A": "GHz",
    "B": "GHz",
    "C": "GHz",
}
"""The unit of each target."""


def read_qm9(source: Path, progress: Progress | None = None) -> GraphSet:
    """Return QM9 from ``QM9.csv.gz`` (its geometry beside it) or the package's data folder.

    Takes about a minute: RDKit reads 130,831 SMILES, and ``progress`` is called with (molecules
    done, total). Raises ``DataError`` for files that are missing, damaged or do not fit each other,
    ``ConfigError`` without RDKit.
    """
    columns = read_qm9_columns(source)
    begin, end, kinds = qm9_bonds(columns, progress)
    elements = sorted(ELEMENTS)
    codes = np.full(256, -1, np.int32)
    codes[[ELEMENTS[symbol] for symbol in elements]] = np.arange(len(elements))
    pairs = zip(columns.smiles, columns.gdb_index.tolist(), strict=True)
    units = ", ".join(f"{name} {unit}" for name, unit in QM9_UNITS.items())
    return from_edges(
        columns.counts,
        np.concatenate([begin, end]),
        np.concatenate([end, begin]),
        edge_labels=np.concatenate([kinds, kinds]),
        edge_label_names=BOND_NAMES,
        node_labels=codes[columns.z],
        node_label_names=tuple(elements),
        node_attributes=columns.positions,
        node_attribute_names=("x", "y", "z"),
        targets=columns.properties,
        target_names=tuple(PROPERTIES),
        graph_names=tuple(f"{smiles} gdb_{index}" for smiles, index in pairs),
        name="QM9",
        notes=(f"units of the targets: {units}; coordinates in Angstrom",),
    )


_UNITS = {
    "QM9": QM9_UNITS,
    "B3DB": {"logBB": "log10 of the concentration in the brain over that in the blood"},
}


def target_unit(data: str, target: str) -> str:
    """Return the unit of a target of the data set with this name, empty if unknown.

    >>> target_unit("QM9", "mu"), target_unit("mine", "mu")
    ('D', '')
    """
    return _UNITS.get(data, {}).get(target, "")
