"""``FeatureMap``: what an encoder sees of a node, learned once and stored with the model.

For an encoder that tells links apart it also holds what that sees of a link.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from igsd.errors import DataError, ParameterError
from igsd.graphs.graphset import GraphSet, Name
from igsd.graphs.link_features import LinkFeatures
from igsd.wording import counted

PARTS = ("label", "degree", "attributes", "constant")


@dataclass(frozen=True)
class NodeFeatures:
    """Node features in packed form.

    ``codes`` [N, c] int64: for each one-hot part the column of its 1, or -1 where the part is all
    zero. ``dense`` [N, a] float32 follows the one-hot columns. ``dim`` is the full width.
    """

    codes: np.ndarray
    dense: np.ndarray | None
    dim: int


@dataclass(frozen=True)
class FeatureMap:
    """How nodes become vectors: parts side by side in the order of ``PARTS``, attributes last.

    - ``label``: one-hot of the node label. A label not seen in training has no column: its part is
      all zero, so the node is described by its other parts and its neighbours.
    - ``degree``: one-hot of min(degree, ``degree_cap``); the cap is at most the largest degree seen
      in training, so larger degrees share the last column.
    - ``attributes``: the numbers of a node, standardised with mean and deviation of training.
    - ``constant``: a single 1, for graphs that have nothing else to show.

    ``links``: what a link shows, None for an encoder that does not tell links apart.
    """

    parts: tuple[str, ...]
    label_names: tuple[Name, ...] = ()
    degree_cap: int = 0
    attribute_mean: tuple[float, ...] = ()
    attribute_scale: tuple[float, ...] = ()
    links: LinkFeatures | None = None

    @classmethod
    def fit(cls, graphs: GraphSet, nodes: str = "auto", degree_cap: int = 64) -> FeatureMap:
        """Return the map for these graphs.

        ``nodes``: parts joined by ``+`` (``label+degree``), or ``auto``: labels and degrees where
        there are labels, else attributes where there are any, else degrees.
        """
        parts = choose_parts(graphs, nodes)
        degrees = graphs.adjacency.degrees()
        mean: tuple[float, ...] = ()
        scale: tuple[float, ...] = ()
        if "attributes" in parts:
            values = np.asarray(graphs.node_attributes, np.float64)
            deviation = values.std(axis=0)
            mean = tuple(values.mean(axis=0).tolist())
            scale = tuple(np.where(deviation > 0, deviation, 1.0).tolist())
        return cls(
            parts=parts,
            label_names=graphs.node_label_names if "label" in parts else (),
            degree_cap=int(min(degree_cap, degrees.max(initial=0))) if "degree" in parts else 0,
            attribute_mean=mean,
            attribute_scale=scale,
        )

    @property
    def dim(self) -> int:
        """Width of a node's vector."""
        widths = {
            "label": len(self.label_names),
            "degree": self.degree_cap + 1,
            "attributes": len(self.attribute_mean),
            "constant": 1,
        }
        return sum(widths[part] for part in self.parts)

    def transform(self, graphs: GraphSet) -> NodeFeatures:
        """Return the features of every node of ``graphs``; raises where a part is missing."""
        codes, dense, offset = [], None, 0
        for part in self.parts:
            if part == "label":
                codes.append(_shift(self._label_codes(graphs), offset))
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

    def to_json(self) -> dict[str, Any]:
        """Return the map as plain values."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> FeatureMap:
        """Return the map that ``to_json`` gave."""
        fields: dict[str, Any] = {
            key: tuple(entry) if isinstance(entry, list) else entry for key, entry in value.items()
        }
        links = fields.pop("links", None)
        return cls(**fields, links=None if links is None else LinkFeatures.from_json(links))

    def _label_codes(self, graphs: GraphSet) -> np.ndarray:
        """Return this map's code of every node's label, -1 for one it does not know."""
        if graphs.node_labels is None:
            raise DataError(
                f"The model was trained on graphs with node labels, but {graphs.name!r} has none. "
                "Give the nodes the same kind of label, or train with node_features='degree'."
            )
        known = {name: code for code, name in enumerate(self.label_names)}
        # One slot more at the end: a missing label (-1) reads it and gets -1.
        table = np.array([known.get(name, -1) for name in graphs.node_label_names] + [-1], np.int64)
        return table[graphs.node_labels]

    def _standardised(self, graphs: GraphSet) -> np.ndarray:
        """Return the node attributes on the scale of training, float32."""
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
    """Return the feature parts that ``nodes`` asks for; raises where the graphs lack one."""
    if nodes == "auto":
        if graphs.node_labels is not None:
            return ("label", "degree")
        return ("attributes",) if graphs.node_attributes is not None else ("degree",)
    asked = nodes.split("+")
    if not set(asked) <= set(PARTS) or len(set(asked)) < len(asked):
        raise ParameterError(
            "node_features",
            "IGSD",
            f"must be 'auto' or different names out of {', '.join(PARTS)}, joined by '+'. "
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


def _shift(codes: np.ndarray, offset: int) -> np.ndarray:
    return np.where(codes < 0, -1, codes + offset)
