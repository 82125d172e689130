"""The record of a run of the benchmarks: its rows, and the machine they were measured on."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.row import Row
from igsd.errors import StorageError
from igsd.experiments.environment import commit, now, processor, versions
from igsd.files.atomic import write_json

KIND = "igsd benchmarks"
FOLDER = Path("results") / "benchmarks"
TORTURE, SCALING = "torture", "scaling"
_KINDS = {KIND: "make bench", f"igsd {TORTURE}": f"make {TORTURE}"}
_KINDS[f"igsd {SCALING}"] = "python -m benchmarks.billion"


def make_record(rows: Sequence[Row], seconds: float, load: Sequence[float]) -> dict[str, Any]:
    """Return the record of a run that took so many seconds; ``load``: before and after it."""
    packages = versions()
    for name in ("torch_geometric", "PyGCL"):
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = None
    return {
        "kind": KIND,
        "date": now(),
        "commit": commit(),
        "machine": {"processor": processor(), "cores": os.cpu_count(), "load": list(load)},
        "versions": packages,
        "seconds": round(seconds, 1),
        "rows": [row.to_json() for row in rows],
    }


def make_torture_record(rows: Sequence[dict[str, Any]], size: str, seed: int) -> dict[str, Any]:
    """Return the record of ``make torture``: what was tried and what failed, on no machine."""
    known = {"kind": f"igsd {TORTURE}", "date": now(), "commit": commit(), "versions": versions()}
    return {**known, "size": size, "seed": seed, "rows": list(rows)}


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record, whole or not at all."""
    write_json(path, record)


def default_path(record: dict[str, Any], folder: Path = FOLDER) -> Path:
    """Return where a record goes: named after its date, so that the last name is the newest."""
    return folder / f"{record['date'][:19].replace(':', '-')}.json"


def read_all(folder: Path, kind: str = KIND) -> list[dict[str, Any]]:
    """Return the records in a folder, oldest first; raises ``StorageError`` where there is none."""
    paths = sorted(folder.glob("*.json"))
    if not paths:
        raise StorageError(f"There is no record in {folder}; `{_KINDS[kind]}` writes one.")
    return [read_record(path, kind) for path in paths]


def read_record(path: Path, kind: str = KIND) -> dict[str, Any]:
    """Return the record in a file; raises ``StorageError`` for any other file."""
    try:
        record = json.loads(path.read_text())
        if record["kind"] == kind:
            return record
    except (OSError, ValueError, KeyError, TypeError):
        pass
    raise StorageError(f"{path} is not a record of `{_KINDS[kind]}`.")
