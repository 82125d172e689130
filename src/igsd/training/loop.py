"""The one training loop: steps, checkpoints, history, the device and the optimiser.

A checkpoint holds weights, optimiser, random state and progress in one file, written atomically.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Self, TypedDict, cast

import numpy as np
import torch

from igsd.errors import OtherRunError, StorageError, TrainingError, counted, need, warn_user
from igsd.files.arrays import read_arrays, write_arrays
from igsd.processes import StopSignals, kept_memory
from igsd.progress import progress_bar
from igsd.settings.fields import present_names
from igsd.settings.groups import Training
from igsd.training.ranks import all_or_none
from igsd.training.task import Task

if TYPE_CHECKING:
    from lightning_fabric import Fabric  # which imports much of torch that only training needs

Entry = dict[str, float]
"""The figures of an epoch by name."""

ParameterGroups = list[dict[str, Any]]
"""Groups of parameters: ``params``, and their ``share`` of the learning rate."""


_VERSION = 1


@dataclass
class Progress:
    """How far training has come: finished epochs and steps of the current one.

    ``sums``: each part of the loss, summed over the current epoch. ``history``: one entry per
    finished epoch; ``before``: the same for the pretraining, if there was one.
    """

    epoch: int = 0
    step: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    history: list[Entry] = field(default_factory=list)
    before: list[Entry] = field(default_factory=list)


class _SavedProgress(TypedDict):
    epoch: int
    step: int
    sums: dict[str, float]
    history: list[Entry]
    before: list[Entry]


class _Header(TypedDict):
    identity: dict[str, Any]
    progress: _SavedProgress


def save_checkpoint(
    path: str | os.PathLike[str],
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    identity: Mapping[str, Any],
    stream: RandomStream,
) -> None:
    """Write all that is needed to resume. ``identity``: which run this is (settings, data)."""
    arrays = {f"model.{k}": _numpy(v) for k, v in module.state_dict().items()}
    for index, entries in optimizer.state_dict()["state"].items():
        for key, value in entries.items():
            arrays[f"optimizer.{index}.{key}"] = _numpy(torch.as_tensor(value))
    arrays |= {f"random.{name}": _numpy(state) for name, state in stream.states.items()}
    header = {"kind": "checkpoint", "version": _VERSION, "identity": dict(identity)}
    write_arrays(path, arrays, header | {"progress": asdict(progress)})


def load_checkpoint(
    path: str | os.PathLike[str],
    module: torch.nn.Module,
    optimizer: torch.optim.Optimizer,
    identity: Mapping[str, Any],
    defaults: Mapping[str, Any],
    stream: RandomStream,
) -> Progress | None:
    """Restore a run in place and return its progress, or None if there is no checkpoint.

    ``defaults``: values of settings that are newer than the checkpoint. Raises ``OtherRunError`` if
    it belongs to another run, ``StorageError`` if it is damaged or of another version.
    """
    if not os.path.exists(path):
        return None
    arrays, header = read_arrays(path, "checkpoint", _VERSION, header_type=_Header)
    try:
        _check_identity(path, header["identity"], identity, defaults)
        progress = Progress(**header["progress"])
        groups: dict[str, dict[str, torch.Tensor]] = {"model": {}, "optimizer": {}, "random": {}}
        for name, array in arrays.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = torch.from_numpy(np.array(array))
        try:
            module.load_state_dict(groups["model"])
        except RuntimeError as error:
            raise StorageError(f"{path} does not fit the model of this run: {error}") from error
        state: dict[int, dict[str, torch.Tensor]] = {}
        for name, tensor in groups["optimizer"].items():
            index, _, key = name.partition(".")
            state.setdefault(int(index), {})[key] = tensor
        _check_state(state, optimizer, groups["random"], stream)
        optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
        stream.states = {"host": groups["random"].pop("host"), **groups["random"]}
    except (KeyError, TypeError, AttributeError, RuntimeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise StorageError(
            f"{path} is damaged, or a checkpoint of another version: {what}. Start again in a new "
            "folder."
        ) from error
    return progress


def _check_progress(path: str | os.PathLike[str], progress: Progress, task: Task) -> None:
    """Raise ``StorageError`` if a checkpoint is at an epoch or a step that no run has."""
    epoch, step = progress.epoch, progress.step
    is_within = 0 <= epoch <= task.epochs and len(progress.history) == epoch
    # At the start of an epoch its steps may not be known yet: pseudo-labels come first.
    most = task.num_steps(epoch) if is_within and step > 0 and epoch < task.epochs else 1
    if not is_within or not 0 <= step < most:
        raise StorageError(
            f"{path} is damaged: step {step} of epoch {epoch}, after {len(progress.history)} "
            "finished ones, is nowhere in this run. Start again in a new folder."
        )


def _check_state(
    state: Mapping[int, Mapping[str, torch.Tensor]],
    optimizer: torch.optim.Optimizer,
    random: Mapping[str, torch.Tensor],
    stream: RandomStream,
) -> None:
    """Raise ``TypeError`` unless the state of Adam and of the generators has its parts and shapes.

    Torch itself notices only when it uses them.
    """
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for index, entries in state.items():
        moments = {key: value.shape for key, value in entries.items() if key != "step"}
        shape = parameters[index].shape if 0 <= index < len(parameters) else None
        if "step" not in entries or moments != dict.fromkeys(("exp_avg", "exp_avg_sq"), shape):
            raise TypeError(f"the state of Adam does not fit parameter {index}")
    for name, expected in stream.states.items():
        found = random.get(name, expected)
        if (found.dtype, found.shape) != (expected.dtype, expected.shape):
            raise TypeError(f"the random state of the {name} has another form")


_SUMS = {
    "data": "it was trained on other graphs",
    "labels": "it was trained on other labels",
    "start": "it began with other weights",
}
"""Explanations for checksum mismatches."""


def _check_identity(
    path: Any, found: Mapping[str, Any], wanted: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    stored = {"method": wanted.get("method")} | dict(defaults) | present_names(found)
    for key in sorted(stored.keys() | wanted.keys()):
        if key == "devices" and stored.get(key) != wanted.get(key):
            _warn_of_other_processes(stored.get(key) or 1, wanted)
        elif stored.get(key) != wanted.get(key):
            values = f"its {key} is {stored.get(key)!r}, here it is {wanted.get(key)!r}"
            raise OtherRunError(path, _SUMS.get(key, values))


def _warn_of_other_processes(before: int, wanted: Mapping[str, Any]) -> None:
    """Warn that a run resumes with another number of processes, and say what that changes."""
    now, alone = int(wanted["devices"]), "the graphs of its own process"
    norms = "" if wanted.get("sync_batch_norm") else f", and each BatchNorm sees {alone} only"
    warn_user(
        f"The run began with {counted(before, 'process', 'processes')} and continues with {now}: "
        "every step still computes the loss of the joint batch, but sums are rounded in another "
        f"order{norms}. Its result will differ from that of an uninterrupted run; "
        f"{before} would continue it as it began."
    )


def _numpy(tensor: torch.Tensor) -> np.ndarray:
    return tensor.detach().cpu().contiguous().numpy()


def epoch_logger(log_dir: str | os.PathLike[str] | None) -> Callable[[Entry], None] | None:
    """Return a function that writes an epoch's figures to TensorBoard; None without ``log_dir``.

    Raises ``ConfigError`` if the extra is not installed.
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
    stream: RandomStream,
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

    Of the losses of a step, ``total`` is minimised; the others are only recorded. With
    ``checkpoint`` the run resumes from that file if it exists, and saves itself there every
    ``checkpoint_every`` steps, at the end, and when it is stopped by a signal. A resumed run gives
    the same weights as an uninterrupted one, bit for bit on the CPU. ``identity``: which run this
    is; ``defaults``: values that older checkpoints lack. ``before``: the history of a pretraining.
    """
    progress, run = Progress(before=list(before)), (identity or {}, defaults or {})
    if checkpoint is not None:
        found = load_checkpoint(checkpoint, task.module, optimizer, *run, stream)
        progress = found or progress
        _check_progress(checkpoint, progress, task)

    def save() -> None:
        if checkpoint is not None and fabric.is_global_zero:
            save_checkpoint(checkpoint, task.module, optimizer, progress, run[0], stream)

    task.module.train()
    drawing: AbstractContextManager[Any] = stream if draws(task.module) else nullcontext()
    with (
        all_or_none(fabric, checkpoint),
        kept_memory(),
        StopSignals() as stop,
        progress_bar(title, task.epochs, shown=verbose, done=progress.epoch) as advance,
    ):
        since_saved = 0
        while progress.epoch < task.epochs:
            if fabric.global_rank and drawing is stream:  # a checkpoint holds the first's state
                stream.begin(fabric.global_rank, progress.epoch, progress.step)
            _one_step(task, optimizer, fabric, progress, drawing)
            since_saved += 1
            if progress.step == task.num_steps(progress.epoch):
                entry = {"epoch": float(progress.epoch)}
                entry |= {name: value / progress.step for name, value in progress.sums.items()}
                progress.history.append(entry)
                progress.epoch, progress.step, progress.sums = progress.epoch + 1, 0, {}
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
        with all_or_none(fabric, checkpoint):
            for buffer in task.module.buffers():
                buffer.copy_(fabric.broadcast(buffer))
    task.module.eval()
    return progress


def _one_step(
    task: Task,
    optimizer: Any,
    fabric: Fabric,
    progress: Progress,
    drawing: AbstractContextManager[Any],
) -> None:
    with drawing:
        parts = task.losses(progress.epoch, progress.step)
    # The mean over processes: they share one history, and all stop if one loss is not finite.
    detached = torch.stack([value.detach() for value in parts.values()])
    means: Any = fabric.all_reduce(detached, reduce_op="mean")
    values = dict(zip(parts, means.tolist(), strict=True))
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


def trainable(module: torch.nn.Module) -> list[torch.nn.Parameter]:
    """Return the parameters that take a gradient."""
    return [parameter for parameter in module.parameters() if parameter.requires_grad]


def make_adam(parameters: Any, rate: float, weight_decay: float = 0.0) -> torch.optim.Adam:
    """Return Adam, fused if possible, for parameters or groups that are already on their device."""
    try:
        return torch.optim.Adam(parameters, rate, weight_decay=weight_decay, fused=True)
    except RuntimeError:
        return torch.optim.Adam(parameters, rate, weight_decay=weight_decay)


class RandomStream:
    """The random numbers of one training.

    Torch has one generator per process (and device), from which weights and dropout are drawn.
    Inside ``with`` it holds this stream, and other trainings of the process wait; at the end the
    state before is restored. So trainings in several threads give the numbers of one. Where several
    processes train together, each but the first begins anew at every step.
    """

    _one_at_a_time = threading.RLock()

    def __init__(self, seed: int, device: torch.device | None = None) -> None:
        self._on_device = None if device is None else torch.get_device_module(device)
        self._device = device if hasattr(self._on_device, "get_rng_state") else None
        self._outside: list[dict[str, torch.Tensor]] = []
        self._seed = seed
        with self._one_at_a_time:
            outside = self._read()
            torch.manual_seed(seed)
            self.states = self._read()
            self._write(outside)

    def begin(self, *place: int) -> None:
        """Begin anew with a state that follows from the seed and ``place`` alone."""
        (number,) = np.random.SeedSequence([self._seed, *place]).generate_state(1, np.uint64)
        with self:
            torch.manual_seed(int(number) >> 1)

    def __enter__(self) -> Self:
        self._one_at_a_time.acquire()
        self._outside.append(self._read())
        self._write(self.states)
        return self

    def __exit__(self, *error: object) -> None:
        self.states = self._read()
        self._write(self._outside.pop())
        self._one_at_a_time.release()

    def _read(self) -> dict[str, torch.Tensor]:
        states = {"host": torch.random.get_rng_state()}
        if self._device is not None:
            states["device"] = cast(Any, self._on_device).get_rng_state(self._device)
        return states

    def _write(self, states: Mapping[str, torch.Tensor]) -> None:
        torch.random.set_rng_state(states["host"])
        if self._device is not None and "device" in states:
            cast(Any, self._on_device).set_rng_state(states["device"], self._device)


def draws(module: torch.nn.Module) -> bool:
    """Return whether a forward pass may draw random numbers: dropout does, a user's module may."""
    return any(
        not type(part).__module__.startswith(("igsd.", "torch."))
        or (isinstance(part, torch.nn.Dropout) and part.p > 0)
        for part in module.modules()
    )


def set_up(
    module: torch.nn.Module, fabric: Fabric, config: Training, groups: ParameterGroups
) -> tuple[Any, Any]:
    """Return (the wrapped module to call in training, its optimiser), both on the device."""
    forward = fabric.setup_module(module)
    adam = make_adam(groups, config.learning_rate, config.weight_decay)
    return forward, fabric.setup_optimizers(adam)
