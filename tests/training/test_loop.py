from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from igsd.errors import ConfigError, TrainingError
from igsd.settings.igsd import Config
from igsd.training.loop import (
    RandomStream,
    draws,
    epoch_logger,
    make_adam,
    run_training,
    set_up,
    trainable,
)
from igsd.training.ranks import make_fabric


def test_no_folder_no_logger() -> None:
    assert epoch_logger(None) is None


def test_without_the_extra_the_way_out_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tensorboard", None)
    with pytest.raises(ConfigError, match=r"igsd\[tensorboard\]"):
        epoch_logger(tmp_path)


def test_writes_curves(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="needs the extra igsd[tensorboard]")
    write = epoch_logger(tmp_path)
    assert write is not None
    write({"epoch": 0.0, "total": 1.5})
    assert any(tmp_path.iterdir())


class Writer:
    """Stands in for TensorBoard's writer and keeps what it is told."""

    def __init__(self) -> None:
        self.calls: list[object] = []

    def add_scalar(self, name: str, value: float, step: int) -> None:
        self.calls.append((name, value, step))

    def flush(self) -> None:
        self.calls.append("flush")

    def close(self) -> None:
        self.calls.append("close")


def test_curves_have_names_and_the_file_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    writer = Writer()
    monkeypatch.setattr("torch.utils.tensorboard.SummaryWriter", lambda folder: writer)
    log = epoch_logger("somewhere")
    assert log is not None
    log({"epoch": 2.0, "total": 1.5, "eval_accuracy": 0.75})
    curves = [("loss/total", 1.5, 2), ("eval/accuracy", 0.75, 2)]
    assert writer.calls == [*curves, "flush"]
    del log
    assert writer.calls[-1] == "close"


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
    return run_training(task, optimizer, fabric, RandomStream(0), **others).history


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


def test_the_seed_holds_inside_and_the_callers_state_comes_back() -> None:
    before = torch.random.get_rng_state()
    drawn = []
    for seed in (3, 3, 4):
        with RandomStream(seed):
            drawn.append(torch.rand(2).tolist())
    assert drawn[0] == drawn[1] != drawn[2]
    assert torch.equal(torch.random.get_rng_state(), before)


def test_a_device_that_is_not_there() -> None:
    config = Config().updated({"accelerator": "abacus"})
    with pytest.raises(TrainingError, match="accelerator='abacus'"):
        make_fabric(config)


def test_module_and_optimiser_are_set_up_with_the_groups_given() -> None:
    config = Config(learning_rate=0.5, weight_decay=0.25)
    module = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    groups = [{"params": list(part.parameters()), "share": 0.5} for part in module]
    fabric = make_fabric(config)
    fabric.launch()
    forward, optimizer = set_up(module, fabric, config, groups)
    for group, part in zip(optimizer.param_groups, module, strict=True):
        assert (group["lr"], group["weight_decay"], group["share"]) == (0.5, 0.25, 0.5)
        assert [p.shape for p in group["params"]] == [p.shape for p in part.parameters()]
    assert forward(torch.zeros(3, 2)).shape == (3, 1)


def test_a_stream_goes_on_where_it_stopped() -> None:
    with RandomStream(3):
        whole = torch.rand(4).tolist()
    stream = RandomStream(3)
    parts = []
    for _ in range(2):
        torch.rand(7)  # somebody else draws in between
        with stream:
            parts += torch.rand(2).tolist()
    assert parts == whole


@pytest.mark.parametrize(
    ("module", "expected"),
    [(nn.Dropout(0.5), True), (nn.Dropout(0.0), False), (nn.Linear(2, 2), False)],
)
def test_what_draws(module: nn.Module, expected: bool) -> None:
    assert draws(nn.Sequential(nn.Linear(2, 2), module)) is expected


def test_a_module_of_ones_own_may_draw() -> None:
    class Own(nn.Module):
        pass

    assert draws(Own())
