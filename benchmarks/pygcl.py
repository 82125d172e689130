"""An epoch of IGSD beside those of PyGCL's methods, for information: their steps are their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row, Skipped
from benchmarks.side import Side
from benchmarks.timing import alternate
from igsd.files.cache import cache_dir

VERSION = "0.1.2"
METHODS = ("GraphCL", "InfoGraph", "MVGRL")
REPEATS = {"MUTAG": 3, "IMDB-BINARY": 2, "NCI1": 1}
STEPS = {("MVGRL", "NCI1"): [0, 1]}
"""PyGCL's MVGRL inverts one matrix of all nodes of a batch: both sides run these batches."""


def rows(context: Context) -> list[Row]:
    """Return a row for each method and data set, CPU seconds on one thread."""
    folder = install()
    return [
        row
        for data in REPEATS
        for method in METHODS
        for row in guarded(name_of(method), data, _rows, context, folder, data, method)
    ]


def name_of(method: str) -> str:
    """Return the name of a row."""
    return f"epoch / PyGCL's {method}"


def _rows(context: Context, folder: Path, data: str, method: str) -> list[Row]:
    context.require(data)
    steps = STEPS.get((method, data))
    with (
        Side("benchmarks.training:epoch_side", data=data, steps=steps) as ours,
        pygcl_side(folder, method, data, steps) as theirs,
    ):
        sides = {"ours": ours, "theirs": theirs}
        measured = alternate(sides, context.rounds(REPEATS[data]))
    mine, other = measured["ours"].cpu, measured["theirs"].cpu
    part = f"; batches 0 to {len(steps) - 1} of an epoch" if steps else ""
    note = f"PyGCL {VERSION}, 4 layers of 64, batches of 128; another method, no bar{part}"
    return [Row(name_of(method), data, mine, other, other / mine, None, "s", note)]


def pygcl_side(folder: Path, method: str, data: str, steps: list[int] | None = None) -> Side:
    """Return an epoch of one of PyGCL's methods as a side, for benchmarks of the same method."""
    return Side(
        "benchmarks.pygcl_training:epoch_side",
        folder=str(folder),
        method=method,
        data=data,
        steps=steps,
    )


def install() -> Path:
    """Return the folder with PyGCL alone in it; raises ``Skipped`` where it is not to be had.

    It has a folder of its own, which no other process looks into: its requirements are what the
    benchmarks have installed anyway, and those that cannot be installed have stand-ins.
    """
    folder = cache_dir() / "benchmarks" / f"PyGCL-{VERSION}"
    if (folder / "GCL" / "__init__.py").exists():
        return folder
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    command += ["--target", str(folder), f"PyGCL=={VERSION}"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().splitlines() or ["pip gave no reason"]
        raise Skipped(f"PyGCL {VERSION} cannot be installed: {reason[-1]}")
    return folder
