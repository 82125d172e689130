"""Graph diffusion in the paper's letters: T, S, the coefficients theta_k, and sparsification.

Dense and batched: every matrix is one of a stack [b, n, n]. Nothing is renormalised: an entry that
is kept keeps its value. Zeros are never kept, nor are rounding errors of zeros.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.settings.groups import Diffusion

TOLERANCE = 1e-6
"""Bound on the error of an entry of S where a graph is diffused by a truncated series."""


def relevant_settings(settings: Diffusion) -> dict[str, str | float]:
    """Return the settings that the numbers of a fixed view depend on: the key of the cache."""
    own = "heat_time" if settings.view == "heat" else "teleport"
    rule = "top_k" if settings.top_k else "threshold"
    values = {own: getattr(settings, own), rule: getattr(settings, rule)}
    series = {"exact_limit": settings.exact_limit, "tolerance": TOLERANCE}
    return {"kind": settings.view} | values | series


def transition_matrix(A: Tensor) -> Tensor:
    """Return T = D^-1/2 (A + I) D^-1/2, where D holds the row sums of A + I.

    Implements the T of Eq. diffusion. ``A`` [b, n, n]: symmetric adjacencies with an empty
    diagonal, not modified. A node without edges gets T_ii = 1 and stays isolated, so padding a
    smaller graph with such nodes does not change its diffusion.
    """
    loops = A + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    d = loops.sum(-1).rsqrt_()
    return loops.mul_(d.unsqueeze(-1)).mul_(d.unsqueeze(-2))


def ppr(T: Tensor, alpha: float) -> Tensor:
    """Return S = alpha (I - (1 - alpha) T)^-1, personalised PageRank.

    Implements Eq. diffusion with theta_k = alpha (1 - alpha)^k, summed to infinity. ``T``
    [b, n, n] as from ``transition_matrix``. The eigenvalues of T lie in (-1, 1], those of
    I - (1 - alpha) T therefore in [alpha, 2 - alpha): Cholesky applies, the condition number is
    below 2 / alpha, and the inverse is symmetric to the last bit.
    """
    M = T * (alpha - 1.0)
    M.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return torch.cholesky_inverse(torch.linalg.cholesky(M)).mul_(alpha)


def heat(T: Tensor, t: float) -> Tensor:
    """Return S = exp(-t (I - T)), the heat kernel (the matrix exponential, not entry by entry).

    Implements Eq. diffusion with theta_k = e^-t t^k / k!, summed to infinity. ``T`` [b, n, n] as
    from ``transition_matrix``. Computed from eigenvectors of T: measured 1.3 to 3 times faster than
    ``torch.linalg.matrix_exp``, and as exact for every t.
    """
    values, V = torch.linalg.eigh(T)
    S = (V * torch.exp(t * (values - 1.0)).unsqueeze(-2)) @ V.mT
    return (S + S.mT).mul_(0.5)


def ppr_coefficients(alpha: float, K: int) -> np.ndarray:
    """Return theta_0 .. theta_K of personalised PageRank, theta_k = alpha (1 - alpha)^k.

    Implements the coefficients of Eq. diffusion. [K + 1] float64; the tail sums to
    (1 - alpha)^(K + 1).
    """
    return alpha * (1.0 - alpha) ** np.arange(K + 1, dtype=np.float64)


def heat_coefficients(t: float, K: int) -> np.ndarray:
    """Return theta_0 .. theta_K of the heat kernel, theta_k = e^-t t^k / k!.

    Implements the coefficients of Eq. diffusion. [K + 1] float64, the probabilities of a Poisson
    variable with mean t; computed through logarithms, so that a large t does not overflow.
    """
    k = np.arange(K + 1, dtype=np.float64)
    log_factorial = np.array([math.lgamma(x + 1.0) for x in k])
    return np.exp(k * math.log(t) - t - log_factorial)


ROUNDING = 1e-12
"""Entries below this are rounding errors of zeros, as between two components of a graph."""

TIE = 1e-5
"""Relative width within which two entries count as equal.

Nodes that a symmetry of the graph exchanges have equal entries, but rounding makes them differ in
the last digits, differently for each numbering of the nodes. Entries this close to the k-th
largest are kept with it, so a tie never depends on the numbering.
"""


def keep_threshold(S: Tensor, threshold: float) -> Tensor:
    """Return the mask S >= threshold; a threshold of 0 keeps all but zeros.

    Sparsifies Eq. diffusion. A node without neighbours keeps its S_ii = 1.
    """
    return torch.ge(S, max(threshold, ROUNDING))


def keep_top_k(S: Tensor, k: int) -> Tensor:
    """Return the mask of entries among the k largest of their row or of their column.

    Sparsifies Eq. diffusion. ``S`` [..., n, n] symmetric; the mask is symmetric too. Entries tied
    with the k-th largest are kept with it, so a row may keep more than k.
    """
    rows = keep_top_k_of_row(S, k)
    return rows | rows.mT


def keep_top_k_of_row(S: Tensor, k: int) -> Tensor:
    """Return the mask of entries among the k largest of their row, ties included.

    ``S`` [..., m, n] need not be square.
    """
    if k >= S.shape[-1]:
        return S >= ROUNDING
    kth = torch.topk(S, k, dim=-1, sorted=True).values[..., -1:]
    return torch.ge(S, kth * (1.0 - TIE)) & (S >= ROUNDING)


@dataclass(frozen=True)
class Piece:
    """The rows of whole graphs that were computed together.

    ``graphs`` [g] int64: which graphs, in the order of the rows. ``counts`` [rows] int64: entries
    per row. ``col`` [e] int32 and ``weight`` [e] float32: the entries, as in ``Adjacency``.
    """

    graphs: np.ndarray
    counts: np.ndarray
    col: np.ndarray
    weight: np.ndarray


def join_pieces(pieces: Iterable[Piece], node_ptr: np.ndarray) -> Adjacency:
    """Return the view of all graphs, from pieces that hold each graph once, in any order.

    ``node_ptr`` [G + 1]: where each graph's nodes begin. Pieces are freed one by one while they are
    copied, but peak memory is still about twice the size of the view.
    """
    waiting = list(pieces)
    counts = np.zeros(int(node_ptr[-1]), dtype=np.int64)
    for piece in waiting:
        counts[ranges(node_ptr[piece.graphs], node_ptr[piece.graphs + 1])] = piece.counts
    row_ptr = pointers(counts)
    col = np.empty(row_ptr[-1], dtype=np.int32)
    weight = np.empty(row_ptr[-1], dtype=np.float32)
    starts, stops = row_ptr[node_ptr[:-1]], row_ptr[node_ptr[1:]]
    while waiting:
        piece = waiting.pop()
        places = ranges(starts[piece.graphs], stops[piece.graphs])
        col[places] = piece.col
        weight[places] = piece.weight
    return Adjacency(row_ptr, col, weight)
