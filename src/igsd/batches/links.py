"""``LinkFeatures``: what an encoder sees of two linked nodes, fitted on the training graphs."""

from dataclasses import asdict, dataclass, replace
from math import prod
from typing import Any, Self

import numpy as np

from igsd.errors import ConfigError, DataError, counted
from igsd.files.arrays import Header
from igsd.graphs.build import WEIGHT, check_edge_numbers, check_numbers
from igsd.graphs.chemistry import BOND_NAMES, bond_table, is_chemical
from igsd.graphs.graphset import GraphSet, Name
from igsd.graphs.summary import edge_attribute_names

COORDINATES = ("x", "y", "z")
"""The node attributes that are coordinates, in Angstrom."""

MOST_KINDS = 4096
"""The most kinds of edges that labels, direction and attributes may give together."""

_BINS = 8
_UNSEEN = "use encoder='gin', which does not see edge attributes"


@dataclass(frozen=True)
class EdgePart:
    """An attribute of edges as a few values.

    ``names``: those of a category, in order; a value not seen in training has a place of its own.
    ``boundaries``: between the bins of a number, empty for a category.
    """

    name: str
    names: tuple[Name, ...] = ()
    boundaries: tuple[float, ...] = ()

    @property
    def size(self) -> int:
        """The number of different values."""
        return len(self.names or self.boundaries) + 1

    def codes(self, graphs: GraphSet) -> np.ndarray:
        """Return the value of every edge entry, [E] int64; raises ``DataError`` without any."""
        names = edge_attribute_names(graphs)
        if graphs.edge_attributes is None or self.name not in names:
            raise DataError(
                f"The model was trained on graphs with the edge attribute {self.name!r}, but "
                f"{graphs.name!r} has none. Give the edges the same attributes."
            )
        place = names.index(self.name)
        values = np.asarray(graphs.edge_attributes[:, place])
        own = graphs.edge_category_names[place] if graphs.edge_category_names else ()
        if len(values):
            check_kind(graphs, "edge", self.name, self.names, own)
        if not self.names:
            check_edge_numbers(graphs, values, self.name, _UNSEEN)
            return np.searchsorted(np.array(self.boundaries, np.float32), values, side="right")
        known = {name: code for code, name in enumerate(self.names)}
        # The last slot is for a missing value (-1).
        table = np.array([known.get(name, len(self.names)) for name in own] + [len(self.names)])
        return table[values.astype(np.int64)]


def check_kind(
    graphs: GraphSet, what: str, name: str, trained: tuple[Name, ...], own: tuple[Name, ...]
) -> None:
    """Raise ``DataError`` if an attribute is a number in training and a text here, or vice versa.

    ``trained``, ``own``: its values there and here, () for numbers. Codes of texts are no numbers.
    """
    if bool(trained) == bool(own):
        return
    here, there = (f"the text {own[0]!r}", "numbers") if own else ("numbers", f"{trained[0]!r}")
    raise DataError(
        f"The {what} attribute {name!r} is {here} in {graphs.name!r}, but the model was trained "
        f"on {there}. Write it as in training, or train a model on graphs like these."
    )


