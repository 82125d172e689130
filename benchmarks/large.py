"""Large graphs: pushes against the series, growth with size, training, and peak memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row
from benchmarks.side import run_once
from benchmarks.training import SETTINGS
from igsd.estimators import IGSD
from igsd.evaluation.cross_validation import cross_validate
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.views.diffusion import push_piece, series_piece

PUSHED = {"ppr": (6_000, 4.0), "heat": (12_000, 1.5)}
"""For each view, the nodes of the graph, and how many times faster pushes must be than a series."""
GROWTH, GROWTH_BAR = (10_000, 20_000, 40_000), 1.5
FITS = {20_000: 8.0, 100_000: 60.0}
"""For the nodes of the large graph, the seconds that two epochs should take on a quiet machine."""
FIT_MEMORY, THREADS_MEMORY = 3 * 1024.0, 4 * 1024.0
SMALL, THREADS = 60, 2_000


def rows(context: Context) -> list[Row]:
    """Return the rows, CPU seconds on one thread, all of generated graphs."""
    found = [row for view in PUSHED for row in guarded("push", view, _pushed_rows, view)]
    found += [row for view in PUSHED for row in guarded("growth", view, _growth_rows, view)]
    found += guarded("fit", "large graphs", _fit_rows)
    return found + guarded("threads", f"{THREADS:,} graphs", _threads_rows)


def _pushed_rows(view: str) -> list[Row]:
    nodes, bar = PUSHED[view]
    kinds = ("push", "series")
    ours, theirs = (run_once("benchmarks.large:view_side", view=view, n=nodes, by=k) for k in kinds)
    gap = abs(ours.result["sum"] - theirs.result["sum"]) / theirs.result["sum"]
    note = f"local pushes against the truncated series; sums of S differ by {100 * gap:.1f} %"
    name, ratio = f"{_name(view)} of a large graph / series", theirs.cpu / ours.cpu
    data = f"{nodes:,} nodes"
    return [Row(name, data, ours.cpu, theirs.cpu, ratio, bar, "s", note, agrees=gap < 0.1)]


def _growth_rows(view: str) -> list[Row]:
    each = []
    for nodes in GROWTH:
        run = run_once("benchmarks.large:view_side", view=view, n=nodes, by="push")
        each.append(1e3 * run.cpu / run.result["edges"])
    sizes = ", ".join(f"{nodes:,}" for nodes in GROWTH)
    note = f"per edge at {sizes} nodes: " + ", ".join(f"{value:.3f}" for value in each)
    name, data, ratio = f"{_name(view)}: cost against size", "random graphs", max(each) / min(each)
    return [Row(name, data, max(each), min(each), ratio, GROWTH_BAR, "ms", note, at_most=True)]


def _fit_rows() -> list[Row]:
    """Return seconds and peaks, and the growth of the seconds, which depends less on the load."""
    runs = {nodes: run_once("benchmarks.large:fit_side", n=nodes) for nodes in FITS}
    found, each = [], [1e3 * run.cpu / nodes for nodes, run in runs.items()]
    for nodes, run in runs.items():
        aim, data = FITS[nodes], f"{nodes:,} nodes, {SMALL} small graphs"
        note = (
            f"IGSD().fit(epochs=2), views included; average degree 10; wall time {run.wall:.0f} s"
        )
        share, peak = run.cpu / aim, run.peak / FIT_MEMORY
        found += [
            Row(f"fit / {aim:g} s", data, run.cpu, aim, share, 1.0, "s", note, True),
            Row("fit: peak / 3 GiB", data, run.peak, FIT_MEMORY, peak, 1.0, "MiB", note, True),
        ]
    sizes = " and ".join(f"{nodes:,}" for nodes in FITS)
    note = f"per node of the large graph at {sizes} nodes: " + ", ".join(f"{v:.2f}" for v in each)
    name, data, ratio = "fit: cost against size", f"{SMALL + 1} graphs", max(each) / min(each)
    row = Row(name, data, max(each), min(each), ratio, GROWTH_BAR, "ms", note, at_most=True)
    return [*found, row]


def _threads_rows() -> list[Row]:
    run, limit = run_once("benchmarks.large:threads_side"), THREADS_MEMORY
    result = run.result
    note = (
        f"made like REDDIT-BINARY: {result['mean']:.0f} mean nodes, {result['most']:,} at most; "
        f"two epochs and nested scoring, accuracy {100 * result['accuracy']:.1f} %, {run.cpu:.0f} s"
    )
    name, data = "train and score: peak / 4 GiB", f"{THREADS:,} threads"
    return [Row(name, data, run.peak, limit, run.peak / limit, 1.0, "MiB", note, at_most=True)]


def view_side(view: str, n: int, by: str) -> Callable[[], dict[str, float]]:
    """Return the work of diffusing one large network, by pushes or by a series."""
    graphs, settings = network([n]), SETTINGS.updated({"view": view})

    def work() -> dict[str, float]:
        if by == "push":
            silent: Any = lambda steps, note="": None  # noqa: E731
            piece = push_piece(graphs.adjacency, graphs.node_ptr, 0, settings, silent)
        else:
            piece = series_piece(graphs.adjacency, graphs.node_ptr, 0, settings)
        return {"edges": graphs.num_edges, "sum": float(piece.weight.sum(dtype=np.float64))}

    return work


def fit_side(n: int) -> Callable[[], float]:
    """Return the work of two epochs on one large graph among small ones, without a cache."""
    graphs = network([n, *(20 + place % 21 for place in range(SMALL))])

    def work() -> float:
        model = IGSD(epochs=2, cache_views=False, random_state=0).fit(graphs)
        return float(model.history_[-1]["total"])

    return work


def threads_side() -> Callable[[], dict[str, float]]:
    """Return the work of training on a set of discussions, embedding and scoring it."""
    graphs = discussions(THREADS)

    def work() -> dict[str, float]:
        model = IGSD(epochs=2, cache_views=False, random_state=0)
        result = cross_validate(model.fit_transform(graphs), graphs.classes, protocol="nested")
        counts = graphs.node_counts()
        sizes = {"mean": float(counts.mean()), "most": int(counts.max())}
        return sizes | {"accuracy": float(result.mean)}

    return work


def network(sizes: list[int], seed: int = 0) -> GraphSet:
    """Return random graphs with about ten neighbours a node, four in graphs below 1,000 nodes."""
    rng = np.random.default_rng(seed)
    starts = np.cumsum([0, *sizes])
    ends = [
        start + rng.integers(0, size, (2, (5 if size >= 1_000 else 2) * size))
        for start, size in zip(starts, sizes, strict=False)
    ]
    return from_edges(sizes, *np.concatenate(ends, axis=1))


def discussions(count: int, seed: int = 0) -> GraphSet:
    """Return graphs of who answers whom: sparse, with hubs, 430 mean nodes, some of 3,000.

    In the first class most answers go to a few people, in the second to anybody before.
    """
    rng = np.random.default_rng(seed)
    sizes = np.clip(rng.lognormal(5.6, 0.95, count).astype(np.int64), 10, 3_500)
    classes, ends, start = np.arange(count) % 2, [], 0
    for size, kind in zip(sizes.tolist(), classes.tolist(), strict=True):
        late = np.concatenate([np.arange(1, size), rng.integers(1, size, size // 6)])
        anybody = (rng.random(len(late)) * late).astype(np.int64)
        hubs = np.minimum(rng.integers(0, 4 + size // 100, len(late)), late - 1)
        answered = np.where(rng.random(len(late)) < (0.7, 0.4)[kind], hubs, anybody)
        ends.append(start + np.stack([late, answered]))
        start += size
    return from_edges(sizes, *np.concatenate(ends, axis=1), classes=classes)


def _name(view: str) -> str:
    return {"ppr": "PPR", "heat": "Heat kernel"}[view]
