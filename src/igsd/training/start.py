"""What every training begins with: a device, a random state, and a module with its optimiser."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from lightning_fabric import Fabric
from torch import nn

from igsd.config import Config
from igsd.errors import TrainingError
from igsd.training.loop import trainable
from igsd.training.optimizer import make_adam


def make_fabric(config: Config) -> Fabric:
    """Return a Fabric, not started; raises ``TrainingError`` where there is no such device."""
    where = {key: getattr(config, key) for key in ("accelerator", "devices", "precision")}
    try:
        return Fabric(**where)
    except (ValueError, RuntimeError) as error:
        asked = ", ".join(f"{key}={value!r}" for key, value in where.items())
        raise TrainingError(f"Cannot use {asked} here: {error}") from error


@contextmanager
def seeded_fabric(config: Config) -> Iterator[Fabric]:
    """Give a Fabric that has started, in a random state that begins with the configured seed.

    The caller's random state comes back at the end. Raises ``TrainingError`` for a device that is
    not there.
    """
    fabric = make_fabric(config)
    fabric.launch()
    accelerated = hasattr(torch.get_device_module(fabric.device), "get_rng_state")
    devices = [fabric.device.index or 0] if accelerated else []
    with torch.random.fork_rng(devices=devices, device_type=fabric.device.type):
        torch.manual_seed(config.seed)
        yield fabric


def set_up(
    module: nn.Module,
    fabric: Fabric,
    config: Config,
    groups: Sequence[dict[str, Any]] | None = None,
) -> tuple[Any, Any]:
    """Return (the module as it is called in training, its optimiser), both on the device.

    ``groups``: what is trained, where parts of it have settings of their own; otherwise every
    parameter that takes a gradient.
    """
    forward = fabric.setup_module(module)
    parameters = trainable(module) if groups is None else groups
    adam = make_adam(parameters, config.learning_rate, config.weight_decay)
    return forward, fabric.setup_optimizers(adam)
