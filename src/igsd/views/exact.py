"""Exact diffusion of many small graphs at once: stacks of similar size, one solve per stack.

Graphs are padded to one of few sizes and split into chunks of bounded memory. The padded size
depends on the graph only, so a graph's view does not depend on the rest of the set. Everything is
computed in float64: measured, it costs a third more than float32 on COLLAB and a tenth on NCI1,
and is exact to 1e-14 instead of 2e-7.
"""

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from igsd.graphs.adjacency import Adjacency, ranges
from igsd.settings.groups import Diffusion
from igsd.views.diffusion import Piece, heat, keep_threshold, keep_top_k, ppr, transition_matrix

CHUNK_ENTRIES = 1 << 17
"""Entries of one stack, 1 MiB in float64: it stays in the cache, and its memory is reused."""


def exact_pieces(
    adjacency: Adjacency, node_ptr: np.ndarray, graphs: np.ndarray, settings: Diffusion
) -> Iterator[Piece]:
    """Yield the exact, sparsified diffusion of the chosen graphs, a chunk at a time.

    Implements Eq. diffusion. ``graphs`` [g] int64: which graphs of ``adjacency``. Edge weights are
    not used.
    """
    plain = Adjacency(np.asarray(adjacency.row_ptr), np.asarray(adjacency.col))
    for chunk, side in size_chunks(node_ptr, graphs):
        T = transition_matrix(dense_stack(plain, node_ptr, chunk, side))
        S = ppr(T, settings.teleport) if settings.view == "ppr" else heat(T, settings.heat_time)
        sizes = node_ptr[chunk + 1] - node_ptr[chunk]
        yield _sparse_piece(chunk, S.to(torch.float32), sizes, settings)


def padded_sizes(sizes: np.ndarray) -> np.ndarray:
    """Return the size that each graph is padded to, [G] int64: at most a sixteenth or 3 more.

    Sixteen sizes between a power of two and the next from 64 up, multiples of 4 below.
    """
    exponents = np.frexp(np.maximum(sizes, 1).astype(np.float64))[1] - 1
    steps = np.left_shift(1, np.maximum(exponents - 4, 2)).astype(np.int64)
    return np.where(sizes < 4, sizes, -(-sizes // steps) * steps)


def size_chunks(node_ptr: np.ndarray, graphs: np.ndarray) -> Iterator[tuple[np.ndarray, int]]:
    """Yield (graphs of one padded size, that size), of one graph or of bounded memory."""
    padded = padded_sizes(node_ptr[graphs + 1] - node_ptr[graphs])
    order = np.argsort(padded, kind="stable")
    ordered = padded[order]
    begin = 0
    while begin < len(order):
        side = int(ordered[begin])
        last = int(np.searchsorted(ordered, side, side="right"))
        end = min(last, begin + max(1, CHUNK_ENTRIES // (side * side)))
        yield graphs[order[begin:end]], side
        begin = end


def dense_stack(
    adjacency: Adjacency, node_ptr: np.ndarray, graphs: np.ndarray, side: int
) -> Tensor:
    """Return the adjacency matrices of the chosen graphs, [g, side, side] float64 of 0 and 1."""
    first, last = node_ptr[graphs], node_ptr[graphs + 1]
    row_ptr = adjacency.row_ptr
    rows = ranges(np.arange(len(graphs)) * side, np.arange(len(graphs)) * side + last - first)
    nodes = ranges(first, last)
    places = np.repeat(rows * side, row_ptr[nodes + 1] - row_ptr[nodes])
    places += adjacency.col[ranges(row_ptr[first], row_ptr[last])]
    A = np.zeros(len(graphs) * side * side)
    A[places] = 1.0
    return torch.from_numpy(A).view(len(graphs), side, side)


def _sparse_piece(graphs: np.ndarray, S: Tensor, sizes: np.ndarray, settings: Diffusion) -> Piece:
    """Return the entries of ``S`` [g, side, side] that are kept, without the padding."""
    side = S.shape[-1]
    k, threshold = settings.top_k, settings.threshold
    keep = keep_top_k(S, k) if k else keep_threshold(S, threshold)
    is_node = np.arange(side) < sizes[:, None]
    if not is_node.all():
        keep &= torch.from_numpy(is_node).unsqueeze(-1)
    mask = keep.numpy()
    columns = np.broadcast_to(np.arange(side, dtype=np.int32), mask.shape)
    counts = keep.sum(-1).numpy()[is_node]
    return Piece(graphs, counts, columns[mask], S.numpy()[mask])
