"""``Induced``: some nodes of each graph with the edges among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from igsd.graphs.adjacency import Adjacency, pointers


@dataclass(frozen=True)
class Induced:
    """Induced subgraphs as a batch of their own.

    ``nodes`` [m] int64: the place of each kept node in the batch that it comes from. ``node_ptr``
    [B + 1]: where the kept nodes of each graph begin. ``adjacency``: the edges among them, columns
    counted inside the subgraph.
    """

    nodes: np.ndarray
    node_ptr: np.ndarray
    adjacency: Adjacency


def induced(adjacency: Adjacency, node_ptr: np.ndarray, keep: np.ndarray) -> Induced:
    """Return the subgraphs that the nodes with ``keep`` [n] bool induce; the input stays as it is.

    Every graph must keep at least one node.
    """
    kept_before = pointers(keep)
    ptr = kept_before[node_ptr]
    places = kept_before[:-1] - np.repeat(ptr[:-1], np.diff(node_ptr))
    columns = adjacency.global_columns(node_ptr)
    stays = np.repeat(keep, adjacency.degrees()) & keep[columns]
    lengths = np.diff(pointers(stays)[adjacency.row_ptr])[keep]
    weight = None if adjacency.weight is None else adjacency.weight[stays]
    edges = Adjacency(pointers(lengths), places[columns[stays]].astype(np.int32), weight)
    return Induced(np.flatnonzero(keep), ptr, edges)
