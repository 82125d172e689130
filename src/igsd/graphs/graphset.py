"""``GraphSet``: many small graphs as a few flat, immutable columns."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from igsd.errors import DataError, GraphIndexError
from igsd.graphs.adjacency import Adjacency, ranges

Name = str | int | float | bool


UNNAMED = "graphs"
"""What a set is called that nobody gave a name."""


@dataclass(frozen=True, eq=False)
class GraphSet:
    """A set of undirected graphs with labels, attributes, classes and targets.

    Node v of graph g stands at row ``node_ptr[g] + v`` of every node column; edge columns run
    along the entries of ``adjacency``. Categories are codes 0..n-1 into a tuple of names, -1 where
    nothing is known. Build one with ``igsd.graphs.build.from_edges`` or a reader; the columns
    are read-only. ``graphs[3]``, ``graphs[:10]`` and ``graphs[indices]`` are sets again, so that
    scikit-learn can split a set as it splits an array.

    | column | shape | meaning |
    |---|---|---|
    | ``node_ptr`` | [G + 1] int64 | where each graph's nodes begin |
    | ``adjacency`` | rows [N] | neighbours, see ``Adjacency`` |
    | ``node_labels`` | [N] int32 | category of a node, e.g. its element |
    | ``node_attributes`` | [N, a] float32 | numbers of a node |
    | ``edge_labels`` | [E] int32 | category of an edge, e.g. its bond type |
    | ``edge_attributes`` | [E, b] float32 | numbers of an edge |
    | ``classes`` | [G] int64 | class of a graph |
    | ``targets`` | [G, t] float64 | numbers to predict for a graph, NaN where unknown |
    | ``graph_names`` | G strings | a name per graph, e.g. its SMILES |
    | ``lines`` | [G] int64 | the line of the table that a graph was read from |
    | ``ids`` | G strings | what that table calls a graph |
    """

    node_ptr: np.ndarray
    adjacency: Adjacency
    node_labels: np.ndarray | None = None
    node_label_names: tuple[Name, ...] = ()
    node_attributes: np.ndarray | None = None
    node_attribute_names: tuple[str, ...] = ()
    edge_labels: np.ndarray | None = None
    edge_label_names: tuple[Name, ...] = ()
    edge_attributes: np.ndarray | None = None
    edge_attribute_names: tuple[str, ...] = ()
    classes: np.ndarray | None = None
    class_names: tuple[Name, ...] = ()
    targets: np.ndarray | None = None
    target_names: tuple[str, ...] = ()
    graph_names: tuple[str, ...] | None = None
    lines: np.ndarray | None = None
    ids: tuple[str, ...] | None = None
    name: str = UNNAMED
    notes: tuple[str, ...] = field(default=())

    def __post_init__(self) -> None:
        if len(self.node_ptr) < 2:
            raise DataError(f"The set {self.name!r} holds no graphs; at least one is needed.")
        for column in self._columns().values():
            if not isinstance(column, np.memmap):
                column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def __getitem__(self, key: Any) -> GraphSet:
        """Return the chosen graphs as a set: one for a number, several for a slice or an array.

        Negative numbers count from the end. Raises ``GraphIndexError`` for what is not there.
        """
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn asks as it asks an array: X[indices, ...]
        if isinstance(key, slice):
            return self.take(np.arange(len(self))[key])
        chosen = np.asarray(key)
        if chosen.ndim == 0 and chosen.dtype.kind in "iu":
            chosen = chosen.reshape(1)
        if chosen.dtype.kind == "i":
            chosen = np.where(chosen < 0, chosen + len(self), chosen)
        return self.take(chosen)

    def __iter__(self) -> Iterator[GraphSet]:
        return (self.take([index]) for index in range(len(self)))

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise DataError(
            f"The set {self.name!r} is no array of numbers. Its columns are, such as 'classes'; "
            "igsd.IGSD turns graphs into vectors."
        )

    def __repr__(self) -> str:
        return (
            f"GraphSet({self.name!r}, graphs={len(self)}, nodes={self.num_nodes}, "
            f"edges={self.num_edges}, classes={len(self.class_names)})"
        )

    def __eq__(self, other: object) -> bool:
        """Say whether both hold the same graphs, labels and names.

        Where they came from does not count: ``name``, ``notes``, ``lines`` and ``ids``.
        """
        if not isinstance(other, GraphSet):
            return NotImplemented
        return self.checksum == other.checksum

    def __hash__(self) -> int:
        return hash(self.checksum)

    @property
    def shape(self) -> tuple[int]:
        """The number of graphs as a tuple, which is where scikit-learn looks for it."""
        return (len(self),)

    @property
    def num_nodes(self) -> int:
        """Number of nodes in all graphs together."""
        return int(self.node_ptr[-1])

    @property
    def num_edges(self) -> int:
        """Number of undirected edges in all graphs together."""
        return self.adjacency.num_entries // 2

    def node_counts(self) -> np.ndarray:
        """Return the number of nodes per graph, [G] int64."""
        return np.diff(self.node_ptr)

    def edge_counts(self) -> np.ndarray:
        """Return the number of undirected edges per graph, [G] int64."""
        return np.diff(self.adjacency.row_ptr[self.node_ptr]) // 2

    def graph_of_node(self) -> np.ndarray:
        """Return the graph that each node belongs to, [N] int64."""
        return np.repeat(np.arange(len(self)), self.node_counts())

    def take(self, indices: Any) -> GraphSet:
        """Return the chosen graphs in the order given; an index may stand more than once.

        A handful of vectorised gathers: the cost grows with the graphs taken, not with the set.
        Raises ``GraphIndexError`` for an index that is not there and for what is no index.
        """
        chosen = self._checked_indices(np.asarray(indices))
        starts, stops = self.node_ptr[chosen], self.node_ptr[chosen + 1]
        nodes = ranges(starts, stops)
        row_ptr = self.adjacency.row_ptr
        entries = ranges(row_ptr[starts], row_ptr[stops])
        return replace(
            self,
            node_ptr=np.concatenate([[0], np.cumsum(stops - starts)]).astype(np.int64),
            adjacency=self.adjacency.take(self.node_ptr, chosen),
            node_labels=_gather(self.node_labels, nodes),
            node_attributes=_gather(self.node_attributes, nodes),
            edge_labels=_gather(self.edge_labels, entries),
            edge_attributes=_gather(self.edge_attributes, entries),
            classes=_gather(self.classes, chosen),
            targets=_gather(self.targets, chosen),
            graph_names=_picked(self.graph_names, chosen),
            lines=_gather(self.lines, chosen),
            ids=_picked(self.ids, chosen),
        )

    def without_labels(self) -> GraphSet:
        """Return the same graphs with classes and targets removed."""
        return replace(self, classes=None, class_names=(), targets=None, target_names=())

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of every column but ``lines`` and ``ids``, and of every name, hexadecimal."""
        names = [
            (f.name, getattr(self, f.name))
            for f in fields(self)
            if f.name.endswith("_names") and getattr(self, f.name)
        ]
        columns = {key: column for key, column in self._columns().items() if key != "lines"}
        return _digest(columns, repr(names))

    @cached_property
    def structure_checksum(self) -> str:
        """SHA-256 of nodes and edges alone: what a view depends on."""
        adjacency = self.adjacency
        columns = {"node_ptr": self.node_ptr, "row_ptr": adjacency.row_ptr, "col": adjacency.col}
        return _digest(columns, "")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to one portable file at exactly ``path``, whole or not at all."""
        from igsd.graphs.graphset_file import save_graphset

        save_graphset(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> GraphSet:
        """Return the set saved at ``path``, memory-mapped: columns are read when they are used."""
        from igsd.graphs.graphset_file import load_graphset

        return load_graphset(path)

    def _checked_indices(self, chosen: np.ndarray) -> np.ndarray:
        """Return positions or a mask as positions, int64; raises ``GraphIndexError``."""
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iub"):
            raise GraphIndexError(
                f"Graphs of the set {self.name!r} are chosen by whole numbers, by a slice or by "
                f"one truth value for each. Got shape {chosen.shape} of {chosen.dtype}."
            )
        if chosen.dtype == bool:
            if len(chosen) != len(self):
                raise GraphIndexError(
                    f"A mask needs one truth value for each of the {len(self)} graphs of the set "
                    f"{self.name!r}. Got {len(chosen)}."
                )
            return np.flatnonzero(chosen)
        chosen = chosen.astype(np.int64)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(self)):
            raise GraphIndexError(
                f"Graph {int(chosen.min() if chosen.min() < 0 else chosen.max())} is not in the "
                f"set {self.name!r}: indices run from 0 to {len(self) - 1}."
            )
        return chosen

    def _columns(self) -> dict[str, np.ndarray]:
        """Return every array of the set by name."""
        columns = {
            "node_ptr": self.node_ptr,
            "row_ptr": self.adjacency.row_ptr,
            "col": self.adjacency.col,
            "edge_weight": self.adjacency.weight,
            "node_labels": self.node_labels,
            "node_attributes": self.node_attributes,
            "edge_labels": self.edge_labels,
            "edge_attributes": self.edge_attributes,
            "classes": self.classes,
            "targets": self.targets,
            "lines": self.lines,
        }
        return {key: value for key, value in columns.items() if value is not None}


def _gather(column: np.ndarray | None, rows: np.ndarray) -> np.ndarray | None:
    return None if column is None else np.asarray(column[rows])


def _picked(texts: tuple[str, ...] | None, chosen: np.ndarray) -> tuple[str, ...] | None:
    return None if texts is None else tuple(texts[i] for i in chosen)


def _digest(columns: dict[str, np.ndarray], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for key in sorted(columns):
        column = columns[key]
        digest.update(f"{key}{column.dtype.str}{column.shape}".encode())
        digest.update(np.ascontiguousarray(column).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
