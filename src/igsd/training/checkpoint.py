"""Checkpoints: weights, optimiser, random state and progress in one file, written atomically."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from igsd.errors import ConfigError, StorageError
from igsd.files.arrays import read_arrays, write_arrays
from igsd.settings.fields import RENAMED

_VERSION = 1


@dataclass
class Progress:
    """How far training has come: finished epochs, steps of the current one, and the history.

    ``sums``: each part of the loss, summed over the current epoch. ``history``: one entry per
    finished epoch; ``before``: the same for the pretraining, if there was one.
    """

    epoch: int = 0
    step: int = 0
    sums: dict[str, float] = field(default_factory=dict)
    history: list[dict[str, float]] = field(default_factory=list)
    before: list[dict[str, float]] = field(default_factory=list)


def save_checkpoint(
    path: str | os.PathLike[str],
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    identity: Mapping[str, Any],
    device: torch.device,
) -> None:
    """Write all that is needed to resume. ``identity``: which run this is (settings, data)."""
    arrays = {f"model.{k}": _numpy(v) for k, v in module.state_dict().items()}
    optimizer_state = optimizer.state_dict()["state"]
    for index, entries in optimizer_state.items():
        for key, value in entries.items():
            arrays[f"optimizer.{index}.{key}"] = _numpy(torch.as_tensor(value))
    for name, state in _random_states(device).items():
        arrays[f"random.{name}"] = _numpy(state)
    header = {"kind": "checkpoint", "version": _VERSION, "identity": dict(identity)}
    write_arrays(path, arrays, header | {"progress": asdict(progress)})


def load_checkpoint(
    path: str | os.PathLike[str],
    module: nn.Module,
    optimizer: torch.optim.Optimizer,
    identity: Mapping[str, Any],
    defaults: Mapping[str, Any],
    device: torch.device,
) -> Progress | None:
    """Restore a run in place and return its progress, or None if there is no checkpoint.

    ``defaults``: values of settings that are newer than the checkpoint. Raises ``ConfigError`` if
    the checkpoint belongs to another run, and ``StorageError`` if it is damaged or of another
    version.
    """
    if not Path(path).exists():
        return None
    arrays, header = read_arrays(path, "checkpoint", _VERSION)
    try:
        _check_identity(path, header["identity"], identity, defaults)
        progress = Progress(**header["progress"])
        groups: dict[str, dict[str, Tensor]] = {"model": {}, "optimizer": {}, "random": {}}
        for name, array in arrays.items():
            group, _, rest = name.partition(".")
            groups[group][rest] = torch.from_numpy(np.array(array))
        try:
            module.load_state_dict(groups["model"])
        except RuntimeError as error:
            raise StorageError(f"{path} does not fit the model of this run: {error}") from error
        _load_optimizer(optimizer, groups["optimizer"])
        _set_random_states(groups["random"], device)
    except (KeyError, TypeError, AttributeError, RuntimeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise StorageError(
            f"{path} is damaged, or a checkpoint of another version: {what}. Start again in a new "
            "folder."
        ) from error
    return progress


def _load_optimizer(optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        index, _, key = name.partition(".")
        state.setdefault(int(index), {})[key] = tensor
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})


def _check_identity(
    path: Any, found: Mapping[str, Any], wanted: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    stored = {"method": wanted.get("method")} | dict(defaults)
    stored |= {RENAMED.get(key, key): value for key, value in found.items()}
    for key in sorted(stored.keys() | wanted.keys()):
        if stored.get(key) != wanted.get(key):
            raise ConfigError(
                f"The checkpoint {path} belongs to another run: its {key} is {stored.get(key)!r}, "
                f"here it is {wanted.get(key)!r}. Use the same settings and data to resume, or "
                "another folder to start again."
            )


def _random_states(device: torch.device) -> dict[str, Tensor]:
    """Return the random states of the host and, if it has its own, of the device."""
    states = {"host": torch.random.get_rng_state()}
    module = torch.get_device_module(device)
    if hasattr(module, "get_rng_state"):
        states["device"] = module.get_rng_state(device)
    return states


def _set_random_states(states: dict[str, Tensor], device: torch.device) -> None:
    torch.random.set_rng_state(states["host"])
    module = torch.get_device_module(device)
    if "device" in states and hasattr(module, "set_rng_state"):
        module.set_rng_state(states["device"], device)


def _numpy(tensor: Tensor) -> np.ndarray:
    return tensor.detach().cpu().contiguous().numpy()
