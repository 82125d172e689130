from __future__ import annotations

import math

import pytest
import torch

from igsd.losses.supervised import supervised


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
