"""Writes small copies of QM9's files, in both forms that they come in."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from igsd.graphs.readers.qm9 import ELEMENTS, GEOMETRY, PARTS, PROPERTIES, TABLE


@dataclass(frozen=True)
class Written:
    """One molecule for a file: number, SMILES, symbols and coordinates of its atoms."""

    index: int
    smiles: str
    symbols: str
    positions: Sequence[tuple[float, float, float]]

    def numbers(self) -> list[str]:
        """Return fifteen properties that tell this molecule from others."""
        return [f"{self.index + 0.25 * place}" for place in range(len(PROPERTIES))]


WATER = Written(3, "O", "OHH", [(0.0, 0.0, 0.0), (0.96, 0.0, 0.0), (-0.24, 0.93, 0.0)])
ETHYNE = Written(
    4, "C#C", "CCHH", [(0.6, 0.0, 0.0), (-0.6, 0.0, 0.0), (-1.66, 0.0, 0.0), (1.66, 0.0, 0.0)]
)
FORMALDEHYDE = Written(
    6, "C=O", "COHH", [(0.0, 0.0, 0.0), (1.2, 0.0, 0.0), (-0.55, 0.94, 0.0), (-0.55, -0.94, 0.0)]
)
MOLECULES = (WATER, ETHYNE, FORMALDEHYDE)


def write_package(folder: Path, molecules: Sequence[Written] = MOLECULES) -> Path:
    """Write the three CSV parts of the package, a third of the molecules in each."""
    folder.mkdir(parents=True, exist_ok=True)
    names = ["Index", "SMILES", "InChi", "N_atoms", "Elements", "XYZ_Ang", *PROPERTIES.values()]
    for part, chosen in zip(PARTS, np.array_split(np.arange(len(molecules)), 3), strict=True):
        lines = [",".join(names)]
        for molecule in (molecules[i] for i in chosen):
            symbols = ",".join(f"'{symbol}'" for symbol in molecule.symbols)
            places = ",".join(f"[{x},{y},{z}]" for x, y, z in molecule.positions)
            cells = [str(molecule.index), f'"{molecule.smiles}"', '"InChI=1S/C,H"']
            cells += [str(len(molecule.symbols)), f'"[{symbols}]"', f'"[{places}]"']
            lines.append(",".join(cells + molecule.numbers()))
        (folder / part).write_text("\n".join(lines) + "\n")
    return folder


def write_table(folder: Path, molecules: Sequence[Written] = MOLECULES) -> Path:
    """Write QM9.csv.gz and QM9-geometry.npz and return the path of the table."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [",".join(["mol_id", "smiles", *PROPERTIES])]
    lines += [
        ",".join([f"gdb_{molecule.index}", molecule.smiles, *molecule.numbers()])
        for molecule in molecules
    ]
    with gzip.open(folder / TABLE, "wt") as file:
        file.write("\n".join(lines) + "\n")
    symbols = "".join(molecule.symbols for molecule in molecules)
    np.savez(
        folder / GEOMETRY,
        gdb_index=np.array([molecule.index for molecule in molecules], np.int32),
        n_atoms=np.array([len(molecule.symbols) for molecule in molecules], np.uint8),
        z=np.array([ELEMENTS[symbol] for symbol in symbols], np.uint8),
        pos=np.concatenate([np.array(m.positions, np.float32) for m in molecules]),
    )
    return folder / TABLE
