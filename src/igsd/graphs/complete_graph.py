"""``complete_blocks``: every pair of nodes of every graph of a batch, as dense blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from igsd.graphs.adjacency import pointers, ranges


@dataclass(frozen=True)
class CompleteBlocks:
    """The ordered pairs (i, j) of the nodes of each graph: a block [n_b, n_b] per graph, by rows.

    Blocks stand one after the other without padding, P pairs in all. ``row`` and ``col`` [P] int64:
    the nodes, counted over the batch. ``row_ptr`` [n + 1] int64: where each node's pairs begin.
    """

    row: np.ndarray
    col: np.ndarray
    row_ptr: np.ndarray

    def places(self, rows: np.ndarray, local_columns: np.ndarray) -> np.ndarray:
        """Return where pairs stand: ``rows`` counted over the batch, columns inside the graph."""
        return self.row_ptr[rows] + local_columns

    def distances(self, positions: np.ndarray) -> np.ndarray:
        """Return the distance of each pair, [P] float32, of nodes at ``positions`` [n, 3]."""
        return pair_distances(positions, self.row, self.col)


def pair_distances(positions: np.ndarray, row: np.ndarray, col: np.ndarray) -> np.ndarray:
    """Return the distance of each two nodes ``row[p]`` and ``col[p]``, [P], by ``positions``."""
    gaps = positions[row] - positions[col]
    return np.sqrt(np.einsum("pk,pk->p", gaps, gaps))


def complete_blocks(ptr: np.ndarray) -> CompleteBlocks:
    """Return all pairs of nodes inside each graph, a node with itself among them.

    ``ptr`` [B + 1]: where the nodes of each graph of the batch begin.
    """
    sizes = np.diff(ptr)
    per_node = np.repeat(sizes, sizes)
    starts = np.repeat(ptr[:-1], sizes)
    row = np.repeat(np.arange(int(ptr[-1])), per_node)
    return CompleteBlocks(row, ranges(starts, starts + per_node), pointers(per_node))
