"""``FeatureMap``: what an encoder sees of a node and of an edge.

It is fitted on the training graphs and stored with the model.
"""

from dataclasses import asdict, dataclass, replace
from typing import Self

import numpy as np

from igsd.batches.links import COORDINATES, LinkFeatures, alike_both_ways, check_kind
from igsd.errors import DataError, ParameterError, counted, did_you_mean, enumerated
from igsd.files.arrays import Header
from igsd.graphs.build import WEIGHT, check_numbers
from igsd.graphs.chemistry import ATOM_DIM, atom_table, check_chemical, chemical
from igsd.graphs.graphset import GraphSet, Name, placeholders
from igsd.graphs.summary import edge_attribute_names
from igsd.graphs.weights import NONE, strengths, weight_name, weighted

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


MOST_VALUES = 100
"""Different texts from which on an attribute names nodes rather than kinds of nodes."""

AUTO = "auto"

NOT_USED, _LEFT_OUT = " not used: ", " left out by "
"""In the notes of readers and in ``FeatureMap.unused``; the second if a setting says so."""


@dataclass(frozen=True)
class FeatureMap:
    """Turns nodes into vectors: parts side by side in the order of ``PARTS``, numbers last.

    - ``label``: one-hot of the node label, zero for a label not seen in training.
    - ``degree``: one-hot of min(degree, ``degree_cap``), at most the largest degree in training. If
      edges have weights, the logarithm of their sum, standardised, is a column of its own.
    - ``attributes``: the numbers of a node, standardised by the training set; of a text or boolean
      a one-hot, with a column for values not seen in training.
    - ``constant``: a single 1, for graphs without other features.
    - ``chemistry``: one-hots of element, degree, charge, hydrogens, aromaticity, ring,
      hybridisation and stereo of an atom, for molecules read from SMILES; stands alone.

    ``attribute_names``: the attributes that are numbers, all of a set in their order if empty.
    ``categories``: (name, values) of the others. ``edge_weight``: the edge attribute that weights
    edges, empty if there is none; ``strength``: mean and scale of its logarithmic sums. ``links``:
    the features of links, None for an encoder that does not use them. ``unused``: a sentence for
    each thing that the graphs carry and the encoder does not see. ``str(features)`` says it all.
    """

    parts: tuple[str, ...]
    label_names: tuple[Name, ...] = ()
    degree_cap: int = 0
    attribute_mean: tuple[float, ...] = ()
    attribute_scale: tuple[float, ...] = ()
    links: LinkFeatures | None = None
    attribute_names: tuple[str, ...] = ()
    categories: tuple[tuple[str, tuple[Name, ...]], ...] = ()
    edge_weight: str = ""
    strength: tuple[float, ...] = ()
    unused: tuple[str, ...] = ()

    @classmethod
    def fit(
        cls,
        graphs: GraphSet,
        nodes: str = AUTO,
        degree_cap: int = 64,
        *,
        attributes: str = AUTO,
        edge_weight: str = NONE,
    ) -> Self:
        """Return the map for these graphs.

        ``nodes``: parts joined by ``+`` (``label+degree``), or ``auto``: labels, degrees and
        attributes, where available. ``attributes``: the names of node attributes with
        commas between them, ``none``, or ``auto``: all but coordinates and texts with many values.
        ``edge_weight``: the edge attribute that weights edges, or ``none``.
        """
        parts = choose_parts(graphs, nodes, attributes)
        weight = weight_name(graphs, edge_weight)
        all_edges, graphs = graphs.num_edges, weighted(graphs, weight)
        num_zero = all_edges - graphs.num_edges
        if graphs.adjacency.weight is None and not num_zero:  # all are 1: as if there were none
            weight = ""
        degrees = graphs.adjacency.degrees()
        strength: tuple[float, ...] = ()
        chosen, left_out = choose_attributes(graphs, nodes, attributes)
        if "attributes" not in parts:
            why = f"{_LEFT_OUT}node_features={nodes!r}"
            left_out = [f"node attribute {name!r}{why}" for name in chosen] + left_out
            chosen = []
        if graphs.adjacency.weight is not None and "degree" in parts:
            sums = np.log1p(strengths(graphs))
            strength = (float(sums.mean()), float(sums.std()) or 1.0)
        kinds = _kinds_of(graphs)
        numbers = [name for name in chosen if not kinds[name]]
        values = _columns_of(graphs, numbers)
        check_numbers(graphs, values, numbers)
        deviation = values.std(axis=0)
        notes = [note for note in graphs.notes if NOT_USED in note]
        if num_zero:
            zero = counted(num_zero, "edge") if graphs.num_edges else "all edges"
            notes.append(f"{zero}{NOT_USED}a weight of 0 counts as no edge")
        if graphs.node_labels is not None and "label" not in parts and parts != (CHEMISTRY,):
            notes.append(f"node labels{_LEFT_OUT}node_features={nodes!r}")
        return cls(
            parts=parts,
            label_names=graphs.node_label_names if "label" in parts else (),
            degree_cap=int(min(degree_cap, degrees.max(initial=0))) if "degree" in parts else 0,
            attribute_mean=tuple(values.mean(axis=0).tolist()),
            attribute_scale=tuple(np.where(deviation > 0, deviation, 1.0).tolist()),
            # Columns without names are known by their number and order.
            attribute_names=tuple(numbers) if graphs.node_attribute_names else (),
            categories=tuple((name, kinds[name]) for name in chosen if kinds[name]),
            edge_weight=weight,
            strength=strength,
            unused=(*notes, *left_out),
        )

    def with_edges(
        self, graphs: GraphSet, links: LinkFeatures | None, encoder: str, directed: str
    ) -> Self:
        """Return the map with the features of links, and with what is not seen of edges."""
        unused, hint = [], f"encoder={encoder!r} does not see it; gine and mpnn do"
        if graphs.edge_labels is not None and links is None:
            unused.append(f"edge label{NOT_USED}{hint}")
        seen = set() if links is None else {part.name for part in links.parts}
        for place, name in enumerate(edge_attribute_names(graphs)):
            if name == WEIGHT and name != self.edge_weight:
                if (np.asarray(graphs.edge_attributes)[:, place] != 1).any():
                    unused.append(f"edge attribute {name!r}{_LEFT_OUT}edge_weight")
            elif name not in seen and name != self.edge_weight:
                why = hint if links is None else "it is the same everywhere, or one too many"
                unused.append(f"edge attribute {name!r}{NOT_USED}{why}")
        differs = links is not None and links.either_way and alike_both_ways(graphs) is not graphs
        if differs or (graphs.directions is not None and (links is None or not links.directed)):
            rule = "; where the two directions differ, a pair of kinds is a kind, numbers are means"
            why = f"directed={directed!r} takes edges as undirected{rule if differs else ''}"
            way_out = "directed='both' with encoder='gine' tells them apart"
            unused.append(f"edge direction{NOT_USED}{why}; {way_out}")
        if self.edge_weight and links is not None and links.boundaries is not None:
            unused.append(f"edge weight{NOT_USED}distances link all pairs of nodes")
        return replace(self, links=links, unused=(*self.unused, *unused))

    @property
    def dim(self) -> int:
        """Width of a node's vector."""
        values = [len(names) + 1 for _, names in self.categories]
        widths = {
            "label": len(self.label_names),
            "degree": self.degree_cap + 1 + bool(self.strength),
            "attributes": len(self.attribute_mean) + sum(values),
            "constant": 1,
            CHEMISTRY: ATOM_DIM,
        }
        return sum(widths[part] for part in self.parts)

    @property
    def used(self) -> str:
        """What an encoder sees of a node and of an edge, in a line."""
        words = {
            "label": f"label ({counted(len(self.label_names), 'kind')})",
            "degree": f"degree (0 to {self.degree_cap})" + ", strength" * bool(self.strength),
            "constant": "a constant",
            CHEMISTRY: CHEMISTRY,
        }
        names = self.attribute_names or placeholders(len(self.attribute_mean))
        attributes = [enumerated(names, 12)] if names else []
        attributes += [f"{name} ({counted(len(v), 'kind')})" for name, v in self.categories]
        words["attributes"] = ", ".join(attributes)
        nodes = ", ".join(words[part] for part in self.parts)
        weight = WEIGHT if self.edge_weight == WEIGHT else f"{WEIGHT} ({self.edge_weight})"
        edges = [weight] if self.edge_weight else []
        edges += [] if self.links is None else self.links.in_words()
        return f"of nodes: {nodes}; of edges: {', '.join(edges) or 'that they are there'}"

    def __str__(self) -> str:
        return "\n".join([self.used, *self.unused])

    def transform(self, graphs: GraphSet) -> NodeFeatures:
        """Return the features of every node; raises ``DataError`` if a part is missing."""
        codes, dense, offset = [], [], 0
        graphs = self.prepared(graphs)
        if self.parts == (CHEMISTRY,):
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
                if self.strength:
                    mean, scale = self.strength
                    sums = (np.log1p(strengths(graphs)) - mean) / scale
                    dense.append(sums.astype(np.float32).reshape(-1, 1))
            elif part == "constant":
                codes.append(np.full(graphs.num_nodes, offset, np.int64))
                offset += 1
            else:
                for name, values in self.categories:
                    codes.append(_value_codes(graphs, name, values) + offset)
                    offset += len(values) + 1
                if self.attribute_mean:
                    dense.append(self._standardised(graphs))
        table = np.stack(codes, axis=1) if codes else np.zeros((graphs.num_nodes, 0), np.int64)
        return NodeFeatures(table, np.concatenate(dense, axis=1) if dense else None, self.dim)

    def prepared(self, graphs: GraphSet) -> GraphSet:
        """Return the graphs with what this map reads: labels of chemistry, weights of edges.

        Raises ``DataError`` for graphs that are not molecules where molecules are needed, and for
        negative weights.
        """
        if self.parts == (CHEMISTRY,):
            return chemical(graphs)
        is_ready = not self.edge_weight or graphs.adjacency.weight is not None
        return graphs if is_ready else weighted(graphs, self.edge_weight)

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
        categories = tuple((name, tuple(v)) for name, v in fields.pop("categories", ()))
        links = None if links is None else LinkFeatures.from_json(links)
        found = cls(**fields, categories=categories, links=links)
        width, names = len(found.attribute_mean), len(found.attribute_names)
        is_whole = len(found.attribute_scale) == width and names in (0, width)
        if not is_whole or len(found.strength) not in (0, 2):
            raise ValueError("the attributes of nodes have different lengths")
        return found

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
        if self.attribute_names:
            kinds = _kinds_of(graphs)
            for name in self.attribute_names:
                check_kind(graphs, "node", _found(graphs, name, in_training=True), (), kinds[name])
            values = _columns_of(graphs, list(self.attribute_names))
        elif graphs.node_attributes is None or graphs.node_attributes.shape[1] != width:
            found = 0 if graphs.node_attributes is None else graphs.node_attributes.shape[1]
            raise DataError(
                f"The model was trained on graphs with {counted(width, 'node attribute')}, "
                f"{graphs.name!r} has {found or 'none'}. Give the nodes the same attributes in the "
                "same order, or train a model on graphs like these."
            )
        else:
            values = np.asarray(graphs.node_attributes)
        check_numbers(graphs, values, self.attribute_names)
        return ((values - np.array(self.attribute_mean)) / self.attribute_scale).astype(np.float32)


