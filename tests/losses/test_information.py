from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from igsd.losses.contrastive import jsd, local_global_jsd
from tests.reference import losses as reference


def scores_of(rows: int, columns: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return 3 * torch.randn(rows, columns, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (4, 4), (7, 3)])
def test_equals_the_plain_loop(rows: int, columns: int) -> None:
    scores = scores_of(rows, columns)
    positives = torch.arange(rows).unsqueeze(1) % columns == torch.arange(columns)
    expected = reference.jsd(scores.tolist(), positives.tolist())
    assert jsd(scores, positives).item() == pytest.approx(expected, rel=1e-12)


def test_scores_of_zero_say_nothing() -> None:
    assert jsd(torch.zeros(3, 3), torch.eye(3, dtype=torch.bool)).item() == pytest.approx(0.0)


def test_its_smallest_value() -> None:
    eye = torch.eye(4, dtype=torch.bool)
    assert jsd(200.0 * eye - 100.0, eye).item() == pytest.approx(-2 * math.log(2))


def test_finite_for_large_scores() -> None:
    scores = (1e4 * scores_of(5, 5).float()).requires_grad_()
    jsd(scores, torch.eye(5, dtype=torch.bool)).backward()
    assert torch.isfinite(scores.grad).all()


def test_nodes_fit_their_own_graph() -> None:
    nodes, graphs = scores_of(6, 4), scores_of(3, 4, seed=1)
    batch = torch.tensor([0, 0, 1, 2, 2, 2])
    table = [[sum(a * b for a, b in zip(n, g, strict=True)) for g in graphs] for n in nodes]
    own = [[bool(batch[n] == g) for g in range(3)] for n in range(6)]
    expected = reference.jsd([[float(v) for v in row] for row in table], own)
    assert local_global_jsd(nodes, graphs, batch).item() == pytest.approx(expected, rel=1e-8)


def test_falls_over_20_steps() -> None:
    nodes, graphs = scores_of(8, 4).requires_grad_(), scores_of(4, 4, seed=1).requires_grad_()
    batch = torch.arange(8) // 2
    optimizer = torch.optim.Adam([nodes, graphs], lr=0.1)
    values = []
    for _ in range(20):
        loss = local_global_jsd(nodes, graphs, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < values[0] - 1
