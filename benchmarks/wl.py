"""The Weisfeiler-Lehman kernel against GraKeL's, with the same matrix."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row
from benchmarks.side import Side
from benchmarks.timing import alternate
from benchmarks.training import load
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class Case:
    """One row: a kernel on the first graphs of a set, and the bar."""

    kernel: str
    data: str
    num_graphs: int
    repeats: int
    bar: float


CASES = (
    Case("wl", "NCI1", 4110, repeats=3, bar=5.0),
    # GraKeL compares two rows of a dense table at a time: minutes for all of NCI1.
    Case("wl-oa", "NCI1", 200, repeats=2, bar=5.0),
)
ITERATIONS = 5

Work = Callable[[], Callable[[], str]]


def rows(context: Context) -> list[Row]:
    """Return a row for each case."""
    return [row for case in CASES for row in guarded(case.kernel, case.data, _rows, context, case)]


def _rows(context: Context, case: Case) -> list[Row]:
    context.require(case.data)
    given = {"kernel": case.kernel, "data": case.data, "num_graphs": case.num_graphs}
    with (
        Side("benchmarks.wl:ours_side", **given) as ours,
        Side("benchmarks.wl:grakel_side", **given) as theirs,
    ):
        rounds = context.rounds(case.repeats)
        measured = alternate({"ours": ours, "theirs": theirs}, rounds, warm=rounds > 1)
    mine, other = measured["ours"], measured["theirs"]
    same = mine.first == other.first
    note = (
        f"GraKeL, from its own graph objects; fit and kernel matrix of {case.num_graphs} graphs, "
        f"{ITERATIONS} iterations; matrices " + ("equal" if same else "DIFFER")
    )
    name = "WL kernel" if case.kernel == "wl" else "WL optimal assignment"
    ratio = other.cpu / mine.cpu
    return [Row(name, case.data, mine.cpu, other.cpu, ratio, case.bar, "s", note, agrees=same)]


def ours_side(kernel: str, data: str, num_graphs: int) -> Work:
    """Return the work of our kernel; its result: a checksum of the matrix."""
    from igsd.baselines.registry import make_method

    graphs = load(data).take(np.arange(num_graphs))

    def work() -> Callable[[], str]:
        estimator = make_method(kernel, iterations=ITERATIONS, normalise=False).fit(graphs)
        K = estimator.kernel(graphs)
        return lambda: checksum(K)

    return work


def grakel_side(kernel: str, data: str, num_graphs: int) -> Work:
    """Return the work of GraKeL's kernel; its result: a checksum of the matrix."""
    from grakel.kernels import WeisfeilerLehman, WeisfeilerLehmanOptimalAssignment

    kinds = {"wl": WeisfeilerLehman, "wl-oa": WeisfeilerLehmanOptimalAssignment}
    objects = grakel_graphs(load(data).take(np.arange(num_graphs)))

    def work() -> Callable[[], str]:
        K = kinds[kernel](n_iter=ITERATIONS, normalize=False).fit_transform(objects)
        return lambda: checksum(K)

    return work


def checksum(K: np.ndarray) -> str:
    """Return a checksum of a matrix of whole numbers."""
    return hashlib.sha256(np.ascontiguousarray(K, dtype=np.int64).tobytes()).hexdigest()


def grakel_graphs(graphs: GraphSet) -> list[Any]:
    """Return the graphs as GraKeL's objects, with their node labels."""
    from grakel import Graph

    labels = graphs.node_labels
    if labels is None:
        labels = graphs.adjacency.degrees()
    row_ptr, col, made = graphs.adjacency.row_ptr, graphs.adjacency.col, []
    for start, stop in zip(
        graphs.node_ptr[:-1].tolist(), graphs.node_ptr[1:].tolist(), strict=True
    ):
        edges = {
            v - start: dict.fromkeys(col[row_ptr[v] : row_ptr[v + 1]].tolist(), 1.0)
            for v in range(start, stop)
        }
        made.append(Graph(edges, node_labels=dict(enumerate(labels[start:stop].tolist()))))
    return made
