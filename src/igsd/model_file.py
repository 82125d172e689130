"""A trained model on disk: one safetensors file, weights and settings, no code."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from igsd.errors import StorageError
from igsd.storage import read_arrays, write_arrays

VERSION = 1


def write_model(
    path: str | os.PathLike[str], tensors: Mapping[str, Tensor], header: Mapping[str, Any]
) -> None:
    """Write weights and a JSON header to exactly ``path``, whole or not at all."""
    arrays = {name: value.detach().cpu().contiguous().numpy() for name, value in tensors.items()}
    write_arrays(path, arrays, {"kind": "model", "version": VERSION, **header})


def read_model(path: str | os.PathLike[str]) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return (weights, header) of a model file; raises ``StorageError`` for any other file."""
    arrays, header = read_arrays(path, "model")
    if header.get("version") != VERSION:
        raise StorageError(
            f"{path} is a model of format {header.get('version')}, this igsd reads format "
            f"{VERSION}. Train it again, or use the igsd that wrote it."
        )
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}, header
