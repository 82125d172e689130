"""Peak memory of COLLAB, views and training, against plain PyG and against 6 GiB."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.context import Context
from benchmarks.epoch import TOLERANCE, loss_differences
from benchmarks.row import Row
from benchmarks.side import run_once
from benchmarks.training import batches_of, load

DATA, SHARE, LIMIT = "COLLAB", 0.5, 6 * 1024.0
NUM_BATCHES = 3


def rows(context: Context) -> list[Row]:
    """Return two rows: our peak against theirs, and against the limit."""
    context.require(DATA)
    steps = run_once("benchmarks.memory:heaviest_side", data=DATA).result
    ours = run_once("benchmarks.training:epoch_side", data=DATA, steps=steps)
    theirs = run_once("benchmarks.plain_training:epoch_side", data=DATA, steps=steps)
    difference, _ = loss_differences(ours.result, theirs.result)
    part = f"views of all graphs, then the {len(steps)} heaviest batches of an epoch"
    note = f"{part}; first losses within {difference:.0e}"
    limit = ours.peak / LIMIT
    return [
        Row(
            "peak memory / plain PyG",
            DATA,
            ours.peak,
            theirs.peak,
            ours.peak / theirs.peak,
            SHARE,
            "MiB",
            note,
            at_most=True,
            agrees=difference <= TOLERANCE,
        ),
        Row("peak memory / 6 GiB", DATA, ours.peak, LIMIT, limit, 1.0, "MiB", part, at_most=True),
    ]


def heaviest_side(data: str) -> Callable[[], list[int]]:
    """Return the work of finding the steps with the most entries in their views.

    The peak of a whole epoch is the peak of its heaviest batch; entries of a view grow with the
    square of the nodes, for graphs as dense as these.
    """
    graphs = load(data)
    squares = graphs.node_counts() ** 2
    entries = [int(squares[batch].sum()) for batch in batches_of(graphs)]
    heaviest = sorted(range(len(entries)), key=lambda step: -entries[step])[:NUM_BATCHES]
    return lambda: heaviest
