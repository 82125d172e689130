"""Edge perturbation: some edges are taken away, and as many put between random nodes."""

from __future__ import annotations

import numpy as np

from igsd.graphs.adjacency import Adjacency, pointers
from igsd.views.edge_drop import edge_uniform
from igsd.views.hashed import hashed_uniform
from igsd.views.rate import check_rate


def edge_perturb(
    adjacency: Adjacency,
    node_ptr: np.ndarray,
    graph_ids: np.ndarray,
    rate: float,
    seed: int,
) -> Adjacency:
    """Return the adjacency with a random share ``rate`` of edges moved; the input stays as it is.

    A moved edge joins two random nodes of its graph and keeps its weight. Where these are one node,
    or are joined already, it is only taken away. ``graph_ids`` [B]: which graph of the whole set
    each one is. Entries on the diagonal stay.

    Raises ``ConfigError`` unless the rate is in [0, 1).
    """
    check_rate(rate, "edge_perturb")
    rows, columns = adjacency.rows(), adjacency.global_columns(node_ptr)
    entries = np.flatnonzero(rows <= columns)
    u, v = rows[entries], columns[entries]
    graph = np.repeat(np.arange(len(node_ptr) - 1), np.diff(adjacency.row_ptr[node_ptr]))[entries]
    first = node_ptr[graph]
    ids = np.asarray(graph_ids, dtype=np.int64)[graph]
    moved = (edge_uniform(ids, u - first, v - first, seed) < rate) & (u < v)
    new_u, new_v = _random_ends(ids, u - first, v - first, np.diff(node_ptr)[graph], seed)
    u = np.where(moved, first + new_u, u)
    v = np.where(moved, first + new_v, v)
    # Of two edges between the same nodes one stays, and it is one that was not moved.
    order = np.flatnonzero(~moved | (new_u != new_v))
    order = order[np.argsort(moved[order], kind="stable")]
    low, high = np.minimum(u, v)[order], np.maximum(u, v)[order]
    _, one_each = np.unique(low * int(node_ptr[-1]) + high, return_index=True)
    weight = None if adjacency.weight is None else adjacency.weight[entries[order[one_each]]]
    return _both_ways(low[one_each], high[one_each], weight, node_ptr)


def _random_ends(
    graph: np.ndarray, u: np.ndarray, v: np.ndarray, sizes: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return two random nodes for each edge u-v, counted inside graphs of ``sizes`` nodes."""
    ends = [hashed_uniform(seed, graph, u, v, np.array([end])) for end in (1, 2)]
    return (ends[0] * sizes).astype(np.int64), (ends[1] * sizes).astype(np.int64)


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