@dataclass(frozen=True)
class LinkFeatures:
    """The vector of a link: one-hots of the edge's label, direction and attributes, then distance.

    ``bond_names``: the labels (kinds of bonds) seen in training; without a bond, or with another
    label, that part is zero. ``directed``: forward, backward and both are told apart. ``parts``:
    the other attributes of edges. ``boundaries``: the boundaries between distance bins, in
    Angstrom; None if distances are not used. Without any of these the vector is a single 1.
    ``either_way``: the two directions of an edge are seen alike, see ``alike_both_ways``.

    A category is the code ``bond * num_bins + bin``. Of the codes of bonds, the first are label and
    values of an edge in mixed radix; the last ``len(bond_names) + 1`` are labels alone, for the
    entries of a view, and the very last of them means no bond.
    """

    bond_names: tuple[Name, ...] = ()
    boundaries: tuple[float, ...] | None = None
    directed: bool = False
    parts: tuple[EdgePart, ...] = ()
    either_way: bool = False

    @classmethod
    def fit(
        cls, graphs: GraphSet, num_bins: int = 20, *, weight: str = "", directed: bool = False
    ) -> Self:
        """Return the features for these graphs; distances are used if there are coordinates.

        Bonds of a chemical set are known by their order, ring, conjugation and stereo, also those
        that do not occur in ``graphs``.

        ``num_bins``: one below 1 Angstrom, one above 6, and equal steps between; 0 ignores
        distances. ``weight``: the edge attribute that is a weight, and not seen otherwise.
        ``directed``: whether directions are seen; if not, neither are labels and attributes by
        direction. Raises ``ConfigError`` for another number below 2, ``DataError`` for too many
        pairs of labels.
        """
        if num_bins != 0 and num_bins < 2:
            raise ConfigError(
                "The number of distance bins must be 0 (no distances) or at least 2. "
                f"Got {num_bins!r} instead."
            )
        either_way = not directed and not is_chemical(graphs)  # a bond has no direction
        graphs = _with_few_labels(alike_both_ways(graphs), graphs) if either_way else graphs
        bond_names = graphs.edge_label_names if graphs.edge_labels is not None else ()
        bond_names = BOND_NAMES if is_chemical(graphs) else bond_names
        directed = directed and graphs.directions is not None
        factor = (len(bond_names) + 1) * (3 if directed else 1)
        parts = _fit_parts(graphs, weight, MOST_KINDS // factor)
        either_way &= bool(bond_names or parts)
        if num_bins == 0 or coordinates(graphs) is None:
            return cls(bond_names, None, directed, parts, either_way)
        bins = tuple(np.linspace(1.0, 6.0, num_bins - 1).tolist())
        return cls(bond_names, bins, directed, parts, either_way)

    @property
    def num_bins(self) -> int:
        """Number of distance bins, 1 if distances are not used."""
        return 1 if self.boundaries is None else len(self.boundaries) + 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of direction and of each attribute."""
        return (*((3,) if self.directed else ()), *(part.size for part in self.parts))

    @property
    def num_values(self) -> int:
        """Number of combinations of direction and attributes, 0 if there are none of them."""
        return prod(self.sizes) if self.sizes else 0

    @property
    def num_categories(self) -> int:
        """Number of possible categories."""
        return (self.no_bond + 1) * self.num_bins

    @property
    def no_bond(self) -> int:
        """The bond code of two atoms without a bond."""
        return (len(self.bond_names) + 1) * (self.num_values + 1) - 1

    def table(self) -> np.ndarray:
        """Return the vector of every category, [num_categories, dim] float32."""
        bonds = np.eye(len(self.bond_names) + 1, len(self.bond_names), dtype=np.float32)
        if self.bond_names == BOND_NAMES:
            known = bond_table()
            bonds = np.concatenate([known, np.zeros_like(known[:1])])
        if self.sizes:
            bonds = self._with_values(bonds)
        parts = [np.repeat(bonds, self.num_bins, axis=0)]
        if self.boundaries is not None:
            bins = np.eye(self.num_bins, dtype=np.float32)
            parts.append(np.tile(bins, (len(bonds), 1)))
        result = np.concatenate(parts, axis=1)
        return result if result.shape[1] else np.ones((1, 1), np.float32)

    def _with_values(self, bonds: np.ndarray) -> np.ndarray:
        """Return the vectors of all bond codes from those of the labels alone."""
        digits = np.unravel_index(np.arange(self.num_values), self.sizes)
        one_hots = [np.eye(n, dtype=np.float32)[d] for n, d in zip(self.sizes, digits, strict=True)]
        values = np.concatenate(one_hots, axis=1)
        edges = [np.repeat(bonds, len(values), axis=0), np.tile(values, (len(bonds), 1))]
        alone = [bonds, np.zeros((len(bonds), values.shape[1]), np.float32)]
        return np.concatenate([np.concatenate(part, axis=1) for part in (edges, alone)])

    def categories(self, bonds: np.ndarray, distances: np.ndarray | None) -> np.ndarray:
        """Return the category of each link, [E] int64, from bond codes and distances [E]."""
        if self.boundaries is None or distances is None:
            return bonds.astype(np.int64)
        bins = np.searchsorted(np.array(self.boundaries, np.float32), distances, side="right")
        return bonds.astype(np.int64) * self.num_bins + bins

    def bond_codes(self, graphs: GraphSet) -> np.ndarray:
        """Return the bond code of every edge entry, [E]; raises ``DataError`` without labels."""
        graphs = alike_both_ways(graphs) if self.either_way else graphs
        labels = self._label_codes(graphs)
        if not self.sizes:
            return labels
        values = [part.codes(graphs) for part in self.parts]
        if self.directed:
            both = np.full(graphs.adjacency.num_entries, 3)
            given = both if graphs.directions is None else np.asarray(graphs.directions)
            values = [given.astype(np.int64) - 1, *values]
        return labels * self.num_values + np.ravel_multi_index(tuple(values), self.sizes)

    def _label_codes(self, graphs: GraphSet) -> np.ndarray:
        if not self.bond_names:
            return np.zeros(graphs.adjacency.num_entries, np.int64)
        if graphs.edge_labels is None:
            raise DataError(
                f"The model was trained on graphs with edge labels, but {graphs.name!r} has none. "
                "Give the edges the same kind of label."
            )
        known, unknown = {name: i for i, name in enumerate(self.bond_names)}, len(self.bond_names)
        codes = [known.get(name, unknown) for name in graphs.edge_label_names]
        # The last slot is for a missing label (-1), which counts as no label.
        return np.array([*codes, unknown], np.int64)[graphs.edge_labels]

    def bond_code(self, name: Name) -> int:
        """Return the code of a kind of bond alone; an unknown kind counts as no bond."""
        labels = len(self.bond_names)
        place = self.bond_names.index(name) if name in self.bond_names else labels
        return (labels + 1) * self.num_values + place

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
        check_numbers(graphs, found, COORDINATES)
        return found

    def in_words(self) -> list[str]:
        """Return what is seen of an edge, each part in a few words."""
        words = [f"label ({counted(len(self.bond_names), 'kind')})"] if self.bond_names else []
        words += ["direction"] if self.directed else []
        for part in self.parts:
            size = counted(part.size - 1, "kind") if part.names else f"{part.size} bins"
            words.append(f"{part.name} ({size})")
        return words + ([] if self.boundaries is None else ["distance"])

    def to_json(self) -> Header:
        """Return the map as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Header) -> Self:
        """Return the map from the values of ``to_json``."""
        boundaries, parts = value["boundaries"], value.get("parts", ())
        return cls(
            tuple(value["bond_names"]),
            None if boundaries is None else tuple(boundaries),
            bool(value.get("directed", False)),
            tuple(EdgePart(p["name"], tuple(p["names"]), tuple(p["boundaries"])) for p in parts),
            bool(value.get("either_way", False)),  # older models told the directions apart
        )


