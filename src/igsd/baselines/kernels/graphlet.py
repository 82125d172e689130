"""``GraphletKernel``: exact counts of the induced subgraphs of three and four nodes."""

import numpy as np
from numpy.typing import NDArray

from igsd.baselines.kernels.base import KernelConfig, KernelEstimator
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve

GRAPHLETS = (
    *(f"3 nodes: {name}" for name in ("no edge", "edge", "path", "triangle")),
    *("4 nodes: no edge", "4 nodes: edge", "4 nodes: two edges apart"),
    *("4 nodes: path of three and a node", "4 nodes: triangle and a node", "4 nodes: star"),
    *("4 nodes: path", "4 nodes: triangle with a tail", "4 nodes: cycle", "4 nodes: diamond"),
    "4 nodes: clique",
)
"""Every graph of three nodes (four of them), then every graph of four (eleven)."""

_BLOCK = 2_000_000


def graphlet_counts(graphs: GraphSet, g: int) -> NDArray[np.float64]:
    """Return how often each of ``GRAPHLETS`` is an induced subgraph of graph ``g``, [15]."""
    check_time("the graphlet kernel")
    A = dense_adjacency(graphs, g)
    n, edges = len(A), A.sum() / 2
    (path3, triangle), four = connected_counts(A)
    star, path, paw, cycle, diamond, clique = four
    # Each line: choose a smaller graph and a further node, subtract what has more edges.
    edge3 = edges * (n - 2) - 2 * path3 - 3 * triangle
    none3 = _choose(n, 3) - edge3 - path3 - triangle
    with_triangle = triangle * (n - 3) - paw - 2 * diamond - 4 * clique
    with_path = path3 * (n - 3) - 3 * star - 2 * path - 2 * paw - 4 * cycle - 2 * diamond
    apart = _choose(edges, 2) - _choose(A.sum(axis=1), 2).sum()
    apart -= path + paw + 2 * cycle + 2 * diamond + 3 * clique
    edge4 = edges * _choose(n - 2, 2) - 2 * (apart + with_path) - 3 * (with_triangle + star + path)
    edge4 -= 4 * (paw + cycle) + 5 * diamond + 6 * clique
    none4 = _choose(n, 4) - (edge4 + apart + with_path + with_triangle + sum(four))
    disconnected = [none4, edge4, apart, with_path, with_triangle]
    return np.array([none3, edge3, path3, triangle, *disconnected, *four], dtype=np.float64)


def connected_counts(A: NDArray[np.float64]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the counts of (path, triangle) and of (star, path, paw, cycle, diamond, clique).

    Products of the adjacency A [n, n] count subgraphs that need not be induced; each graphlet
    contains a known number of those with fewer edges, which is subtracted, densest first.
    """
    degree = A.sum(axis=1)
    u, v = np.nonzero(np.triu(A))
    common = A @ A
    at_node = (common * A).sum(axis=1) / 2
    triangle = at_node.sum() / 3
    clique = _cliques(A, u, v)
    diamond = _choose(common[u, v], 2).sum() - 6 * clique
    cycle = _choose(np.triu(common, 1), 2).sum() / 2 - diamond - 3 * clique
    paw = (at_node * (degree - 2)).sum() - 4 * diamond - 12 * clique
    steps = ((degree[u] - 1) * (degree[v] - 1)).sum() - 3 * triangle
    path = steps - 4 * cycle - 2 * paw - 6 * diamond - 12 * clique
    star = _choose(degree, 3).sum() - paw - 2 * diamond - 4 * clique
    path3 = _choose(degree, 2).sum() - 3 * triangle
    return (path3, triangle), (star, path, paw, cycle, diamond, clique)


def dense_adjacency(graphs: GraphSet, g: int) -> NDArray[np.float64]:
    """Return the adjacency matrix of one graph, [n, n] of 0 and 1."""
    start, stop = int(graphs.node_ptr[g]), int(graphs.node_ptr[g + 1])
    n = stop - start
    reserve(40.0 * n * n, f"the adjacency matrix of graph {g} with {n} nodes")
    row_ptr = graphs.adjacency.row_ptr
    rows = np.repeat(np.arange(n), np.diff(row_ptr[start : stop + 1]))
    A = np.zeros((n, n))
    A[rows, graphs.adjacency.col[row_ptr[start] : row_ptr[stop]]] = 1.0
    return A


def _cliques(A: NDArray[np.float64], u: np.ndarray, v: np.ndarray) -> float:
    """Return the number of cliques of four nodes: edges among the common neighbours of edges."""
    total, step = 0.0, max(1, _BLOCK // len(A))
    for first in range(0, len(u), step):
        both = A[u[first : first + step]] * A[v[first : first + step]]
        total += float(((both @ A) * both).sum())
    return total / 12


def _choose(count: np.ndarray | float, size: int) -> np.ndarray:
    result = np.ones_like(count, dtype=np.float64)
    for i in range(size):
        result = result * (np.asarray(count) - i) / (i + 1)
    return result


@settings_as_parameters(KernelConfig)
class GraphletKernel(KernelEstimator):
    """Compares graphs by how often each small graph is an induced subgraph of them.

    After Shervashidze et al. (2009), without their sampling: all fifteen graphs of three and four
    nodes, connected or not, are counted exactly, by products of adjacency matrices. Node labels are
    not read. GraKeL samples or enumerates graphlets too, but its counts depend on the order of the
    nodes (0.1.11). Deterministic, whatever ``random_state`` is.
    """

    n_features_out_ = len(GRAPHLETS)

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the graphlets."""
        super().get_feature_names_out()
        return np.array(GRAPHLETS, dtype=object)

    def _represent(self, graphs: GraphSet) -> np.ndarray:
        return np.stack([graphlet_counts(graphs, g) for g in range(len(graphs))])
