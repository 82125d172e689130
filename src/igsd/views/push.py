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

Sources are pushed in blocks, all of a block in one sweep: PageRank by NumPy's indexed additions, or
source by source in compiled loops (``igsd.views.push_loops``) if numba is installed, both alike;
the heat kernel by SciPy's product of sparse matrices. Both keep entries divided by sqrt(d_u), to
which the limits refer; T then becomes A + I with its columns divided by d.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy import sparse

from igsd.graphs.adjacency import pointers

SHARE = 0.5
"""Delta, the bound on the error of an entry, as a share of the threshold below which it is lost."""

LEAST_ERROR = 1e-4
"""Delta if there is no threshold, as with ``top_k``."""

_BLOCK_ENTRIES, _FEWEST_SOURCES = 1 << 19, 16
_MOST_PUSHES = 1 << 19
_SCATTERED = 3  # zeroing one scattered entry takes as long as this many in a row
_COMPILED_NODES = 5_000  # from here on compiled loops are worth the import of numba
_MOST_SOURCES, _PRODUCT_ENTRIES = 256, 1 << 23


def error_bound(threshold: float) -> float:
    """Return delta, the bound on the error of an entry."""
    return max(SHARE * threshold, LEAST_ERROR)


class PPRPushes:
    """Personalised PageRank from below, see the module.

    ``T`` [n, n] float64, sparse, symmetric; ``d`` [n]: row sums of A + I.
    """

    def __init__(self, T: sparse.csr_array, d: np.ndarray, alpha: float, delta: float) -> None:
        self.root, self.alpha, self.delta = np.sqrt(d).astype(np.float32), alpha, delta
        self.spread = sparse.csr_array((1.0 - alpha) * _by_columns(T, d), dtype=np.float32)
        n = len(d)
        self.width = min(n, max(_FEWEST_SOURCES, _BLOCK_ENTRIES // n))
        # Buffers of each thread, all zero between two blocks, so that they need not be made again.
        self._kept = threading.local()

    def rows(self, sources: np.ndarray) -> sparse.csr_array:
        """Return the rows X of at most ``width`` sources, columns in no order, in float32."""
        n, first = len(self.root), 1.0 / self.root[sources]
        limit, shape = self.delta * first, (len(sources), n)
        if n >= _COMPILED_NODES and (loops := _compiled()) is not None:
            matrix = (self.spread.indptr, self.spread.indices, self.spread.data)
            counts, node, pushed, left = loops.pushed_rows(*matrix, sources, first, limit)
            X = self.alpha * (pushed + left) * self.root[node]
            return sparse.csr_array((X, node, pointers(counts)), shape=shape)
        if not hasattr(self._kept, "zeros"):
            self._kept.zeros = np.zeros((2, self.width * n), np.float32)
        residual, pushed = self._kept.zeros
        entries, values = np.arange(len(sources)) * n + sources, first
        found, touched = [], []
        while len(entries):
            before = pushed[entries]
            pushed[entries] = before + values
            found.append(entries[before == 0.0])
            sweep = list(self._targets(entries, values, residual, limit))
            touched += [targets for targets, _ in sweep]
            entries, values = _taken(np.concatenate([above for _, above in sweep]), residual)
        places = np.concatenate(found)
        block, node = np.divmod(places, n)
        # With a node's own share of its last residual, which is still a lower bound.
        X = self.alpha * (pushed[places] + residual[places]) * self.root[node]
        pushed[places] = 0.0
        _clear(residual, touched)
        order = np.argsort(block.astype(np.int16), kind="stable")
        row_ptr = pointers(np.bincount(block, minlength=len(sources)))
        return sparse.csr_array((X[order], node[order].astype(np.int32), row_ptr), shape=shape)

    def _targets(
        self, entries: np.ndarray, values: np.ndarray, residual: np.ndarray, limit: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Push ``values`` [m] from ``entries`` [m] of the block, counted over its rows.

        Yields the entries of ``residual`` [B n] that were added to, and those of them that are
        above the ``limit`` [B] of their row, both with repeats, for parts of bounded memory.
        """
        block, node = np.divmod(entries, len(self.root))
        row_ptr = self.spread.indptr
        cost = np.cumsum(row_ptr[node + 1] - row_ptr[node])
        cuts = np.searchsorted(cost, np.arange(_MOST_PUSHES, int(cost[-1]), _MOST_PUSHES))
        for first, last in pairwise(np.unique([0, *cuts.tolist(), len(entries)]).tolist()):
            part = slice(first, last)
            rows = self.spread[node[part].astype(np.int32)]
            lengths = np.diff(rows.indptr)
            targets = rows.indices + np.repeat((entries - node)[part], lengths)
            rows.data *= np.repeat(values[part], lengths)
            np.add.at(residual, targets, rows.data)
            yield targets, targets[residual[targets] > np.repeat(limit[block[part]], lengths)]


def _taken(above: np.ndarray, residual: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the entries ``above`` without repeats and their residuals, which become zero."""
    values, order = residual[above], np.arange(len(above), dtype=np.int32)
    marks = residual.view(np.int32)
    marks[above] = order  # the last one at each place stays
    only = np.flatnonzero(marks[above] == order)
    residual[above] = 0.0
    return above[only], values[only]


def _clear(residual: np.ndarray, touched: list[np.ndarray]) -> None:
    """Set all residuals to zero, those that were touched one by one if they are few."""
    if _SCATTERED * sum(map(len, touched)) > len(residual):
        residual.fill(0.0)
        return
    for targets in touched:
        residual[targets] = 0.0


@cache
def _compiled() -> Any:
    """Return the module ``push_loops``; None without numba, or a folder for its compiled code."""
    try:
        from igsd.views import push_loops
    except (ImportError, RuntimeError):
        return None
    return push_loops


class HeatPushes:
    """The heat kernel, sum_k theta_k T^k, from below, see the module.

    ``theta`` [K + 1]: the coefficients of Eq. diffusion; the rest as in ``PPRPushes``.
    """

    def __init__(self, T: sparse.csr_array, d: np.ndarray, theta: np.ndarray, delta: float) -> None:
        self.root, self.theta, self.delta = np.sqrt(d).astype(np.float32), theta, delta
        self.spread = sparse.csr_array(_by_columns(T, d), dtype=np.float32)
        self.w = np.cumsum(theta[::-1])[::-1].astype(np.float32)
        self.steps_left = np.sqrt(self.w) * np.cumsum(np.sqrt(self.w)[::-1])[::-1]
        n = len(d)
        self.width = min(n, max(_FEWEST_SOURCES, min(_MOST_SOURCES, _PRODUCT_ENTRIES // n)))

    def rows(self, sources: np.ndarray) -> sparse.csr_array:
        """Return the rows X of at most ``width`` sources, in float32."""
        shape, row_ptr = (len(sources), len(self.root)), np.arange(len(sources) + 1)
        F = sparse.csr_array((1.0 / self.root[sources], sources, row_ptr), shape)
        left = self.delta / self.root[sources]
        parts = [F * np.float32(self.theta[0])]
        for k in range(1, len(self.theta)):
            F, largest = _above(sparse.csr_array(F @ self.spread), left / self.steps_left[k])
            left -= self.w[k] * largest
            parts.append(F * np.float32(self.theta[k]))
            if F.nnz == 0:
                break
        return _summed(parts, self.root)


def pushed_blocks(
    pushes: PPRPushes | HeatPushes, kept: Callable[[sparse.csr_array], sparse.csr_array]
) -> Iterator[sparse.csr_array]:
    """Yield what is ``kept`` of the rows of all sources in blocks, in order, by all threads."""
    nodes = np.arange(len(pushes.root))
    blocks = (nodes[start : start + pushes.width] for start in range(0, len(nodes), pushes.width))
    return _in_threads(lambda sources: kept(pushes.rows(sources)), blocks)


def _in_threads(
    work: Callable[[np.ndarray], sparse.csr_array], blocks: Iterable[np.ndarray]
) -> Iterator[sparse.csr_array]:
    """Yield the work of each block, in order, by as many threads as PyTorch uses."""
    jobs = torch.get_num_threads()
    if jobs == 1:
        yield from map(work, blocks)
        return
    waiting: deque[Future[sparse.csr_array]] = deque()
    with ThreadPoolExecutor(jobs) as pool:
        try:
            for block in blocks:
                waiting.append(pool.submit(work, block))
                if len(waiting) > 2 * jobs:  # bounds the memory
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for task in waiting:
                task.cancel()


def _by_columns(T: sparse.csr_array, d: np.ndarray) -> sparse.csr_array:
    """Return T for entries divided by sqrt(d): its columns sum to those of (A + I) / d."""
    root = np.sqrt(d)
    return sparse.diags_array(root) @ T @ sparse.diags_array(1.0 / root)


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