def _names_of(graphs: GraphSet) -> tuple[str, ...]:
    """Return the names of the node attributes, placeholders if they have none."""
    width = 0 if graphs.node_attributes is None else graphs.node_attributes.shape[1]
    return graphs.node_attribute_names or placeholders(width)


def _kinds_of(graphs: GraphSet) -> dict[str, tuple[Name, ...]]:
    """Return the values of each node attribute that is a category, () for a number."""
    names = _names_of(graphs)
    return dict(zip(names, graphs.node_category_names or ((),) * len(names), strict=True))


def _columns_of(graphs: GraphSet, names: list[str]) -> np.ndarray:
    """Return some node attributes as a table, [N, a] float64."""
    if not names:
        return np.zeros((graphs.num_nodes, 0))
    places = [_names_of(graphs).index(name) for name in names]
    return np.asarray(graphs.node_attributes)[:, places].astype(np.float64)


def _found(graphs: GraphSet, name: str, *, in_training: bool = False) -> str:
    """Return the name of a node attribute; raises ``DataError`` if there is none of that name.

    ``in_training``: a model was trained on it, and these are other graphs.
    """
    names = _names_of(graphs)
    if name in names:
        return name
    notes = [note for note in graphs.notes if f"node attribute {name!r}" in note]
    there = enumerated(names, 12) if names else "none"
    hint = f"{notes[0]}." if notes else did_you_mean(name, names)
    what = f"The node attribute {name!r} is not usable in {graphs.name!r}, where"
    if in_training:
        what = f"{graphs.name!r} has no node attribute {name!r}, which the model was trained on;"
        hint = f"{hint} Give every node one, or train a model on graphs like these.".lstrip()
    raise DataError(f"{what} there are: {there}. {hint}".rstrip())


