"""Embedding new graphs against the plain PyG model, in graphs per second."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.agreement import largest_difference
from benchmarks.context import Context
from benchmarks.row import Row
from benchmarks.side import Side
from benchmarks.timing import alternate
from benchmarks.training import load, untrained

DATA, BAR, REPEATS = "NCI1", 3.0, 7
TOLERANCE = 1e-4


def rows(context: Context) -> list[Row]:
    """Return the row of NCI1, graphs per second of CPU time on one thread."""
    context.require(DATA)
    with (
        Side("benchmarks.embed:ours_side", data=DATA) as ours,
        Side("benchmarks.plain_training:embed_side", data=DATA) as theirs,
    ):
        measured = alternate({"ours": ours, "theirs": theirs}, context.rounds(REPEATS))
    difference = largest_difference(
        measured["ours"].first["rows"], measured["theirs"].first["rows"]
    )
    count = measured["ours"].first["graphs"]
    mine, other = count / measured["ours"].cpu, count / measured["theirs"].cpu
    note = f"untrained weights; every {count // 20}th embedding within {difference:.0e}"
    agrees = difference <= TOLERANCE
    name = "embedding / plain PyG"
    return [Row(name, DATA, mine, other, mine / other, BAR, "graphs/s", note, agrees=agrees)]


def ours_side(data: str) -> Callable[[], Any]:
    """Return the work of embedding a set; its result: the number of graphs and some rows."""
    graphs = load(data)
    estimator = untrained(graphs)

    def work() -> Any:
        rows = estimator.transform(graphs)
        return lambda: {"graphs": len(rows), "rows": rows[:: len(rows) // 20].tolist()}

    return work
