"""``ShortestPathKernel``: the shortest-path kernel (Borgwardt and Kriegel, 2005)."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from igsd.baselines.kernels.base import PatternKernel, PatternKernelConfig
from igsd.baselines.kernels.patterns import Keys, Patterns, key_source, node_keys
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.colours import splitmix64
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve


@settings_as_parameters(PatternKernelConfig)
class ShortestPathKernel(PatternKernel):
    """Compares graphs by how often two labels occur at each distance from each other.

    k(G, H) = sum over labels a, b and lengths d of count(a, b, d in G) * count(a, b, d in H), over
    all ordered pairs of different nodes that a path joins. Graphs without labels use degrees.
    Deterministic: ``random_state`` exists because every method has one.
    """

    def _fit(self, graphs: GraphSet) -> None:
        self.state_["source"], self.notes_ = key_source(graphs)
        self._learn_columns(graphs)

    def _represent(self, graphs: GraphSet) -> Patterns:
        keys = splitmix64(node_keys(graphs, self.state_["source"]))
        pairs = int(graphs.node_counts().max()) ** 2
        reserve(60.0 * pairs, f"the distances of {pairs} pairs of nodes")
        found, counts = [], []
        for g in range(len(graphs)):
            check_time("the shortest-path kernel")
            pattern, count = np.unique(_graph_keys(graphs, g, keys), return_counts=True)
            found.append(pattern)
            counts.append(count)
        graph = np.repeat(np.arange(len(graphs)), [len(part) for part in found])
        return Patterns.count(graph, np.concatenate(found), len(graphs), np.concatenate(counts))


def _graph_keys(graphs: GraphSet, g: int, keys: Keys) -> Keys:
    """Return the pattern of every ordered pair of nodes of one graph that a path joins."""
    start, stop = graphs.node_ptr[g], graphs.node_ptr[g + 1]
    row_ptr = graphs.adjacency.row_ptr[start : stop + 1] - graphs.adjacency.row_ptr[start]
    col = graphs.adjacency.col[graphs.adjacency.row_ptr[start] : graphs.adjacency.row_ptr[stop]]
    n = int(stop - start)
    matrix = sparse.csr_array((np.ones(len(col)), col, row_ptr), shape=(n, n))
    distance = shortest_path(matrix, unweighted=True)
    u, v = np.nonzero((distance > 0) & np.isfinite(distance))
    length = splitmix64(distance[u, v].astype(np.uint64))
    own = keys[start:stop]
    # Two odd factors: a pair and its mirror image are different patterns, as in the definition.
    return splitmix64(own[u] * np.uint64(3) + own[v] * np.uint64(5) + length)
