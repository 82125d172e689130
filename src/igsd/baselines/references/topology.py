"""``LocalTopologicalProfile``: graphs as histograms of local structure, for a random forest."""

import numpy as np
from scipy import sparse

from igsd.baselines.kernels.base import ShallowEstimator
from igsd.estimators.base import settings_as_parameters
from igsd.evaluation.heads import HeadName
from igsd.graphs.adjacency import ranges
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import Settings, setting

_ENTRIES = 4_000_000
"""Numbers that a block of sources may hold in each array of the betweenness."""

FEATURES = (
    "degree",
    "smallest degree of a neighbour",
    "largest degree of a neighbour",
    "mean degree of the neighbours",
    "deviation of the degrees of the neighbours",
    "edge betweenness",
    "Jaccard index",
    "local degree score",
)
"""What is counted: five values of each node, three of each edge."""


class TopologyConfig(Settings):
    """The settings of the profile."""

    num_bins: int = setting(50, "method", "bins of each histogram", low=1, high=10_000)


@settings_as_parameters(TopologyConfig)
class LocalTopologicalProfile(ShallowEstimator):
    """The local topological profile (LTP) of Adamczyk and Czech (2023), scored by a random forest.

    Eight histograms stand side by side: the degree of each node and the smallest, largest, mean and
    standard deviation of its neighbours' degrees; the betweenness, Jaccard index and local degree
    score of each edge. The bins divide the range of the values in each graph, as the authors' do,
    and hold counts, so ``fit`` has nothing to learn. Labels, attributes and weights are not used.
    """

    head: HeadName = "forest"

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        num_bins, owners = self.config_.num_bins, graphs.graph_of_node()
        A = _matrix(graphs)
        edges = sparse.triu(A, k=1, format="coo")
        rows, columns = edges.row.astype(np.int64), edges.col.astype(np.int64)
        nodes = [(owners, values) for values in degree_profile(A)]
        between = np.asarray(edge_betweenness(A, graphs.node_ptr)[rows, columns]).ravel()
        scores = (between, jaccard_index(A, rows, columns), local_degree_score(A, rows, columns))
        parts = [*nodes, *((owners[rows], values) for values in scores)]
        counts = [histograms(values, whose, len(graphs), num_bins) for whose, values in parts]
        return np.concatenate(counts, axis=1)

    @property
    def n_features_out_(self) -> int:
        """The number of bins of all histograms."""
        return len(FEATURES) * int(self.config_.num_bins)


def histograms(values: np.ndarray, owners: np.ndarray, num_graphs: int, bins: int) -> np.ndarray:
    """Return counts [G, bins] of values [n] of the graphs ``owners`` [n].

    The bins of a graph divide the range of its values evenly. Values that are all equal are in the
    middle, as with ``numpy.histogram``.
    """
    # Betweenness of equal edges may differ by rounding, which must not become a range of its own.
    values = values.round(6)
    low, high = np.full(num_graphs, np.inf), np.full(num_graphs, -np.inf)
    np.minimum.at(low, owners, values)
    np.maximum.at(high, owners, values)
    is_flat = low == high
    low[is_flat] -= 0.5
    high[is_flat] += 0.5
    places = ((values - low[owners]) / (high - low)[owners] * bins).astype(np.int64)
    cells = owners * bins + np.minimum(places, bins - 1)
    return np.bincount(cells, minlength=num_graphs * bins).reshape(num_graphs, bins)


def degree_profile(A: sparse.csr_array) -> list[np.ndarray]:
    """Return the degree, and min, max, mean and deviation of the neighbours' degrees, [N] each.

    A node without neighbours has zeros. The deviation has n - 1 below, at least 1.
    """
    degrees = np.diff(A.indptr).astype(np.float64)
    near, rows = degrees[A.indices], np.repeat(np.arange(len(degrees)), np.diff(A.indptr))
    filled, starts = degrees > 0, A.indptr[:-1][degrees > 0]
    smallest, largest = np.zeros_like(degrees), np.zeros_like(degrees)
    if len(near):
        smallest[filled] = np.minimum.reduceat(near, starts)
        largest[filled] = np.maximum.reduceat(near, starts)
    mean = np.bincount(rows, near, len(degrees)) / np.maximum(degrees, 1)
    squares = np.bincount(rows, (near - mean[rows]) ** 2, len(degrees))
    return [degrees, smallest, largest, mean, np.sqrt(squares / np.maximum(degrees - 1, 1))]


