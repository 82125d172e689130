"""The start of the command line against an ``import torch``, and what ``make run`` takes."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row
from benchmarks.timing import load_note

BAR, REPEATS = 0.4, 9
IMPORT_BAR, IMPORTS = 1.2, 5
RUN_LIMIT = 90.0
RUN = ("evaluate", "--recipe", "molecules", "MUTAG", "--seeds", "3")
"""What ``make run`` calls once everything is installed."""


def rows(context: Context) -> list[Row]:
    """Return the rows of ``igsd --help`` and of the command behind ``make run``."""
    return [
        *guarded("igsd --help / import torch", "-", _help_rows, context),
        *guarded("import igsd; IGSD / import torch", "-", _import_rows, context),
        *guarded("make run / 90 s", "MUTAG", _run_rows, context),
    ]


def _help_rows(context: Context) -> list[Row]:
    ours, theirs = [*igsd_command(), "--help"], [sys.executable, "-c", "import torch"]
    times: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(context.rounds(REPEATS) + 1):
        times["ours"].append(_child_seconds(ours))
        times["theirs"].append(_child_seconds(theirs))
    mine, other = median(times["ours"][1:]), median(times["theirs"][1:])
    note = 'python -c "import torch"; CPU time, files in the cache'
    name = "igsd --help / import torch"
    return [Row(name, "-", mine, other, mine / other, BAR, "s", note, at_most=True)]


def _import_rows(context: Context) -> list[Row]:
    """Return the row of importing the estimator, beside what its two libraries take alone."""
    codes = ("import igsd; igsd.IGSD", "import torch", "import torch, sklearn.base")
    times: dict[str, list[float]] = {code: [] for code in codes}
    for _ in range(context.rounds(IMPORTS) + 1):
        for code in codes:
            times[code].append(_child_seconds([sys.executable, "-c", code]))
    mine, other, both = (median(times[code][1:]) for code in codes)
    note = f"import torch, sklearn.base: {both:.2f} s; CPU time, files in the cache"
    name = "import igsd; IGSD / import torch"
    return [Row(name, "-", mine, other, mine / other, IMPORT_BAR, "s", note, at_most=True)]


def _run_rows(context: Context) -> list[Row]:
    """Return the row of ``make run`` after installation, with nothing cached, in wall time."""
    context.require("MUTAG")
    folder = context.folder / "make-run"
    folder.mkdir()
    environment = os.environ | {"IGSD_CACHE": str(folder / "cache")}
    environment.pop("OMP_NUM_THREADS", None)
    command = f"igsd {' '.join(RUN)}"
    started = time.perf_counter()
    done = subprocess.run(
        [*igsd_command(), *RUN], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        raise RuntimeError(f"{command} ended with exit code {done.returncode}: {done.stderr}")
    seconds = time.perf_counter() - started
    note = f"{command}; wall time, {os.cpu_count()} cores, {load_note()}"
    ratio = seconds / RUN_LIMIT
    return [Row("make run / 90 s", "MUTAG", seconds, RUN_LIMIT, ratio, 1.0, "s", note, True)]


def igsd_command() -> list[str]:
    """Return the command line of igsd in this environment."""
    script = Path(sys.executable).parent / "igsd"
    return [str(script)] if script.exists() else [sys.executable, "-m", "igsd"]


def _child_seconds(command: list[str]) -> float:
    """Return the CPU seconds, of user and system, that a command takes."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with exit code {process.returncode}.")
    return usage.ru_utime + usage.ru_stime
