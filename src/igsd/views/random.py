"""Random views: dropped edges or nodes, moved edges, masked features, subgraphs, random walks.

What happens to an edge, a node or a walk is a hash of (seed, graph, edge or node), not a draw from
a stream. Both entries of an edge are therefore treated alike, and a graph is changed in the same
way in any batch, so a resumed run sees the same views. Rates are in [0, 1).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from igsd.errors import ParameterError, nearest
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.colours import splitmix64
from igsd.settings.own import called, place_of


def hashed_uniform(seed: int, *keys: np.ndarray) -> np.ndarray:
    """Return a number in [0, 1) for each tuple of keys, whole numbers that broadcast, float64."""
    bits = splitmix64(np.array([seed % 2**64], dtype=np.uint64))
    for key in keys:
        bits = splitmix64(bits ^ splitmix64(np.asarray(key).astype(np.uint64)))
    return (bits >> np.uint64(11)) * 2.0**-53


OwnView = Callable[[Any, int], Any]
"""A view of the user's own: (adjacency of a graph [n, n], seed) -> adjacency [n, n]."""

_ASYMMETRY = 1e-5
_VIEW_RULE = (
    "must be a function of (adjacency, seed) that returns the adjacency of the same nodes, [n, n], "
    "symmetric with weights >= 0"
)


def viewed(
    view: OwnView, adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, seed: int
) -> Adjacency:
    """Return every graph of a batch under a view of the user's own.

    ``view`` is called for each graph with its adjacency, a SciPy CSR array [n, n] of its own, and a
    seed below 2^32 that depends on ``seed`` and the graph. It returns an array, sparse or not, over
    the same nodes: symmetric, finite, without negative weights. Raises ``ParameterError`` if not.
    """
    starts, parts = adjacency.row_ptr[node_ptr], []
    bits = splitmix64(splitmix64(graph_ids.astype(np.uint64)) ^ np.uint64(seed % 2**64))
    for graph, own_seed in enumerate((bits >> np.uint64(32)).tolist()):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        entries = slice(starts[graph], starts[graph + 1])
        weight = np.ones(entries.stop - entries.start, np.float32)
        if adjacency.weight is not None:
            weight[:] = adjacency.weight[entries]
        row_ptr, n = adjacency.row_ptr[first : last + 1] - starts[graph], int(last - first)
        A = sparse.csr_array((weight, adjacency.col[entries].copy(), row_ptr), shape=(n, n))
        with called("view", view, _VIEW_RULE):
            S = view(A, own_seed)
        S = _checked_view(S, n, view)
        parts.append(Adjacency(S.indptr.astype(np.int64), S.indices.astype(np.int32), S.data))
    return Adjacency.joined(parts)


def _checked_view(S: Any, n: int, view: OwnView) -> Any:
    """Return what a view returned as a sorted CSR array of float32 without zeros."""
    try:
        S = sparse.csr_array(S, dtype=np.float32)
    except (TypeError, ValueError):
        raise _not_a_view(view, f"an object of type {type(S).__name__}") from None
    if S.shape != (n, n):
        raise _not_a_view(view, f"shape {S.shape} for a graph of {n} nodes")
    if not np.isfinite(S.data).all() or (S.data < 0).any():
        raise _not_a_view(view, "weights that are negative or not finite")
    if (abs(S - S.T) > _ASYMMETRY * max(S.data.max(initial=0.0), 1.0)).nnz:
        raise _not_a_view(view, "a matrix that is not symmetric")
    S.sum_duplicates()
    S.eliminate_zeros()
    S.sort_indices()
    return S


def _not_a_view(view: OwnView, got: str) -> ParameterError:
    return ParameterError("view", "IGSD", f"{_VIEW_RULE}. {place_of(view)} returned {got}.")


