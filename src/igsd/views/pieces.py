"""``Piece``: the view of some graphs, and how pieces in any order become one ``Adjacency``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from igsd.graphs.adjacency import Adjacency, pointers, ranges


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

    ``node_ptr`` [G + 1]: where each graph's nodes begin. Pieces are let go one after the other
    while they are copied, but the peak is still about twice the size of the view.
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
