"""``AdjacencyOperator``: a batch's adjacency as something that multiplies node vectors.

Every encoder reaches the edges through this one interface. A sparse product of compressed rows is
far faster than gathering and scattering one vector per edge, above all on dense diffusion views;
and because the matrix is symmetric, its own product is also its gradient, so no transpose is built.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

with warnings.catch_warnings():
    # torch says once per process that compressed rows are in beta; nobody can act on that here.
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)


class AdjacencyOperator:
    """A symmetric sparse matrix A [n, n] that multiplies x [n, d], with gradient to x alone.

    ``row_ptr`` [n + 1], ``col`` [E] int32; ``weight`` [E] float32, or None where every entry is 1.
    ``missing_loops`` [n] is 1 for the nodes of a plain graph, which has no diagonal of its own, and
    0 for those of a diffusion view, which has.
    """

    def __init__(
        self,
        row_ptr: Tensor,
        col: Tensor,
        weight: Tensor | None,
        missing_loops: Tensor,
    ) -> None:
        n = len(row_ptr) - 1
        self.row_ptr = row_ptr
        self.col = col
        values = torch.ones_like(col, dtype=torch.float32) if weight is None else weight
        self.matrix = torch.sparse_csr_tensor(row_ptr, col, values, (n, n), check_invariants=False)
        self.missing_loops = missing_loops

    @classmethod
    def joined(cls, operators: Sequence[AdjacencyOperator]) -> AdjacencyOperator:
        """Return one block-diagonal operator over the nodes of all, in order."""
        if len(operators) == 1:
            return operators[0]
        row_ptrs, cols, nodes, entries = [operators[0].row_ptr[:1]], [], 0, 0
        for operator in operators:
            row_ptrs.append(operator.row_ptr[1:] + entries)
            cols.append(operator.col + nodes)
            nodes += len(operator.row_ptr) - 1
            entries += len(operator.col)
        return cls(
            torch.cat(row_ptrs),
            torch.cat(cols),
            torch.cat([operator.edge_weight() for operator in operators]),
            torch.cat([operator.missing_loops for operator in operators]),
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
