from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from igsd.config import Config
from igsd.errors import TrainingError
from igsd.training.loop import run_training, trainable
from igsd.training.start import make_fabric


class Parabola:
    """A task of one number x: two steps an epoch, loss (x - 3)^2."""

    def __init__(self, epochs: int = 3) -> None:
        self.epochs = epochs
        self.module = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(self.module.weight)
        self.calls: list[Any] = []

    def num_steps(self, epoch: int) -> int:
        return 2

    def losses(self, epoch: int, step: int) -> dict[str, Tensor]:
        self.calls.append((epoch, step))
        loss = (self.module.weight - 3).square().sum()
        return {"total": loss, "half": loss.detach() / 2}

    def after_step(self) -> None:
        self.calls.append("after")


def train(task: Parabola, **others: Any) -> list[dict[str, float]]:
    fabric = make_fabric(Config())
    optimizer = torch.optim.SGD(task.module.parameters(), lr=0.25)
    return run_training(task, optimizer, fabric, **others).history


def test_steps_and_history() -> None:
    task, epochs = Parabola(2), []
    history = train(task, on_epoch=lambda entry: epochs.append(dict(entry)))
    # x = 0, 1.5, 2.25, 2.625: halfway to 3 at every step.
    assert task.calls == [(0, 0), "after", (0, 1), "after", (1, 0), "after", (1, 1), "after"]
    assert history == [
        {"epoch": 0.0, "total": (9 + 2.25) / 2, "half": (9 + 2.25) / 4},
        {"epoch": 1.0, "total": (0.5625 + 0.140625) / 2, "half": (0.5625 + 0.140625) / 4},
    ]
    assert epochs == history
    assert not task.module.training


def test_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    whole = Parabola(4)
    history = train(whole)
    stopped = Parabola(4)
    real = stopped.losses

    def losses(epoch: int, step: int) -> dict[str, Tensor]:
        if (epoch, step) == (2, 1):
            raise RuntimeError("power cut")
        return real(epoch, step)

    stopped.losses = losses  # type: ignore[method-assign]
    with pytest.raises(RuntimeError, match="power cut"):
        train(stopped, checkpoint=tmp_path / "c", checkpoint_every=1)
    rest = Parabola(4)
    assert train(rest, checkpoint=tmp_path / "c") == history
    assert rest.calls[0] == (2, 1)
    assert torch.equal(rest.module.weight, whole.module.weight)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_not_finite_says_where(value: float) -> None:
    task = Parabola()
    task.losses = lambda epoch, step: {"total": torch.tensor(value)}  # type: ignore[method-assign]
    with pytest.raises(TrainingError, match=r"epoch 0, step 0.*learning_rate"):
        train(task)


def test_trainable_leaves_out_the_frozen() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    module[1].requires_grad_(False)
    assert [p.shape for p in trainable(module)] == [torch.Size([2, 2]), torch.Size([2])]