def alike_both_ways(graphs: GraphSet) -> GraphSet:
    """Return the graphs with the same label and attributes on both entries of every edge.

    If the two directions of an edge differ, an unordered pair of categories is a category of its
    own, called ``X + Y``, the mean counts of two numbers, and where one direction has no category,
    that of the other. Graphs whose edges do not differ are returned as they are.
    """
    labels, table = graphs.edge_labels, graphs.edge_attributes
    if labels is None and table is None:
        return graphs
    mirror, columns = graphs.adjacency.mirror(graphs.node_ptr), dict[str, Any]()
    if labels is not None and ((labels := np.asarray(labels)) != labels[mirror]).any():
        codes, names = _paired(labels, graphs.edge_label_names, mirror)
        columns |= {"edge_labels": codes, "edge_label_names": names}
    table = None if table is None else np.array(table)
    if table is not None and not np.array_equal(table, table[mirror], equal_nan=True):
        kinds = list(graphs.edge_category_names or ((),) * table.shape[1])
        for place, values in enumerate(kinds):
            one, other = table[:, place].copy(), table[mirror, place]
            if values:
                table[:, place], kinds[place] = _paired(one.astype(np.int64), values, mirror)
            else:
                table[:, place] = np.where(one == other, one, 0.5 * one + 0.5 * other)
        columns |= {"edge_attributes": table}
        columns |= {"edge_category_names": tuple(kinds)} if any(kinds) else {}
    return replace(graphs, **columns) if columns else graphs


