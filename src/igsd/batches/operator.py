"""``AdjacencyOperator``: a batch's adjacency, through which every encoder reaches the edges.

A sparse product of compressed rows is far faster than gathering and scattering one vector per edge.
Where graphs are dense, one dense block per graph (``DenseBlocks``) is faster still: neighbouring
graphs of equal size share one batched product. The matrix is symmetric, so its own product is also
its gradient; with counts of alike nodes, the transpose has the same entries with other counts.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

# Costs measured on the CPU in units of one sparse entry: an entry of a dense block, and the start
# of a batched product.
_DENSE_ENTRY = 0.25
_START = 1500

# A sparse product reads the rows of x in random order. If x has more entries than the processor's
# cache and each row is read often, a few columns at a time take half the time, copies included.
_CACHED_ENTRIES = 1 << 22
_COLUMNS, _READS = 16, 16


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
    """Return whether dense blocks should be faster than ``num_entries`` sparse entries."""
    return _DENSE_ENTRY * runs.num_entries + _START * len(runs.sizes) < num_entries


def column_parts(x: Tensor, num_entries: int) -> list[slice]:
    """Return the columns of x [n, d] to multiply at a time by ``num_entries`` sparse entries."""
    n, d = x.shape
    width = d if n * d <= _CACHED_ENTRIES or num_entries < _READS * n else _COLUMNS
    return [slice(start, min(start + width, d)) for start in range(0, d, width)]


class DenseBlocks:
    """A + own * I as dense blocks; ``matrix`` is A in CSR format, ``runs`` its graphs."""

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
        parts = flat.split((runs.counts * runs.sizes**2).tolist())
        self.blocks = [p.view(-1, n, n) for p, n in zip(parts, runs.sizes.tolist(), strict=True)]

    def multiply(self, x: Tensor, out: Tensor, *, transpose: bool = False) -> None:
        """Write the product with x [n, d] into ``out`` [n, d], both contiguous."""
        parts = zip(self.blocks, x.split(self.rows), out.split(self.rows), strict=True)
        for block, rows, result in parts:
            shape = (*block.shape[:2], x.shape[1])
            factor = block.transpose(1, 2) if transpose else block
            torch.bmm(factor, rows.view(shape), out=result.view(shape))


with warnings.catch_warnings():
    # torch warns once per process that CSR tensors are in beta.
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    torch.sparse_csr_tensor([0, 1], [0], [1.0], (1, 1), check_invariants=False)


class AdjacencyOperator:
    """A symmetric sparse matrix A [n, n] that multiplies x [n, d], with gradient to x alone.

    ``row_ptr`` [n + 1], ``col`` [E] int32; ``weight`` [E] float32, or None if every entry is 1.
    ``missing_loops`` [n]: 1 for the nodes of a plain graph, which has no diagonal, 0 for those of a
    diffusion view, which has one. ``sizes`` [B]: the number of nodes of each graph. With ``counts``
    [n], row j represents ``counts[j]`` nodes and the product is A diag(counts) x.
    """

    def __init__(
        self,
        row_ptr: Tensor,
        col: Tensor,
        weight: Tensor | None,
        missing_loops: Tensor,
        sizes: np.ndarray,
        counts: Tensor | None = None,
    ) -> None:
        self.row_ptr, self.col, self.missing_loops = row_ptr, col, missing_loops
        values = torch.ones_like(col, dtype=torch.float32) if weight is None else weight
        if counts is None:
            self.matrix = self.transposed = self._matrix(values)
        else:
            lengths = (row_ptr[1:] - row_ptr[:-1]).long()
            self.matrix = self._matrix(values * counts[col])
            self.transposed = self._matrix(values * counts.repeat_interleave(lengths))
        runs = runs_of_equal_size(sizes)
        self._runs = runs if worth_dense_blocks(runs, len(col)) else None
        self._blocks: dict[tuple[float, torch.dtype], DenseBlocks] = {}

    def _matrix(self, values: Tensor) -> Tensor:
        size = (len(self.row_ptr) - 1,) * 2
        return torch.sparse_csr_tensor(self.row_ptr, self.col, values, size, check_invariants=False)

    @staticmethod
    def joined(operators: Sequence["AdjacencyOperator"]) -> "AdjacencyOperator":
        """Return one block-diagonal operator over the nodes of all, in order."""
        return operators[0] if len(operators) == 1 else _Joined(operators)

    def multiply(self, x: Tensor, own: float = 0.0) -> Tensor:
        """Return A x + own * x, [n, d]: the neighbours' sum, plus ``own`` times the node itself."""
        with torch.autocast(x.device.type, enabled=False):
            x = x if x.dtype == torch.float64 else x.float()
            return _SymmetricProduct.apply(x, self, own)

    def _write_product(self, x: Tensor, own: float, out: Tensor, transpose: bool) -> None:
        """Write A x + own * x, or that of the transpose, for contiguous x, into ``out``."""
        if self._runs is None:
            matrix = (self.transposed if transpose else self.matrix).to(x.dtype)
            parts = column_parts(x, len(self.col))
            if len(parts) == 1:
                torch.addmm(x, matrix, x, beta=own, out=out)
                return
            for columns in parts:
                part = x[:, columns].contiguous()
                out[:, columns] = torch.addmm(part, matrix, part, beta=own)
            return
        key = (own, x.dtype)
        if key not in self._blocks:
            self._blocks[key] = DenseBlocks(self.matrix.to(x.dtype), self._runs, own)
        is_other = transpose and self.transposed is not self.matrix
        self._blocks[key].multiply(x, out, transpose=is_other)

    def row_sums(self) -> Tensor:
        """Return the sum of each row, [n]: the (weighted) degree."""
        with torch.autocast(self.col.device.type, enabled=False):
            ones = torch.ones(len(self.row_ptr) - 1, 1, device=self.col.device)
            return (self.matrix @ ones).squeeze(1)

    def edge_index(self) -> Tensor:
        """Return (row, column) of every entry, [2, E] int64, for encoders that use an edge list."""
        lengths = (self.row_ptr[1:] - self.row_ptr[:-1]).long()
        rows = torch.arange(len(lengths), device=self.col.device).repeat_interleave(lengths)
        return torch.stack([rows, self.col.long()])

    def edge_weight(self) -> Tensor:
        """Return the weight of every entry, [E], 1 if unweighted."""
        return self.matrix.values()


