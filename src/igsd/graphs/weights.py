"""``weighted``: the weights of edges, from an edge attribute into the adjacency matrix.

The rules for weights:

- a weight must be finite and not negative; anything else is an error that names the edge;
- an edge of weight 0 counts as no edge;
- a missing weight is 1, which the reader counts in a note (NetworkX' convention);
- the weights of repeated edges add up, in ``igsd.graphs.build``;
- the matrix is symmetric: if the two directions of an edge have different weights, their mean
  counts.

Weights that are all 1 change nothing, to the last bit: such a set stays unweighted.
"""

from dataclasses import replace

import numpy as np

from igsd.errors import DataError, did_you_mean, shortened
from igsd.graphs.build import WEIGHT, check_edge_numbers, titled
from igsd.graphs.graphset import GraphSet

NONE = "none"
"""The value of a setting that leaves out what it names."""

_WITHOUT = (
    "leave the weights out with edge_weight=None (on the command line --set edge_weight=none)"
)


def weight_name(graphs: GraphSet, asked: str) -> str:
    """Return the edge attribute that holds the weights, empty if there is none.

    ``asked``: the name of the attribute, or ``none``. Raises ``DataError`` if there is no such
    attribute, unless it is the default ``weight``, which need not be there.
    """
    names = graphs.edge_attribute_names
    if asked == NONE or (asked == WEIGHT and asked not in names):
        return ""
    if asked not in names:
        there = ", ".join(names) or "none"
        raise DataError(
            f"edge_weight={asked!r} is not an edge attribute of {graphs.name!r}; there are: "
            f"{there}. {did_you_mean(asked, names)}".rstrip()
        )
    values = graphs.edge_category_names and graphs.edge_category_names[names.index(asked)]
    if values:
        are_true = all(isinstance(value, bool) for value in values)
        found = "true and false" if are_true else f"texts such as {shortened(repr(values[0]), 30)}"
        raise DataError(
            f"The edge attribute {asked!r} of {graphs.name!r} holds {found}, and weights are "
            f"numbers. Store {'1 and 0' if are_true else 'numbers'}, or {_WITHOUT}."
        )
    return asked


def weighted(graphs: GraphSet, name: str) -> GraphSet:
    """Return the graphs with the edge attribute ``name`` as the weights of their adjacency.

    Raises ``DataError`` for a weight that is negative or not finite. Graphs without the attribute
    count as unweighted.
    """
    if name not in graphs.edge_attribute_names or graphs.edge_attributes is None:
        return graphs
    w = np.asarray(graphs.edge_attributes[:, graphs.edge_attribute_names.index(name)], np.float64)
    check_edge_numbers(graphs, w, name, _WITHOUT)
    rows, columns = graphs.adjacency.rows(), graphs.adjacency.global_columns(graphs.node_ptr)
    if (bad := np.flatnonzero(w < 0)).size:
        entry, graph = int(bad[0]), int(graphs.graph_of_node()[rows[bad[0]]])
        ends = [int(side[entry] - graphs.node_ptr[graph]) for side in (rows, columns)]
        raise DataError(
            f"A weight must not be negative: the edge between nodes {ends[0]} and {ends[1]} of "
            f"{titled(graph, graphs.graph_names, graphs.name)} has {name} {w[entry]:g}. Use "
            f"absolute values, keep the sign in an edge label, or {_WITHOUT}."
        )
    w = 0.5 * (w + w[graphs.adjacency.mirror(graphs.node_ptr)])
    if (w == 0).any():
        graphs, w = graphs.only_edges(w > 0), w[w > 0]
    if (w == 1).all():
        return graphs
    return replace(graphs, adjacency=replace(graphs.adjacency, weight=w.astype(np.float32)))


def strengths(graphs: GraphSet) -> np.ndarray:
    """Return the sum of the weights of each node's edges, [N] float64; the degree without any."""
    adjacency = graphs.adjacency
    if adjacency.weight is None:
        return adjacency.degrees().astype(np.float64)
    return np.bincount(adjacency.rows(), adjacency.weight, minlength=graphs.num_nodes)
