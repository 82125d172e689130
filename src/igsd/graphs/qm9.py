"""``read_qm9``: the 130,831 molecules of QM9 with coordinates, bonds and properties.

Nodes are all atoms, hydrogens too, labelled by element; their attributes are the coordinates x, y,
z in Angstrom. Edges are bonds, labelled ``single``, ``double``, ``triple`` or ``aromatic``, as the
reader of SMILES labels them. A graph's name is its SMILES and its number, ``"CCO gdb_14"``: RDKit
reads that as a molecule with a name.

The targets are the ten that protocols use, in their order, then the other five. Units: see
``QM9_UNITS``. Only molecules that QM9's authors did not mark as uncharacterised are in it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from igsd.graphs.build import from_edges
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet
from igsd.graphs.qm9_bonds import BOND_NAMES, qm9_bonds
from igsd.graphs.qm9_files import ELEMENTS, PROPERTIES, read_qm9_columns

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
    done, molecules in all). Raises ``DataError`` for files that are
    missing, damaged or do not belong together, and without RDKit.
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
