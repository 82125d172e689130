"""Kernels that compare graphs by their walks and by their shortest paths."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import shortest_path

from igsd.baselines.kernels.base import PatternKernel, PatternKernelConfig
from igsd.baselines.kernels.patterns import Patterns
from igsd.estimators.base import settings_as_parameters
from igsd.graphs.adjacency import ranges
from igsd.graphs.colours import Keys, node_keys, splitmix64
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve
from igsd.settings.fields import setting

Walks = tuple[np.ndarray, Keys, np.ndarray]
"""The last node of each walk, the hash of the labels on its way, the number of such walks."""

_THREE, _FIVE = np.uint64(3), np.uint64(5)


class RandomWalkConfig(PatternKernelConfig):
    """The settings of the random-walk kernel."""

    decay: float = setting(0.1, "method", "a walk of k steps counts for decay^k", above=0)
    steps: int = setting(5, "method", "length of the longest walk", low=0, high=1000)


@settings_as_parameters(RandomWalkConfig)
class RandomWalkKernel(PatternKernel):
    """Compares graphs by the walks they have in common, node label by node label.

    k(G, H) = sum over k up to ``steps`` of decay^k times the number of walks of k steps in the
    direct product of G and H, whose nodes are pairs with equal labels (Gärtner et al., 2003). Such
    a walk is a walk in G and one in H with the same sequence of labels, so the sum is a product of
    counts of sequences, and no product of graphs is ever built. Without labels all nodes count as
    equal: with degrees nearly every walk would be a sequence of its own. The series is cut after
    ``steps``, so that it converges for dense graphs too; the number of sequences grows with every
    step. Deterministic, whatever ``random_state`` is.
    """

    fallback = "none"

    def _represent(self, graphs: GraphSet) -> Patterns:
        s, keys = self.config_, node_keys(graphs, self.state_["source"])
        nodes, sequences, counts = zip(*walk_sequences(graphs, keys, s.steps), strict=True)
        weights = [count * s.decay ** (step / 2) for step, count in enumerate(counts)]
        graph, every = graphs.graph_of_node()[np.concatenate(nodes)], np.concatenate(sequences)
        return Patterns.count(graph, every, len(graphs), np.concatenate(weights))


def walk_sequences(graphs: GraphSet, keys: Keys, steps: int) -> list[Walks]:
    """Return the walks of 0 to ``steps`` steps; equal nodes and labels ``keys`` are one row."""
    columns, row_ptr = graphs.adjacency.global_columns(graphs.node_ptr), graphs.adjacency.row_ptr
    n = graphs.num_nodes
    walks = [(np.arange(n), splitmix64(keys), np.ones(n))]
    for step in range(steps):
        check_time("the random-walk kernel")
        node, sequence, count = walks[-1]
        first, last = row_ptr[node], row_ptr[node + 1]
        total = int((last - first).sum())
        reserve(80.0 * total, f"{total} walks of {step + 1} steps")
        before = np.repeat(np.arange(len(first)), last - first)
        node = columns[ranges(first, last)]
        sequence = splitmix64(sequence[before] * _THREE + keys[node])
        walks.append(_merged(node, sequence, count[before]))
    return walks


def _merged(node: np.ndarray, sequence: Keys, count: np.ndarray) -> Walks:
    """Return the entries with equal node and sequence merged, their counts added."""
    if not len(node):
        return node, sequence, count
    order = np.lexsort((sequence, node))
    node, sequence, count = node[order], sequence[order], count[order]
    is_new = np.ones(len(node), dtype=bool)
    is_new[1:] = (node[1:] != node[:-1]) | (sequence[1:] != sequence[:-1])
    start = np.flatnonzero(is_new)
    return node[start], sequence[start], np.add.reduceat(count, start)


@settings_as_parameters(PatternKernelConfig)
class ShortestPathKernel(PatternKernel):
    """Compares graphs by how often two labels occur at each distance from each other.

    k(G, H) = sum over labels a, b and lengths d of count(a, b, d in G) * count(a, b, d in H), over
    all ordered pairs of different nodes that a path joins (Borgwardt and Kriegel, 2005). Graphs
    without labels use degrees. Deterministic, whatever ``random_state`` is.
    """

    def _represent(self, graphs: GraphSet) -> Patterns:
        keys = splitmix64(node_keys(graphs, self.state_["source"]))
        pairs = int(graphs.node_counts().max()) ** 2
        reserve(60.0 * pairs, f"the distances of {pairs} pairs of nodes")
        every = (_graph_keys(graphs, g, keys) for g in range(len(graphs)))
        found, counts = zip(*(np.unique(part, return_counts=True) for part in every), strict=True)
        graph = np.repeat(np.arange(len(graphs)), [len(part) for part in found])
        return Patterns.count(graph, np.concatenate(found), len(graphs), np.concatenate(counts))


def _graph_keys(graphs: GraphSet, g: int, keys: Keys) -> Keys:
    """Return the pattern of every ordered pair of nodes of one graph that a path joins."""
    check_time("the shortest-path kernel")
    start, stop = graphs.node_ptr[g], graphs.node_ptr[g + 1]
    row_ptr = graphs.adjacency.row_ptr[start : stop + 1]
    col, n = graphs.adjacency.col[row_ptr[0] : row_ptr[-1]], int(stop - start)
    matrix = sparse.csr_array((np.ones(len(col)), col, row_ptr - row_ptr[0]), shape=(n, n))
    distance = shortest_path(matrix, unweighted=True)
    u, v = np.nonzero((distance > 0) & np.isfinite(distance))
    length, own = splitmix64(distance[u, v].astype(np.uint64)), keys[start:stop]
    # Two odd factors: a pair and its mirror image are different patterns, as in the definition.
    return splitmix64(own[u] * _THREE + own[v] * _FIVE + length)
