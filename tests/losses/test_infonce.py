from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from igsd.losses.consistency import consistency
from igsd.losses.infonce import infonce
from tests.reference import losses as reference


def table_of(num_rows: int, num_columns: int | None = None, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    shape = (num_rows, num_columns or num_rows)
    return 8 * torch.rand(shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("temperature", [1.0, 0.2, 3.0])
@pytest.mark.parametrize(("num_rows", "num_columns", "offset"), [(1, 1, 0), (5, 5, 0), (3, 8, 4)])
def test_equals_the_plain_loop(
    num_rows: int, num_columns: int, offset: int, temperature: float
) -> None:
    table = table_of(num_rows, num_columns)
    expected = reference.infonce(table.tolist(), temperature, offset)
    assert infonce(table, temperature, offset=offset).item() == pytest.approx(expected, rel=1e-12)


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


def test_gathered_columns_equal_the_joint_batch() -> None:
    # Three processes hold 2, 2 and 1 rows of one batch; each sees all columns.
    table = table_of(5)
    parts = [(0, 2), (2, 4), (4, 5)]
    sums = [infonce(table[start:stop], 0.2, offset=start) * (stop - start) for start, stop in parts]
    torch.testing.assert_close(sum(sums) / 5, infonce(table, 0.2))


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
