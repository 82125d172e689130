"""An epoch of IGSD against the same epoch in plain PyTorch Geometric."""

from __future__ import annotations

from benchmarks.agreement import largest_difference
from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row
from benchmarks.side import Side
from benchmarks.timing import Measured, alternate

NAME = "epoch / plain PyG"
BARS = {"MUTAG": 1.8, "IMDB-BINARY": 2.5, "NCI1": 2.4, "COLLAB": 25.0}
REPEATS = {"MUTAG": 15, "IMDB-BINARY": 7, "NCI1": 5, "COLLAB": 3}
STEPS = {"COLLAB": [0, 1, 2]}
"""Plain PyG takes minutes for an epoch of COLLAB: both sides run these batches of it."""

TOLERANCE = 1e-4
"""How far the losses of the first two steps may differ.

The second has seen a gradient, an optimiser step and the teacher.
"""

SECOND = {"COLLAB": 5e-3}
"""The same for the second step, where it has to be wider, set after COLLAB was seen to miss 1e-4.

Adam's first step is nearly the sign of a gradient, so rounding near zero counts in full, and sums
over hundreds of neighbours round more. Measured on 64 graphs of COLLAB against float64, gradients
of one step: with one row per node float32 is off by 2e-3 of their length, with alike nodes in one
row by 8e-5, and in float64 the two differ by 1e-9.
"""


def rows(context: Context) -> list[Row]:
    """Return a row for each data set, CPU seconds on one thread."""
    return [row for data in BARS for row in guarded(NAME, data, _rows, context, data)]


def _rows(context: Context, data: str) -> list[Row]:
    context.require(data)
    steps = STEPS.get(data)
    with (
        Side("benchmarks.training:epoch_side", data=data, steps=steps) as ours,
        Side("benchmarks.plain_training:epoch_side", data=data, steps=steps) as theirs,
    ):
        sides = {"ours": ours, "theirs": theirs}
        measured = alternate(sides, context.rounds(REPEATS[data]))
    return [epoch_row(data, measured["ours"], measured["theirs"], len(steps) if steps else None)]


def epoch_row(data: str, ours: Measured, theirs: Measured, steps: int | None) -> Row:
    """Return the row of two measured sides whose results are the losses of their steps."""
    first, second = loss_differences(ours.first, theirs.first)
    part = f"batches 0 to {steps - 1} of epoch 0; " if steps else ""
    return Row(
        NAME,
        data,
        ours.cpu,
        theirs.cpu,
        theirs.cpu / ours.cpu,
        BARS[data],
        "s",
        f"{part}losses of the first two steps within {first:.0e} and {second:.0e}; "
        f"set-up with views {ours.setup:.1f} and {theirs.setup:.1f} s",
        agrees=first <= TOLERANCE and second <= SECOND.get(data, TOLERANCE),
    )


def loss_differences(ours: list[float], theirs: list[float]) -> tuple[float, float]:
    """Return how far the first losses differ, and how far the second."""
    return largest_difference(ours[0], theirs[0]), largest_difference(ours[1], theirs[1])
