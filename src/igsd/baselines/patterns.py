"""``Patterns``: how often each pattern stands in each graph, and the products of such counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from igsd.baselines.limits import check_time, reserve
from igsd.baselines.node_keys import Keys
from igsd.hashing import splitmix64

# A column in a dense product costs n * m, in a sparse one the product of its two counts of graphs,
# each at about 250 times the price (measured on NCI1).
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
    ) -> Patterns:
        """Return the table of occurrences [M]: pattern ``keys[i]`` in graph ``graph[i]``.

        An occurrence counts 1, or ``weights[i]``.
        """
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
        """Return the keys of the ``limit`` patterns that stand in the most graphs, ascending."""
        graphs_with = np.bincount(self.counts.indices, minlength=len(self.keys))
        first = np.argsort(-graphs_with, kind="stable")[:limit]
        return self.keys[np.sort(first)]

    def unary(self) -> Patterns:
        """Return a pattern for each of 'at least once', 'at least twice', ... in place of each.

        The product of two such rows is the sum of the minima of their counts.
        """
        table = self.counts.tocoo()
        total = int(table.data.sum())
        reserve(60.0 * total, f"a table of {total} patterns")
        before = np.cumsum(table.data) - table.data
        times = (np.arange(total) - np.repeat(before, table.data)).astype(np.uint64)
        keys = splitmix64(np.repeat(self.keys[table.col], table.data) + splitmix64(times))
        return Patterns.count(np.repeat(table.row, table.data), keys, table.shape[0])


def products(a: Patterns, b: Patterns | None = None) -> np.ndarray:
    """Return the products of all rows of ``a`` with all rows of ``b`` (of ``a``), [n, m] float64.

    Patterns that stand in many graphs are multiplied as a dense matrix, the others as a sparse one.
    Sums of whole numbers are exact.
    """
    if b is None:
        left = right = a.counts
    else:
        left, right = a.counts, b.columns(a.keys)
    n, m = left.shape[0], right.shape[0]
    often = _graphs_with(left), _graphs_with(right)
    reserve(24.0 * n * m, f"a kernel matrix of {n} x {m} graphs")
    cost = often[0] * often[1]
    is_common = cost * _DENSE_IS_CHEAPER > n * m
    # A pattern that only one graph has meets itself alone.
    is_rare = ~is_common & (cost > (1 if b is None else 0))
    result = _dense_part(left, right, is_common, a, b)
    check_time("a kernel matrix")
    rest = (left[:, is_rare] @ right[:, is_rare].T).tocoo()
    result[rest.row, rest.col] += rest.data
    if b is None:
        np.fill_diagonal(result, a.squares())
    return result


def _dense_part(
    left: Any, right: Any, chosen: np.ndarray, a: Patterns, b: Patterns | None
) -> np.ndarray:
    """Return the products over the chosen columns, in the shortest numbers that hold them."""
    largest = np.sqrt(a.squares().max() * (b or a).squares().max())
    is_whole = np.issubdtype(left.dtype, np.integer)
    dtype = np.float32 if is_whole and largest < _EXACT_IN_FLOAT32 else np.float64
    dense = left[:, chosen].astype(dtype).toarray()
    other = dense if b is None else right[:, chosen].astype(dtype).toarray()
    return (dense @ other.T).astype(np.float64)


def _graphs_with(table: Any) -> np.ndarray:
    """Return in how many rows each column has an entry, [P] float64."""
    return np.bincount(table.indices, minlength=table.shape[1]).astype(np.float64)
