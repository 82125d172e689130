"""A batch over several processes: sums and rows of all of them, with gradient.

Every process computes the loss of the joint batch. The gradient of what it contributes is the sum
over all of them, and gradients of weights are averaged, so the weights get exactly the gradient
that one process with the joint batch would give them.
"""

from typing import Any

import torch
from torch import Tensor, distributed


def num_processes() -> int:
    """Return how many processes share the joint batch."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


def summed(x: Tensor) -> Tensor:
    """Return the sum of a tensor over all processes, with gradient."""
    return x if num_processes() == 1 else _Sum.apply(x)


def lengths(rows: Tensor) -> list[int]:
    """Return how many rows each process has."""
    counts = torch.zeros(num_processes(), dtype=torch.int64, device=rows.device)
    counts[distributed.get_rank()] = len(rows)
    distributed.all_reduce(counts)
    return [int(count) for count in counts]


def gathered(rows: Tensor, counts: list[int] | None = None) -> tuple[Tensor, int]:
    """Return (the rows of all processes, in order, with gradient; where ours begin).

    ``counts``: the ``lengths`` of the rows, if they are known.
    """
    if num_processes() == 1:
        return rows, 0
    counts = counts or lengths(rows)
    padding = rows.new_zeros(max(counts) - len(rows), *rows.shape[1:])
    parts = _Gather.apply(torch.cat([rows, padding]))
    joined = torch.cat([part[:count] for part, count in zip(parts, counts, strict=True)])
    return joined, sum(counts[: distributed.get_rank()])


def _total(x: Tensor) -> Tensor:
    total = x.clone()
    distributed.all_reduce(total)
    return total


class _Sum(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        return _total(x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _total(gradients[0])


class _Gather(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: Tensor) -> Tensor:
        parts = [torch.empty_like(rows) for _ in range(num_processes())]
        distributed.all_gather(parts, rows.contiguous())
        return torch.stack(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        return _total(gradients[0])[distributed.get_rank()]
