"""Several processes that train one network: how they start, and how they end together."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from igsd.errors import ConfigError, TrainingError, counted, warn_user
from igsd.processes import end_with_parent
from igsd.settings.groups import FewLabels, Training
from igsd.workers.pools import num_cores

if TYPE_CHECKING:
    from lightning_fabric import Fabric  # which imports much of torch that only training needs

_PATIENCE = 20.0
_OF_A_LOST_PROCESS = ("gloo", "closed by peer", "Connection reset", "NCCL", "store")


def make_fabric(config: Training) -> Fabric:
    """Return a Fabric, not yet launched; raises ``TrainingError`` if the device is missing.

    Under torchrun its processes share the work; raises ``ConfigError`` if ``devices`` is neither 1
    nor their number on this machine.
    """
    from lightning_fabric import Fabric

    where: dict[str, Any] = {"accelerator": config.accelerator, "precision": config.precision}
    where |= _placed(config.devices)
    strategy: Any = "auto"
    if num_ranks(config.devices) > 1:
        from lightning_fabric.strategies import DDPStrategy

        # Each process keeps BatchNorm statistics of its own, so none are sent before a step.
        # With labels, some weights may be unused in a step, e.g. a projector without views.
        strategy = DDPStrategy(
            broadcast_buffers=False,
            gradient_as_bucket_view=True,
            find_unused_parameters=isinstance(config, FewLabels),
        )
    try:
        return Fabric(**where, strategy=strategy)
    except (ValueError, RuntimeError) as error:
        keys = ("accelerator", "devices", "precision")
        asked = ", ".join(f"{key}={getattr(config, key)!r}" for key in keys)
        raise TrainingError(f"Cannot use {asked} here: {error}") from error


def num_ranks(devices: int) -> int:
    """Return how many processes train together; raises ``ConfigError`` as ``make_fabric`` does."""
    placed = _placed(devices)
    return placed["devices"] * placed["num_nodes"]


def _placed(devices: int) -> dict[str, int]:
    """Return how many processes train on this machine, and the number of machines."""
    if not _is_torchrun():
        return {"devices": devices, "num_nodes": 1}
    here, total = int(os.environ["LOCAL_WORLD_SIZE"]), int(os.environ["WORLD_SIZE"])
    if devices not in (1, here):
        raise ConfigError(
            f"torchrun has started {counted(here, 'process', 'processes')} on this machine, and "
            f"devices={devices} asks for {devices}. Leave devices out, or give torchrun "
            f"--nproc-per-node {devices}."
        )
    return {"devices": here, "num_nodes": total // here}


def warn_of_few_cores(fabric: Fabric, devices: int) -> None:
    """Warn if several processes have to share a core."""
    from lightning_fabric.accelerators import CPUAccelerator

    if not isinstance(fabric.accelerator, CPUAccelerator) or devices <= num_cores():
        return
    warn_user(
        f"devices={devices} on {counted(num_cores(), 'core')}: processes that share a core wait "
        f"for each other and are slower than {num_cores()}. The result is the same up to rounding."
    )


def launch(fabric: Fabric) -> None:
    """Start the other processes of a Fabric, and let all end if one does."""
    parent = os.getppid()
    with _reporting_losses():
        fabric.launch()
    if fabric.world_size == 1:
        return
    atexit.unregister(_leave)  # one call, however often this process trains
    atexit.register(_leave)
    if fabric.local_rank and not _is_torchrun():
        text = "igsd: The first process of the training has ended, so this one ends."
        end_with_parent(parent, code=2, patience=_PATIENCE, last_words=text)


def _leave() -> None:
    """End the threads that talk to the other processes: at exit they may abort the interpreter."""
    import torch.distributed

    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


def _is_torchrun() -> bool:
    return "TORCHELASTIC_RUN_ID" in os.environ


@contextlib.contextmanager
def _reporting_losses() -> Iterator[None]:
    """Let the thread that Lightning starts in the block print an error when a process is lost.

    By default it kills this process, too, without a message.
    """
    from lightning_fabric.strategies.launchers import subprocess_script

    class Observer(subprocess_script._ChildProcessObserver):
        def _terminate_all(self) -> None:
            _end_all(self._child_processes)

    before = subprocess_script._ChildProcessObserver
    subprocess_script._ChildProcessObserver = Observer  # type: ignore[misc]
    logger = logging.getLogger(subprocess_script.__name__)
    logger.addFilter(lambda record: "Child process" not in record.getMessage())
    try:
        yield
    finally:
        subprocess_script._ChildProcessObserver = before  # type: ignore[misc]


def _end_all(children: list[subprocess.Popen[bytes]]) -> None:
    """End the other children, and this process if it does not end by itself."""
    lost = next((rank for rank, child in enumerate(children, start=1) if child.poll()), 1)
    for child in children:
        child.kill()
    time.sleep(_PATIENCE)  # usually this process fails first, waiting for the lost one
    print(f"igsd: {_lost_text(len(children) + 1, lost)}", file=sys.stderr, flush=True)
    os._exit(2)


@contextlib.contextmanager
def all_or_none(fabric: Fabric, checkpoint: str | os.PathLike[str] | None) -> Iterator[None]:
    """Raise ``TrainingError`` if another process of the training ends while the block runs."""
    try:
        yield
    except RuntimeError as error:
        if fabric.world_size == 1 or not any(part in str(error) for part in _OF_A_LOST_PROCESS):
            raise
        text = _lost_text(fabric.world_size)
        if checkpoint is not None and os.path.exists(checkpoint):
            text += " It continues from the last checkpoint, also with another number: give "
            text += "`igsd train --resume`, or the command of `igsd pretrain` again."
        elif checkpoint is not None:
            text += " There was no checkpoint yet: give the whole command again."
        raise TrainingError(text) from error


def _lost_text(count: int, rank: int | None = None) -> str:
    which = "One" if rank is None else f"Number {rank}"
    return (
        f"{which} of the {count} processes that train together has ended, perhaps killed because "
        "memory ran out, so the others end too."
    )
