"""``GraphSet``: many small graphs as a few flat, immutable columns."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, Self, TypedDict

import numpy as np

from igsd.errors import DataError, GraphIndexError, StorageError
from igsd.files.arrays import Header, read_arrays, write_arrays
from igsd.files.stacks import Stack
from igsd.files.texts import Texts
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.progress import abridged, html_facts

Name = str | int | float | bool

UNNAMED = "graphs"
"""The name of a set without a name of its own."""

Fields = dict[str, Any]
"""Fields of a ``GraphSet`` by name."""

COLUMNS = {
    "node_labels": "node",
    "node_attributes": "node",
    "edge_labels": "edge",
    "edge_attributes": "edge",
    "partial_node_attributes": "node",
    "partial_edge_attributes": "edge",
    "directions": "edge",
    "classes": "graph",
    "targets": "graph",
    "graph_names": "graph",
    "lines": "graph",
    "ids": "graph",
    "atom_kinds": "node",
    "atom_ranks": "node",
    "bond_kinds": "edge",
}
"""The optional columns of a set, and whether they have a row per node, edge entry or graph."""

NAMES = {
    "node_labels": "node_label_names",
    "node_attributes": "node_attribute_names",
    "edge_labels": "edge_label_names",
    "edge_attributes": "edge_attribute_names",
    "classes": "class_names",
    "targets": "target_names",
}
"""The fields with the names behind the codes, or of the columns, of six of them."""

NO_KINDS: Fields = dict.fromkeys(("atom_kinds", "atom_ranks", "bond_kinds"), None)
NO_KINDS["atom_kind_names"] = ()
"""The fields of a set that does not carry what ``igsd.graphs.chemistry`` sees of molecules."""

VERSION = 1
"""Of the format of a file."""

_TEXTS = ("graph_names", "ids")
_SCHEMA = {
    "node_ptr": ("int64", 1),
    "row_ptr": ("int64", 1),
    "col": ("int32", 1),
    "edge_weight": ("float32", 1),
    "node_labels": ("int32", 1),
    "node_attributes": ("float32", 2),
    "edge_labels": ("int32", 1),
    "edge_attributes": ("float32", 2),
    "partial_node_attributes": ("float32", 2),
    "partial_edge_attributes": ("float32", 2),
    "directions": ("uint8", 1),
    "classes": ("int64", 1),
    "targets": ("float64", 2),
    "lines": ("int64", 1),
    "graph_names": ("uint8", 1),
    "graph_names_ptr": ("int64", 1),
    "ids": ("uint8", 1),
    "ids_ptr": ("int64", 1),
    "atom_kinds": ("int32", 1),
    "atom_ranks": ("int32", 1),
    "bond_kinds": ("int32", 1),
}
CATEGORIES = ("node_category_names", "edge_category_names")
"""The fields with the names behind the codes of attributes that are categories."""

PARTIAL = {
    "partial_node_attributes": ("partial_node_names", "partial_node_category_names"),
    "partial_edge_attributes": ("partial_edge_names", "partial_edge_category_names"),
}
"""The columns of attributes that some nodes or edges lack: their names, and those of categories."""

_PLAIN = (*NAMES.values(), "name", "notes")
_LATER = {"atom_kind_names": (), "standardised": ""}  # missing in older files


class _Header(TypedDict):
    node_label_names: list[Name]
    node_attribute_names: list[str]
    edge_label_names: list[Name]
    edge_attribute_names: list[str]
    class_names: list[Name]
    target_names: list[str]
    name: str
    notes: list[str]


@dataclass(frozen=True, eq=False)
class GraphSet:
    """A set of undirected graphs with labels, attributes, classes and targets.

    Node v of graph g is row ``node_ptr[g] + v`` of every node column; edge columns are parallel to
    the entries of ``adjacency``. Categories are codes 0..n-1 into a tuple of names, -1 if unknown.
    Build a set with ``igsd.open_data``, a reader or ``igsd.graphs.build.from_edges``; its columns
    are read-only. ``graphs[3]``, ``graphs[:10]`` and ``graphs[indices]`` are sets too, so that
    scikit-learn can split a set like an array.

    | column | shape | meaning |
    |---|---|---|
    | ``node_ptr`` | [G + 1] int64 | where the nodes of each graph begin |
    | ``adjacency`` | rows [N] | neighbours, see ``Adjacency`` |
    | ``node_labels`` | [N] int32 | category of a node, e.g. its element |
    | ``node_attributes`` | [N, a] float32 | numbers of a node |
    | ``edge_labels`` | [E] int32 | category of an edge, e.g. its bond type |
    | ``edge_attributes`` | [E, b] float32 | numbers of an edge, its weight among them |
    | ``partial_node_attributes`` | [N, p] float32 | numbers that some nodes lack, which are NaN |
    | ``partial_edge_attributes`` | [E, q] float32 | numbers that some edges lack |
    | ``directions`` | [E] uint8 | 1: given from row to column, 2: from column to row, 3: both |
    | ``classes`` | [G] int64 | class of a graph |
    | ``targets`` | [G, t] float64 | numbers to predict for a graph, NaN if unknown |
    | ``graph_names`` | G strings | a name per graph, e.g. its SMILES |
    | ``lines`` | [G] int64 | the line of the table that a graph was read from |
    | ``ids`` | G strings | the id of a graph in that table |
    | ``atom_kinds`` | [N] int32 | all that ``igsd.graphs.chemistry`` sees of an atom |
    | ``atom_ranks`` | [N] int32 | its place in the canonical order of its molecule |
    | ``bond_kinds`` | [E] int32 | all that is seen of a bond |

    ``node_label_names``, ``edge_label_names`` and ``class_names`` are the names behind the codes,
    ``node_attribute_names``, ``edge_attribute_names`` and ``target_names`` those of the columns.
    ``node_category_names`` and ``edge_category_names`` have an entry per attribute: the names
    behind its codes if it is a category (strings, booleans), () if it is a number; empty if all are
    numbers. ``partial_node_names``, ``partial_node_category_names`` and those of edges say the same
    of the partial attributes, which igsd's own methods do not use; a missing category is -1.
    ``directions`` is None if no edge goes one way only: the matrix itself is always
    symmetric. ``atom_kind_names`` are those of ``atom_kinds``. ``name`` is the set's own, ``notes``
    say what a reader changed, and ``standardised`` how molecules were standardised, empty if they
    were not. ``is_part``: the graphs were taken from a larger set, so views of them are not cached.
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
    node_category_names: tuple[tuple[Name, ...], ...] = ()
    edge_category_names: tuple[tuple[Name, ...], ...] = ()
    partial_node_attributes: np.ndarray | None = None
    partial_node_names: tuple[str, ...] = ()
    partial_node_category_names: tuple[tuple[Name, ...], ...] = ()
    partial_edge_attributes: np.ndarray | None = None
    partial_edge_names: tuple[str, ...] = ()
    partial_edge_category_names: tuple[tuple[Name, ...], ...] = ()
    directions: np.ndarray | None = None
    classes: np.ndarray | None = None
    class_names: tuple[Name, ...] = ()
    targets: np.ndarray | None = None
    target_names: tuple[str, ...] = ()
    graph_names: tuple[str, ...] | None = None
    lines: np.ndarray | None = None
    ids: tuple[str, ...] | None = None
    atom_kinds: np.ndarray | None = None
    atom_kind_names: tuple[str, ...] = ()
    atom_ranks: np.ndarray | None = None
    bond_kinds: np.ndarray | None = None
    name: str = UNNAMED
    notes: tuple[str, ...] = field(default=())
    standardised: str = ""
    is_part: bool = False

    def __post_init__(self) -> None:
        if len(self.node_ptr) < 2:
            raise DataError(f"The set {self.name!r} holds no graphs; at least one is needed.")
        for column in self._columns().values():
            if isinstance(column, np.ndarray) and not isinstance(column, np.memmap):
                column.flags.writeable = False

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def __getitem__(self, key: Any) -> Self:
        """Return the graphs of an index (also negative), a slice, indices or a mask, as a set."""
        if isinstance(key, tuple) and len(key) == 2 and key[1] is Ellipsis:
            key = key[0]  # scikit-learn indexes an array: X[indices, ...]
        if isinstance(key, slice):
            return self.take(np.arange(len(self))[key])
        chosen = np.asarray(key)
        if chosen.ndim == 0 and chosen.dtype.kind in "iu":
            chosen = chosen.reshape(1)
        if chosen.dtype.kind == "i":
            chosen = np.where(chosen < 0, chosen + len(self), chosen)
        return self.take(chosen)

    def __iter__(self) -> Iterator[Self]:
        return (self.take([index]) for index in range(len(self)))

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise DataError(
            f"The set {self.name!r} is not an array of numbers. Its columns are, e.g. 'classes'; "
            "igsd.IGSD turns graphs into vectors."
        )

    def __repr__(self) -> str:
        return (
            f"GraphSet({self.name!r}, graphs={len(self)}, nodes={self.num_nodes}, "
            f"edges={self.num_edges}, classes={len(self.class_names)})"
        )

    def _repr_html_(self) -> str:
        """Return the set as a small table, which notebooks show."""
        nodes, edges = self.node_counts(), self.edge_counts()
        facts = {
            "graphs": f"{len(self):,}",
            "nodes per graph": f"{nodes.mean():.1f} ({nodes.min():,} to {nodes.max():,})",
            "edges per graph": f"{edges.mean():.1f} ({edges.min():,} to {edges.max():,})",
        }
        names = {
            "classes": self.class_names if self.classes is not None else (),
            "node labels": self.node_label_names if self.node_labels is not None else (),
            "node attributes": self.node_attribute_names,
            "edge labels": self.edge_label_names if self.edge_labels is not None else (),
            "edge attributes": self.edge_attribute_names,
            "targets": self.target_names,
        }
        facts |= {key: abridged(values) for key, values in names.items() if values}
        facts["notes"] = " ".join(self.notes)
        return html_facts(f"GraphSet {self.name}", facts)

    def __eq__(self, other: object) -> bool:
        """Compare all columns and names but ``name``, ``notes``, ``lines`` and ``ids``."""
        return self.checksum == other.checksum if isinstance(other, GraphSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.checksum)

    @property
    def shape(self) -> tuple[int]:
        """The number of graphs as a tuple, as scikit-learn expects it."""
        return (len(self),)

    @property
    def num_nodes(self) -> int:
        """Total number of nodes."""
        return int(self.node_ptr[-1])

    @property
    def num_edges(self) -> int:
        """Total number of undirected edges."""
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

    def take(self, indices: Any) -> Self:
        """Return the graphs ``indices`` (or of a mask) in this order; indices may repeat.

        Raises ``GraphIndexError`` for an index out of range and for anything that is not one.
        """
        chosen = self._checked_indices(np.asarray(indices))
        starts, stops = self.node_ptr[chosen], self.node_ptr[chosen + 1]
        row_ptr = self.adjacency.row_ptr
        rows = {
            "node": ranges(starts, stops),
            "edge": ranges(row_ptr[starts], row_ptr[stops]),
            "graph": chosen,
        }
        columns: Fields = {k: _gather(getattr(self, k), rows[kind]) for k, kind in COLUMNS.items()}
        columns |= {"adjacency": self.adjacency.take(self.node_ptr, chosen), "is_part": True}
        return replace(self, node_ptr=pointers(stops - starts), **columns)

    def only_edges(self, keep: np.ndarray) -> Self:
        """Return the same nodes with the edge entries where ``keep`` [E] is true."""
        edges = [key for key, kind in COLUMNS.items() if kind == "edge"]
        columns: Fields = {key: _gather(getattr(self, key), np.flatnonzero(keep)) for key in edges}
        return replace(self, adjacency=self.adjacency.only(keep), **columns | NO_KINDS)

    def without_labels(self) -> Self:
        """Return the same graphs with classes and targets removed."""
        return replace(self, classes=None, class_names=(), targets=None, target_names=())

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of every column except ``lines`` and ``ids``, and of every name, hexadecimal.

        What is seen of atoms and bonds follows from the names of the graphs, and is left out too.
        """
        keys = [f.name for f in fields(self) if f.name.endswith("_names") and getattr(self, f.name)]
        keys = [key for key in keys if key not in NO_KINDS]
        left_out = {"lines", *NO_KINDS}
        columns = {key: column for key, column in self._columns().items() if key not in left_out}
        return _digest(columns, repr([(key, getattr(self, key)) for key in keys]))

    @cached_property
    def structure_checksum(self) -> str:
        """SHA-256 of nodes, edges and their weights, which is all that a view depends on."""
        adjacency = self.adjacency
        columns = {"node_ptr": self.node_ptr, "row_ptr": adjacency.row_ptr, "col": adjacency.col}
        if adjacency.weight is not None:
            columns["weight"] = adjacency.weight
        return _digest(columns, "")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the set to one portable file at exactly ``path``, whole or not at all."""
        write_arrays(path, *self.packed())

    def packed(self) -> tuple[dict[str, Any], Header]:
        """Return the (arrays, header) that ``save`` writes."""
        arrays = {k: v.stacked() if isinstance(v, Stack) else v for k, v in self._columns().items()}
        for key in _TEXTS:
            if (texts := getattr(self, key)) is not None:
                packed = Texts.of(texts)
                arrays |= {key: packed.data, f"{key}_ptr": packed.bounds}
        header: Header = {"kind": "graph set", "version": VERSION}
        # Absent where there are none, so that a plain set is written as it always was.
        names = (*CATEGORIES, *chain(*PARTIAL.values()))
        header |= {key: value for key in names if (value := getattr(self, key))}
        return arrays, header | {key: getattr(self, key) for key in (*_PLAIN, *_LATER)}

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, decoded: bool = True) -> Self:
        """Return the set at ``path``, memory-mapped; ``decoded``: its names too, all at once."""
        from igsd.graphs.columns import check_columns

        arrays, header = read_arrays(path, "graph set", VERSION, _SCHEMA, header_type=_Header)
        try:
            columns: Fields = {key: _pop_texts(arrays, key, decoded) for key in _TEXTS}
            columns |= from_header(header)
            matrix = (arrays.pop("row_ptr"), arrays.pop("col"), arrays.pop("edge_weight", None))
            graphs = cls(adjacency=Adjacency(*matrix), **(columns | arrays))
        except (KeyError, TypeError, ValueError) as error:
            fault = f"a column is missing or unknown ({error})"
            raise StorageError(f"{path} is damaged: {fault}.") from error
        check_columns(graphs, path)
        return graphs

    def _checked_indices(self, chosen: np.ndarray) -> np.ndarray:
        """Return indices or a mask as indices, int64; raises ``GraphIndexError``."""
        if chosen.ndim != 1 or (chosen.size and chosen.dtype.kind not in "iub"):
            raise GraphIndexError(
                f"Graphs of the set {self.name!r} are selected by integers, a slice or a mask. "
                f"Got shape {chosen.shape} of {chosen.dtype}."
            )
        if chosen.dtype == bool:
            if len(chosen) != len(self):
                raise GraphIndexError(
                    f"A mask needs one boolean for each of the {len(self)} graphs of the set "
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

    def _columns(self) -> dict[str, Any]:
        """Return every array of the set by name."""
        columns = {key: getattr(self, key) for key in COLUMNS}
        columns |= {"node_ptr": self.node_ptr, "row_ptr": self.adjacency.row_ptr}
        columns |= {"col": self.adjacency.col, "edge_weight": self.adjacency.weight}
        return {k: value for k, value in columns.items() if isinstance(value, np.ndarray | Stack)}


def from_header(header: Header) -> Fields:
    """Return the fields of a set that its file keeps in the header; raises ``KeyError``."""
    columns: Fields = {}
    for key in (*_PLAIN, *_LATER):
        value = header[key] if key in _PLAIN else header.get(key, _LATER[key])
        columns[key] = tuple(value) if isinstance(value, list) else value
    for names, categories in PARTIAL.values():
        columns[names] = tuple(header.get(names, ()))
        columns[categories] = tuple(map(tuple, header.get(categories, ())))
    return columns | {key: tuple(map(tuple, header.get(key, ()))) for key in CATEGORIES}


def placeholders(width: int, letter: str = "x") -> tuple[str, ...]:
    """Return names for columns without any: x0, x1, ..."""
    return tuple(f"{letter}{i}" for i in range(width))


def _gather(column: Any, rows: np.ndarray) -> Any:
    """Return rows of an array, or of a tuple of texts."""
    if isinstance(column, Sequence):
        return tuple(column[row] for row in rows.tolist())
    return None if column is None else np.asarray(column[rows])


def _digest(columns: dict[str, Any], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for key in sorted(columns):
        column = columns[key]
        digest.update(f"{key}{column.dtype.str}{column.shape}".encode())
        for part in column.parts() if isinstance(column, Stack) else (column,):
            digest.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()


def _pop_texts(arrays: dict[str, np.ndarray], key: str, decoded: bool) -> Any:
    text, bounds = arrays.pop(key, None), arrays.pop(f"{key}_ptr", None)
    if text is None or bounds is None:
        return None
    texts = Texts(text, bounds)
    if not decoded and not texts.is_utf8:
        raise ValueError(f"{key!r} is not UTF-8")
    return texts.decoded() if decoded else texts
