"""Graphs as GraKeL takes them."""

from __future__ import annotations

from typing import Any

from igsd.graphs.graphset import GraphSet


def to_grakel(graphs: GraphSet) -> list[Any]:
    """Return a list of GraKeL graphs, with node labels (degrees where there are none)."""
    from grakel import Graph

    degrees = graphs.adjacency.degrees()
    result = []
    for g in range(len(graphs)):
        start, stop = int(graphs.node_ptr[g]), int(graphs.node_ptr[g + 1])
        row_ptr, col = graphs.adjacency.row_ptr, graphs.adjacency.col
        edges = {
            v - start: {int(u): 1.0 for u in col[row_ptr[v] : row_ptr[v + 1]]}
            for v in range(start, stop)
        }
        labels = graphs.node_labels if graphs.node_labels is not None else degrees
        names = {v - start: int(labels[v]) for v in range(start, stop)}
        result.append(Graph(edges, node_labels=names))
    return result


def adjacency_matrices(graphs: GraphSet) -> list[Any]:
    """Return the adjacency matrix of every graph."""
    from igsd.baselines.kernels.graphlet import dense_adjacency

    return [dense_adjacency(graphs, g) for g in range(len(graphs))]
