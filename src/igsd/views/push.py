"""Diffusion of a large graph by local pushes: time grows with edges, every entry has a known error.

Personalised PageRank by the push of Andersen, Chung and Lang (2006), here for the symmetric T of
Eq. diffusion: for a source s keep X and a residual R such that S e_s = X + S R, starting from X = 0
and R = e_s. A push moves alpha of a node's residual into X and spreads the rest with T. It is done
where R_u > eps_s sqrt(d_u), with d the row sums of A + I.

Because T sqrt(d) = sqrt(d), also S sqrt(d) = sqrt(d), and so 0 <= S_sv - X_v <= eps_s sqrt(d_v).
With eps_s = delta / sqrt(d_s) the larger one of the estimates from s and from v is too small by at
most delta min(sqrt(d_v / d_s), sqrt(d_s / d_v)) <= delta: the symmetric result is within delta
everywhere. All pushes together touch at most sum_s d_s / (alpha delta) entries, which is linear in
the edges.

The heat kernel is the truncated sum of theta_k T^k e_s in which entries of T^k e_s up to
eps_k sqrt(d_u) are dropped: the same argument bounds the error by sum_k eps_k sum_{j >= k} theta_j.

Sources are pushed in blocks, all of a block in one sweep, by NumPy's indexed additions.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from scipy import sparse

from igsd.graphs.adjacency import ranges

SHARE = 0.5
"""Delta, the bound on the error of an entry, as a share of the threshold below which it is lost."""

LEAST_ERROR = 1e-4
"""Delta if there is no threshold, as with ``top_k``."""

_BLOCK_ENTRIES, _FEWEST_SOURCES = 1 << 19, 16
_MOST_PUSHES = 1 << 19


def error_bound(threshold: float) -> float:
    """Return delta, the bound on the error of an entry."""
    return max(SHARE * threshold, LEAST_ERROR)


def ppr_rows(
    T: sparse.csr_array, d: np.ndarray, alpha: float, delta: float
) -> Iterator[sparse.csr_array]:
    """Yield the rows X of all sources in blocks: PPR from below, see the module.

    ``T`` [n, n] float64, sparse, symmetric; ``d`` [n]: row sums of A + I.
    """
    graph = _Neighbours(T, d)
    for start, R in _blocks(graph.n, graph.width):
        flat, limit = R.reshape(-1), delta / graph.root[start : start + len(R)]
        offsets = np.arange(len(R)) * graph.n
        frontier = offsets + np.arange(start, start + len(R))
        flat[frontier] = 1.0
        places, amounts = [], []
        while len(frontier):
            residual = flat[frontier]
            flat[frontier] = 0.0
            places.append(frontier)
            amounts.append(alpha * residual)
            frontier = graph.spread(frontier, (1.0 - alpha) * residual, flat, limit)
        X = _collected(places, amounts, R.shape)
        # A node's own share of its last residual, which is still a lower bound.
        X.data += alpha * flat[X.indices + np.repeat(offsets, np.diff(X.indptr))]
        yield X


def heat_rows(
    T: sparse.csr_array, d: np.ndarray, theta: np.ndarray, delta: float
) -> Iterator[sparse.csr_array]:
    """Yield the rows X of all sources in blocks: sum_k theta_k T^k from below, see the module.

    ``theta`` [K + 1]: the coefficients of Eq. diffusion.
    """
    graph = _Neighbours(T, d)
    # A drop at step k costs its share of what is still to come, sum_{j >= k} theta_j.
    per_step = delta / np.cumsum(theta[::-1])[::-1][1:].sum() if len(theta) > 1 else delta
    for start, R in _blocks(graph.n, graph.width):
        flat, limit = R.reshape(-1), per_step / graph.root[start : start + len(R)]
        frontier = np.arange(len(R)) * graph.n + np.arange(start, start + len(R))
        values = np.ones(len(R), np.float32)
        places, amounts = [frontier], [np.float32(theta[0]) * values]
        for coefficient in theta[1:]:
            frontier = graph.spread(frontier, values, flat, limit)
            values = flat[frontier]
            R.fill(0.0)
            places.append(frontier)
            amounts.append(np.float32(coefficient) * values)
        yield _collected(places, amounts, R.shape)


class _Neighbours:
    """T by rows, ready for indexed additions; ``root`` [n]: the roots of the degrees d."""

    def __init__(self, T: sparse.csr_array, d: np.ndarray) -> None:
        self.n = T.shape[0]
        self.row_ptr, self.col = T.indptr.astype(np.int64), T.indices.astype(np.int64)
        self.weight, self.root = T.data.astype(np.float32), np.sqrt(d).astype(np.float32)
        self.width = min(self.n, max(_FEWEST_SOURCES, _BLOCK_ENTRIES // self.n))
        self.marks = np.zeros(self.width * self.n, np.int64)

    def spread(
        self, frontier: np.ndarray, values: np.ndarray, flat: np.ndarray, limit: np.ndarray
    ) -> np.ndarray:
        """Add values T to the residuals of a block; return the entries that are now too large.

        ``frontier`` [m]: entries of the block, counted over its rows. ``flat`` [B n]: the
        residuals, changed in place. ``limit`` [B]: eps of each row.
        """
        found = [frontier[:0]]
        block, node = np.divmod(frontier, self.n)
        starts, stops = self.row_ptr[node], self.row_ptr[node + 1]
        cost = np.cumsum(stops - starts)
        parts = [0, len(frontier)]
        if len(frontier) and cost[-1] > _MOST_PUSHES:  # bounds the memory
            cuts = np.searchsorted(cost, np.arange(_MOST_PUSHES, int(cost[-1]), _MOST_PUSHES))
            parts = np.unique([0, *cuts.tolist(), len(frontier)]).tolist()
        for first, last in pairwise(parts):
            part = slice(first, last)
            lengths, entries = stops[part] - starts[part], ranges(starts[part], stops[part])
            columns = self.col[entries]
            source = np.repeat(np.arange(first, last), lengths)
            targets = columns + (frontier - node)[source]
            np.add.at(flat, targets, self.weight[entries] * values[source])
            found.append(targets[flat[targets] > self.root[columns] * limit[block][source]])
        above = np.concatenate(found)
        # One place each: the last to leave its mark.
        order = np.arange(len(above))
        self.marks[above] = order
        return above[self.marks[above] == order]


def _blocks(n: int, width: int) -> Iterator[tuple[int, np.ndarray]]:
    """Yield (first source, empty residuals [B, n]) for blocks of sources."""
    R = np.zeros((width, n), np.float32)
    for start in range(0, n, width):
        R.fill(0.0)
        yield start, R[: min(width, n - start)]


def _collected(
    places: list[np.ndarray], amounts: list[np.ndarray], shape: tuple[int, int]
) -> sparse.csr_array:
    """Return the sums of amounts at places, counted over the whole block, as a sparse matrix."""
    rows, columns = np.divmod(np.concatenate(places), shape[1])
    amount = np.concatenate(amounts).astype(np.float32)
    return sparse.coo_array((amount, (rows, columns)), shape=shape).tocsr()
