"""Random views: dropped edges or nodes, moved edges, masked features, subgraphs.

What happens to an edge or a node is a hash of (seed, graph, edge or node), not a draw from a
stream. Both entries of an edge are therefore treated alike, and a graph is changed in the same way
in any batch, so a resumed run sees the same views. Rates are in [0, 1), as the settings check.
"""

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from igsd.errors import ParameterError, nearest
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.colours import splitmix64


def hashed_uniform(seed: int, *keys: np.ndarray) -> np.ndarray:
    """Return a number in [0, 1) for each tuple of keys, float64, of the keys' common shape.

    ``keys``: whole numbers, at least 0, that broadcast against each other; their order matters.
    """
    bits = splitmix64(np.array([seed % 2**64], dtype=np.uint64))
    for key in keys:
        bits = splitmix64(bits ^ splitmix64(np.asarray(key).astype(np.uint64)))
    return (bits >> np.uint64(11)) * 2.0**-53


def node_uniform(node_ptr: np.ndarray, graph_ids: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each node of a batch, [n] float64.

    ``node_ptr`` [B + 1]: where the nodes of each graph begin. ``graph_ids`` [B]: the index of each
    graph in the whole set; the same graph twice in a batch gets the same numbers twice.
    """
    sizes = np.diff(node_ptr)
    local = np.arange(int(node_ptr[-1])) - np.repeat(node_ptr[:-1], sizes)
    return hashed_uniform(seed, np.repeat(np.asarray(graph_ids, dtype=np.int64), sizes), local)


@dataclass(frozen=True)
class Induced:
    """Induced subgraphs as a batch of their own.

    ``nodes`` [m] int64: the index of each kept node in the original batch. ``node_ptr`` [B + 1]:
    where the kept nodes of each graph begin. ``adjacency``: the edges among them, columns counted
    inside the subgraph.
    """

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
    """Return the adjacency without a random share ``rate`` of its edges.

    ``node_ptr``, ``graph_ids``: as in ``node_uniform``. Every node is kept, even without edges.
    """
    return adjacency.only(kept_edges(adjacency, node_ptr, graph_ids, rate, seed))


def kept_edges(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int
) -> np.ndarray:
    """Return which entries ``edge_drop`` keeps, [E] bool."""
    row_ptr = np.asarray(adjacency.row_ptr)
    local = np.arange(int(node_ptr[-1])) - np.repeat(node_ptr[:-1], np.diff(node_ptr))
    row = np.repeat(local, np.diff(row_ptr))
    graph = np.repeat(np.asarray(graph_ids, dtype=np.int64), np.diff(row_ptr[node_ptr]))
    return edge_uniform(graph, row, adjacency.col, seed) >= rate


def edge_uniform(graph: np.ndarray, u: np.ndarray, v: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each edge u-v of a graph, [E] float64, the same for v-u.

    ``graph`` [E]: the graph's index in its set; ``u``, ``v`` [E]: nodes counted inside the graph.
    """
    low = np.minimum(u, v).astype(np.uint64)
    high = np.maximum(u, v).astype(np.uint64)
    start = splitmix64(np.array([seed % 2**64], dtype=np.uint64))
    of_graph = splitmix64(start ^ graph.astype(np.uint64))
    bits = splitmix64(of_graph ^ splitmix64((low << np.uint64(32)) | high))
    return (bits >> np.uint64(11)) * 2.0**-53


def kept_nodes(node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int) -> np.ndarray:
    """Return which nodes are kept when a random share ``rate`` is dropped, [n] bool.

    At least one node of every graph is kept. ``induced`` makes the view.
    """
    numbers = node_uniform(node_ptr, graph_ids, seed)
    # The node with the largest number is always kept, so that no graph becomes empty.
    largest = np.repeat(np.maximum.reduceat(numbers, node_ptr[:-1]), np.diff(node_ptr))
    return (numbers >= rate) | (numbers == largest)


def masked_nodes(node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int) -> np.ndarray:
    """Return which nodes get zeros as features, a random share ``rate``, [n] bool."""
    return node_uniform(node_ptr, graph_ids, seed) < rate


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
    ids = np.asarray(graph_ids, dtype=np.int64)[graph]
    moved = (edge_uniform(ids, u - first, v - first, seed) < rate) & (u < v)
    sizes = np.diff(node_ptr)[graph]
    new_u, new_v = (
        (hashed_uniform(seed, ids, u - first, v - first, np.array([end])) * sizes).astype(np.int64)
        for end in (1, 2)
    )
    u = np.where(moved, first + new_u, u)
    v = np.where(moved, first + new_v, v)
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
    but a share ``rate`` of the graph's nodes, or all reachable ones. If edges have independent
    exponential lengths, nodes join a growing ball in exactly this order (the exponential
    distribution is memoryless), so one shortest-path search finds the parts of all graphs.

    With rate 0 all nodes are kept, reachable or not. ``induced`` makes the view.
    """
    if rate == 0:
        return np.ones(int(node_ptr[-1]), dtype=bool)
    sizes = np.diff(node_ptr)
    distances = _distances(adjacency, node_ptr, graph_ids, seed)
    wanted = sizes - np.floor(rate * sizes).astype(np.int64)
    graph = np.repeat(np.arange(len(sizes)), sizes)
    order = np.lexsort((distances, graph))
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order)) - np.repeat(node_ptr[:-1], sizes)
    return (rank < np.repeat(wanted, sizes)) & np.isfinite(distances)


def _distances(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, seed: int
) -> np.ndarray:
    """Return the distance of each node from the first of its part, [n]; infinite if unreachable."""
    columns, rows = adjacency.global_columns(node_ptr), adjacency.rows()
    entries = np.diff(adjacency.row_ptr[node_ptr])
    graph = np.repeat(np.asarray(graph_ids, dtype=np.int64), entries)
    first = np.repeat(node_ptr[:-1], entries)
    # At least the smallest positive length: a stored zero would not be an edge.
    numbers = edge_uniform(graph, rows - first, columns - first, seed)
    lengths = np.maximum(-np.log1p(-numbers), np.finfo(np.float64).tiny)
    num_nodes = int(node_ptr[-1])
    matrix = sparse.csr_array((lengths, columns, adjacency.row_ptr), shape=(num_nodes, num_nodes))
    # The part of a graph begins at the node with the largest number.
    owner = np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr))
    order = np.lexsort((node_uniform(node_ptr, graph_ids, seed), owner))
    starts = order[node_ptr[1:] - 1]
    return csgraph.dijkstra(matrix, directed=True, indices=starts, min_only=True)


AUGMENTATIONS = ("node-drop", "edge-perturb", "attribute-mask", "subgraph")
"""GraphCL's four random views."""


@dataclass(frozen=True)
class Change:
    """What random views make of a batch: its edges, the nodes that are kept and those masked.

    ``keep`` [n] bool and ``masked`` [n] bool refer to the nodes of the batch.
    """

    adjacency: Adjacency
    keep: np.ndarray
    masked: np.ndarray


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
    others = max(num_kinds - 1, 1)
    return one, (one + 1 + (shift * others).astype(np.int64)) % num_kinds


def change(
    adjacency: Adjacency,
    node_ptr: np.ndarray,
    graph_ids: np.ndarray,
    kinds: np.ndarray,
    rate: float,
    seed: int,
) -> Change:
    """Return what the random view of each graph of a batch changes.

    ``kinds`` [B]: the name of each graph's view; graphs with another kind are left as they are.
    ``rate``: the share of nodes that are dropped, masked or left outside the subgraph, or of edges
    that are dropped or moved.
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
            masked[nodes] = masked_nodes(ptr, ids, rate, seed)
        elif kind == "subgraph":
            keep[nodes] = grown_nodes(adjacency.take(node_ptr, chosen), ptr, ids, rate, seed)
        else:
            make = edge_perturb if kind == "edge-perturb" else edge_drop
            part = make(adjacency.take(node_ptr, chosen), ptr, ids, rate, seed)
            adjacency = adjacency.replaced(node_ptr, chosen, part)
    return Change(adjacency, keep, masked)
