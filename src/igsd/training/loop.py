"""The one training loop: steps, checkpoints, history. What a step learns is the task's business."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from lightning_fabric import Fabric
from torch import Tensor, nn

from igsd.errors import TrainingError
from igsd.progress import progress_bar
from igsd.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from igsd.training.interrupt import StopSignals
from igsd.training.memory import kept_memory


class Task(Protocol):
    """What the loop trains.

    Of the losses of a step, ``total`` is the one that is minimised; the others are only recorded.
    """

    epochs: int

    @property
    def module(self) -> nn.Module:
        """Everything that is trained and saved."""

    def num_steps(self, epoch: int) -> int:
        """Return the number of steps of an epoch."""

    def losses(self, epoch: int, step: int) -> dict[str, Tensor]:
        """Return the parts of a step's loss by name."""

    def after_step(self) -> None:
        """Do what follows an optimiser step."""


def run_training(
    task: Task,
    optimizer: Any,
    fabric: Fabric,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 200,
    identity: dict[str, Any] | None = None,
    on_epoch: Callable[[dict[str, float]], None] | None = None,
    verbose: bool = False,
    title: str = "training",
    before: Sequence[dict[str, float]] = (),
) -> Progress:
    """Train to the end and return its ``history``: one dictionary of mean losses per epoch.

    With ``checkpoint`` the run continues from that file where it exists, and saves itself there
    every so many steps, at the end, and when it is told to stop. A run that was stopped and
    continued gives the same weights, bit for bit on the CPU, as one that was not. ``title``: what
    the progress bar of ``verbose`` is called. ``before``: a history that is kept with its own.
    """
    identity = identity or {}
    progress = Progress(before=list(before))
    if checkpoint is not None:
        progress = (
            load_checkpoint(checkpoint, task.module, optimizer, identity, fabric.device) or progress
        )

    def save() -> None:
        if checkpoint is not None and fabric.is_global_zero:
            save_checkpoint(checkpoint, task.module, optimizer, progress, identity, fabric.device)

    task.module.train()
    with (
        kept_memory(),
        StopSignals() as stop,
        progress_bar(title, task.epochs, shown=verbose, done=progress.epoch) as advance,
    ):
        since_saved = 0
        while progress.epoch < task.epochs:
            _one_step(task, optimizer, fabric, progress)
            since_saved += 1
            if progress.step == task.num_steps(progress.epoch):
                entry = _finish_epoch(progress)
                advance(1, "loss {:.3f}".format(entry["total"]))
                if on_epoch is not None:
                    on_epoch(entry)
            if stop.received is not None:
                save()
                raise stop.error()
            if since_saved >= checkpoint_every or progress.epoch == task.epochs:
                save()
                since_saved = 0
    task.module.eval()
    return progress


def _one_step(task: Task, optimizer: Any, fabric: Fabric, progress: Progress) -> None:
    """Make one optimiser step and count it."""
    parts = task.losses(progress.epoch, progress.step)
    # The mean over processes: one history, and all of them stop where one loss is not finite.
    values = {
        name: float(fabric.all_reduce(value.detach(), reduce_op="mean"))  # type: ignore[arg-type]
        for name, value in parts.items()
    }
    if not all(math.isfinite(value) for value in values.values()):
        raise TrainingError(
            f"The loss is no longer finite at epoch {progress.epoch}, step {progress.step}: "
            f"{values}. Try a smaller learning_rate or a higher temperature, or look for extreme "
            "values in the node attributes."
        )
    optimizer.zero_grad(set_to_none=True)
    fabric.backward(parts["total"])
    optimizer.step()
    task.after_step()
    for name, value in values.items():
        progress.sums[name] = progress.sums.get(name, 0.0) + value
    progress.step += 1


def _finish_epoch(progress: Progress) -> dict[str, float]:
    """Turn the sums of the running epoch into a line of the history and begin the next epoch."""
    entry = {"epoch": float(progress.epoch)}
    entry |= {name: value / progress.step for name, value in progress.sums.items()}
    progress.history.append(entry)
    progress.epoch, progress.step, progress.sums = progress.epoch + 1, 0, {}
    return entry


def trainable(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that take a gradient."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]