def node_uniform(node_ptr: np.ndarray, graph_ids: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each node of a batch, [n] float64.

    ``graph_ids`` [B]: the index of each graph in the whole set.
    """
    return hashed_uniform(seed, np.repeat(graph_ids, np.diff(node_ptr)), _local(node_ptr))


def _local(node_ptr: np.ndarray) -> np.ndarray:
    """Return the index of each node inside its graph, [n]."""
    return np.arange(int(node_ptr[-1])) - np.repeat(node_ptr[:-1], np.diff(node_ptr))


@dataclass(frozen=True)
class Induced:
    """Induced subgraphs as a batch: ``nodes`` [m] are the kept nodes of the original batch."""

    nodes: np.ndarray
    node_ptr: np.ndarray
    adjacency: Adjacency


def induced(adjacency: Adjacency, node_ptr: np.ndarray, keep: np.ndarray) -> Induced:
    """Return the subgraphs induced by the nodes with ``keep`` [n] bool, at least one per graph."""
    kept_before = pointers(keep)
    ptr = kept_before[node_ptr]
    places = kept_before[:-1] - np.repeat(ptr[:-1], np.diff(node_ptr))
    columns = adjacency.global_columns(node_ptr)
    stays = np.repeat(keep, adjacency.degrees()) & keep[columns]
    lengths = np.diff(pointers(stays)[adjacency.row_ptr])[keep]
    weight = None if adjacency.weight is None else adjacency.weight[stays]
    edges = Adjacency(pointers(lengths), places[columns[stays]].astype(np.int32), weight)
    return Induced(np.flatnonzero(keep), ptr, edges)


def edge_drop(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int
) -> Adjacency:
    """Return the adjacency without a random share ``rate`` of its edges; every node is kept."""
    return adjacency.only(kept_edges(adjacency, node_ptr, graph_ids, rate, seed))


def kept_edges(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int
) -> np.ndarray:
    """Return which entries ``edge_drop`` keeps, [E] bool."""
    return _entry_uniform(adjacency, node_ptr, graph_ids, seed) >= rate


def _entry_uniform(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, seed: int
) -> np.ndarray:
    """Return the ``edge_uniform`` of every entry, [E]."""
    row = np.repeat(_local(node_ptr), adjacency.degrees())
    graph = np.repeat(graph_ids, np.diff(adjacency.row_ptr[node_ptr]))
    return edge_uniform(graph, row, adjacency.col, seed)


def edge_uniform(graph: np.ndarray, u: np.ndarray, v: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each edge u-v of a graph, [E] float64, the same for v-u."""
    low, high = np.minimum(u, v).astype(np.uint64), np.maximum(u, v).astype(np.uint64)
    start = splitmix64(np.array([seed % 2**64], dtype=np.uint64))
    of_graph = splitmix64(start ^ graph.astype(np.uint64))
    bits = splitmix64(of_graph ^ splitmix64((low << np.uint64(32)) | high))
    return (bits >> np.uint64(11)) * 2.0**-53


def kept_nodes(node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int) -> np.ndarray:
    """Return which nodes are kept when a random share ``rate`` is dropped, [n] bool."""
    numbers = node_uniform(node_ptr, graph_ids, seed)
    # The node with the largest number is always kept, so that no graph becomes empty.
    largest = np.repeat(np.maximum.reduceat(numbers, node_ptr[:-1]), np.diff(node_ptr))
    return (numbers >= rate) | (numbers == largest)


def edge_perturb(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int
) -> Adjacency:
    """Return the adjacency with a random share ``rate`` of its edges moved.

    A moved edge joins two random nodes of its graph and keeps its weight. If these are the same
    node, or already joined, the edge is only removed. Entries on the diagonal are kept.
    """
    rows, columns = adjacency.rows(), adjacency.global_columns(node_ptr)
    entries = np.flatnonzero(rows <= columns)
    u, v = rows[entries], columns[entries]
    graph = np.repeat(np.arange(len(node_ptr) - 1), np.diff(adjacency.row_ptr[node_ptr]))[entries]
    first = node_ptr[graph]
    ids = graph_ids[graph]
    moved = (edge_uniform(ids, u - first, v - first, seed) < rate) & (u < v)
    sizes = np.diff(node_ptr)[graph]
    new_u, new_v = (
        (hashed_uniform(seed, ids, u - first, v - first, np.array([end])) * sizes).astype(np.int64)
        for end in (1, 2)
    )
    u, v = np.where(moved, first + new_u, u), np.where(moved, first + new_v, v)
    # Of several edges between the same nodes one is kept, preferably one that was not moved.
    order = np.flatnonzero(~moved | (new_u != new_v))
    order = order[np.argsort(moved[order], kind="stable")]
    low, high = np.minimum(u, v)[order], np.maximum(u, v)[order]
    _, one_each = np.unique(low * int(node_ptr[-1]) + high, return_index=True)
    weight = None if adjacency.weight is None else adjacency.weight[entries[order[one_each]]]
    return _both_ways(low[one_each], high[one_each], weight, node_ptr)


def _both_ways(
    low: np.ndarray, high: np.ndarray, weight: np.ndarray | None, node_ptr: np.ndarray
) -> Adjacency:
    """Return the adjacency of different edges low-high, nodes counted over the whole batch."""
    num_nodes, apart = int(node_ptr[-1]), low < high
    rows = np.concatenate([low, high[apart]])
    columns = np.concatenate([high, low[apart]])
    order = np.argsort(rows * num_nodes + columns)
    rows, columns = rows[order], columns[order]
    starts = np.repeat(node_ptr[:-1], np.diff(node_ptr))
    if weight is not None:
        weight = np.concatenate([weight, weight[apart]])[order]
    row_ptr = pointers(np.bincount(rows, minlength=num_nodes))
    return Adjacency(row_ptr, (columns - starts[rows]).astype(np.int32), weight)


def grown_nodes(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int
) -> np.ndarray:
    """Return which nodes are in a connected random part of their graph, [n] bool.

    The part begins at a random node and grows along random edges at its border until it holds all
    but a share ``rate`` of the graph's nodes, or all reachable ones. Rate 0 keeps all nodes.
    If edges have independent exponential lengths, nodes join a growing ball in exactly this order
    (the distribution is memoryless), so one shortest-path search finds the parts of all graphs.
    """
    if rate == 0:
        return np.ones(int(node_ptr[-1]), dtype=bool)
    sizes, distances = np.diff(node_ptr), _distances(adjacency, node_ptr, graph_ids, seed)
    wanted = sizes - np.floor(rate * sizes).astype(np.int64)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((distances, graph))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = _local(node_ptr)
    return (rank < np.repeat(wanted, sizes)) & np.isfinite(distances)


def _distances(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, seed: int
) -> np.ndarray:
    """Return the distance of each node from the first of its part, [n]; infinite if unreachable."""
    # At least the smallest positive length: a stored zero would not be an edge.
    numbers = _entry_uniform(adjacency, node_ptr, graph_ids, seed)
    lengths = np.maximum(-np.log1p(-numbers), np.finfo(np.float64).tiny)
    entries = (lengths, adjacency.global_columns(node_ptr), adjacency.row_ptr)
    matrix = sparse.csr_array(entries, shape=(int(node_ptr[-1]),) * 2)
    # The part of a graph begins at the node with the largest number.
    owner = np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr))
    order = np.lexsort((node_uniform(node_ptr, graph_ids, seed), owner))
    starts = order[node_ptr[1:] - 1]
    return sparse.csgraph.dijkstra(matrix, directed=True, indices=starts, min_only=True)


