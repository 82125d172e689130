"""Cost against size: NCI1 repeated 1, 2, 4 and 8 times."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np

from benchmarks.context import Context
from benchmarks.row import Row
from benchmarks.side import Side
from benchmarks.timing import Measured, alternate
from benchmarks.training import SETTINGS, load, recorded_training
from igsd.graphs.graphset import GraphSet
from igsd.training.loop import RandomStream, run_training
from igsd.views.cache import diffusion_view

DATA, BAR, REPEATS = "NCI1", 1.15, 2
COPIES = (1, 2, 4, 8)


def rows(context: Context) -> list[Row]:
    """Return the rows of an epoch, of the views, and of the memory of both together."""
    context.require(DATA)
    sides: dict[str, Side] = {}
    try:
        for copies in COPIES:
            sides[str(copies)] = Side("benchmarks.scaling:growing_side", data=DATA, copies=copies)
        measured = list(alternate(sides, context.rounds(REPEATS)).values())
    finally:
        for side in sides.values():
            side.close()
    memory = [one.peak for one in measured]
    return [
        _time_row("epoch", [m.cpu for m in measured], measured),
        _time_row("PPR views", [m.first["views"] for m in measured], measured),
        _memory_row(memory),
    ]


def growing_side(data: str, copies: int) -> Callable[[], dict[str, float]]:
    """Return the work of an epoch over the repeated set; its result: graphs, seconds of views."""
    graphs = load(data, copies)
    views = median(_seconds_of_views(graphs) for _ in range(3))
    task, optimizer, fabric = recorded_training(graphs)

    def work() -> dict[str, float]:
        task.seen.clear()
        run_training(task, optimizer, fabric, RandomStream(0))
        return {"graphs": len(graphs), "views": views}

    return work


def _seconds_of_views(graphs: GraphSet) -> float:
    started = time.process_time()
    diffusion_view(graphs, SETTINGS)
    return time.process_time() - started


def _time_row(what: str, seconds: list[float], measured: list[Measured]) -> Row:
    """Return the row whose ratio is the dearest graph over the cheapest."""
    graphs = [m.first["graphs"] for m in measured]
    each = [1e3 * s / g for s, g in zip(seconds, graphs, strict=True)]
    note = "per graph at x1, x2, x4, x8: " + ", ".join(f"{value:.3f}" for value in each)
    ratio = max(each) / min(each)
    return Row(
        f"{what}: cost against size", DATA, max(each), min(each), ratio, BAR, "ms", note, True
    )


def _memory_row(peaks: list[float]) -> Row:
    """Return the row whose ratio is how far the peaks leave a straight line."""
    line: Any = np.polyfit(COPIES, peaks, 1)
    fitted = np.polyval(line, COPIES)
    ratio = float(np.max(np.maximum(peaks / fitted, fitted / peaks)))
    note = "peak at x1, x2, x4, x8: " + ", ".join(f"{value:.0f}" for value in peaks)
    note += "; ratio: the largest deviation from a straight line"
    return Row(
        "memory against size", DATA, peaks[-1], float(fitted[-1]), ratio, BAR, "MiB", note, True
    )
