from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.losses.barlow import barlow, cross_correlation
from tests.losses.two_views import (
    assert_neither_order_counts,
    has_the_right_gradient,
    values_over_20_steps,
    views,
)
from tests.reference import contrast as reference


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
    assert_neither_order_counts(lambda x, y: barlow(x, y, 0.3), order)


def test_falls_over_20_steps() -> None:
    values = values_over_20_steps(lambda x, y: barlow(x, y, 0.25), 16, 4)
    assert values[-1] < 0.2 * values[0]


def test_gradient_equals_finite_differences() -> None:
    assert has_the_right_gradient(lambda x, y: barlow(x, y, 0.7), 4, 3)
