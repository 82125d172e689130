"""Graph diffusion in the paper's letters: T, S, theta_k, sparsification; exact, or as a series.

Nothing is renormalised: an entry that is kept keeps its value. Zeros are never kept, nor are
rounding errors of zeros. Everything is computed in float64: measured, it costs a third more than
float32 on COLLAB and a tenth on NCI1, and is exact to 1e-14 instead of 2e-7.

A large graph is diffused by local pushes (``igsd.views.push``) if that is faster. Any other graph
too large to solve densely is diffused by S_K = sum_{k <= K} theta_k T^k, a block of columns
at a time. Because ||T||_2 <= 1, truncation changes no entry of S by more than the tail
sum_{k > K} theta_k. K is the smallest for which the tail is within the tolerance, so whether an
entry within the tolerance of the threshold is kept may differ from the exact diffusion.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.progress import Advance
from igsd.settings.groups import Diffusion
from igsd.views.push import SHARE, HeatPushes, PPRPushes, error_bound, pushed_blocks

TOLERANCE = 1e-6
"""Bound on the error of an entry of S where a graph is diffused by a truncated series."""


def relevant_settings(settings: Diffusion) -> dict[str, str | float]:
    """Return the settings that the numbers of a fixed view depend on: the key of the cache."""
    own = "heat_time" if settings.view == "heat" else "teleport"
    names = (own, "top_k" if settings.top_k else "threshold", "exact_limit")
    values = {name: getattr(settings, name) for name in names}
    delta = error_bound(0.0 if settings.top_k else settings.threshold)
    return {"kind": settings.view} | values | {"tolerance": TOLERANCE, "pushed": delta}


def transition_matrix(A: Tensor) -> Tensor:
    """Return T = D^-1/2 (A + I) D^-1/2 of Eq. diffusion, where D holds the row sums of A + I.

    ``A`` [b, n, n]: symmetric, not negative, with an empty diagonal. A node without edges gets
    T_ii = 1 and stays isolated, so padding with such nodes does not change a diffusion.
    """
    loops = A + torch.eye(A.shape[-1], dtype=A.dtype, device=A.device)
    d = loops.sum(-1).rsqrt_()
    return loops.mul_(d.unsqueeze(-1)).mul_(d.unsqueeze(-2))


def ppr(T: Tensor, alpha: float) -> Tensor:
    """Return S = alpha (I - (1 - alpha) T)^-1, personalised PageRank.

    Implements Eq. diffusion with theta_k = alpha (1 - alpha)^k, summed to infinity. The eigenvalues
    of T [b, n, n] lie in (-1, 1], those of I - (1 - alpha) T therefore in [alpha, 2 - alpha):
    Cholesky applies, and the inverse is symmetric to the last bit.
    """
    M = T * (alpha - 1.0)
    M.diagonal(dim1=-2, dim2=-1).add_(1.0)
    return torch.cholesky_inverse(torch.linalg.cholesky(M)).mul_(alpha)


def heat(T: Tensor, t: float) -> Tensor:
    """Return S = exp(-t (I - T)), the heat kernel (the matrix exponential, not entry by entry).

    Implements Eq. diffusion with theta_k = e^-t t^k / k!, summed to infinity. Eigenvectors of T
    [b, n, n] are measured 1.3 to 3 times faster than ``torch.linalg.matrix_exp``, and as exact.
    """
    values, V = torch.linalg.eigh(T)
    S = (V * torch.exp(t * (values - 1.0)).unsqueeze(-2)) @ V.mT
    return (S + S.mT).mul_(0.5)


def ppr_coefficients(alpha: float, K: int) -> np.ndarray:
    """Return theta_0 .. theta_K of Eq. diffusion for PPR: theta_k = alpha (1 - alpha)^k."""
    return alpha * (1.0 - alpha) ** np.arange(K + 1, dtype=np.float64)


def heat_coefficients(t: float, K: int) -> np.ndarray:
    """Return theta_0 .. theta_K of Eq. diffusion for the heat kernel: theta_k = e^-t t^k / k!."""
    k = np.arange(K + 1, dtype=np.float64)
    log_factorial = np.array([math.lgamma(x + 1.0) for x in k])
    return np.exp(k * math.log(t) - t - log_factorial)


ROUNDING = 1e-12
"""Entries below this are rounding errors of zeros, as between two components of a graph."""

TIE = 1e-5
"""Relative width within which two entries count as equal.

