"""Stand-in for ``torch_sparse``: ``coalesce`` and random walks on a ``SparseTensor``."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_geometric import utils


def coalesce(index: Tensor, value: Tensor, m: int, n: int) -> tuple[Tensor, Tensor]:
    """Return sorted entries of an [m, n] matrix, values of equal places summed."""
    return utils.coalesce(index, value, num_nodes=max(m, n))


class SparseTensor:
    """A square matrix by its entries, as far as a random walk needs it."""

    def __init__(self, row: Tensor, col: Tensor, sparse_sizes: tuple[int, int]) -> None:
        order = row.argsort(stable=True)
        self.col = col[order]
        self.degrees = torch.bincount(row, minlength=sparse_sizes[0])
        self.starts = self.degrees.cumsum(0) - self.degrees

    def random_walk(self, start: Tensor, walk_length: int) -> Tensor:
        """Return the nodes of walks [len(start), walk_length + 1]; a node alone stays there."""
        walk = [start]
        for _ in range(walk_length):
            here, degree = walk[-1], self.degrees[walk[-1]]
            step = (torch.rand(len(here)) * degree).long()
            place = (self.starts[here] + step).clamp_max(len(self.col) - 1)
            walk.append(torch.where(degree > 0, self.col[place], here))
        return torch.stack(walk, dim=1)
