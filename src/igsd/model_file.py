"""A trained model on disk: one safetensors file, weights and settings, no code."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from igsd.errors import IGSDError, StorageError
from igsd.run_metrics import read_metrics, resume_command
from igsd.storage import read_arrays, write_arrays

VERSION = 1
FILE_NAME = "model.safetensors"
"""What the model is called inside a run folder."""

_OF_A_RUN = ("metrics.json", "checkpoint.safetensors")


def write_model(
    path: str | os.PathLike[str], tensors: Mapping[str, Tensor], header: Mapping[str, Any]
) -> None:
    """Write weights and a JSON header to exactly ``path``, whole or not at all."""
    arrays = {name: value.detach().cpu().contiguous().numpy() for name, value in tensors.items()}
    write_arrays(path, arrays, {"kind": "model", "version": VERSION, **header})


def read_model(
    path: str | os.PathLike[str], estimator: str | None = None
) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return (weights, header) of a model file, or of the model in a run folder.

    ``estimator``: the class that must have written it, any if None. Raises ``StorageError`` for any
    other file or folder.
    """
    source = model_path(path)
    arrays, header = read_arrays(source, "model")
    if header.get("version") != VERSION:
        raise StorageError(
            f"{source} is a model of format {header.get('version')}, this igsd reads format "
            f"{VERSION}. Train it again, or use the igsd that wrote it."
        )
    if estimator not in (None, header.get("estimator")):
        raise StorageError(
            f"{path} holds a model of {header.get('estimator')}, not of {estimator}. "
            "igsd.load_model opens models of every method."
        )
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}, header


def model_path(path: str | os.PathLike[str]) -> Path:
    """Return the file with the model that ``path`` stands for: itself, or the one in a run folder.

    Raises ``StorageError`` where there is nothing, and for a folder without a model.
    """
    source = Path(path).expanduser()
    if not source.exists():
        raise StorageError(
            f"There is no model at {source}. A model is a run folder made by `igsd train`, or a "
            "file written by `model.save` in Python."
        )
    if not source.is_dir() or (source / FILE_NAME).exists():
        return source / FILE_NAME if source.is_dir() else source
    if any((source / name).exists() for name in _OF_A_RUN):
        raise StorageError(
            f"The run in {source} is not finished, so it holds no model yet. "
            f"`{resume_command(source, read_metrics(source) or {})}` finishes it."
        )
    raise StorageError(
        f"{source} is a folder without a model: it holds no {FILE_NAME}. Give a run folder made by "
        "`igsd train`, or a file written by `model.save`."
    )


@contextlib.contextmanager
def whole_model(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what a damaged header or missing weights cause inside the block into ``StorageError``.

    Errors that igsd raises on purpose pass as they are.
    """
    try:
        yield
    except IGSDError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise StorageError(
            f"{path} is damaged, or a model of another version: {what}. Train it again, or copy it "
            "again from where it came."
        ) from error
