from __future__ import annotations

import pytest
import torch

from igsd.losses.consistency import consistency
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