def _paired(
    codes: np.ndarray, names: tuple[Name, ...], mirror: np.ndarray
) -> tuple[np.ndarray, tuple[Name, ...]]:
    """Return (codes, names) of categories in which both entries of an edge have the same one."""
    other = codes[mirror]
    low, high = np.minimum(codes, other), np.maximum(codes, other)
    differs = (low >= 0) & (low != high)
    keys = low[differs].astype(np.int64) * len(names) + high[differs]
    pairs, place = np.unique(keys, return_inverse=True)
    known = {name: code for code, name in enumerate(names)}
    new = []
    for pair in pairs.tolist():
        ends = sorted((names[pair // len(names)], names[pair % len(names)]), key=str)
        new.append(known.setdefault(f"{ends[0]} + {ends[1]}", len(known)))
    result = high.copy()
    result[differs] = np.array(new, codes.dtype)[place]
    return result, tuple(known)


def _with_few_labels(graphs: GraphSet, given: GraphSet) -> GraphSet:
    """Return ``graphs``; raises ``DataError`` if pairs of the labels ``given`` are too many."""
    count = len(graphs.edge_label_names)
    if len(given.edge_label_names) < count and count > MOST_KINDS:
        raise DataError(
            f"The edges of {given.name!r} have other labels in the other direction, which makes "
            f"{count} kinds of edges with pairs of labels; at most {MOST_KINDS} are told apart. "
            "Use directed='both', an encoder that does not see labels ('gin'), or fewer labels."
        )
    return graphs


def _fit_parts(graphs: GraphSet, weight: str, most: int) -> tuple[EdgePart, ...]:
    """Return the attributes of edges but the weight, with at most ``most`` combinations of values.

    A number has up to 8 bins with equally many edges each, fewer if there are many attributes.
    Attributes for which no room is left are left out, the last ones first.
    """
    names = edge_attribute_names(graphs)
    chosen = [place for place, name in enumerate(names) if name not in (weight, WEIGHT)]
    kinds = graphs.edge_category_names or ((),) * len(names)
    for bins in range(_BINS, 1, -1):
        sizes = [len(kinds[place]) + 1 if kinds[place] else bins for place in chosen]
        if prod(sizes) <= most:
            break
    while chosen and prod(sizes) > most:
        chosen.pop()
        sizes.pop()
    parts = []
    for place in chosen:
        if kinds[place]:
            parts.append(EdgePart(names[place], kinds[place]))
        else:
            values = np.asarray(graphs.edge_attributes)[:, place]
            check_edge_numbers(graphs, values, names[place], _UNSEEN)
            parts.append(EdgePart(names[place], boundaries=_boundaries(values, bins)))
    return tuple(part for part in parts if part.size > 1)


def _boundaries(values: np.ndarray, bins: int) -> tuple[float, ...]:
    """Return boundaries such that about equally many values lie in each of at most ``bins``."""
    different = np.unique(values)
    if len(different) <= bins:
        return tuple(((different[1:] + different[:-1]) / 2).tolist())
    cuts = np.quantile(values, np.arange(1, bins) / bins, method="higher")
    return tuple(np.unique(cuts[cuts > different[0]]).tolist())


def coordinates(graphs: GraphSet) -> np.ndarray | None:
    """Return the node attributes x, y, z as [N, 3] float32, or None if one is missing."""
    names = graphs.node_attribute_names
    if graphs.node_attributes is None or not set(COORDINATES) <= set(names):
        return None
    columns = [names.index(name) for name in COORDINATES]
    if columns == list(range(graphs.node_attributes.shape[1])):
        return np.asarray(graphs.node_attributes)
    return np.asarray(graphs.node_attributes)[:, columns]
