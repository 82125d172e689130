"""``from_edges``: edges as a ``GraphSet``; every reader ends here.

The rules for input:

- directed edges become undirected: u-v is an edge if u->v or v->u is given;
- a repeated edge is kept once, with the label and attributes of its first line, except that its
  weights (the attribute ``weight``) add up; if only one direction is given, the other gets the same
  label and attributes. In a directed graph ``GraphSet.directions`` says which were given;
- self loops are dropped: every encoder and diffusion adds its own;
- nodes without edges are kept; a graph without nodes is an error.

The set's ``notes`` count what was changed. That edges are given in one direction only is said if
others are given in both: a file that gives each edge once is the usual way to write an undirected
graph.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from igsd.errors import DataError, counted, shortened
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.graphset import (
    CATEGORIES,
    COLUMNS,
    NAMES,
    NO_KINDS,
    PARTIAL,
    UNNAMED,
    Fields,
    GraphSet,
)
from igsd.graphs.labels import LARGEST

ONE_WAY = "given in one direction only, made undirected"
"""The end of the note about such edges."""

DIRECTED = "directed graphs: "
"""The beginning of the note about edges that go one way."""

WEIGHT = "weight"
"""The edge attribute that is the weight of an edge unless the user names another."""

AS_FLOATS = f" and at most {LARGEST:.2g} (32-bit floats)"
"""What numbers must be besides finite, for messages."""

_MAX_NODES = 2**31
"""Of a graph: its neighbours are 32-bit numbers."""


def from_edges(
    node_counts: Sequence[int] | np.ndarray,
    source: np.ndarray,
    target: np.ndarray,
    *,
    edge_labels: np.ndarray | None = None,
    edge_attributes: np.ndarray | None = None,
    line_of: np.ndarray | None = None,
    directed: bool = False,
    bond_kinds: np.ndarray | None = None,
    name: str = UNNAMED,
    notes: tuple[str, ...] = (),
    **columns: Any,
) -> GraphSet:
    """Return the set of graphs with these edges.

    ``node_counts`` [G]: nodes per graph. ``source``, ``target`` [M]: the ends of each edge, counted
    over all graphs. ``edge_labels`` [M], ``edge_attributes`` [M, b], ``bond_kinds`` [M]: per edge.
    ``line_of`` [M]: the line of the input that each was given by, if one line gives two directions.
    ``directed``: an edge given in one direction means that direction, and the set remembers it.
    ``columns``: the other fields of ``GraphSet``, in node or graph order; partial edge attributes
    per edge.

    Raises ``DataError`` for an empty set, a graph without nodes, and an edge that leaves its graph
    or the set. Numbers of nodes and edges are checked where they are used (``check_numbers``,
    ``check_edge_numbers``).
    """
    counts = np.asarray(node_counts, dtype=np.int64)
    node_ptr = pointers(counts)
    source, target = np.asarray(source, np.int64), np.asarray(target, np.int64)
    _check_edges(source, target, node_ptr, name)
    edge_columns = {"edge_labels": edge_labels, "edge_attributes": edge_attributes}
    edge_columns["bond_kinds"] = bond_kinds
    edge_columns["partial_edge_attributes"] = columns.pop("partial_edge_attributes", None)
    _check_lengths(columns | edge_columns, len(source), node_ptr, name)
    if edge_attributes is not None and WEIGHT in columns.get("edge_attribute_names", ()):
        place = columns["edge_attribute_names"].index(WEIGHT)
        edge_columns["edge_attributes"] = _summed(edge_attributes, place, source, target, node_ptr)
    for key in ("node_attributes", "partial_node_attributes"):
        if columns.get(key) is not None:
            columns[key] = _as_floats(columns[key])
    rows, cols, given, is_own, changes = _symmetric_unique(
        source, target, int(node_ptr[-1]), directed, line_of
    )
    if directed:
        # Entry (u, v) was given itself, or only as (v, u); both were if both entries are own.
        mirror = np.lexsort((rows, cols))
        directions = (is_own + 2 * is_own[mirror]).astype(np.uint8)
        columns["directions"] = None if (directions == 3).all() else directions
    row_ptr = pointers(np.bincount(rows, minlength=int(node_ptr[-1])))
    local = (cols - node_ptr[:-1].repeat(counts)[rows]).astype(np.int32)
    for key, values in edge_columns.items():
        if values is not None:
            chosen = np.asarray(values)[given]
            is_table = key.endswith("attributes")
            columns[key] = _as_floats(chosen) if is_table else chosen.astype(np.int32)
    adjacency = Adjacency(row_ptr, local)
    return GraphSet(node_ptr, adjacency, name=name, notes=notes + changes, **columns)


def _as_floats(values: Any) -> np.ndarray:
    """Return numbers as 32-bit floats; those that are too large are infinite."""
    with np.errstate(over="ignore"):
        return np.asarray(values, np.float32)


def encode_categories(values: Sequence[Any] | np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return (codes [n] int64, names): categories numbered 0.. in sorted order, missing ones -1.

    None and NaN are missing. Names keep their type if JSON has it (text, integer, float, boolean);
    anything else is converted to text.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iub":
        names, codes = np.unique(values, return_inverse=True)
        return codes.astype(np.int64).reshape(-1), tuple(names.tolist())
    plain = [_plain(value) for value in values]
    known = {value for value in plain if value is not None}
    ordered = sorted(known, key=lambda value: (isinstance(value, str), value))
    index = {value: code for code, value in enumerate(ordered)}
    codes = np.array([-1 if value is None else index[value] for value in plain], dtype=np.int64)
    return codes, tuple(ordered)


def _plain(value: Any) -> Any:
    """Return a value that JSON can hold, or None if it is missing."""
    value = value.item() if isinstance(value, np.generic) else value
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, str | int | float | bool) else str(value)


def _summed(
    table: np.ndarray, column: int, source: np.ndarray, target: np.ndarray, node_ptr: np.ndarray
) -> np.ndarray:
    """Return the attributes of edges; one column is the sum over all lines of the same edge."""
    keys = source * int(node_ptr[-1]) + target
    _, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    if len(counts) == len(keys):
        return table
    table = np.array(table, dtype=np.float64)
    table[:, column] = np.bincount(place, table[:, column])[place]
    return table


def _symmetric_unique(
    source: np.ndarray,
    target: np.ndarray,
    num_nodes: int,
    directed: bool,
    line_of: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, tuple[str, ...]]:
    """Return (rows, columns, index of the given edge, whether it was given so, notes), sorted."""
    loops = source == target
    given = np.flatnonzero(~loops)
    keys = all_keys = source[given] * num_nodes + target[given]
    if not (keys[1:] > keys[:-1]).all():  # most files are sorted and repeat nothing
        keys, first = np.unique(keys, return_index=True)
        given = given[first]
    repeated = len(source) - int(loops.sum()) - len(keys)
    if repeated and line_of is not None:
        repeated = len(np.unique(line_of[~loops])) - len(np.unique(line_of[given]))
    mirrored = keys % num_nodes * num_nodes + keys // num_nodes
    missing, is_own, num_given = np.zeros(0, np.int64), np.ones(len(keys), bool), len(keys)
    if not np.array_equal(np.sort(mirrored), keys):
        # An edge's own line takes precedence over its mirror image: fill absent directions only.
        place = np.minimum(np.searchsorted(keys, mirrored), len(keys) - 1)
        missing = np.flatnonzero(keys[place] != mirrored)
        keys = np.concatenate([keys, mirrored[missing]])
        order = np.argsort(keys)
        keys, given = keys[order], np.concatenate([given, given[missing]])[order]
        is_own = order < len(is_own)
    if repeated and line_of is None and not (directed and len(missing)):
        repeated = _num_repeated(all_keys, num_nodes)
    # Most undirected files give every edge once; if some are given twice, lines may be missing.
    one_way = 0 if directed or len(missing) == num_given else len(missing)
    changes = (
        (int(loops.sum()), "self loop", "dropped"),
        (repeated, "repeated edge", "merged"),
        (one_way, "edge", ONE_WAY),
    )
    notes = tuple(f"{counted(count, noun)} {what}" for count, noun, what in changes if count)
    if directed and len(missing):
        notes += (
            f"{DIRECTED}{counted(len(missing), 'edge')} given in one direction only; "
            "directed='ignore', the default, makes them undirected, directed='both' keeps it",
        )
    return keys // num_nodes, keys % num_nodes, given, is_own, notes


def _num_repeated(keys: np.ndarray, num_nodes: int) -> int:
    """Return the number of repeated undirected edges; both directions of one count once."""
    keys, counts = np.unique(keys, return_counts=True)
    one, other = keys // num_nodes, keys % num_nodes
    pairs, place = np.unique(
        np.minimum(one, other) * num_nodes + np.maximum(one, other), return_inverse=True
    )
    most = np.zeros(len(pairs), np.int64)
    np.maximum.at(most, place, counts - 1)
    return int(most.sum())


def _check_edges(source: np.ndarray, target: np.ndarray, node_ptr: np.ndarray, name: str) -> None:
    """Raise ``DataError`` for a graph without nodes and an edge that leaves its graph."""
    if (empty := np.flatnonzero(np.diff(node_ptr) < 1)).size:
        raise DataError(
            f"Graph {empty[0]} of {name!r} has no nodes; a graph needs at least one. "
            "Leave such graphs out, or give them a single node."
        )
    if (large := np.flatnonzero(np.diff(node_ptr) >= _MAX_NODES)).size:
        raise DataError(
            f"Graph {large[0]} of {name!r} has {np.diff(node_ptr)[large[0]]} nodes; a graph has "
            f"fewer than {_MAX_NODES}."
        )
    if len(source) == 0:
        return
    low = min(int(source.min()), int(target.min()))
    high = max(int(source.max()), int(target.max()))
    if low < 0 or high >= node_ptr[-1]:
        raise DataError(
            f"An edge of {name!r} names node {low if low < 0 else high}, but the nodes of the set "
            f"run from 0 to {int(node_ptr[-1]) - 1}."
        )
    graph = np.repeat(np.arange(len(node_ptr) - 1, dtype=np.int32), np.diff(node_ptr))
    if (crossing := np.flatnonzero(graph[source] != graph[target])).size:
        bad = int(crossing[0])
        raise DataError(
            f"Edge {bad} of {name!r} (counted from 0) joins graph {graph[source[bad]]} with graph "
            f"{graph[target[bad]]}; an edge must stay inside one graph."
        )


def _check_lengths(columns: Fields, num_edges: int, node_ptr: np.ndarray, name: str) -> None:
    """Raise ``DataError`` for columns of another length."""
    rows = {"node": int(node_ptr[-1]), "edge": num_edges, "graph": len(node_ptr) - 1}
    for key, kind in COLUMNS.items():
        values = columns.get(key)
        if values is not None and len(values) != rows[kind]:
            raise DataError(
                f"The column {key!r} of {name!r} must have {rows[kind]} rows. Got {len(values)}."
            )


def check_edge_numbers(graphs: GraphSet, values: np.ndarray, name: str, way_out: str) -> None:
    """Raise ``DataError`` if the edge attribute ``values`` [E], which is used, is not finite."""
    if (bad := first_not_finite(values[:, None])) is None:
        return
    rows, columns = graphs.adjacency.rows(), graphs.adjacency.global_columns(graphs.node_ptr)
    graph = int(graphs.graph_of_node()[rows[bad]])
    ends = [int(side[bad] - graphs.node_ptr[graph]) for side in (rows, columns)]
    raise DataError(
        f"Edge attributes that are used must be finite{AS_FLOATS}, but the edge between nodes "
        f"{ends[0]} and {ends[1]} of {titled(graph, graphs.graph_names, graphs.name)} has {name} "
        f"{values[bad]:g}. Fill in or remove such values, or {way_out}."
    )


def check_numbers(graphs: GraphSet, values: np.ndarray, names: Sequence[str]) -> None:
    """Raise ``DataError`` if node attributes ``values`` [N, a] that are used are not finite."""
    if (bad := first_not_finite(values)) is None:
        return
    graph = int(np.searchsorted(graphs.node_ptr, bad, side="right") - 1)
    raise DataError(
        f"Node attributes that are used must be finite{AS_FLOATS}, but node "
        f"{bad - graphs.node_ptr[graph]} of {titled(graph, graphs.graph_names, graphs.name)} has "
        f"{_not_finite(values[bad], names)}. Fill in or remove such values, or name the attributes "
        "to use: node_attributes=[...], or None for none of them (on the command line --set "
        "node_attributes=NAME,NAME or none)."
    )


def titled(graph: int, names: Sequence[str] | None, name: str) -> str:
    """Return the graph's number and name, for messages."""
    own = names[graph] if names is not None else ""
    return f"graph {graph} of {name!r}" + (f", {shortened(str(own))}," if own else "")


