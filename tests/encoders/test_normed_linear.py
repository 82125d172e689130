from __future__ import annotations

import pytest
import torch
from torch import nn

from igsd.encoders.normed_linear import normed_linear


@pytest.mark.parametrize("bias", [True, False])
def test_equals_the_two_one_after_the_other(bias: bool) -> None:
    torch.manual_seed(0)
    layer, norm = nn.Linear(3, 4, bias=bias), nn.BatchNorm1d(4)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    for _ in range(3):
        norm(layer(torch.randn(10, 3)))
    both, x = nn.ModuleList([layer, norm]).eval(), torch.randn(6, 3)
    with torch.no_grad():
        torch.testing.assert_close(normed_linear(*both, x), norm(layer(x)))


def test_training_sees_the_batch() -> None:
    torch.manual_seed(0)
    layer, norm, x = nn.Linear(3, 4), nn.BatchNorm1d(4), torch.randn(10, 3)
    torch.testing.assert_close(normed_linear(layer, norm, x).mean(0), torch.zeros(4))
    assert norm.num_batches_tracked == 1


def test_without_batch_norm() -> None:
    layer, x = nn.Linear(3, 4).eval(), torch.randn(2, 3)
    assert torch.equal(normed_linear(layer, nn.Identity(), x), layer(x))
