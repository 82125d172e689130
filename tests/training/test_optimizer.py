from __future__ import annotations

import torch
from torch import nn

from igsd.training.optimizer import make_adam


def steps(optimizer: torch.optim.Optimizer, weight: nn.Parameter) -> torch.Tensor:
    for _ in range(5):
        optimizer.zero_grad()
        (weight**2).sum().backward()
        optimizer.step()
    return weight.detach().clone()


def test_equals_plain_adam() -> None:
    one, two = (nn.Parameter(torch.tensor([1.0, -2.0, 3.0])) for _ in range(2))
    plain = torch.optim.Adam([two], lr=0.1, weight_decay=0.01, fused=False, foreach=False)
    torch.testing.assert_close(steps(make_adam([one], 0.1, 0.01), one), steps(plain, two))


def test_a_device_without_the_fused_kernel(monkeypatch) -> None:
    plain = torch.optim.Adam

    def without_fused(parameters, lr, **options):
        if options.pop("fused", False):
            raise RuntimeError("no fused kernel here")
        return plain(parameters, lr, **options)

    monkeypatch.setattr(torch.optim, "Adam", without_fused)
    weight = nn.Parameter(torch.ones(1))
    assert isinstance(make_adam([weight], 0.1), plain)
