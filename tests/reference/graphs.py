"""Plain-loop versions of what ``igsd.graphs`` does with whole arrays."""

from __future__ import annotations

from typing import Any

from igsd.graphs.graphset import GraphSet


def undirected_edges(pairs: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Return (u, v) -> index of the given pair it comes from, by the rules of ``from_edges``."""
    result: dict[tuple[int, int], int] = {}
    for index, (u, v) in enumerate(pairs):
        if u != v and (u, v) not in result:
            result[u, v] = index
    for (u, v), index in list(result.items()):
        if (v, u) not in result:
            result[v, u] = index
    return result


def describe(graphs: GraphSet, g: int) -> dict[str, Any]:
    """Return everything about one graph as plain lists, read node by node."""
    first, last = int(graphs.node_ptr[g]), int(graphs.node_ptr[g + 1])
    edges = []
    for v in range(first, last):
        for e in range(int(graphs.adjacency.row_ptr[v]), int(graphs.adjacency.row_ptr[v + 1])):
            label = None if graphs.edge_labels is None else int(graphs.edge_labels[e])
            numbers = None if graphs.edge_attributes is None else graphs.edge_attributes[e].tolist()
            edges.append((v - first, int(graphs.adjacency.col[e]), label, numbers))
    nodes = []
    for v in range(first, last):
        label = None if graphs.node_labels is None else int(graphs.node_labels[v])
        numbers = None if graphs.node_attributes is None else graphs.node_attributes[v].tolist()
        nodes.append((label, numbers))
    return {
        "nodes": nodes,
        "edges": edges,
        "class": None if graphs.classes is None else int(graphs.classes[g]),
        "targets": None if graphs.targets is None else repr(graphs.targets[g].tolist()),
        "name": None if graphs.graph_names is None else graphs.graph_names[g],
    }


def count_components(graphs: GraphSet, g: int) -> int:
    """Return the number of connected components of one graph, by walking along its edges."""
    info = describe(graphs, g)
    unseen, found = set(range(len(info["nodes"]))), 0
    while unseen:
        found += 1
        waiting = [unseen.pop()]
        while waiting:
            node = waiting.pop()
            near = {v for u, v, *_ in info["edges"] if u == node} & unseen
            unseen -= near
            waiting.extend(near)
    return found