AUGMENTATIONS = ("node-drop", "edge-perturb", "attribute-mask", "subgraph")
"""GraphCL's four random views."""


def parse_augmentations(text: str) -> tuple[str, ...]:
    """Return the views named in ``text``, joined by ``+``; raises ``ConfigError``."""
    names, valid = tuple(text.split("+")), (*AUGMENTATIONS, "edge-drop", "ppr", "heat")
    unknown = [name for name in names if name not in valid]
    if unknown or len(set(names)) < len(names):
        hint = " " + nearest(unknown[0], valid) if unknown else ""
        raise ParameterError(
            "augmentations",
            "GraphCL",
            f"must be different names out of {', '.join(valid)}, joined by '+'. "
            f"Got {text!r} instead.{hint}",
        )
    return names


def draw_two(graph_ids: np.ndarray, num_kinds: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return two kinds out of ``num_kinds`` for each graph, [B] and [B], different if possible."""
    first, shift = (hashed_uniform(seed, graph_ids, np.array([place])) for place in (1, 2))
    one = (first * num_kinds).astype(np.int64)
    return one, (one + 1 + (shift * max(num_kinds - 1, 1)).astype(np.int64)) % num_kinds


def change(
    adjacency: Adjacency,
    node_ptr: np.ndarray,
    graph_ids: np.ndarray,
    kinds: np.ndarray,
    rate: float,
    seed: int,
) -> tuple[Adjacency, np.ndarray, np.ndarray]:
    """Return (edges, nodes that are kept [n] bool, nodes that are masked [n] bool) of a batch.

    ``kinds`` [B]: the name of each graph's view; graphs with another kind are left as they are.
    """
    keep = np.ones(int(node_ptr[-1]), dtype=bool)
    masked = np.zeros_like(keep)
    for kind in (*AUGMENTATIONS, "edge-drop"):
        chosen = np.flatnonzero(kinds == kind)
        if not len(chosen):
            continue
        nodes = ranges(node_ptr[chosen], node_ptr[chosen + 1])
        ptr, ids = pointers(np.diff(node_ptr)[chosen]), graph_ids[chosen]
        if kind == "node-drop":
            keep[nodes] = kept_nodes(ptr, ids, rate, seed)
        elif kind == "attribute-mask":
            masked[nodes] = node_uniform(ptr, ids, seed) < rate
        elif kind == "subgraph":
            keep[nodes] = grown_nodes(adjacency.take(node_ptr, chosen), ptr, ids, rate, seed)
        else:
            make = edge_perturb if kind == "edge-perturb" else edge_drop
            part = make(adjacency.take(node_ptr, chosen), ptr, ids, rate, seed)
            adjacency = adjacency.replaced(node_ptr, chosen, part)
    return adjacency, keep, masked


def restart_walks(
    adjacency: Adjacency,
    node_ptr: np.ndarray,
    starts: np.ndarray,
    walk_ids: np.ndarray,
    *,
    num_steps: int,
    restart: float,
    seed: int,
) -> np.ndarray:
    """Return the nodes that random walks visit, [W, num_steps + 1] int64, the start first.

    ``starts`` [W]: nodes counted over the whole batch. ``walk_ids`` [W]: walks with equal ids and
    starts are equal. In each step a walk returns to its start with probability ``restart``, else
    moves to a random neighbour; it stays at a node without neighbours.
    """
    columns, degrees = adjacency.global_columns(node_ptr), adjacency.degrees()
    steps = np.arange(num_steps)[:, None]
    returns = hashed_uniform(seed, walk_ids[None, :], steps, np.array([0])) < restart
    choices = hashed_uniform(seed, walk_ids[None, :], steps, np.array([1]))
    walks = np.empty((num_steps + 1, len(starts)), dtype=np.int64)
    walks[0] = here = np.asarray(starts, dtype=np.int64)
    if not len(columns):
        return np.repeat(walks[:1], num_steps + 1, axis=0).T
    for step in range(num_steps):
        degree = degrees[here]
        entry = adjacency.row_ptr[here] + (choices[step] * degree).astype(np.int64)
        # A node without neighbours has no entry of its own; whatever is read here is not used.
        neighbour = columns[np.minimum(entry, len(columns) - 1)]
        moved = np.where(degree > 0, neighbour, here)
        walks[step + 1] = here = np.where(returns[step], starts, moved)
    return walks.T


def walked_subgraphs(
    adjacency: Adjacency, node_ptr: np.ndarray, graph: np.ndarray, walks: np.ndarray
) -> Induced:
    """Return the subgraph that the nodes of each walk [W, t] induce, in the order of the batch.

    ``graph`` [W]: the graph of the batch that each walk is in.
    """
    ordered = np.sort(walks, axis=1)
    first = np.ones(ordered.shape, dtype=bool)
    first[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    walk, nodes = np.nonzero(first)[0], ordered[first]
    ptr = pointers(first.sum(axis=1))
    # The index of each node of a graph in the subgraph of a walk, -1 if it was not visited.
    places = np.full((len(walks), int(np.diff(node_ptr).max())), -1, dtype=np.int32)
    places[walk, nodes - node_ptr[graph][walk]] = np.arange(len(nodes)) - ptr[walk]
    degrees, starts = adjacency.degrees()[nodes], adjacency.row_ptr[nodes]
    columns = adjacency.col[ranges(starts, starts + degrees)]
    seen = places[np.repeat(walk, degrees), columns]
    stays = seen >= 0
    row_ptr = pointers(stays)[pointers(degrees)]
    return Induced(nodes, ptr, Adjacency(row_ptr, seen[stays]))
