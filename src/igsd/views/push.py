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

The heat kernel is the truncated sum of theta_k T^k e_s, in which small entries of T^k e_s are
dropped. If those of step k are at most eps_k sqrt(d_u), what they would have given is at most
eps_k w_k sqrt(d_v), where w_k = sum_{j >= k} theta_j: by the same argument the symmetric result is
within delta if sum_k eps_k w_k <= eps_s for every source. Step k may drop what eps_s still allows
after the largest entries that earlier steps have really dropped, shared among the steps that are
left in proportion to sqrt(w_k): that share needs the fewest entries if a step with limit eps has
1 / eps of them.

Sources are pushed in blocks, all of a block in one sweep: PageRank by NumPy's indexed additions,
the heat kernel by SciPy's product of sparse matrices.
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
_MOST_SOURCES, _PRODUCT_ENTRIES = 256, 1 << 23


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
    n, root = len(d), np.sqrt(d).astype(np.float32)
    # Entries are kept divided by sqrt(d_u), as the limits refer to them: T becomes A + I with its
    # columns divided by d.
    scale = sparse.diags_array(np.sqrt(d))
    P = sparse.csr_array(scale @ T @ sparse.diags_array(1.0 / np.sqrt(d)), dtype=np.float32)
    w = np.cumsum(theta[::-1])[::-1].astype(np.float32)
    steps_left = np.sqrt(w) * np.cumsum(np.sqrt(w)[::-1])[::-1]
    width = min(n, max(_FEWEST_SOURCES, min(_MOST_SOURCES, _PRODUCT_ENTRIES // n)))
    for start in range(0, n, width):
        sources = np.arange(start, min(start + width, n))
        ones = 1.0 / root[sources]
        F = sparse.csr_array((ones, sources, np.arange(len(sources) + 1)), (len(sources), n))
        left = delta / root[sources]
        parts = [F * np.float32(theta[0])]
        for k in range(1, len(theta)):
            F, largest = _above(sparse.csr_array(F @ P), left / steps_left[k])
            left -= w[k] * largest
            parts.append(F * np.float32(theta[k]))
            if F.nnz == 0:
                break
        yield _summed(parts, root)


def _above(F: sparse.csr_array, limit: np.ndarray) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the entries of rows above their limit [B], and the largest that was dropped, [B]."""
    counts = np.diff(F.indptr)
    keep = F.data > np.repeat(limit, counts)
    largest, filled = np.zeros(len(limit), np.float32), np.flatnonzero(counts)
    if len(filled):
        dropped = np.where(keep, np.float32(0.0), F.data)
        largest[filled] = np.maximum.reduceat(dropped, F.indptr[filled])
    at = np.flatnonzero(keep)
    row_ptr = np.searchsorted(at, F.indptr).astype(F.indptr.dtype)
    return sparse.csr_array((F.data[at], F.indices[at], row_ptr), shape=F.shape), largest


def _summed(parts: list[sparse.csr_array], root: np.ndarray) -> sparse.csr_array:
    """Return the sum of sparse blocks, each entry times ``root`` [n] of its column."""
    rows = [np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)) for part in parts]
    columns = np.concatenate([part.indices for part in parts])
    amounts = np.concatenate([part.data for part in parts]) * root[columns]
    shape = parts[0].shape
    return sparse.coo_array((amounts, (np.concatenate(rows), columns)), shape=shape).tocsr()


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
