"""``LinkFeatures``: what a message-passing network sees of two linked atoms.

Two things: the kind of their bond, and how far apart they are, in bins. Both are categories, so all
the links of a set fall into few different ones, and whatever a network computes for a link it
needs to compute only once per category. Fitted on the training graphs and stored with the model.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from igsd.errors import ConfigError, DataError
from igsd.graphs.graphset import GraphSet, Name

COORDINATES = ("x", "y", "z")
"""The node attributes that are taken for coordinates, in Angstrom."""


@dataclass(frozen=True)
class LinkFeatures:
    """How a link becomes a vector: one-hot of the bond's kind beside one-hot of the distance bin.

    ``bond_names``: the kinds of bonds seen in training. A link without a bond, or with one of a
    kind not seen in training, has no 1 in that part. ``boundaries``: where one distance bin ends
    and the next begins, in Angstrom; None where distances are not used. A set with neither has a
    single 1.

    A category is the code ``bond * num_bins + bin``, where the last bond stands for none.
    """

    bond_names: tuple[Name, ...] = ()
    boundaries: tuple[float, ...] | None = None

    @classmethod
    def fit(cls, graphs: GraphSet, num_bins: int = 20) -> LinkFeatures:
        """Return the features for these graphs; distances are used where there are coordinates.

        ``num_bins`` bins: below 1 Angstrom, above 6, and equal steps between; 0 leaves distances
        out. Raises ``ConfigError`` for another number below 2.
        """
        if num_bins != 0 and num_bins < 2:
            raise ConfigError(
                "The number of distance bins must be 0 (no distances) or at least 2. "
                f"Got {num_bins!r} instead."
            )
        use_distances = num_bins > 0 and coordinates(graphs) is not None
        return cls(
            bond_names=graphs.edge_label_names if graphs.edge_labels is not None else (),
            boundaries=tuple(np.linspace(1.0, 6.0, num_bins - 1).tolist())
            if use_distances
            else None,
        )

    @property
    def num_bins(self) -> int:
        """Number of distance bins, 1 where distances are not used."""
        return 1 if self.boundaries is None else len(self.boundaries) + 1

    @property
    def num_categories(self) -> int:
        """Number of different links there can be."""
        return (len(self.bond_names) + 1) * self.num_bins

    @property
    def no_bond(self) -> int:
        """The bond code of two atoms without a bond."""
        return len(self.bond_names)

    def table(self) -> np.ndarray:
        """Return the vector of every category, [num_categories, dim] float32."""
        bonds = np.eye(len(self.bond_names) + 1, len(self.bond_names), dtype=np.float32)
        parts = [np.repeat(bonds, self.num_bins, axis=0)]
        if self.boundaries is not None:
            bins = np.eye(self.num_bins, dtype=np.float32)
            parts.append(np.tile(bins, (len(self.bond_names) + 1, 1)))
        result = np.concatenate(parts, axis=1)
        return result if result.shape[1] else np.ones((1, 1), np.float32)

    def categories(self, bonds: np.ndarray, distances: np.ndarray | None) -> np.ndarray:
        """Return the category of each link, [E] int64, from bond codes and distances [E]."""
        if self.boundaries is None or distances is None:
            return bonds.astype(np.int64)
        bins = np.searchsorted(np.array(self.boundaries, np.float32), distances, side="right")
        return bonds.astype(np.int64) * self.num_bins + bins

    def bond_codes(self, graphs: GraphSet) -> np.ndarray:
        """Return the bond code of every edge entry of ``graphs``, [E] int64.

        Raises ``DataError`` where the map was fitted on edge labels and the graphs have none.
        """
        if not self.bond_names:
            return np.zeros(graphs.adjacency.num_entries, np.int64)
        if graphs.edge_labels is None:
            raise DataError(
                f"The model was trained on graphs with edge labels, but {graphs.name!r} has none. "
                "Give the edges the same kind of label."
            )
        known = {name: code for code, name in enumerate(self.bond_names)}
        codes = [known.get(name, self.no_bond) for name in graphs.edge_label_names]
        # One slot more at the end: a missing label (-1) reads it and counts as no bond.
        return np.array([*codes, self.no_bond], np.int64)[graphs.edge_labels]

    def bond_code(self, name: Name) -> int:
        """Return the code of one kind of bond, that of no bond for an unknown one."""
        return self.bond_names.index(name) if name in self.bond_names else self.no_bond

    def positions(self, graphs: GraphSet) -> np.ndarray | None:
        """Return the coordinates [N, 3] that distances are taken of, None where none are used.

        Raises ``DataError`` where the map was fitted on coordinates and the graphs have none.
        """
        if self.boundaries is None:
            return None
        found = coordinates(graphs)
        if found is None:
            raise DataError(
                f"The model was trained on molecules with coordinates, but {graphs.name!r} has "
                "none. Give the nodes attributes x, y and z, or train without distances."
            )
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the map as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> LinkFeatures:
        """Return the map that ``to_json`` gave, also after a round through JSON."""
        boundaries = value["boundaries"]
        return cls(tuple(value["bond_names"]), None if boundaries is None else tuple(boundaries))


def coordinates(graphs: GraphSet) -> np.ndarray | None:
    """Return the node attributes x, y, z as [N, 3] float32, or None where a set lacks one."""
    names = graphs.node_attribute_names
    if graphs.node_attributes is None or not set(COORDINATES) <= set(names):
        return None
    columns = [names.index(name) for name in COORDINATES]
    if columns == list(range(graphs.node_attributes.shape[1])):
        return np.asarray(graphs.node_attributes)
    return np.asarray(graphs.node_attributes)[:, columns]
