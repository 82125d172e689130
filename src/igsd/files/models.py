"""Model files, and ``metrics.json`` of a run folder: what is in it and how its run is continued."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, Required, TypedDict

from igsd.errors import IGSDError, StorageError, warn_user
from igsd.files.bounded import split_sheet
from igsd.files.shapes import fault, read_json

if TYPE_CHECKING:
    from torch import Tensor

    from igsd.files.arrays import Header


KIND = "igsd run"


class DataMetrics(TypedDict, total=False):
    """The data of a run; ``source``: DATA on the command line.

    ``smiles_column``: the column of molecules, if it was named. ``standardised``: how they were.
    """

    name: str
    checksum: str
    graphs: int
    source: str
    smiles_column: str
    standardised: str


class LabelMetrics(TypedDict, total=False):
    """The labels of a run; ``source``: what ``--labels`` names, ``used``: how many were shown."""

    source: str
    names: list[str]
    task: str
    rate: float
    used: int
    calibration: int


class HiddenMetrics(TypedDict, total=False):
    """The score on graphs whose label was hidden: ``accuracy``, or ``mae`` of each target."""

    graphs: int
    accuracy: float
    mae: list[float]


class RowMetrics(TypedDict, total=False):
    """A row of the table that ``igsd evaluate`` leaves in a run folder."""

    method: Required[str]
    seeds: Required[list[Any]]
    mean: float | None
    std_over_seeds: float | None
    std_over_folds: float | None


class TableMetrics(TypedDict):
    """The table that ``igsd evaluate`` leaves in a run folder."""

    protocol: str
    rows: list[RowMetrics]


class RunMetrics(TypedDict, total=False):
    """The content of ``metrics.json``; a run that is not finished has the first entries only."""

    kind: str
    status: str
    recipe: str
    method: str
    data: DataMetrics
    labels: LabelMetrics
    seed: int
    epochs: int
    final_loss: float | None
    seconds: Mapping[str, float] | float
    started: str
    embedding_dim: int
    threads: int
    notes: list[str]
    hidden: HiddenMetrics
    pseudo_labels: int
    table: TableMetrics
    versions: Mapping[str, object]
    commit: Mapping[str, object]


def read_metrics(folder: Path, *, needs_all: bool = False) -> RunMetrics | None:
    """Return the content of ``metrics.json``; None if the folder is not a run folder of igsd.

    Paths of data and labels are relative to the working folder. Entries that are damaged are left
    out with a warning that names file and entry; with ``needs_all`` they raise ``StorageError``.
    """
    path = folder / "metrics.json"
    if not os.path.exists(path):
        return None
    try:
        values = read_json(path, "the description of a run")
    except StorageError as error:
        warn_user(str(error))
        return None
    if not isinstance(values, dict) or values.get("kind") != KIND:
        return None
    for key in [*values]:
        if (reason := fault({key: values[key]}, RunMetrics)) is not None:
            text = f"{path} is damaged: {reason}"
            if needs_all:
                raise StorageError(
                    f"{text} The run cannot be continued: start again with --force, or in another "
                    "folder."
                )
            warn_user(f"{text} This entry is left out.")
            del values[key]
    return _with_sources(values, lambda source: from_here(folder, source))


def stored_metrics(folder: Path, metrics: RunMetrics) -> RunMetrics:
    """Return metrics as they are written to ``metrics.json``.

    Paths of data and labels become relative to the folder, so that they are still found from
    another working folder, or when run and files have moved together.
    """
    return _with_sources(metrics, lambda source: from_folder(folder, source))


def is_same_source(one: str, other: str) -> bool:
    """Return whether two texts name the same data: the same text, or the same file."""
    if one == other:
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def resume_command(folder: Path, metrics: RunMetrics) -> str:
    """Return the command that continues the run in a folder.

    >>> metrics = {"data": {"source": "my mols.csv"}, "labels": {"source": "active", "rate": 0.1}}
    >>> resume_command(Path("runs/a"), metrics)
    "igsd train 'my mols.csv' --labels active --label-rate 0.1 -o runs/a --resume"
    """
    parts = ["igsd train", quote(metrics.get("data", {}).get("source", "DATA"))]
    data, labels = metrics.get("data", {}), metrics.get("labels", {})
    if "smiles_column" in data:
        parts += ["--smiles-column", quote(data["smiles_column"])]
    if "standardised" in data:
        parts += ["--standardise", data["standardised"]]
    if "source" in labels:
        parts += ["--labels", quote(labels["source"])]
    if labels.get("rate", 1) != 1:
        parts += ["--label-rate", f"{labels['rate']:g}"]
    if "task" in labels:
        parts += ["--task", labels["task"]]
    if labels.get("calibration", 3) != 3:
        parts += ["--calibration", str(labels["calibration"])]
    return " ".join([*parts, "-o", quote(str(folder)), "--resume"])


def _with_sources(metrics: Any, change: Callable[[str], str]) -> RunMetrics:
    """Return metrics with the sources of data and labels changed, where there are any."""
    changed = dict(metrics)
    for key in ("data", "labels"):
        entry = metrics.get(key)
        if isinstance(entry, dict) and isinstance(entry.get("source"), str):
            changed[key] = entry | {"source": change(entry["source"])}
    return changed  # type: ignore[return-value]


def from_folder(folder: Path, source: str) -> str:
    """Return a source relative to a run folder; names and absolute paths stay as they are."""
    path, sheet = split_sheet(source)
    if os.path.isabs(path) or not os.path.exists(path):
        return source
    return _relative(path, folder) + (f":{sheet}" if sheet else "")


def from_here(folder: Path, source: str) -> str:
    """Return a source that is relative to a run folder relative to the working folder.

    So is a path out of the folder that does not exist, for the error that names it; any other text,
    such as a column called ``mg/l``, is a name.
    """
    plain, sheet = split_sheet(source)
    path = folder / plain
    is_lost = Path(plain).parts[:1] == (os.pardir,) and not os.path.exists(plain)
    is_path = path.exists() or is_lost
    if not is_path or os.path.isabs(plain):
        return source
    return _relative(path, Path()) + (f":{sheet}" if sheet else "")


def _relative(path: Path, start: Path) -> str:
    try:
        # Unlike Path.resolve, this does not raise for a link that leads to itself.
        return os.path.relpath(os.path.realpath(path), os.path.realpath(start))
    except ValueError:  # on two drives, or a text that cannot be a path
        return str(path.absolute())


VERSION = 1
FILE_NAME = "model.safetensors"
"""The name of the model inside a run folder."""
SHIPPED = ("molecules",)
"""The names of the models in the package, for ``igsd.pretrained`` and wherever a model is named."""

CHECKPOINT = "checkpoint.safetensors"
"""The name of the checkpoint inside a run folder."""

_OF_A_RUN = ("metrics.json", CHECKPOINT)


_Name = str | int | float | bool
_History = list[dict[str, float]]


class _LinkHeader(TypedDict, total=False):
    bond_names: list[_Name]
    boundaries: list[float] | None


class _FeatureHeader(TypedDict, total=False):
    parts: list[str]
    label_names: list[_Name]
    degree_cap: int
    attribute_mean: list[float]
    attribute_scale: list[float]
    links: _LinkHeader | None


class _LabelHeader(TypedDict, total=False):
    classes: list[_Name]
    mean: list[float]
    scale: list[float]
    is_single: bool
    names: list[str]


class _ModelHeader(TypedDict, total=False):
    estimator: str
    config: dict[str, Any]
    standardised: str
    features: _FeatureHeader
    labels: _LabelHeader
    history: _History
    pretraining: _History


def write_model(
    path: str | os.PathLike[str], tensors: Mapping[str, Tensor], header: Mapping[str, object]
) -> None:
    """Write weights and a JSON header to exactly ``path``, whole or not at all."""
    from igsd.files.arrays import write_arrays

    arrays = {name: value.detach().cpu().contiguous().numpy() for name, value in tensors.items()}
    _check_finite(path, arrays)
    write_arrays(path, arrays, {"kind": "model", "version": VERSION, **header})


def read_model(
    path: str | os.PathLike[str], estimator: str | None = None
) -> tuple[dict[str, Tensor], Header]:
    """Return (weights, header) of a model file, or of the model in a run folder.

    ``estimator``: the class that must have written it, None for any. Raises ``StorageError`` for
    any other file or folder.
    """
    import numpy as np
    import torch

    from igsd.files.arrays import read_arrays

    source = model_path(path)
    arrays, header = read_arrays(source, "model", VERSION, header_type=_ModelHeader)
    _check_finite(source, arrays)
    if estimator not in (None, header.get("estimator")):
        raise StorageError(
            f"{path} holds a model of {header.get('estimator')}, not of {estimator}. "
            "igsd.load_model opens models of every method."
        )
    return {name: torch.from_numpy(np.array(array)) for name, array in arrays.items()}, header


def _check_finite(path: str | os.PathLike[str], arrays: Mapping[str, Any]) -> None:
    """Raise ``StorageError`` for weights that are not numbers: every vector would be NaN."""
    import numpy as np

    for name, array in arrays.items():
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise StorageError(
                f"The model {path} has weights that are not finite ({name!r}), so it is neither "
                "written nor loaded. Train again with a smaller learning_rate."
            )


def identity_of(model: Any) -> str:
    """Return a checksum of all that a model computes with; empty for one that cannot be saved."""
    import hashlib
    import tempfile
    import warnings

    import numpy as np

    from igsd.files.arrays import read_arrays

    if not hasattr(model, "save"):
        return ""
    with tempfile.TemporaryDirectory(prefix="igsd-") as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a model's own code is not saved
        path = Path(folder, "model")
        model.save(path)
        arrays, header = read_arrays(path, "model")
    for key in ("history", "pretraining"):
        header.pop(key, None)
    digest = hashlib.sha256(repr(sorted(header.items())).encode())
    for name in sorted(arrays):
        digest.update(f"{name}{arrays[name].dtype.str}{arrays[name].shape}".encode())
        digest.update(np.ascontiguousarray(arrays[name]).tobytes())
    return digest.hexdigest()


def model_path(path: str | os.PathLike[str]) -> Path:
    """Return the model file for ``path``: the file itself, or the one inside a run folder.

    Raises ``StorageError`` if there is nothing, and for a folder without a model.
    """
    source = Path(path).expanduser()
    if not os.path.exists(source):  # unlike Path.exists, never an error
        if os.path.islink(source):
            raise StorageError(
                f"{source} is a link that leads nowhere, or to itself. Correct it, or give the run "
                "folder or model file itself."
            )
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
    """Turn errors caused by a damaged header or missing weights into ``StorageError``.

    Errors of igsd itself pass unchanged.
    """
    try:
        yield
    except IGSDError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, RuntimeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise StorageError(
            f"{path} is damaged, or a model of another version: {what}. Train it again, or copy it "
            "again from where it came."
        ) from error
