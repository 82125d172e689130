from __future__ import annotations

import math
from itertools import combinations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from igsd.losses.contrastive import consistency
from igsd.losses.labels import pair_weights, shares_entropy, supcon, supervised
from tests.reference import losses as reference


def test_classes() -> None:
    logits = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0]])
    expected = -(math.log(0.5) + math.log(0.75)) / 2
    assert supervised(logits, torch.tensor([0, 0])).item() == pytest.approx(expected)


def test_numbers_that_are_not_known_are_left_out() -> None:
    nan = float("nan")
    outputs = torch.tensor([[1.0, 5.0], [2.0, 7.0]], requires_grad=True)
    loss = supervised(outputs, torch.tensor([[0.0, nan], [4.0, 6.0]]))
    assert loss.item() == pytest.approx((1 + 4 + 1) / 3)
    loss.backward()
    assert outputs.grad.tolist() == [
        [pytest.approx(2 / 3), 0.0],
        [pytest.approx(-4 / 3), pytest.approx(2 / 3)],
    ]


def test_nothing_known() -> None:
    outputs = torch.ones(2, 1, requires_grad=True)
    loss = supervised(outputs, torch.full((2, 1), float("nan")))
    loss.backward()
    assert loss.item() == 0.0
    assert outputs.grad.tolist() == [[0.0], [0.0]]


def test_shares() -> None:
    outputs = torch.tensor([[0.0, 0.0], [math.log(3.0), 0.0], [1.0, 2.0]])
    shares = torch.tensor([[0.5, 0.5], [0.25, 0.75], [0.0, 0.0]])
    expected = [math.log(2), -0.25 * math.log(0.75) - 0.75 * math.log(0.25), 0.0]
    assert shares_entropy(outputs, shares).tolist() == pytest.approx(expected)


def test_one_share_is_a_class() -> None:
    outputs = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))
    rows = shares_entropy(outputs, torch.nn.functional.one_hot(LABELS, 3).float())
    torch.testing.assert_close(rows.mean(), supervised(outputs, LABELS))


LABELS = torch.tensor([0, 1, 0, 2, 1, 0])


