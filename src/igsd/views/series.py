"""Diffusion of a graph too large to solve densely: a truncated series with a stated error.

S_K = sum_{k <= K} theta_k T^k, a block of columns at a time. Because ||T||_2 <= 1, truncation
changes no entry of S by more than the tail sum_{k > K} theta_k. K is the smallest for which the
tail is within the tolerance. Whether an entry within the tolerance of the threshold is kept may
therefore differ from the exact diffusion.
"""

import math

import numpy as np
import torch
from scipy import sparse

from igsd.graphs.adjacency import Adjacency
from igsd.settings.groups import Diffusion
from igsd.views import diffusion

BLOCK_ENTRIES = 1 << 19
"""Entries of one dense block, 4 MiB in float64; smaller and larger blocks are slower."""


def series_piece(
    adjacency: Adjacency, node_ptr: np.ndarray, graph: int, settings: Diffusion
) -> diffusion.Piece:
    """Return the sparsified diffusion of one graph, Eq. diffusion truncated at K.

    Memory: a few blocks of ``BLOCK_ENTRIES``, and a few times the entries that are kept.
    """
    T, theta = sparse_transition(adjacency, node_ptr, graph), series_coefficients(settings)
    n = T.shape[0]
    width = max(1, BLOCK_ENTRIES // n)
    blocks = [
        _sparsify_rows(diffuse_columns(T, theta, start, min(start + width, n)), settings)
        for start in range(0, n, width)
    ]
    S = sparse.vstack(blocks, format="csr")
    # S is symmetric, but rounding at the threshold, or the top k of a row alone, may have kept an
    # entry without its mirror image. The maximum of both restores it.
    S = S.maximum(S.T).tocsr()
    S.sort_indices()
    counts = np.diff(S.indptr).astype(np.int64)
    return diffusion.Piece(np.array([graph]), counts, S.indices.astype(np.int32), S.data)


def sparse_transition(adjacency: Adjacency, node_ptr: np.ndarray, graph: int) -> sparse.csr_array:
    """Return T of one graph as ``transition_matrix`` defines it, [n, n] float64, sparse."""
    first, last = int(node_ptr[graph]), int(node_ptr[graph + 1])
    n = last - first
    row_ptr = np.asarray(adjacency.row_ptr[first : last + 1])
    col = np.asarray(adjacency.col[row_ptr[0] : row_ptr[-1]])
    A = sparse.csr_array((np.ones(len(col)), col, row_ptr - row_ptr[0]), shape=(n, n))
    d = sparse.diags_array(1.0 / np.sqrt(np.diff(row_ptr) + 1.0))
    return sparse.csr_array(d @ (A + sparse.eye_array(n)) @ d)


def series_coefficients(settings: Diffusion) -> np.ndarray:
    """Return theta_0 .. theta_K, [K + 1] float64, for the smallest K whose tail is in tolerance.

    The tail sum_{k > K} theta_k is (1 - alpha)^(K + 1) for PPR; for the heat kernel it is summed
    from the small end so that no digits are lost.
    """
    tolerance = diffusion.TOLERANCE
    if settings.view == "ppr":
        K = max(0, math.ceil(math.log(tolerance) / math.log1p(-settings.teleport)) - 1)
        return diffusion.ppr_coefficients(settings.teleport, K)
    # Far beyond the mean of the Poisson weights nothing is left: a safe end for the tail sums.
    t = settings.heat_time
    far = int(t + 12.0 * math.sqrt(t) - 2.0 * math.log(tolerance)) + 20
    theta = diffusion.heat_coefficients(t, far)
    K = int(np.argmax(np.cumsum(theta[::-1])[::-1] <= tolerance)) - 1
    return theta[: max(K, 0) + 1]


def diffuse_columns(T: sparse.csr_array, theta: np.ndarray, start: int, stop: int) -> np.ndarray:
    """Return columns ``start`` to ``stop - 1`` of sum_k theta_k T^k, [n, stop - start] float64.

    Implements Eq. diffusion by Horner's rule: X <- theta_k E + T X, from k = K down to 0.
    """
    places = (np.arange(start, stop), np.arange(stop - start))
    X = np.zeros((T.shape[0], stop - start))
    X[places] = theta[-1]
    for coefficient in theta[-2::-1]:
        X = T @ X
        X[places] += coefficient
    return X


def _sparsify_rows(columns: np.ndarray, settings: Diffusion) -> sparse.csr_array:
    """Return a block of columns as rows, which they are by symmetry, sparsified, in float32."""
    S = torch.from_numpy(np.ascontiguousarray(columns.T, dtype=np.float32))
    if settings.top_k:
        keep = diffusion.keep_top_k_of_row(S, settings.top_k)
    else:
        keep = diffusion.keep_threshold(S, settings.threshold)
    return sparse.csr_array((S * keep).numpy())
