"""``FeatureMap``: what an encoder sees of a node, and ``LinkFeatures``: of two linked atoms.

Both are fitted on the training graphs and stored with the model.
"""

from dataclasses import asdict, dataclass
from typing import Self

import numpy as np

from igsd.errors import ConfigError, DataError, ParameterError, counted, enumerated, warn_user
from igsd.files.arrays import Header
from igsd.graphs.chemistry import (
    ATOM_DIM,
    BOND_NAMES,
    ELEMENTS,
    atom_table,
    bond_table,
    check_chemical,
    chemical,
    is_chemical,
)
from igsd.graphs.graphset import GraphSet, Name

COORDINATES = ("x", "y", "z")
"""The node attributes that are coordinates, in Angstrom."""


@dataclass(frozen=True)
class LinkFeatures:
    """The vector of a link: one-hot of the kind of bond, then one-hot of the distance bin.

    ``bond_names``: the kinds of bonds seen in training; without a bond, or with another kind, that
    part is zero. ``boundaries``: the boundaries between distance bins, in Angstrom; None if
    distances are not used. Without bonds and distances the vector is a single 1.

    A category is the code ``bond * num_bins + bin``, where the last bond means no bond.
    """

    bond_names: tuple[Name, ...] = ()
    boundaries: tuple[float, ...] | None = None

    @classmethod
    def fit(cls, graphs: GraphSet, num_bins: int = 20) -> Self:
        """Return the features for these graphs; distances are used if there are coordinates.

        Bonds of a chemical set are known by their order, ring, conjugation and stereo, also those
        that do not occur in ``graphs``.

        ``num_bins``: one below 1 Angstrom, one above 6, and equal steps between; 0 ignores
        distances. Raises ``ConfigError`` for another number below 2.
        """
        if num_bins != 0 and num_bins < 2:
            raise ConfigError(
                "The number of distance bins must be 0 (no distances) or at least 2. "
                f"Got {num_bins!r} instead."
            )
        bond_names = graphs.edge_label_names if graphs.edge_labels is not None else ()
        bond_names = BOND_NAMES if is_chemical(graphs) else bond_names
        if num_bins == 0 or coordinates(graphs) is None:
            return cls(bond_names)
        return cls(bond_names, tuple(np.linspace(1.0, 6.0, num_bins - 1).tolist()))

    @property
    def num_bins(self) -> int:
        """Number of distance bins, 1 if distances are not used."""
        return 1 if self.boundaries is None else len(self.boundaries) + 1

    @property
    def num_categories(self) -> int:
        """Number of possible categories."""
        return (len(self.bond_names) + 1) * self.num_bins

    @property
    def no_bond(self) -> int:
        """The bond code of two atoms without a bond."""
        return len(self.bond_names)

    def table(self) -> np.ndarray:
        """Return the vector of every category, [num_categories, dim] float32."""
        bonds = np.eye(len(self.bond_names) + 1, len(self.bond_names), dtype=np.float32)
        if self.bond_names == BOND_NAMES:
            known = bond_table()
            bonds = np.concatenate([known, np.zeros_like(known[:1])])
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
        """Return the bond code of every edge entry, [E]; raises ``DataError`` without labels."""
        if not self.bond_names:
            return np.zeros(graphs.adjacency.num_entries, np.int64)
        if graphs.edge_labels is None:
            raise DataError(
                f"The model was trained on graphs with edge labels, but {graphs.name!r} has none. "
                "Give the edges the same kind of label."
            )
        codes = [self.bond_code(name) for name in graphs.edge_label_names]
        # The last slot is for a missing label (-1), which counts as no bond.
        return np.array([*codes, self.no_bond], np.int64)[graphs.edge_labels]

    def bond_code(self, name: Name) -> int:
        """Return the code of a kind of bond; an unknown kind counts as no bond."""
        return self.bond_names.index(name) if name in self.bond_names else self.no_bond

    def positions(self, graphs: GraphSet) -> np.ndarray | None:
        """Return the coordinates [N, 3], None if not used; raises ``DataError`` if missing."""
        if self.boundaries is None:
            return None
        found = coordinates(graphs)
        if found is None:
            raise DataError(
                f"The model was trained on molecules with coordinates, but {graphs.name!r} has "
                "none. Give the nodes attributes x, y and z, or train without distances."
            )
        return found

    def to_json(self) -> Header:
        """Return the map as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Header) -> Self:
        """Return the map from the values of ``to_json``."""
        boundaries = value["boundaries"]
        return cls(tuple(value["bond_names"]), None if boundaries is None else tuple(boundaries))


def coordinates(graphs: GraphSet) -> np.ndarray | None:
    """Return the node attributes x, y, z as [N, 3] float32, or None if one is missing."""
    names = graphs.node_attribute_names
    if graphs.node_attributes is None or not set(COORDINATES) <= set(names):
        return None
    columns = [names.index(name) for name in COORDINATES]
    if columns == list(range(graphs.node_attributes.shape[1])):
        return np.asarray(graphs.node_attributes)
    return np.asarray(graphs.node_attributes)[:, columns]


PARTS = ("label", "degree", "attributes", "constant")
CHEMISTRY = "chemistry"
"""All that ``igsd.graphs.chemistry`` sees of an atom; stands alone, instead of other parts."""


@dataclass(frozen=True)
class NodeFeatures:
    """Node features in packed form.

    ``codes`` [N, c] int64: for each one-hot part the column of its 1, or -1 if the part is zero.
    ``dense`` [N, a] float32: the columns after the one-hot ones. ``dim``: the full width. With
    ``table`` [T, dim] float32, ``codes`` [N, 1] are its rows: the kind of each node.
    """

    codes: np.ndarray
    dense: np.ndarray | None
    dim: int
    table: np.ndarray | None = None


@dataclass(frozen=True)
class FeatureMap:
    """Turns nodes into vectors: parts side by side in the order of ``PARTS``, attributes last.

    - ``label``: one-hot of the node label, zero for a label not seen in training.
    - ``degree``: one-hot of min(degree, ``degree_cap``), at most the largest degree in training.
    - ``attributes``: the numbers of a node, standardised by the training set.
    - ``constant``: a single 1, for graphs without other features.
    - ``chemistry``: one-hots of element, degree, charge, hydrogens, aromaticity, ring,
      hybridisation and stereo of an atom, for molecules read from SMILES; stands alone.

    ``links``: the features of links, None for an encoder that does not use them.
    """

    parts: tuple[str, ...]
    label_names: tuple[Name, ...] = ()
    degree_cap: int = 0
    attribute_mean: tuple[float, ...] = ()
    attribute_scale: tuple[float, ...] = ()
    links: LinkFeatures | None = None

    @classmethod
    def fit(cls, graphs: GraphSet, nodes: str = "auto", degree_cap: int = 64) -> Self:
        """Return the map for these graphs.

        ``nodes``: parts joined by ``+`` (``label+degree``), or ``auto``: labels and degrees if
        there are labels, otherwise attributes if there are any, otherwise degrees.
        """
        parts = choose_parts(graphs, nodes)
        degrees = graphs.adjacency.degrees()
        values = np.zeros((1, 0))
        if "attributes" in parts:
            values = np.asarray(graphs.node_attributes, np.float64)
        deviation = values.std(axis=0)
        return cls(
            parts=parts,
            label_names=graphs.node_label_names if "label" in parts else (),
            degree_cap=int(min(degree_cap, degrees.max(initial=0))) if "degree" in parts else 0,
            attribute_mean=tuple(values.mean(axis=0).tolist()),
            attribute_scale=tuple(np.where(deviation > 0, deviation, 1.0).tolist()),
        )

    @property
    def dim(self) -> int:
        """Width of a node's vector."""
        widths = {
            "label": len(self.label_names),
            "degree": self.degree_cap + 1,
            "attributes": len(self.attribute_mean),
            "constant": 1,
            CHEMISTRY: ATOM_DIM,
        }
        return sum(widths[part] for part in self.parts)

    def transform(self, graphs: GraphSet) -> NodeFeatures:
        """Return the features of every node; raises ``DataError`` if a part is missing."""
        codes, dense, offset = [], None, 0
        if self.parts == (CHEMISTRY,):
            graphs = self.prepared(graphs)
            kinds = np.asarray(graphs.node_labels).reshape(-1, 1)
            return NodeFeatures(kinds, None, self.dim, atom_table(graphs.node_label_names))
        for part in self.parts:
            if part == "label":
                labels = self._label_codes(graphs)
                codes.append(np.where(labels < 0, -1, labels + offset))
                offset += len(self.label_names)
            elif part == "degree":
                codes.append(np.minimum(graphs.adjacency.degrees(), self.degree_cap) + offset)
                offset += self.degree_cap + 1
            elif part == "constant":
                codes.append(np.full(graphs.num_nodes, offset, np.int64))
                offset += 1
            else:
                dense = self._standardised(graphs)
        table = np.stack(codes, axis=1) if codes else np.zeros((graphs.num_nodes, 0), np.int64)
        return NodeFeatures(table, dense, self.dim)

    def prepared(self, graphs: GraphSet) -> GraphSet:
        """Return the graphs with the labels that this map reads: those of chemistry, or their own.

        Raises ``DataError`` for graphs that are not molecules where molecules are needed.
        """
        return chemical(graphs) if self.parts == (CHEMISTRY,) else graphs

    def to_json(self) -> Header:
        """Return the map as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Header) -> Self:
        """Return the map from the values of ``to_json``."""
        fields: Header = {
            key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()
        }
        links = fields.pop("links", None)
        return cls(**fields, links=None if links is None else LinkFeatures.from_json(links))

    def _label_codes(self, graphs: GraphSet) -> np.ndarray:
        if graphs.node_labels is None:
            raise DataError(
                f"The model was trained on graphs with node labels, but {graphs.name!r} has none. "
                "Give the nodes the same kind of label, or train with node_features='degree'."
            )
        if graphs.node_labels.max(initial=-1) >= len(graphs.node_label_names):
            raise DataError(
                f"{graphs.name!r} has node labels without names: node_label_names must name every "
                f"code. Got {counted(len(graphs.node_label_names), 'name')} for code "
                f"{graphs.node_labels.max()}."
            )
        known = {name: code for code, name in enumerate(self.label_names)}
        # The last slot is for a missing label (-1).
        table = np.array([known.get(name, -1) for name in graphs.node_label_names] + [-1], np.int64)
        return table[graphs.node_labels]

    def _standardised(self, graphs: GraphSet) -> np.ndarray:
        width = len(self.attribute_mean)
        if graphs.node_attributes is None or graphs.node_attributes.shape[1] != width:
            found = 0 if graphs.node_attributes is None else graphs.node_attributes.shape[1]
            raise DataError(
                f"The model was trained on graphs with {counted(width, 'node attribute')}, "
                f"{graphs.name!r} has {found or 'none'}. Give the nodes the same attributes in the "
                "same order, or train a model on graphs like these."
            )
        values = (graphs.node_attributes - np.array(self.attribute_mean)) / self.attribute_scale
        return values.astype(np.float32)


def choose_parts(graphs: GraphSet, nodes: str) -> tuple[str, ...]:
    """Return the feature parts that ``nodes`` names; raises if the graphs lack one."""
    if nodes == "auto":
        if graphs.node_labels is not None:
            return ("label", "degree")
        return ("attributes",) if graphs.node_attributes is not None else ("degree",)
    if nodes == CHEMISTRY:
        check_chemical(graphs)
        return (CHEMISTRY,)
    asked = nodes.split("+")
    if not set(asked) <= set(PARTS) or len(set(asked)) < len(asked):
        raise ParameterError(
            "node_features",
            "IGSD",
            f"must be 'auto', 'chemistry' or different names out of {', '.join(PARTS)}, joined by "
            "'+'. "
            f"Got {nodes!r} instead.",
        )
    lacking = {"label": graphs.node_labels, "attributes": graphs.node_attributes}
    for part, column in lacking.items():
        if part in asked and column is None:
            raise DataError(
                f"node_features={nodes!r} asks for node {part}, but {graphs.name!r} has none. "
                "Use node_features='auto' or 'degree'."
            )
    return tuple(part for part in PARTS if part in asked)


_MOST_NAMES = 8


def _warn_of_elements(graphs: GraphSet) -> None:
    """Warn of atoms whose element has no column of its own: all of them look alike."""
    if graphs.node_labels is None:
        return
    elements = [str(name).partition("|")[0] for name in graphs.node_label_names]
    other = np.array([name not in ELEMENTS for name in elements] + [False])[graphs.node_labels]
    if other.any():
        found = sorted({elements[code] for code in np.unique(graphs.node_labels[other])})
        count = len(np.unique(graphs.graph_of_node()[other]))
        warn_user(
            f"{counted(count, 'molecule')} of {graphs.name!r} {'has' if count == 1 else 'have'} "
            f"elements that the model does not distinguish ({enumerated(found, _MOST_NAMES)}): "
            "these atoms look alike to it, apart from their bonds."
        )


def warn_of_unseen_labels(features: FeatureMap, graphs: GraphSet) -> None:
    """Warn if nodes of ``graphs`` have labels that were not seen in training."""
    if CHEMISTRY in features.parts:
        _warn_of_elements(graphs)
    if graphs.node_labels is None or "label" not in features.parts:
        return
    known = set(features.label_names)
    unknown = [code for code, name in enumerate(graphs.node_label_names) if name not in known]
    labels = graphs.node_labels[graphs.node_labels >= 0]
    counts = np.bincount(labels, minlength=len(graphs.node_label_names))
    names = [graphs.node_label_names[code] for code in unknown if counts[code]]
    unseen, labelled = int(counts[unknown].sum()), int(counts.sum())
    if not unseen:
        return
    if unseen < labelled:
        warn_user(
            f"{unseen} of {counted(graphs.num_nodes, 'node')} of {graphs.name!r} have labels that "
            f"the model has not seen ({enumerated(names, _MOST_NAMES)}): they count as no label."
        )
    else:
        warn_user(
            f"Not one node label of {graphs.name!r} was seen in training: it has "
            f"{enumerated(names, _MOST_NAMES)}, the model knows "
            f"{enumerated(features.label_names, _MOST_NAMES)}. All nodes count as without a label, "
            "so the vectors are hardly useful. Are the labels spelled differently?"
        )