def vectors(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


class Rows:
    """Predictions and projections of some graphs and of K views of each."""

    def __init__(self, num_graphs: int, num_views: int) -> None:
        self.p, self.z = vectors(num_graphs, 4, seed=1), vectors(num_graphs, 4, seed=2)
        self.p_views = vectors(num_views, num_graphs, 4, seed=3)
        self.z_views = vectors(num_views, num_graphs, 4, seed=4)

    def table(self, chosen: list[int]) -> Tensor:
        """Return L_con of all pairs (graph, view), the first view first."""
        copies = len(self.p_views)
        p, z = (rows[chosen].repeat(copies, 1) for rows in (self.p, self.z))
        p_view, z_view = (rows[:, chosen].flatten(0, 1) for rows in (self.p_views, self.z_views))
        return consistency(p, p_view, z, z_view)

    def expected(self, labels: Tensor) -> float:
        """Return the plain sum over all of them."""
        columns = (self.p, self.p_views, self.z, self.z_views)
        return reference.supcon(*(c.tolist() for c in columns), labels.tolist())


@pytest.mark.parametrize("num_views", [1, 2, 3])
def test_the_whole_set_equals_the_plain_double_loop(num_views: int) -> None:
    rows, counts = Rows(6, num_views), LABELS.bincount()
    expected = rows.expected(LABELS)
    options = {"num_views": num_views}
    table = rows.table(list(range(6)))
    found = supcon(table, LABELS, counts, reduction="sum", **options)
    assert found.item() == pytest.approx(expected, rel=1e-12)
    found = supcon(table, LABELS, counts, **options)
    assert found.item() == pytest.approx(expected / (num_views * 6), rel=1e-12)
    # A batch that holds everything weighs every pair by 1.
    weights = pair_weights(torch.zeros(6, dtype=torch.int64), torch.tensor([6]), torch.tensor([6]))
    torch.testing.assert_close(supcon(table, LABELS, counts, weights=weights, **options), found)


@pytest.mark.parametrize("num_views", [1, 2])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_mean_over_all_batches_is_the_whole_set(size: int, num_views: int) -> None:
    rows, counts = Rows(6, num_views), LABELS.bincount()
    weights = pair_weights(
        torch.zeros(size, dtype=torch.int64), torch.tensor([size]), torch.tensor([6])
    )
    values = [
        supcon(
            rows.table(list(batch)),
            LABELS[list(batch)],
            counts,
            num_views=num_views,
            weights=weights,
        )
        for batch in combinations(range(6), size)
    ]
    expected = rows.expected(LABELS) / (num_views * 6)
    assert torch.stack(values).mean().item() == pytest.approx(expected, rel=1e-12)


def test_the_mean_over_batches_of_two_pools_is_the_whole_set() -> None:
    # Two of the three graphs with a label meet two of the three with a pseudo-label.
    rows, counts = Rows(6, 2), LABELS.bincount()
    weights = pair_weights(torch.tensor([0, 0, 1, 1]), torch.tensor([2, 2]), torch.tensor([3, 3]))
    values = []
    for first in combinations(range(3), 2):
        for second in combinations(range(3, 6), 2):
            chosen = [*first, *second]
            table = rows.table(chosen)
            values.append(supcon(table, LABELS[chosen], counts, num_views=2, weights=weights))
    expected = rows.expected(LABELS) / 12
    assert torch.stack(values).mean().item() == pytest.approx(expected, rel=1e-12)


def test_weights_are_inverse_chances() -> None:
    weights = pair_weights(torch.tensor([0, 0, 1]), torch.tensor([2, 1]), torch.tensor([4, 5]))
    apart, across, alone = 4 * 3 / (2 * 1), (4 / 2) * (5 / 1), 4 / 2
    expected = torch.tensor(
        [[alone, apart, across], [apart, alone, across], [across, across, 5.0]]
    ).double()
    torch.testing.assert_close(weights, expected)


def test_weights_where_a_pool_is_empty() -> None:
    weights = pair_weights(torch.tensor([0, 0]), torch.tensor([2, 0]), torch.tensor([2, 0]))
    assert torch.equal(weights, torch.ones(2, 2).double())


def test_a_class_of_one_graph_has_nothing_to_pull() -> None:
    labels = torch.tensor([0, 1, 2])
    assert supcon(vectors(3, 3).abs(), labels, labels.bincount()).item() == 0.0


def test_only_graphs_of_one_class_are_pulled() -> None:
    table = torch.tensor([[9.0, 1.0, 5.0], [2.0, 9.0, 5.0], [5.0, 5.0, 9.0]])
    labels = torch.tensor([0, 0, 1])
    # (1 + 2) / N_0 = 1.5, divided by the three graphs.
    assert supcon(table, labels, labels.bincount()).item() == pytest.approx(0.5)


@given(order=st.permutations(range(6)))
@settings(max_examples=20, deadline=None)
def test_the_order_of_the_batch_does_not_count(order: list[int]) -> None:
    table, counts = Rows(6, 1).table(list(range(6))), LABELS.bincount()
    found = supcon(table[order][:, order], LABELS[order], counts)
    torch.testing.assert_close(found, supcon(table, LABELS, counts))


def test_falls_over_20_steps() -> None:
    p, p_view = (vectors(6, 5, seed=s).requires_grad_() for s in (1, 2))
    z, z_view = vectors(6, 5, seed=3), vectors(6, 5, seed=4)
    optimizer = torch.optim.Adam([p, p_view], lr=0.1)
    values = []
    for _ in range(20):
        loss = supcon(consistency(p, p_view, z, z_view), LABELS, LABELS.bincount())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < 0.7 * values[0]
