"""The one training loop: steps, checkpoints, history, the device and the optimiser."""

import math
import os
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import nn

from igsd.errors import TrainingError, need
from igsd.processes import StopSignals, kept_memory
from igsd.progress import progress_bar
from igsd.settings.groups import FewLabels, Training
from igsd.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from igsd.training.task import Task

Entry = dict[str, float]
"""The figures of an epoch by name."""

ParameterGroups = list[dict[str, Any]]
"""Groups of parameters: ``params``, and their ``share`` of the learning rate."""


def epoch_logger(log_dir: str | os.PathLike[str] | None) -> Callable[[Entry], None] | None:
    """Return a function that writes an epoch's figures to TensorBoard; None without ``log_dir``.

    Losses are called ``loss/NAME``, scores ``eval/NAME``. Raises ``ConfigError`` if the extra is
    not installed.
    """
    if log_dir is None:
        return None
    need("tensorboard", "tensorboard", "Logging to TensorBoard")
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(log_dir))

    def log(entry: Entry) -> None:
        for name, value in entry.items():
            if name != "epoch":
                curve = name.replace("_", "/", 1) if name.startswith("eval_") else f"loss/{name}"
                writer.add_scalar(curve, value, int(entry["epoch"]))
        writer.flush()

    weakref.finalize(log, writer.close)
    return log


def run_training(
    task: Task,
    optimizer: Any,
    fabric: Fabric,
    *,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: int = 200,
    identity: Mapping[str, Any] | None = None,
    defaults: Mapping[str, Any] | None = None,
    on_epoch: Callable[[Entry], None] | None = None,
    verbose: bool = False,
    title: str = "training",
    before: Sequence[Entry] = (),
) -> Progress:
    """Train to the end and return the progress; its ``history`` has the mean losses of each epoch.

    Of the losses of a step, ``total`` is minimised; the others are only recorded.

    With ``checkpoint`` the run resumes from that file if it exists, and saves itself there every
    ``checkpoint_every`` steps, at the end, and when it is stopped by a signal. A resumed run gives
    the same weights as an uninterrupted one, bit for bit on the CPU. ``identity``: which run this
    is; ``defaults``: identity values that older checkpoints lack. ``title``: the label of the
    progress bar shown with ``verbose``. ``before``: the history of a pretraining, kept as well.
    """
    progress, run = Progress(before=list(before)), (identity or {}, defaults or {})
    if checkpoint is not None:
        found = load_checkpoint(checkpoint, task.module, optimizer, *run, fabric.device)
        progress = found or progress

    def save() -> None:
        if checkpoint is not None and fabric.is_global_zero:
            save_checkpoint(checkpoint, task.module, optimizer, progress, run[0], fabric.device)

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
    if fabric.world_size > 1:  # each process has running statistics of its own
        for buffer in task.module.buffers():
            buffer.copy_(fabric.broadcast(buffer))
    task.module.eval()
    return progress


def _one_step(task: Task, optimizer: Any, fabric: Fabric, progress: Progress) -> None:
    parts = task.losses(progress.epoch, progress.step)
    # The mean over processes: they share one history, and all stop if one loss is not finite.
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


def _finish_epoch(progress: Progress) -> Entry:
    """Turn the sums of the current epoch into an entry of the history and begin the next epoch."""
    entry = {"epoch": float(progress.epoch)}
    entry |= {name: value / progress.step for name, value in progress.sums.items()}
    progress.history.append(entry)
    progress.epoch, progress.step, progress.sums = progress.epoch + 1, 0, {}
    return entry


def trainable(module: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that take a gradient."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def make_adam(parameters: Any, rate: float, weight_decay: float = 0.0) -> torch.optim.Adam:
    """Return Adam for parameters, or groups of them, that are already on their device.

    A fused kernel, if the device has one, saves a few per cent of a step on the CPU.
    """
    try:
        return torch.optim.Adam(parameters, rate, weight_decay=weight_decay, fused=True)
    except RuntimeError:
        return torch.optim.Adam(parameters, rate, weight_decay=weight_decay)


def make_fabric(config: Training) -> Fabric:
    """Return a Fabric, not yet launched; raises ``TrainingError`` if the device is missing."""
    where = {key: getattr(config, key) for key in ("accelerator", "devices", "precision")}
    # With labels, some weights may be unused in a step, e.g. a projector without views.
    may_skip = config.devices > 1 and isinstance(config, FewLabels)
    strategy = "ddp_find_unused_parameters_true" if may_skip else "auto"
    try:
        return Fabric(**where, strategy=strategy)
    except (ValueError, RuntimeError) as error:
        asked = ", ".join(f"{key}={value!r}" for key, value in where.items())
        raise TrainingError(f"Cannot use {asked} here: {error}") from error


@contextmanager
def seeded_fabric(config: Training) -> Iterator[Fabric]:
    """Launch a Fabric, seeded inside the block; raises ``TrainingError`` without the device."""
    fabric = make_fabric(config)
    fabric.launch()
    with seeded(fabric, config.seed):
        yield fabric


@contextmanager
def seeded(fabric: Fabric, seed: int) -> Iterator[None]:
    """Seed the random state inside the block; the state before it is restored at the end."""
    accelerated = hasattr(torch.get_device_module(fabric.device), "get_rng_state")
    devices = [fabric.device.index or 0] if accelerated else []
    with torch.random.fork_rng(devices=devices, device_type=fabric.device.type):
        torch.manual_seed(seed)
        yield


def set_up(
    module: nn.Module, fabric: Fabric, config: Training, groups: ParameterGroups
) -> tuple[Any, Any]:
    """Return (the wrapped module to call in training, its optimiser), both on the device."""
    forward = fabric.setup_module(module)
    adam = make_adam(groups, config.learning_rate, config.weight_decay)
    return forward, fabric.setup_optimizers(adam)
