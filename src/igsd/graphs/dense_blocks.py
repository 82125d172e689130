"""``DenseBlocks``: a block-diagonal matrix as one dense block per graph.

A compressed row costs an indexed load per entry, a dense block none: on graphs that are mostly
full, as diffusion views of social networks are, the dense product is several times faster.
Neighbouring graphs of equal size share one batched product, without a copy or a padded row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

# Measured on the CPU in units of one sparse entry: an entry of a dense block, and the start of
# one batched product.
_DENSE_ENTRY = 0.25
_START = 1500


@dataclass(frozen=True)
class Runs:
    """Consecutive graphs of equal size: ``counts`` [R] graphs of ``sizes`` [R] nodes each."""

    counts: np.ndarray
    sizes: np.ndarray

    @property
    def num_entries(self) -> int:
        """Number of entries of all dense blocks."""
        return int((self.counts * self.sizes**2).sum())


def runs_of_equal_size(sizes: np.ndarray) -> Runs:
    """Return the runs of equal numbers in ``sizes`` [B]."""
    sizes = np.asarray(sizes, dtype=np.int64)
    starts = np.flatnonzero(np.diff(sizes, prepend=-1))
    return Runs(np.diff(starts, append=len(sizes)), sizes[starts])


def worth_dense_blocks(runs: Runs, num_entries: int) -> bool:
    """Say whether dense blocks are expected to multiply faster than ``num_entries`` sparse ones."""
    return _DENSE_ENTRY * runs.num_entries + _START * len(runs.sizes) < num_entries


class DenseBlocks:
    """A + own * I as dense blocks; ``matrix`` is A as compressed rows, ``runs`` its graphs."""

    def __init__(self, matrix: Tensor, runs: Runs, own: float) -> None:
        self.rows = (runs.counts * runs.sizes).tolist()
        device, row_ptr = matrix.device, matrix.crow_indices()
        sizes = np.repeat(runs.sizes, runs.counts)
        nodes, cells = np.cumsum(sizes) - sizes, np.cumsum(sizes**2) - sizes**2
        # Entry (row, column) stands at row_starts[row] + column, both counted over all graphs.
        local = np.arange(sizes.sum()) - np.repeat(nodes, sizes)
        row_starts = np.repeat(cells - nodes, sizes) + local * np.repeat(sizes, sizes)
        lengths = np.diff(row_ptr.cpu().numpy())
        places = torch.from_numpy(np.repeat(row_starts, lengths)).to(device)
        flat = torch.zeros(runs.num_entries, dtype=matrix.dtype, device=device)
        places += matrix.col_indices()
        flat.scatter_(0, places, matrix.values())
        if own:
            diagonal = row_starts + np.arange(len(row_starts))
            flat[torch.from_numpy(diagonal).to(device)] += own
        pieces = flat.split((runs.counts * runs.sizes**2).tolist())
        shapes = zip(pieces, runs.counts.tolist(), runs.sizes.tolist(), strict=True)
        self.blocks = [piece.view(count, size, size) for piece, count, size in shapes]

    def multiply(self, x: Tensor, out: Tensor, *, transpose: bool = False) -> None:
        """Write the product with x [n, d] into ``out`` [n, d], both contiguous."""
        pieces = zip(self.blocks, x.split(self.rows), out.split(self.rows), strict=True)
        for block, rows, result in pieces:
            shape = (*block.shape[:2], x.shape[1])
            factor = block.transpose(1, 2) if transpose else block
            torch.bmm(factor, rows.view(shape), out=result.view(shape))
