"""Diffusion of a graph too large to solve densely: a truncated series with a stated error.

S_K = sum_{k <= K} theta_k T^k, a block of columns at a time. Because ||T||_2 <= 1, every entry of
T^k is at most 1 in absolute value, so what is left out changes no entry of S by more than the tail
sum_{k > K} theta_k. K is the smallest that brings the tail to the tolerance. Beyond that there is
only rounding in float64. An entry within the tolerance of the threshold may therefore stay where
the exact one would go, or the other way round.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from scipy import sparse

from igsd.graphs.adjacency import Adjacency
from igsd.views.diffusion import heat_coefficients, ppr_coefficients
from igsd.views.pieces import Piece
from igsd.views.sparsify import keep_threshold, keep_top_k_of_row
from igsd.views.spec import ViewSpec

BLOCK_ENTRIES = 1 << 19
"""Entries of one dense block, 4 MiB in float64; fewer or more columns at a time are slower."""


def series_piece(adjacency: Adjacency, node_ptr: np.ndarray, graph: int, spec: ViewSpec) -> Piece:
    """Return the sparsified truncated diffusion of one graph.

    Implements Eq. diffusion with the series cut at K; see the top of this file for the error.
    Memory: a few blocks of ``BLOCK_ENTRIES``, and a few times the entries that stay.
    """
    T = sparse_transition(adjacency, node_ptr, graph)
    theta = series_coefficients(spec)
    n = T.shape[0]
    width = max(1, BLOCK_ENTRIES // n)
    blocks = [
        _sparsify_rows(diffuse_columns(T, theta, start, min(start + width, n)), spec)
        for start in range(0, n, width)
    ]
    S = sparse.vstack(blocks, format="csr")
    # S is symmetric in exact numbers: rounding at the threshold, or a top k of the row alone, may
    # have kept an entry without its mirror image. The larger of the two brings it back.
    S = S.maximum(S.T).tocsr()
    S.sort_indices()
    counts = np.diff(S.indptr).astype(np.int64)
    return Piece(np.array([graph]), counts, S.indices.astype(np.int32), S.data)


def sparse_transition(adjacency: Adjacency, node_ptr: np.ndarray, graph: int) -> sparse.csr_array:
    """Return T of one graph as ``transition_matrix`` defines it, [n, n] float64, sparse."""
    first, last = int(node_ptr[graph]), int(node_ptr[graph + 1])
    n = last - first
    row_ptr = np.asarray(adjacency.row_ptr[first : last + 1])
    col = np.asarray(adjacency.col[row_ptr[0] : row_ptr[-1]])
    A = sparse.csr_array((np.ones(len(col)), col, row_ptr - row_ptr[0]), shape=(n, n))
    d = sparse.diags_array(1.0 / np.sqrt(np.diff(row_ptr) + 1.0))
    return sparse.csr_array(d @ (A + sparse.eye_array(n)) @ d)


def series_coefficients(spec: ViewSpec) -> np.ndarray:
    """Return theta_0 .. theta_K, [K + 1] float64, with the smallest K whose tail is in tolerance.

    The tail sum_{k > K} theta_k is (1 - alpha)^(K + 1) for PPR; for the heat kernel it is what the
    coefficients so far lack to 1, summed from the small end so that no digits are lost.
    """
    if spec.kind == "ppr":
        K = max(0, math.ceil(math.log(spec.tolerance) / math.log1p(-spec.teleport)) - 1)
        return ppr_coefficients(spec.teleport, K)
    # Far past the mean of the Poisson weights nothing is left: a safe end for the tail sums.
    far = (
        int(spec.heat_time + 12.0 * math.sqrt(spec.heat_time) - 2.0 * math.log(spec.tolerance)) + 20
    )
    theta = heat_coefficients(spec.heat_time, far)
    tails = np.cumsum(theta[::-1])[::-1]
    K = int(np.argmax(tails <= spec.tolerance)) - 1
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


def _sparsify_rows(columns: np.ndarray, spec: ViewSpec) -> sparse.csr_array:
    """Return a block of columns as the rows they are by symmetry, sparsified, in float32."""
    S = torch.from_numpy(np.ascontiguousarray(columns.T, dtype=np.float32))
    if spec.top_k is None:
        keep = keep_threshold(S, spec.threshold)
    else:
        keep = keep_top_k_of_row(S, spec.top_k)
    return sparse.csr_array((S * keep).numpy())