Rounding makes the equal entries of symmetric nodes differ in the last digits, differently for each
numbering of the nodes. Entries this close to the k-th largest are kept with it.
"""


def keep_threshold(S: Tensor, threshold: float) -> Tensor:
    """Return the mask S >= threshold of Eq. diffusion; a threshold of 0 keeps all but zeros."""
    return torch.ge(S, max(threshold, ROUNDING))


def keep_top_k(S: Tensor, k: int) -> Tensor:
    """Return the mask of entries among the k largest of their row or column. Eq. diffusion."""
    rows = keep_top_k_of_row(S, k)
    return rows | rows.mT


def keep_top_k_of_row(S: Tensor, k: int) -> Tensor:
    """Return the mask of entries of S [..., m, n] among the k largest of their row, with ties."""
    if k >= S.shape[-1]:
        return S >= ROUNDING
    kth = torch.topk(S, k, dim=-1, sorted=True).values[..., -1:]
    return torch.ge(S, kth * (1.0 - TIE)) & (S >= ROUNDING)


@dataclass(frozen=True)
class Piece:
    """The rows of the whole graphs ``graphs`` [g] that were computed together.

    ``counts`` [rows]: entries per row. ``col``, ``weight`` [e]: the entries, as in ``Adjacency``.
    """

    graphs: np.ndarray
    counts: np.ndarray
    col: np.ndarray
    weight: np.ndarray


def join_pieces(pieces: Iterable[Piece], node_ptr: np.ndarray) -> Adjacency:
    """Return the view of all graphs, from pieces that hold each graph once, in any order."""
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


CHUNK_ENTRIES = 1 << 17
"""Entries of one stack, 1 MiB in float64: it stays in the cache, and its memory is reused."""


def exact_pieces(
    adjacency: Adjacency, node_ptr: np.ndarray, graphs: np.ndarray, settings: Diffusion
) -> Iterator[Piece]:
    """Yield the exact, sparsified diffusion of the chosen graphs [g], a chunk at a time.

    Implements Eq. diffusion. Graphs are padded to one of few sizes. The size depends on the graph
    only, so its view does not depend on the rest of the set.
    """
    weight = None if adjacency.weight is None else np.asarray(adjacency.weight)
    plain = Adjacency(np.asarray(adjacency.row_ptr), np.asarray(adjacency.col), weight)
    for chunk, side in size_chunks(node_ptr, graphs):
        T = transition_matrix(dense_stack(plain, node_ptr, chunk, side))
        S = ppr(T, settings.teleport) if settings.view == "ppr" else heat(T, settings.heat_time)
        sizes = node_ptr[chunk + 1] - node_ptr[chunk]
        yield _sparse_piece(chunk, S.to(torch.float32), sizes, settings)


def padded_sizes(sizes: np.ndarray) -> np.ndarray:
    """Return the size that each graph is padded to, [G] int64: at most a sixteenth or 3 more."""
    exponents = np.frexp(np.maximum(sizes, 1).astype(np.float64))[1] - 1
    steps = np.left_shift(1, np.maximum(exponents - 4, 2)).astype(np.int64)
    return np.where(sizes < 4, sizes, -(-sizes // steps) * steps)


def size_chunks(node_ptr: np.ndarray, graphs: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Yield (graphs of one padded size, that size), of one graph or of bounded memory."""
    padded = padded_sizes(node_ptr[graphs + 1] - node_ptr[graphs])
    order = np.argsort(padded, kind="stable")
    ordered, begin = padded[order], 0
    while begin < len(order):
        side = int(ordered[begin])
        last = int(np.searchsorted(ordered, side, side="right"))
        end = min(last, begin + max(1, CHUNK_ENTRIES // (side * side)))
        yield graphs[order[begin:end]], side
        begin = end


def dense_stack(
    adjacency: Adjacency, node_ptr: np.ndarray, graphs: np.ndarray, side: int
) -> Tensor:
    """Return the adjacency matrices of the chosen graphs, [g, side, side] float64."""
    first, last, row_ptr = node_ptr[graphs], node_ptr[graphs + 1], adjacency.row_ptr
    starts, nodes = np.arange(len(graphs)) * side, ranges(first, last)
    rows = ranges(starts, starts + last - first)
    places = np.repeat(rows * side, row_ptr[nodes + 1] - row_ptr[nodes])
    entries = ranges(row_ptr[first], row_ptr[last])
    places += adjacency.col[entries]
    A = np.zeros(len(graphs) * side * side)
    A[places] = 1.0 if adjacency.weight is None else adjacency.weight[entries]
    return torch.from_numpy(A).view(len(graphs), side, side)


def _sparse_piece(graphs: np.ndarray, S: Tensor, sizes: np.ndarray, settings: Diffusion) -> Piece:
    """Return the entries of ``S`` [g, side, side] that are kept, without the padding."""
    side, k = S.shape[-1], settings.top_k
    keep = keep_top_k(S, k) if k else keep_threshold(S, settings.threshold)
    is_node = np.arange(side) < sizes[:, None]
    if not is_node.all():
        keep &= torch.from_numpy(is_node).unsqueeze(-1)
    mask = keep.numpy()
    columns = np.broadcast_to(np.arange(side, dtype=np.int32), mask.shape)
    counts = keep.sum(-1).numpy()[is_node]
    return Piece(graphs, counts, columns[mask], S.numpy()[mask])


BLOCK_ENTRIES = 1 << 19
"""Entries of one dense block, 4 MiB in float64; smaller and larger blocks are slower."""


def series_piece(
    adjacency: Adjacency, node_ptr: np.ndarray, graph: int, settings: Diffusion
) -> Piece:
    """Return the sparsified diffusion of one graph, Eq. diffusion truncated at K."""
    (T, _), theta = sparse_transition(adjacency, node_ptr, graph), series_coefficients(settings)
    n = T.shape[0]
    width = max(1, BLOCK_ENTRIES // n)
    blocks = [
        _sparsify_rows(diffuse_columns(T, theta, start, min(start + width, n)), settings)
        for start in range(0, n, width)
    ]
    return _symmetric_piece(graph, blocks)


def _symmetric_piece(graph: int, blocks: list[sparse.csr_array]) -> Piece:
    """Return the rows of one graph, made symmetric."""
    S = sparse.vstack(blocks, format="csr")
    # S is symmetric, but rounding at the threshold, or the top k of a row alone, may have kept an
    # entry without its mirror image. The maximum of both restores it.
    S = S.maximum(S.T).tocsr()
    S.sort_indices()
    counts = np.diff(S.indptr).astype(np.int64)
    return Piece(np.array([graph]), counts, S.indices.astype(np.int32), S.data)


# Costs measured on the CPU: an entry of T times an entry of a dense block, in a series; and all
# pushes that an entry of T leads to, over all sources.
_SERIES_ENTRY = 0.7e-9
_PUSHED_ENTRY = {"ppr": 25e-6, "heat": 80e-6}


def is_pushed(num_nodes: int, settings: Diffusion) -> bool:
    """Return whether a graph is diffused by pushes: if they cost less than half of a series.

    Both costs are proportional to the edges; that of a series also to the nodes. Without
    a threshold well above the error of pushes, the series is used.
    """
    if not settings.top_k and error_bound(settings.threshold) > SHARE * settings.threshold:
        return False
    steps = len(series_coefficients(settings))
    return _SERIES_ENTRY * num_nodes * steps > 2 * _PUSHED_ENTRY[settings.view]


def push_piece(
    adjacency: Adjacency, node_ptr: np.ndarray, graph: int, settings: Diffusion, advance: Advance
) -> Piece:
    """Return the sparsified diffusion of one graph by local pushes (``igsd.views.push``)."""
    T, d = sparse_transition(adjacency, node_ptr, graph)
    delta = error_bound(0.0 if settings.top_k else settings.threshold)
    pushes: PPRPushes | HeatPushes = (
        PPRPushes(T, d, settings.teleport, delta)
        if settings.view == "ppr"
        else HeatPushes(T, d, series_coefficients(settings), delta - TOLERANCE)
    )
    blocks = []
    for X in pushed_blocks(pushes, partial(_largest, settings=settings)):
        blocks.append(X)
        advance(X.shape[0])
    return _symmetric_piece(graph, blocks)


def _largest(X: sparse.csr_array, settings: Diffusion) -> sparse.csr_array:
    """Return the entries of sparse rows that are kept; a row's k-th largest is kept with ties."""
    row = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    least = np.full(len(row), max(settings.threshold, ROUNDING))
    if settings.top_k:
        order = np.lexsort((-X.data, row))
        place = np.minimum(X.indptr[:-1] + settings.top_k, X.indptr[1:]) - 1
        least = (X.data[order][place] * (1.0 - TIE))[row]
    keep = X.data >= least
    row_ptr = pointers(keep)[X.indptr]
    kept = sparse.csr_array((X.data[keep], X.indices[keep], row_ptr), shape=X.shape)
    kept.sort_indices()
    return kept


def sparse_transition(
    adjacency: Adjacency, node_ptr: np.ndarray, graph: int
) -> tuple[sparse.csr_array, np.ndarray]:
    """Return (T, d) of one graph: T as ``transition_matrix`` defines it, [n, n] float64, sparse.

    ``d`` [n]: the row sums of A + I.
    """
    first, last = int(node_ptr[graph]), int(node_ptr[graph + 1])
    n = last - first
    row_ptr = np.asarray(adjacency.row_ptr[first : last + 1])
    col = np.asarray(adjacency.col[row_ptr[0] : row_ptr[-1]])
    weight = np.ones(len(col))
    if adjacency.weight is not None:
        weight = adjacency.weight[row_ptr[0] : row_ptr[-1]].astype(np.float64)
    A = sparse.csr_array((weight, col, row_ptr - row_ptr[0]), shape=(n, n))
    d = A.sum(axis=1) + 1.0
    scale = sparse.diags_array(1.0 / np.sqrt(d))
    return sparse.csr_array(scale @ (A + sparse.eye_array(n)) @ scale), d


def series_coefficients(settings: Diffusion) -> np.ndarray:
    """Return theta_0 .. theta_K, [K + 1] float64, for the smallest K whose tail is in tolerance.

    The tail of the heat kernel is summed from the small end so that no digits are lost.
    """
    if settings.view == "ppr":
        K = max(0, math.ceil(math.log(TOLERANCE) / math.log1p(-settings.teleport)) - 1)
        return ppr_coefficients(settings.teleport, K)
    # Far beyond the mean of the Poisson weights nothing is left: a safe end for the tail sums.
    t = settings.heat_time
    far = int(t + 12.0 * math.sqrt(t) - 2.0 * math.log(TOLERANCE)) + 20
    theta = heat_coefficients(t, far)
    K = int(np.argmax(np.cumsum(theta[::-1])[::-1] <= TOLERANCE)) - 1
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
        keep = keep_top_k_of_row(S, settings.top_k)
    else:
        keep = keep_threshold(S, settings.threshold)
    return sparse.csr_array((S * keep).numpy())
