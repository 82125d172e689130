from __future__ import annotations

import pytest
import torch
from torch import nn

from igsd.config import Config
from igsd.errors import TrainingError
from igsd.training.start import seeded_fabric, set_up


def test_the_seed_holds_inside_and_the_callers_state_comes_back() -> None:
    before = torch.random.get_rng_state()
    drawn = []
    for seed in (3, 3, 4):
        with seeded_fabric(Config(seed=seed)):
            drawn.append(torch.rand(2).tolist())
    assert drawn[0] == drawn[1] != drawn[2]
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_device_that_is_not_there() -> None:
    config = Config().updated({"accelerator": "abacus"})
    with pytest.raises(TrainingError, match="accelerator='abacus'"), seeded_fabric(config):
        pass


def test_the_optimiser_has_what_takes_a_gradient_or_the_groups_it_is_given() -> None:
    config = Config(learning_rate=0.5, weight_decay=0.25)
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    module[1].requires_grad_(False)
    with seeded_fabric(config) as fabric:
        forward, optimizer = set_up(module, fabric, config)
        (group,) = optimizer.param_groups
        assert (group["lr"], group["weight_decay"]) == (0.5, 0.25)
        assert [p.shape for p in group["params"]] == [torch.Size([2, 2]), torch.Size([2])]
        assert forward(torch.zeros(3, 2)).shape == (3, 1)
        parts = [{"params": [p], "share": 0.5} for p in module[0].parameters()]
        _, optimizer = set_up(nn.Sequential(module), fabric, config, parts)
        assert [group["share"] for group in optimizer.param_groups] == [0.5, 0.5]
