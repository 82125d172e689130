"""Random edge removal, the paper's 'Random' view: each edge goes with the same probability.

Whether an edge goes is a hash of (seed, graph, edge). Both entries of an edge meet the same fate
without looking for each other, and a graph loses the same edges whatever batch it stands in and in
whatever order batches are made: nothing is drawn from a stream.
"""

from __future__ import annotations

import numpy as np

from igsd.graphs.adjacency import Adjacency
from igsd.hashing import splitmix64
from igsd.views.rate import check_rate


def edge_drop(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int
) -> Adjacency:
    """Return the adjacency without a random share ``rate`` of its edges; the input stays as it is.

    ``node_ptr`` [B + 1]: where the nodes of each graph of the batch begin. ``graph_ids`` [B]: which
    graph of the whole set each one is; the same graph twice in a batch loses the same edges.
    Every node stays, also one that lost all its edges. Another seed gives another draw.

    Raises ``ConfigError`` unless ``rate`` is in [0, 1).
    """
    return adjacency.only(kept_edges(adjacency, node_ptr, graph_ids, rate, seed))


def kept_edges(
    adjacency: Adjacency, node_ptr: np.ndarray, graph_ids: np.ndarray, rate: float, seed: int
) -> np.ndarray:
    """Return which entries ``edge_drop`` keeps, [E] bool, for what else runs along the entries."""
    check_rate(rate, "edge_drop")
    row_ptr = np.asarray(adjacency.row_ptr)
    local = np.arange(int(node_ptr[-1])) - np.repeat(node_ptr[:-1], np.diff(node_ptr))
    row = np.repeat(local, np.diff(row_ptr))
    graph = np.repeat(np.asarray(graph_ids, dtype=np.int64), np.diff(row_ptr[node_ptr]))
    return edge_uniform(graph, row, adjacency.col, seed) >= rate


def edge_uniform(graph: np.ndarray, u: np.ndarray, v: np.ndarray, seed: int) -> np.ndarray:
    """Return a number in [0, 1) for each edge u-v of a graph, [E] float64; v-u gets the same.

    ``graph`` [E]: the graph's number in its set; ``u``, ``v`` [E]: nodes counted inside the graph.
    """
    low = np.minimum(u, v).astype(np.uint64)
    high = np.maximum(u, v).astype(np.uint64)
    start = splitmix64(np.array([seed % 2**64], dtype=np.uint64))
    of_graph = splitmix64(start ^ graph.astype(np.uint64))
    bits = splitmix64(of_graph ^ splitmix64((low << np.uint64(32)) | high))
    return (bits >> np.uint64(11)) * 2.0**-53
