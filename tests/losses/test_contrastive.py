from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from igsd.losses.contrastive import barlow, consistency, cross_correlation, infonce, ntxent
from tests.losses.two_views import (
    assert_neither_order_counts,
    has_the_right_gradient,
    values_over_20_steps,
    views,
)
from tests.reference import contrast
from tests.reference import losses as reference


def four(num_rows: int, num_columns: int, dim: int = 5, seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [
        torch.randn(rows, dim, generator=generator, dtype=torch.float64)
        for rows in (num_rows, num_rows, num_columns, num_columns)
    ]


@pytest.mark.parametrize(("num_rows", "num_columns"), [(1, 1), (4, 4), (3, 7)])
def test_equals_the_plain_loop(num_rows: int, num_columns: int) -> None:
    inputs = four(num_rows, num_columns)
    exact = torch.tensor(reference.consistency(*(t.tolist() for t in inputs)), dtype=torch.float64)
    torch.testing.assert_close(consistency(*inputs), exact, rtol=1e-12, atol=1e-12)


def test_known_values() -> None:
    e = torch.eye(2)
    assert consistency(e, e, e, e).tolist() == [[0.0, 4.0], [4.0, 0.0]]
    assert consistency(e, e, -e, -e).diagonal().tolist() == [8.0, 8.0]


def test_views_are_compared_crosswise() -> None:
    # p_i meets z'_j and p'_i meets z_j, never p_i with z_j.
    a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    assert consistency(a, b, b, a).item() == 0.0
    assert consistency(a, b, a, b).item() == 4.0


def test_length_of_the_vectors_does_not_count() -> None:
    p, p_view, z, z_view = four(4, 4)
    torch.testing.assert_close(
        consistency(3 * p, 0.1 * p_view, 7 * z, 2 * z_view), consistency(p, p_view, z, z_view)
    )


def test_values_lie_between_0_and_8() -> None:
    table = consistency(*four(20, 20, dim=2))
    assert table.min() >= -1e-12
    assert table.max() <= 8 + 1e-12


def test_zero_vector_gives_a_finite_value() -> None:
    # A dead ReLU network projects everything to 0; that must not become NaN.
    zero = torch.zeros(2, 3, requires_grad=True)
    table = consistency(zero, zero, torch.ones(2, 3), torch.ones(2, 3))
    table.sum().backward()
    assert torch.isfinite(table).all()
    assert torch.isfinite(zero.grad).all()


def table_of(num_rows: int) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return 8 * torch.rand((num_rows, num_rows), generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("temperature", [1.0, 0.2, 3.0])
@pytest.mark.parametrize("num_rows", [1, 5])
def test_equals_the_plain_loop_infonce(num_rows: int, temperature: float) -> None:
    table = table_of(num_rows)
    expected = reference.infonce(table.tolist(), temperature)
    assert infonce(table, temperature).item() == pytest.approx(expected, rel=1e-12)


def test_the_temperature_of_the_paper_is_the_default() -> None:
    table = table_of(4)
    assert infonce(table) == infonce(table, 1.0)


def test_one_graph_has_no_negatives_and_no_loss() -> None:
    assert infonce(torch.tensor([[3.0]]), 0.2).item() == 0.0


def test_orthogonal_matches() -> None:
    # Own distance 0, all others 4: -log(1 / (1 + (B - 1) e^(-4 / temperature))).
    eye = torch.eye(6, dtype=torch.float64)
    loss = infonce(consistency(eye, eye, eye, eye), 0.5)
    assert loss.item() == pytest.approx(math.log(1 + 5 * math.exp(-8)), rel=1e-12)


def test_collapsed_vectors_give_the_logarithm_of_the_batch() -> None:
    ones = torch.ones(7, 3, dtype=torch.float64)
    assert infonce(consistency(ones, ones, ones, ones)).item() == pytest.approx(math.log(7))


def test_finite_at_temperature_0_01() -> None:
    generator = torch.Generator().manual_seed(0)
    p = torch.randn(16, 4, generator=generator, requires_grad=True)
    z = -p.detach()  # the worst case: every own pair is as far apart as can be
    loss = infonce(consistency(p, p, z, z), 0.01)
    loss.backward()
    assert torch.isfinite(loss)
    assert torch.isfinite(p.grad).all()


@given(order=st.permutations(range(6)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_batch_does_not_count(order: list[int]) -> None:
    table = table_of(6)
    torch.testing.assert_close(infonce(table[order][:, order], 0.3), infonce(table, 0.3))


def test_falls_over_20_steps() -> None:
    generator = torch.Generator().manual_seed(0)
    p, p_view = (torch.randn(8, 6, generator=generator).requires_grad_() for _ in range(2))
    z, z_view = (torch.randn(8, 6, generator=generator) for _ in range(2))
    optimizer = torch.optim.Adam([p, p_view], lr=0.1)
    values = []
    for _ in range(20):
        loss = infonce(consistency(p, p_view, z, z_view), 0.5)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < 0.5 * values[0]


def test_gradient_equals_finite_differences() -> None:
    table = table_of(3).requires_grad_()
    assert torch.autograd.gradcheck(lambda t: infonce(t, 0.7), (table,))


@pytest.mark.parametrize("temperature", [1.0, 0.2])
@pytest.mark.parametrize("rows", [2, 3, 7])
def test_equals_the_plain_loop_ntxent(rows: int, temperature: float) -> None:
    a, b = views(rows)
    expected = contrast.ntxent(a.tolist(), b.tolist(), temperature)
    assert ntxent(a, b, temperature).item() == pytest.approx(expected, rel=1e-12)


def test_collapsed_vectors_give_the_logarithm_of_the_others() -> None:
    ones = torch.ones(7, 3, dtype=torch.float64)
    assert ntxent(ones, ones, 0.2).item() == pytest.approx(math.log(6))


def test_orthogonal_matches_ntxent() -> None:
    # Own similarity 1, all others 0: -log(e^(1 / temperature) / (B - 1)).
    eye = torch.eye(5, dtype=torch.float64)
    assert ntxent(eye, eye, 0.5).item() == pytest.approx(math.log(4) - 2)


def test_one_graph_has_no_others_and_no_loss() -> None:
    a, b = (view[:1].requires_grad_() for view in views())
    loss = ntxent(a, b, 0.2)
    loss.backward()
    assert loss.item() == 0.0
    assert torch.isfinite(a.grad).all()


def test_finite_at_temperature_0_01_ntxent() -> None:
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


def test_falls_over_20_steps_ntxent() -> None:
    values = values_over_20_steps(lambda x, y: ntxent(x, y, 0.5), 8, 6)
    assert values[-1] < values[0] - 1


def test_gradient_equals_finite_differences_ntxent() -> None:
    assert has_the_right_gradient(lambda x, y: ntxent(x, y, 0.7), 3, 3)


@pytest.mark.parametrize(("rows", "dim"), [(1, 1), (5, 3), (8, 6)])
@pytest.mark.parametrize("weight", [0.0, 0.25, 1.0])
def test_equals_the_plain_loop_barlow(rows: int, dim: int, weight: float) -> None:
    a, b = views(rows, dim)
    expected = contrast.barlow(a.tolist(), b.tolist(), weight)
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
def test_neither_order_counts_barlow(order: list[int]) -> None:
    assert_neither_order_counts(lambda x, y: barlow(x, y, 0.3), order)


def test_falls_over_20_steps_barlow() -> None:
    values = values_over_20_steps(lambda x, y: barlow(x, y, 0.25), 16, 4)
    assert values[-1] < 0.2 * values[0]


def test_gradient_equals_finite_differences_barlow() -> None:
    assert has_the_right_gradient(lambda x, y: barlow(x, y, 0.7), 4, 3)
