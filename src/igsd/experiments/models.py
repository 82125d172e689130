"""``load_model``: what the command line calls MODEL, a run folder or a file written by ``save``."""

from __future__ import annotations

import os
from pathlib import Path

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.errors import StorageError
from igsd.estimators import IGSD
from igsd.experiments.run_folder import RunFolder
from igsd.storage import read_header

Model = IGSD | LabelDegreeHistogram


def load_model(path: str | os.PathLike[str]) -> Model:
    """Return the fitted estimator in a run folder or a file; raises ``StorageError`` for others."""
    source = model_file(path)
    header = read_header(source) or {}
    kind = LabelDegreeHistogram if header.get("estimator") == "LabelDegreeHistogram" else IGSD
    try:
        return kind.load(source)
    except (KeyError, TypeError, RuntimeError) as error:
        raise StorageError(
            f"{source} is damaged, or a model of another version: {error}. Train it again, or copy "
            "it again from where it came."
        ) from error


def model_file(path: str | os.PathLike[str]) -> Path:
    """Return the file that holds the model; raises ``StorageError`` for a folder without one."""
    source = Path(path).expanduser()
    if not source.is_dir():
        return source
    folder = RunFolder(source)
    if (folder / "model.safetensors").exists():
        return folder / "model.safetensors"
    if folder.state == "unfinished":
        raise StorageError(
            f"The run in {source} is not finished, so it holds no model yet. "
            f"`igsd train DATA -o {source} --resume` finishes it."
        )
    raise StorageError(f"{source} is a folder without a model: it holds no model.safetensors.")
