"""What a run folder says of itself in ``metrics.json``, and how its run is gone on with."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from shlex import quote
from typing import Any

KIND = "igsd run"


def read_metrics(folder: Path) -> dict[str, Any] | None:
    """Return what ``metrics.json`` in a folder holds, None where this is no run folder of igsd."""
    try:
        values = json.loads((folder / "metrics.json").read_text())
    except (OSError, ValueError):
        return None
    return values if isinstance(values, dict) and values.get("kind") == KIND else None


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
