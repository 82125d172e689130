"""The PPR views of a whole set against PyG's GDC."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.plain_data import plain_graphs, plain_views
from benchmarks.row import Row
from benchmarks.side import Side, run_once
from benchmarks.timing import alternate
from benchmarks.training import SETTINGS, feature_map, load
from igsd.views.cache import diffusion_view

NAME = "PPR views / GDC"
BARS = {"MUTAG": 8.0, "NCI1": 10.0, "COLLAB": 2.5}
REPEATS = {"MUTAG": 9, "NCI1": 5, "COLLAB": 3}
TOLERANCE = 1e-5
"""PyG inverts in float32; entries this close to the threshold may stay on one side only."""


def rows(context: Context) -> list[Row]:
    """Return a row for each data set, CPU seconds on one thread."""
    return [row for data in BARS for row in guarded(NAME, data, _rows, context, data)]


def _rows(context: Context, data: str) -> list[Row]:
    context.require(data)
    with (
        Side("benchmarks.ppr:views_side", data=data) as ours,
        Side("benchmarks.plain_data:views_side", data=data) as theirs,
    ):
        sides = {"ours": ours, "theirs": theirs}
        measured = alternate(sides, context.rounds(REPEATS[data]))
    difference = run_once("benchmarks.ppr:compare_side", data=data).result
    mine, other = measured["ours"].cpu, measured["theirs"].cpu
    note = f"PyG's GDC; S of every graph within {difference:.0e}"
    agrees = difference <= TOLERANCE
    return [Row(NAME, data, mine, other, other / mine, BARS[data], "s", note, agrees=agrees)]


def views_side(data: str) -> Callable[[], dict[str, float]]:
    """Return the work of computing the views of a whole set; its result: entries and their sum."""
    graphs = load(data)

    def work() -> Any:
        view = diffusion_view(graphs, SETTINGS)
        return lambda: {"entries": view.num_entries, "sum": float(_sum(view.weight))}

    return work


def compare_side(data: str) -> Callable[[], float]:
    """Return the work of computing both and comparing them; its result: the largest difference.

    An entry that stands on one side alone counts by its distance from the threshold.
    """
    graphs = load(data)

    def work() -> float:
        view = diffusion_view(graphs, SETTINGS)
        worst = 0.0
        for g, plain in enumerate(plain_views(plain_graphs(graphs, feature_map(graphs)))):
            part = view.take(graphs.node_ptr, np.array([g]))
            mine = _dense(part.rows(), part.col, part.weight, plain.num_nodes)
            rows, cols = plain.edge_index.numpy()
            other = _dense(rows, cols, plain.edge_weight.numpy(), plain.num_nodes)
            one_sided = (mine == 0) != (other == 0)
            apart = np.abs(mine - other)
            apart[one_sided] -= SETTINGS.threshold
            worst = max(worst, float(np.abs(apart).max()))
        return worst

    return work


def _dense(rows: Any, cols: Any, values: Any, size: int) -> np.ndarray:
    matrix = np.zeros((size, size))
    matrix[rows, cols] = values
    return matrix


def _sum(weight: np.ndarray | None) -> Any:
    return 0.0 if weight is None else weight.sum(dtype=np.float64)
