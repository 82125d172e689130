"""Training on two threads, or in two processes of one thread, against one, in wall time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from benchmarks.agreement import largest_difference
from benchmarks.context import Context
from benchmarks.epoch import TOLERANCE, loss_differences
from benchmarks.gine import load
from benchmarks.guard import guarded
from benchmarks.row import Row, Skipped
from benchmarks.side import Side
from benchmarks.startup import igsd_command
from benchmarks.timing import alternate, load_note

DATA, BAR, REPEATS = "NCI1", 1.6, 7
TARGET = "benchmarks.training:epoch_side"
THREADS, PROCESSES = "epoch: two threads / one", "epoch: two processes / one"
ZINC, PROCESS_BAR, EPOCHS, TRAININGS = "ZINC, 4,000 molecules", 1.7, (1, 7), 3
LOSSES = 0.05
"""How far the losses of the last epoch may differ: each process has BatchNorm of its own part."""


def rows(context: Context) -> list[Row]:
    """Return the rows of NCI1 and ZINC; ``theirs`` is our own time on one thread."""
    if (os.cpu_count() or 1) < 2:
        raise Skipped("this machine has one core")
    return [
        *guarded(THREADS, DATA, _thread_rows, context),
        *guarded(PROCESSES, DATA, _process_rows, context, DATA),
        *guarded(PROCESSES, ZINC, _process_rows, context, ZINC),
    ]


def _thread_rows(context: Context) -> list[Row]:
    context.require(DATA)
    with Side(TARGET, data=DATA, threads=2) as two, Side(TARGET, data=DATA) as one:
        measured = alternate({"two": two, "one": one}, context.rounds(REPEATS))
    fast, slow = measured["two"].wall, measured["one"].wall
    first, second = loss_differences(measured["two"].first, measured["one"].first)
    losses = f"losses of the first two steps within {first:.0e} and {second:.0e}"
    note = f"wall time, {load_note()}; {losses}"
    agrees = max(first, second) <= TOLERANCE
    return [Row(THREADS, DATA, fast, slow, slow / fast, BAR, "s", note, agrees=agrees)]


def _process_rows(context: Context, data: str) -> list[Row]:
    """Return the row of whole trainings by the command line, start-up taken off.

    An epoch is the difference between a training of several epochs and one of a single epoch.
    """
    graphs = data
    if data == DATA:
        context.require(data)
    else:
        graphs = str(context.folder / "zinc.graphs")
        load().save(graphs)
    short, long = EPOCHS
    seconds: dict[int, list[float]] = {1: [], 2: []}
    losses = {}
    for number in range(context.rounds(TRAININGS)):
        for devices in seconds:
            took = {}
            for epochs in EPOCHS:
                run = context.folder / f"{Path(graphs).stem}-{number}-{devices}-{epochs}"
                took[epochs], losses[devices] = _train(graphs, run, devices, epochs)
            seconds[devices].append((took[long] - took[short]) / (long - short))
    one, two = median(seconds[1]), median(seconds[2])
    difference = largest_difference(losses[2], losses[1])
    note = (
        f"igsd train, one thread each, wall time, {load_note()}; losses of epoch {long} within "
        f"{difference:.0e}, each process with BatchNorm of its own part"
    )
    agrees = difference <= LOSSES
    return [Row(PROCESSES, data, two, one, one / two, PROCESS_BAR, "s", note, agrees=agrees)]


def _train(graphs: str, run: Path, devices: int, epochs: int) -> tuple[float, float]:
    """Return the wall seconds of a training by the recipe, and the loss of its last epoch."""
    settings = [f"epochs={epochs}", "batch_size=256", "cache_views=false"]
    options = [word for value in settings for word in ("--set", value)]
    # torchrun waits for its processes, so that their time is not taken for that of other programs.
    launcher = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(devices)]
    start = [*launcher, "-m", "igsd"] if devices > 1 else igsd_command()
    command = [*start, "train", graphs, "--recipe", "molecules", "-o", str(run), *options]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    begin = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=os.environ | threads)
    seconds = time.perf_counter() - begin
    metrics = json.loads((run / "metrics.json").read_text())
    return seconds, float(metrics["final_loss"])
