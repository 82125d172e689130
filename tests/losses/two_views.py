"""Two views of some graphs, and what every loss that compares them must do."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

Loss = Callable[[Tensor, Tensor], Tensor]


def views(rows: int = 6, dim: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Return the vectors of two views, [rows, dim] each, drawn at random."""
    generator = torch.Generator().manual_seed(seed)
    made = torch.randn(2, rows, dim, generator=generator, dtype=torch.float64)
    return made[0], made[1]


def assert_neither_order_counts(loss: Loss, order: list[int]) -> None:
    """Check that graphs may come in any order, and either view first."""
    a, b = views(len(order))
    torch.testing.assert_close(loss(a[order], b[order]), loss(a, b))
    torch.testing.assert_close(loss(b, a), loss(a, b))


def values_over_20_steps(loss: Loss, rows: int, dim: int) -> list[float]:
    """Return the loss before each of twenty steps of Adam on both views."""
    a, b = (view.requires_grad_() for view in views(rows, dim))
    optimizer = torch.optim.Adam([a, b], lr=0.1)
    values = []
    for _ in range(20):
        value = loss(a, b)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        values.append(value.item())
    return values


def has_the_right_gradient(loss: Loss, rows: int, dim: int) -> bool:
    """Say whether the gradient equals finite differences."""
    return torch.autograd.gradcheck(loss, tuple(view.requires_grad_() for view in views(rows, dim)))
