"""An epoch of IGSD on two threads against one, in wall time."""

from __future__ import annotations

import os

from benchmarks.context import Context
from benchmarks.epoch import TOLERANCE, loss_differences
from benchmarks.row import Row, Skipped
from benchmarks.side import Side
from benchmarks.timing import alternate, load_note

DATA, BAR, REPEATS = "NCI1", 1.6, 7
TARGET = "benchmarks.training:epoch_side"


def rows(context: Context) -> list[Row]:
    """Return the row of NCI1; ``theirs`` is our own time on one thread."""
    context.require(DATA)
    if (os.cpu_count() or 1) < 2:
        raise Skipped("this machine has one core")
    with Side(TARGET, data=DATA, threads=2) as two, Side(TARGET, data=DATA) as one:
        measured = alternate({"two": two, "one": one}, context.rounds(REPEATS))
    fast, slow = measured["two"].wall, measured["one"].wall
    first, second = loss_differences(measured["two"].first, measured["one"].first)
    losses = f"losses of the first two steps within {first:.0e} and {second:.0e}"
    note = f"wall time, {load_note()}; {losses}"
    agrees = max(first, second) <= TOLERANCE
    name = "epoch: two threads / one"
    return [Row(name, DATA, fast, slow, slow / fast, BAR, "s", note, agrees=agrees)]