def jaccard_index(A: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return common neighbours / all neighbours of the two ends of each edge."""
    if not len(rows):
        return np.zeros(0)
    degrees = np.diff(A.indptr)
    common = np.asarray((A @ A).multiply(A).tocsr()[rows, columns]).ravel()
    return common / (degrees[rows] + degrees[columns] - common)


def local_degree_score(A: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return 1 - log(rank) / log(degree) of each edge, the larger of its two ends.

    ``rank``: place of the other end among a node's neighbours, those of largest degree first, ties
    alike; 1 at a node of degree 1 (Hamann et al., 2016).
    """
    if not len(rows):
        return np.zeros(0)
    degrees, sources = np.diff(A.indptr), np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    near = degrees[A.indices]
    order = np.lexsort((-near, sources))
    is_new = np.ones(len(near), bool)
    is_new[1:] = (np.diff(sources[order]) != 0) | (np.diff(near[order]) != 0)
    first = np.maximum.accumulate(np.where(is_new, np.arange(len(near)), 0))
    ranks = np.empty(len(near), np.int64)
    ranks[order] = first - A.indptr[sources[order]] + 1
    lengths = np.log(np.maximum(degrees[sources], 2))
    score = sparse.csr_array((1 - np.log(ranks) / lengths, A.indices, A.indptr), shape=A.shape)
    ends = (np.asarray(score[pair]).ravel() for pair in ((rows, columns), (columns, rows)))
    return np.maximum(*ends)


def edge_betweenness(A: sparse.csr_array, node_ptr: np.ndarray) -> sparse.csr_array:
    """Return the shortest paths over each edge of each graph, as entries of a matrix like A.

    Brandes' algorithm by levels of breadth-first search, for the k-th node of many graphs as
    sources at once: column k holds the paths from the k-th node of each graph. Takes time
    O(nodes x edges x diameter) per graph.
    """
    sizes, result = np.diff(node_ptr), np.zeros(A.nnz)
    order = np.argsort(sizes, kind="stable")
    weight = np.diff(A.indptr[node_ptr]) + sizes
    start = 0
    while start < len(order):
        # Graphs of similar size share a block: as many as the widest one lets fit.
        costs = np.cumsum(weight[order[start:]]) * np.maximum(sizes[order[start:]], 1)
        stop = start + max(1, int(np.searchsorted(costs, _ENTRIES, side="right")))
        chosen = np.sort(order[start:stop])
        first, last = node_ptr[chosen], node_ptr[chosen + 1]
        nodes, spots = ranges(first, last), ranges(A.indptr[first], A.indptr[last])
        result[spots] = _block(A[nodes][:, nodes].tocsr(), sizes[chosen])
        start = stop
    return sparse.csr_array((result, A.indices, A.indptr), shape=A.shape)


def _block(A: sparse.csr_array, sizes: np.ndarray) -> np.ndarray:
    """Return the betweenness of the entries of a block of graphs with these sizes."""
    rows, columns = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr)), A.indices
    total, starts = np.zeros(A.nnz), np.cumsum(sizes) - sizes
    width = max(1, _ENTRIES // max(1, A.nnz + A.shape[0]))
    for first in range(0, int(sizes.max(initial=0)), width):
        sources = np.arange(first, min(first + width, int(sizes.max())))
        graph, place = np.nonzero(sources[None, :] < sizes[:, None])
        front = np.zeros((A.shape[0], len(sources)))
        front[starts[graph] + sources[place], place] = 1.0
        is_seen, levels = front > 0, []
        while front.any():
            levels.append(front)
            front = np.where(is_seen, 0.0, A @ front)
            is_seen |= front > 0
        # What flows from each node back towards the source, for one path.
        back = np.zeros_like(is_seen, np.float64)
        for above, below in zip(levels[-2::-1], levels[:0:-1], strict=True):
            share = np.divide(1 + back, below, out=np.zeros_like(back), where=below > 0)
            total += np.einsum("ek,ek->e", above[rows], share[columns])
            back = above * (A @ share)
    # An edge is crossed in both directions, each counted at one of its two entries.
    flow = sparse.csr_array((total, A.indices, A.indptr), shape=A.shape)
    return np.asarray((flow + flow.T)[rows, columns]).ravel() / 2


def _matrix(graphs: GraphSet) -> sparse.csr_array:
    """Return the adjacency of all graphs as zeros and ones, without self loops."""
    table, count = graphs.adjacency, graphs.num_nodes
    rows, columns = table.rows(), table.global_columns(graphs.node_ptr)
    kept = rows != columns
    ones = np.ones(int(kept.sum()))
    A = sparse.csr_array((ones, (rows[kept], columns[kept])), shape=(count, count))
    A.sum_duplicates()
    A.data[:] = 1.0
    return A
