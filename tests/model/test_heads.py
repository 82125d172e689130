from __future__ import annotations

import pytest
import torch
from torch import nn

from igsd.model.igsd import MLPHead


def test_is_two_layers_with_a_relu_between() -> None:
    head = MLPHead(3, 5, 2, batch_norm=False).double()
    x = torch.randn(4, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    first, second = (m for m in head if isinstance(m, nn.Linear))
    hidden = (x @ first.weight.T + first.bias).clamp_min(0)
    torch.testing.assert_close(head(x), hidden @ second.weight.T + second.bias)


@pytest.mark.parametrize("batch_norm", [True, False])
def test_batch_norm_is_a_setting(batch_norm: bool) -> None:
    head = MLPHead(3, 5, 2, batch_norm=batch_norm)
    assert any(isinstance(m, nn.BatchNorm1d) for m in head.modules()) == batch_norm
    assert head.out_dim == 2