def _value_codes(graphs: GraphSet, name: str, values: tuple[Name, ...]) -> np.ndarray:
    """Return the place of each node's value among ``values``, the last one if it is not there."""
    own = _kinds_of(graphs)[_found(graphs, name, in_training=True)]
    check_kind(graphs, "node", name, values, own)
    known = {value: code for code, value in enumerate(values)}
    # The last slot is for a missing value (-1).
    table = np.array([known.get(value, len(values)) for value in own] + [len(values)], np.int64)
    return table[_columns_of(graphs, [name])[:, 0].astype(np.int64)]


def choose_attributes(graphs: GraphSet, nodes: str, asked: str) -> tuple[list[str], list[str]]:
    """Return (the node attributes to use, a sentence for each that is not); see ``FeatureMap.fit``.

    Raises ``DataError`` for a name that is not an attribute that every node has.
    """
    names, kinds = _names_of(graphs), _kinds_of(graphs)
    if asked == NONE:
        return [], [f"node attribute {name!r}{_LEFT_OUT}node_attributes=None" for name in names]
    if asked != AUTO:
        chosen = [_found(graphs, name.strip()) for name in asked.split(",") if name.strip()]
        rest = [name for name in names if name not in chosen]
        return chosen, [f"node attribute {name!r}{_LEFT_OUT}node_attributes" for name in rest]
    chosen, left_out = [], []
    are_coordinates = nodes == AUTO and set(COORDINATES) <= set(names)
    for name in names:
        if are_coordinates and name in COORDINATES:
            why = "coordinates depend on how a graph is turned; mpnn sees distances"
        elif len(kinds[name]) > MOST_VALUES:
            why = f"{len(kinds[name])} different values; name it in node_attributes to use it"
        else:
            chosen.append(name)
            continue
        left_out.append(f"node attribute {name!r}{NOT_USED}{why}")
    return chosen, left_out


def choose_parts(graphs: GraphSet, nodes: str, attributes: str = AUTO) -> tuple[str, ...]:
    """Return the feature parts that ``nodes`` names; raises if the graphs lack one.

    Attributes that are asked for by their names are always a part.
    """
    chosen = [] if nodes == CHEMISTRY else choose_attributes(graphs, nodes, attributes)[0]
    named = attributes not in (AUTO, NONE)
    if nodes == AUTO:
        labels = ("label",) if graphs.node_labels is not None else ()
        return (*labels, "degree", *(("attributes",) if chosen else ()))
    if nodes == CHEMISTRY:
        check_chemical(graphs)
        if named:
            raise ParameterError(
                "node_attributes",
                "IGSD",
                "must be 'auto' or None with node_features='chemistry', which stands alone. Got "
                f"{attributes!r} instead.",
            )
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
    lacking = {"label": graphs.node_labels is None, "attributes": not chosen}
    for part, is_lacking in lacking.items():
        if part in asked and is_lacking:
            raise DataError(
                f"node_features={nodes!r} asks for node {part}, but {graphs.name!r} has none. "
                "Use node_features='auto' or 'degree'."
            )
    return tuple(part for part in PARTS if part in asked or (part == "attributes" and named))
