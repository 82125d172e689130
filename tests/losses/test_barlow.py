from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from igsd.losses.barlow import barlow, cross_correlation
from tests.reference import contrast as reference


def views(rows: int = 6, dim: int = 4, seed: int = 0) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    made = torch.randn(2, rows, dim, generator=generator, dtype=torch.float64)
    return made[0], made[1]


@pytest.mark.parametrize(("rows", "dim"), [(1, 1), (5, 3), (8, 6)])
@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_equals_the_plain_loop(rows: int, dim: int, weight: float) -> None:
    a, b = views(rows, dim)
    expected = reference.barlow(a.tolist(), b.tolist(), weight)
    assert barlow(a, b, weight).item() == pytest.approx(expected, rel=1e-10)


def test_correlations_lie_between_minus_one_and_one() -> None:
    a, b = views(50)
    assert cross_correlation(a, b).abs().max() < 1
    for sign in (1.0, -1.0):
        own = cross_correlation(a, sign * a).diagonal()
        assert own.tolist() == pytest.approx([sign] * 4, abs=1e-4)


def test_equal_views_without_repetition_cost_nothing() -> None:
    # Four graphs, two coordinates with correlation 0.
    a = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], dtype=torch.float64)
    assert barlow(a, a, 1.0).item() == pytest.approx(0.0, abs=1e-8)


def test_collapsed_vectors_cost_one_a_coordinate() -> None:
    ones = torch.ones(7, 3, requires_grad=True)
    loss = barlow(ones, ones, 1.0)
    loss.backward()
    assert loss.item() == pytest.approx(3.0)
    assert torch.isfinite(ones.grad).all()


@given(order=st.permutations(range(6)))
@settings(max_examples=20, deadline=None)
def test_neither_order_counts(order: list[int]) -> None:
    a, b = views()
    torch.testing.assert_close(barlow(a[order], b[order], 0.3), barlow(a, b, 0.3))
    torch.testing.assert_close(barlow(b, a, 0.3), barlow(a, b, 0.3))


def test_falls_over_20_steps() -> None:
    a, b = (view.requires_grad_() for view in views(16, 4))
    optimizer = torch.optim.Adam([a, b], lr=0.1)
    values = []
    for _ in range(20):
        loss = barlow(a, b, 0.25)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < 0.2 * values[0]


def test_gradient_equals_finite_differences() -> None:
    a, b = (view.requires_grad_() for view in views(4, 3))
    assert torch.autograd.gradcheck(lambda x, y: barlow(x, y, 0.7), (a, b))
