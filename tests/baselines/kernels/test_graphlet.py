from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest

from igsd.baselines.kernels.graphlet import GRAPHLETS, GraphletKernel, graphlet_counts
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from tests.reference.grakel_graphs import adjacency_matrices
from tests.small_graphs import make_graphs

SHAPES = [
    nx.empty_graph(3),
    nx.Graph([(0, 1)]),
    nx.path_graph(3),
    nx.complete_graph(3),
    nx.empty_graph(4),
    nx.Graph([(0, 1)]),
    nx.Graph([(0, 1), (2, 3)]),
    nx.path_graph(3),
    nx.complete_graph(3),
    nx.star_graph(3),
    nx.path_graph(4),
    nx.Graph([(0, 1), (1, 2), (0, 2), (0, 3)]),
    nx.cycle_graph(4),
    nx.Graph([(0, 1), (1, 2), (0, 2), (0, 3), (1, 3)]),
    nx.complete_graph(4),
]
for number, shape in enumerate(SHAPES):
    shape.add_nodes_from(range(3 if number < 4 else 4))


def by_enumeration(A: np.ndarray) -> list[int]:
    """Return the counts of ``GRAPHLETS`` by looking at every subset of nodes."""
    graph, counts = nx.from_numpy_array(A), [0] * len(SHAPES)
    for size, shapes in ((3, range(4)), (4, range(4, 15))):
        for nodes in itertools.combinations(graph, size):
            part = graph.subgraph(nodes)
            counts[next(i for i in shapes if nx.is_isomorphic(part, SHAPES[i]))] += 1
    return counts


def dense_graphs() -> GraphSet:
    """Return a clique, a nearly complete graph and a random one."""
    cliques = [(u, v) for u in range(6) for v in range(u)]
    nearly = [(u + 6, v + 6) for u, v in cliques if (u, v) not in ((1, 0), (3, 2))]
    rng = np.random.default_rng(0)
    random = [(u + 12, v + 12) for u in range(8) for v in range(u) if rng.random() < 0.6]
    source, target = np.array(cliques + nearly + random).T
    return from_edges([6, 6, 8], source, target)


@pytest.mark.parametrize("graphs", [make_graphs(8, seed=3), dense_graphs()], ids=["thin", "dense"])
def test_equals_enumeration(graphs: GraphSet) -> None:
    for g, A in enumerate(adjacency_matrices(graphs)):
        assert graphlet_counts(graphs, g).tolist() == by_enumeration(A)


def test_columns() -> None:
    kernel = GraphletKernel(normalise=False).fit(dense_graphs())
    names = list(kernel.get_feature_names_out())
    assert names == list(GRAPHLETS)
    row = kernel.transform(dense_graphs())[0]
    assert row[names.index("3 nodes: triangle")] == 20
    assert row[names.index("4 nodes: clique")] == 15
    assert row.sum() == 35
