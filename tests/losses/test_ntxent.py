from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.losses.ntxent import ntxent
from tests.losses.two_views import (
    assert_neither_order_counts,
    has_the_right_gradient,
    values_over_20_steps,
    views,
)
from tests.reference import contrast as reference


@pytest.mark.parametrize("temperature", [1.0, 0.2])
@pytest.mark.parametrize("rows", [2, 3, 7])
def test_equals_the_plain_loop(rows: int, temperature: float) -> None:
    a, b = views(rows)
    expected = reference.ntxent(a.tolist(), b.tolist(), temperature)
    assert ntxent(a, b, temperature).item() == pytest.approx(expected, rel=1e-12)


def test_collapsed_vectors_give_the_logarithm_of_the_others() -> None:
    ones = torch.ones(7, 3, dtype=torch.float64)
    assert ntxent(ones, ones, 0.2).item() == pytest.approx(math.log(6))


def test_orthogonal_matches() -> None:
    # Own similarity 1, all others 0: -log(e^(1 / temperature) / (B - 1)).
    eye = torch.eye(5, dtype=torch.float64)
    assert ntxent(eye, eye, 0.5).item() == pytest.approx(math.log(4) - 2)


def test_one_graph_has_no_others_and_no_loss() -> None:
    a, b = (view[:1].requires_grad_() for view in views())
    loss = ntxent(a, b, 0.2)
    loss.backward()
    assert loss.item() == 0.0
    assert torch.isfinite(a.grad).all()


def test_finite_at_temperature_0_01() -> None:
    a = views(16)[0].float().requires_grad_()
    loss = ntxent(a, -a.detach(), 0.01)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(a.grad).all()


@given(order=st.permutations(range(6)))
@settings(max_examples=20, deadline=None)
def test_neither_order_counts(order: list[int]) -> None:
    assert_neither_order_counts(lambda x, y: ntxent(x, y, 0.3), order)


def test_lengths_do_not_count() -> None:
    a, b = views()
    torch.testing.assert_close(ntxent(3 * a, 0.5 * b, 0.2), ntxent(a, b, 0.2))


def test_falls_over_20_steps() -> None:
    values = values_over_20_steps(lambda x, y: ntxent(x, y, 0.5), 8, 6)
    assert values[-1] < values[0] - 1


def test_gradient_equals_finite_differences() -> None:
    assert has_the_right_gradient(lambda x, y: ntxent(x, y, 0.7), 3, 3)