def _not_finite(values: np.ndarray, names: Sequence[str] | None) -> str:
    """Return the first number that is not finite, behind the name of its attribute if any."""
    place = int(np.flatnonzero(_is_beyond(values))[0])
    return f"{names[place]} {values[place]}" if names else str(values.tolist())


def first_not_finite(table: np.ndarray | None) -> int | None:
    """Return the first row of ``table`` [n, a] with a number that is not finite, or None.

    A number that is too large for a 32-bit float is not, either.
    """
    if table is None or not (beyond := _is_beyond(table)).any():
        return None
    return int(np.flatnonzero(beyond.any(axis=1))[0])


def _is_beyond(values: np.ndarray) -> np.ndarray:
    return ~(np.abs(values) <= LARGEST)  # true of NaN


def join_sets(sets: Sequence[GraphSet], *, name: str = UNNAMED) -> GraphSet:
    """Return the graphs of all sets, one set after the other.

    The sets must have the same columns with the same names, as parts of one set have; raises
    ``DataError`` if they differ.
    """
    first = sets[0]
    for place, other in enumerate(sets):
        for column in (*NAMES, *NAMES.values(), *CATEGORIES, "lines"):
            one, two = getattr(first, column), getattr(other, column)
            if (one != two) if column.endswith("_names") else ((one is None) != (two is None)):
                raise DataError(
                    "Sets of graphs can be joined only if they have the same columns and names, as "
                    f"parts of one set have: {column!r} of set {place} differs from that of set 0."
                )
    columns: Fields = {key: _joined([getattr(s, key) for s in sets]) for key in COLUMNS}
    if any(s.directions is not None for s in sets):
        both = (np.full(s.adjacency.num_entries, 3, np.uint8) for s in sets)
        pairs = zip(sets, both, strict=True)
        columns["directions"] = np.concatenate(
            [b if s.directions is None else s.directions for s, b in pairs]
        )
    for column, names in PARTIAL.items():
        if any(getattr(s, key) != getattr(first, key) for s in sets for key in names):
            columns |= {column: None} | dict.fromkeys(names, ())
    if any(s.atom_kind_names != first.atom_kind_names for s in sets):  # read again when needed
        columns |= NO_KINDS
    return replace(
        first,
        node_ptr=pointers(np.concatenate([s.node_counts() for s in sets])),
        adjacency=Adjacency.joined([s.adjacency for s in sets]),
        name=name,
        notes=tuple(dict.fromkeys(note for s in sets for note in s.notes)),
        **columns,
    )


def _joined(parts: Sequence[Any]) -> Any:
    """Return arrays or tuples concatenated, None if one is missing."""
    if any(part is None for part in parts):
        return None
    return tuple(chain(*parts)) if isinstance(parts[0], Sequence) else np.concatenate(parts)
