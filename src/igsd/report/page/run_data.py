"""``RunData``: what a run folder holds, and the graphs of the run where they are at hand."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import IGSDError, StorageError, warn_user
from igsd.evaluation.vector_file import read_vectors
from igsd.experiments.run_folder import RunFolder
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open_data import open_data

Rounds = dict[str, list[int]]


@dataclass(frozen=True)
class RunData:
    """A run.

    ``histories``: losses per epoch, by the seed; ``pretraining``: those before the first label.
    ``missing``: why there are no ``graphs``.
    ``pseudo_labels``: ``rounds``, ``given``, ``right`` and ``checked``, round by round.
    """

    path: Path
    metrics: dict[str, Any]
    histories: dict[str, list[dict[str, float]]]
    pretraining: dict[str, list[dict[str, float]]]
    vectors: np.ndarray | None
    graphs: GraphSet | None
    missing: str
    pseudo_labels: Rounds

    @property
    def data(self) -> str:
        """The name of the data set."""
        return str(self.metrics.get("data", {}).get("name", "unknown data"))


def read_run(path: str | Path) -> RunData:
    """Return the run in a folder; raises ``StorageError`` for anything else.

    Graphs that are gone or have changed since are left out, with the reason in ``missing`` and in
    an ``IGSDWarning``.
    """
    folder = RunFolder(path)
    metrics = folder.metrics()
    if metrics is None:
        raise StorageError(f"{folder.path} is not a run folder of igsd. `igsd train` makes one.")
    seeds = [folder, *(RunFolder(p) for p in sorted(folder.path.glob("seed-*")) if p.is_dir())]
    histories, before = (
        {_seed_name(one): _history(one / name) for one in seeds}
        for name in ("history.csv", "pretraining.csv")
    )
    embeddings = folder / "embeddings.npy"
    vectors = read_vectors(embeddings) if embeddings.exists() else None
    graphs, missing = _find_graphs(metrics, None if vectors is None else len(vectors))
    if missing:
        warn_user(f"Run {folder.path}: {missing}")
    rounds = _pseudo_labels(folder / "pseudo_labels.csv")
    return RunData(folder.path, metrics, histories, before, vectors, graphs, missing, rounds)


def source_of(metrics: dict[str, Any]) -> Any:
    """Return what the graphs of a run were read from, as the command line names it."""
    data = metrics.get("data", {})
    return data.get("source") or data.get("name")


def _find_graphs(metrics: dict[str, Any], count: int | None) -> tuple[GraphSet | None, str]:
    """Return (graphs, "") or (None, why not)."""
    source, checksum = source_of(metrics), metrics.get("data", {}).get("checksum")
    if source is None:
        return None, "The run folder does not say what it was trained on."
    try:
        graphs = open_data(str(source))
    except (IGSDError, OSError) as error:
        return None, f"The graphs are not shown: {error}"
    if checksum not in (None, graphs.checksum) or count not in (None, len(graphs)):
        return None, f"The graphs are not shown: {source} has changed since the run."
    return graphs, ""


def _seed_name(folder: RunFolder) -> str:
    return f"seed {(folder.metrics() or {}).get('seed', 0)}"


def _history(path: Path) -> list[dict[str, float]]:
    """Return the values per epoch; what is no number is left out."""
    rows = _rows(path)
    return [{k: _number(v) for k, v in row.items() if math.isfinite(_number(v))} for row in rows]


def _number(text: Any) -> float:
    try:
        return float(text)
    except (TypeError, ValueError):
        return math.nan


def _pseudo_labels(path: Path) -> Rounds:
    """Return how many pseudo-labels each round gave, could be checked and were right."""
    counts: dict[int, list[int]] = {}
    for row in _rows(path):
        entry = counts.setdefault(int(_number(row["round"])), [0, 0, 0])
        is_known = bool(row.get("true"))
        entry[0] += 1
        entry[1] += is_known
        entry[2] += is_known and row["true"] == row["class"]
    rounds = sorted(counts)
    columns = list(zip(*(counts[number] for number in rounds), strict=True)) or [(), (), ()]
    names = ("given", "checked", "right")
    return {"rounds": rounds} | {n: list(c) for n, c in zip(names, columns, strict=True)}


def _rows(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
