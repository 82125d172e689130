"""What a run folder says of itself in ``metrics.json``, and how its run is gone on with."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from shlex import quote
from typing import Any

KIND = "igsd run"


def read_metrics(folder: Path) -> dict[str, Any] | None:
    """Return what ``metrics.json`` in a folder holds, None where this is no run folder of igsd.

    Files that a run was made from are named as they are found from here.
    """
    try:
        values = json.loads((folder / "metrics.json").read_text())
    except (OSError, ValueError):
        return None
    if not isinstance(values, dict) or values.get("kind") != KIND:
        return None
    return _with_sources(values, lambda told: _from_here(folder, told))


def stored_metrics(folder: Path, metrics: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is to be written in a folder's ``metrics.json``.

    Files are named as they are found from that folder, so that they still are when the next
    command is given elsewhere, or when run and files have moved together.
    """
    return _with_sources(metrics, lambda given: _from_folder(folder, given))


def is_same_source(one: str, other: str) -> bool:
    """Say whether two texts name the same data: the same text, or the same file."""
    if one == other:
        return True
    return os.path.exists(one) and os.path.exists(other) and os.path.samefile(one, other)


def resume_command(folder: Path, metrics: Mapping[str, Any]) -> str:
    """Return the command that goes on with the run in a folder, as its ``metrics`` tell it.

    >>> about = {"data": {"source": "my mols.csv"}, "labels": {"source": "active", "rate": 0.1}}
    >>> resume_command(Path("runs/a"), about)
    "igsd train 'my mols.csv' --labels active --label-rate 0.1 -o runs/a --resume"
    """
    parts = ["igsd train", quote(metrics.get("data", {}).get("source", "DATA"))]
    labels = metrics.get("labels", {})
    if "source" in labels:
        parts += ["--labels", quote(labels["source"])]
    if labels.get("rate", 1) != 1:
        parts += ["--label-rate", f"{labels['rate']:g}"]
    if "task" in labels:
        parts += ["--task", labels["task"]]
    return " ".join([*parts, "-o", quote(str(folder)), "--resume"])


def _with_sources(metrics: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return metrics with the names of data and labels changed, where there are any."""
    changed = dict(metrics)
    for key in ("data", "labels"):
        about = metrics.get(key)
        if isinstance(about, dict) and isinstance(about.get("source"), str):
            changed[key] = about | {"source": change(about["source"])}
    return changed


def _from_folder(folder: Path, given: str) -> str:
    """Return a name of data as seen from a run folder; what is no file or folder stays."""
    if os.path.isabs(given) or not os.path.exists(given):
        return given
    return _relative(Path(given), folder)


def _from_here(folder: Path, told: str) -> str:
    """Return a name of data as seen from the working folder, given as seen from the run's.

    A path that leads nowhere from either is shown from here too, for the error that names it.
    """
    path = folder / told
    is_path = path.exists() or (os.sep in told and not os.path.exists(told))
    return _relative(path, Path()) if is_path and not os.path.isabs(told) else told


def _relative(path: Path, start: Path) -> str:
    try:
        return os.path.relpath(path.resolve(), start.resolve())
    except ValueError:  # on two drives
        return str(path.resolve())