class _Joined(AdjacencyOperator):
    """Several operators as one: each multiplies its own rows."""

    def __init__(self, operators: Sequence[AdjacencyOperator]) -> None:
        self.operators = operators
        self.lengths = [len(operator.missing_loops) for operator in operators]
        self.missing_loops = torch.cat([operator.missing_loops for operator in operators])

    def _write_product(self, x: Tensor, own: float, out: Tensor, transpose: bool) -> None:
        parts = zip(self.operators, x.split(self.lengths), out.split(self.lengths), strict=True)
        for operator, rows, result in parts:
            operator._write_product(rows, own, result, transpose)

    def row_sums(self) -> Tensor:
        return torch.cat([operator.row_sums() for operator in self.operators])

    def edge_index(self) -> Tensor:
        starts = np.cumsum([0, *self.lengths[:-1]])
        parts = zip(self.operators, starts, strict=True)
        return torch.cat([operator.edge_index() + int(start) for operator, start in parts], dim=1)

    def edge_weight(self) -> Tensor:
        return torch.cat([operator.edge_weight() for operator in self.operators])


def _product(operator: AdjacencyOperator, x: Tensor, own: float, *, transpose: bool) -> Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    operator._write_product(x, own, out, transpose)
    return out


class _SymmetricProduct(torch.autograd.Function):
    """A x + own x: the gradient with respect to x is A^T g + own g, for symmetric A the same."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, operator: AdjacencyOperator, own: float) -> Tensor:
        ctx.operator, ctx.own = operator, own
        return _product(operator, x, own, transpose=False)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _product(ctx.operator, gradients[0], ctx.own, transpose=True), None, None
