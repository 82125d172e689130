"""``AdjacencyOperator``: a batch's adjacency as something that multiplies node vectors.

Every encoder reaches the edges through this one interface. A sparse product of compressed rows is
far faster than gathering and scattering one vector per edge, above all on dense diffusion views;
and because the matrix is symmetric, its own product is also its gradient, so no transpose is built.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class AdjacencyOperator:
    """A symmetric sparse matrix A [n, n] that multiplies x [n, d], with gradient to x alone."""

    def __init__(self, row_ptr: Tensor, col: Tensor, weight: Tensor | None) -> None:
        self.row_ptr = row_ptr
        self.col = col
        self.has_weights = weight is not None
        values = torch.ones_like(col, dtype=torch.float32) if weight is None else weight
        n = len(row_ptr) - 1
        self.matrix = torch.sparse_csr_tensor(
            row_ptr, col, values, (n, n), check_invariants=False
        )

    def multiply(self, x: Tensor) -> Tensor:
        """Return A x, [n, d]."""
        with torch.autocast(x.device.type, enabled=False):
            dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
            return _SymmetricProduct.apply(x.to(dtype), self.matrix.to(dtype))

    def row_sums(self) -> Tensor:
        """Return the sum of each row, [n]: the (weighted) degree."""
        ones = torch.ones(len(self.row_ptr) - 1, 1, device=self.col.device)
        return (self.matrix @ ones).squeeze(1)

    def edge_index(self) -> Tensor:
        """Return [2, E] int64 (row, column) of every entry, for encoders that want an edge list."""
        lengths = (self.row_ptr[1:] - self.row_ptr[:-1]).long()
        rows = torch.arange(len(lengths), device=self.col.device).repeat_interleave(lengths)
        return torch.stack([rows, self.col.long()])

    def edge_weight(self) -> Tensor:
        """Return [E] the weight of every entry, 1 where the graph is unweighted."""
        return self.matrix.values()


class _SymmetricProduct(torch.autograd.Function):
    """A x for symmetric A: the gradient with respect to x is A g."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, matrix: Tensor) -> Tensor:
        ctx.matrix = matrix
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return ctx.matrix @ gradients[0].contiguous(), None
