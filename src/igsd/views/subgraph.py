"""Random connected subgraphs: a part of each graph that grew from one node."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph

from igsd.graphs.adjacency import Adjacency
from igsd.views.edge_drop import edge_uniform
from igsd.views.hashed import node_uniform
from igsd.views.rate import check_rate


def grown_nodes(
    adjacency: Adjacency,
    node_ptr: np.ndarray,
    graph_ids: np.ndarray,
    rate: float,
    seed: int,
) -> np.ndarray:
    """Return which nodes are in a connected random part of their graph, [n] bool.

    The part begins at a random node and grows along random edges at its border until it holds all
    but a share ``rate`` of the graph's nodes, or all that can be reached. With edges of independent
    exponential lengths, nodes join a growing ball in just this order (the exponential distribution
    has no memory), so one shortest-path search finds the parts of all graphs of the batch.

    With rate 0 all nodes stay, reached or not. ``induced`` makes the view. Raises ``ConfigError``
    unless the rate is in [0, 1).
    """
    check_rate(rate, "grown_nodes")
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
    """Return how far each node is from the first node of its part, [n]; infinite if unreached."""
    columns, rows = adjacency.global_columns(node_ptr), adjacency.rows()
    entries = np.diff(adjacency.row_ptr[node_ptr])
    graph = np.repeat(np.asarray(graph_ids, dtype=np.int64), entries)
    first = np.repeat(node_ptr[:-1], entries)
    # The smallest positive length: a stored zero would be no edge at all.
    numbers = edge_uniform(graph, rows - first, columns - first, seed)
    lengths = np.maximum(-np.log1p(-numbers), np.finfo(np.float64).tiny)
    num_nodes = int(node_ptr[-1])
    matrix = sparse.csr_array((lengths, columns, adjacency.row_ptr), shape=(num_nodes, num_nodes))
    starts = _starts(node_ptr, node_uniform(node_ptr, graph_ids, seed))
    return csgraph.dijkstra(matrix, directed=True, indices=starts, min_only=True)


def _starts(node_ptr: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the node with the largest number of each graph, [B]."""
    graph = np.repeat(np.arange(len(node_ptr) - 1), np.diff(node_ptr))
    return np.lexsort((numbers, graph))[node_ptr[1:] - 1]
