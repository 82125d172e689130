"""Counts of patterns in graphs, made of the 64-bit keys of nodes (``igsd.graphs.colours``)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from igsd.errors import IGSDWarning, warn_user
from igsd.graphs.colours import Keys, splitmix64
from igsd.graphs.graphset import GraphSet
from igsd.limits import check_time, reserve


class DegreeFallbackWarning(IGSDWarning):
    """A method for labelled nodes was given graphs without labels and used degrees instead."""


_WITHOUT_LABELS = {
    "degree": ("node degrees are used as labels", DegreeFallbackWarning),
    "none": ("all nodes count as equal", IGSDWarning),
}


def key_source(graphs: GraphSet, fallback: str = "degree") -> tuple[str, tuple[str, ...]]:
    """Return ("label" or ``fallback``, notes): what the keys of a model of these graphs come from.

    ``fallback``: what stands for missing labels, "degree" or "none"; it comes with a warning.
    """
    if graphs.node_labels is not None:
        return "label", ()
    words, category = _WITHOUT_LABELS[fallback]
    note = f"{graphs.name!r} has no node labels: {words}."
    warn_user(note, category)
    return fallback, (note,)


# A column costs n * m in a dense product, and in a sparse one the product of its two counts of
# graphs, at about 250 times the price each (measured on NCI1).
_DENSE_IS_CHEAPER = 250

# float32 holds every whole number up to here.
_EXACT_IN_FLOAT32 = 2**24


@dataclass(frozen=True)
class Patterns:
    """Counts [G, P] as sparse rows; column p is the pattern ``keys[p]``, keys ascending."""

    counts: Any
    keys: Keys

    @classmethod
    def count(
        cls, graph: np.ndarray, keys: Keys, num_graphs: int, weights: np.ndarray | None = None
    ) -> Self:
        """Return the table of occurrences [M]: ``keys[i]`` in ``graph[i]``, 1 or ``weights[i]``."""
        reserve(40.0 * len(keys), f"a table of {len(keys)} patterns")
        vocabulary, column = np.unique(keys, return_inverse=True)
        times = np.ones(len(column), dtype=np.int64) if weights is None else weights
        shape = (num_graphs, len(vocabulary))
        return cls(sparse.coo_array((times, (graph, column)), shape=shape).tocsr(), vocabulary)

    def squares(self) -> np.ndarray:
        """Return the product of each row with itself, [G] float64."""
        return np.asarray(self.counts.power(2).sum(axis=1), dtype=np.float64).ravel()

    def columns(self, keys: Keys) -> Any:
        """Return the counts of the given patterns (ascending) alone, sparse [G, len(keys)]."""
        table = self.counts.tocoo()
        place = np.searchsorted(keys, self.keys)
        known = place < len(keys)
        known[known] = keys[place[known]] == self.keys[known]
        kept = known[table.col]
        entries = (table.data[kept], (table.row[kept], place[table.col[kept]]))
        return sparse.coo_array(entries, shape=(table.shape[0], len(keys))).tocsr()

    def most_common(self, limit: int) -> Keys:
        """Return the keys of the ``limit`` patterns that occur in the most graphs, ascending."""
        first = np.argsort(-_graphs_with(self.counts), kind="stable")[:limit]
        return self.keys[np.sort(first)]

    def unary(self) -> Self:
        """Replace each pattern by the patterns 'at least once', 'at least twice' and so on.

        The product of two such rows is the sum of the minima of their counts.
        """
        table = self.counts.tocoo()
        total = int(table.data.sum())
        reserve(60.0 * total, f"a table of {total} patterns")
        before = np.cumsum(table.data) - table.data
        times = (np.arange(total) - np.repeat(before, table.data)).astype(np.uint64)
        keys = splitmix64(np.repeat(self.keys[table.col], table.data) + splitmix64(times))
        return self.count(np.repeat(table.row, table.data), keys, table.shape[0])


def products(a: Patterns, b: Patterns | None = None) -> np.ndarray:
    """Return the products of all rows of ``a`` with all rows of ``b`` (of ``a``), [n, m] float64.

    Patterns of many graphs are multiplied as a dense matrix, the others as a sparse one.
    Sums of whole numbers are exact.
    """
    left, right = a.counts, a.counts if b is None else b.columns(a.keys)
    n, m = left.shape[0], right.shape[0]
    reserve(24.0 * n * m, f"a kernel matrix of {n} x {m} graphs")
    cost = _graphs_with(left) * _graphs_with(right)
    is_common = cost * _DENSE_IS_CHEAPER > n * m
    # A pattern of a single graph contributes to the diagonal only.
    is_rare = ~is_common & (cost > (1 if b is None else 0))
    largest = np.sqrt(a.squares().max() * (b or a).squares().max())
    is_whole = np.issubdtype(left.dtype, np.integer)
    dtype = np.float32 if is_whole and largest < _EXACT_IN_FLOAT32 else np.float64
    dense = left[:, is_common].astype(dtype).toarray()
    other = dense if b is None else right[:, is_common].astype(dtype).toarray()
    result = (dense @ other.T).astype(np.float64)
    check_time("a kernel matrix")
    rest = (left[:, is_rare] @ right[:, is_rare].T).tocoo()
    result[rest.row, rest.col] += rest.data
    if b is None:
        np.fill_diagonal(result, a.squares())
    return result


def _graphs_with(table: Any) -> np.ndarray:
    """Return the number of rows with an entry in each column, [P] float64."""
    return np.bincount(table.indices, minlength=table.shape[1]).astype(np.float64)


def block_matrix(graphs: GraphSet) -> Any:
    """Return the adjacency of all graphs, a sparse [N, N] of 0 and 1 with a block for each."""
    A, n = graphs.adjacency, graphs.num_nodes
    reserve(32.0 * A.num_entries, f"a matrix with {A.num_entries} entries")
    ones = np.ones(A.num_entries)
    return sparse.csr_array((ones, A.global_columns(graphs.node_ptr), A.row_ptr), shape=(n, n))


def walk_matrix(graphs: GraphSet) -> Any:
    """Return the adjacency of all graphs [N, N], with a self loop for nodes without neighbours."""
    alone = (graphs.adjacency.degrees() == 0).astype(np.float64)
    return (block_matrix(graphs) + sparse.diags_array(alone)).tocsr()


def one_hot(keys: Keys, known: Keys) -> Any:
    """Return a sparse one-hot row per key, [N, len(known)], empty for a key not in ``known``."""
    place = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    row = np.flatnonzero(known[place] == keys)
    entries = (np.ones(len(row)), (row, place[row]))
    return sparse.coo_array(entries, shape=(len(keys), len(known))).tocsr()


def feature_basis(K: NDArray[np.float64], dim: int) -> NDArray[np.float64]:
    """Return B [n, <= dim] so that k(x, samples) B are coordinates of x, for the kernel K [n, n].

    Coordinates along the ``dim`` largest eigenvectors of K with positive eigenvalues; K B B' K is
    the best approximation of K of that rank.
    """
    vectors, roots = _positive_eigenvectors(K)
    return np.ascontiguousarray((vectors / roots)[:, ::-1][:, :dim])


def inverse_root(K: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return K^(-1/2) of a kernel [n, n], with eigenvalues that are zero to rounding left out."""
    vectors, roots = _positive_eigenvectors(K)
    return (vectors / roots) @ vectors.T


def _positive_eigenvectors(K: NDArray[np.float64]) -> tuple[np.ndarray, np.ndarray]:
    """Return (eigenvectors, roots of their eigenvalues), ascending, without those near zero."""
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    kept = values > 1e-6 * max(float(values[-1]), 1e-6)
    return vectors[:, kept], np.sqrt(values[kept])
