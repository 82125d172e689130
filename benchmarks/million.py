"""A million small molecules embedded from a memory-mapped file, in less than 2 GiB."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks.agreement import largest_difference
from benchmarks.context import Context
from benchmarks.row import Row
from benchmarks.side import run_once
from benchmarks.startup import igsd_command
from benchmarks.training import load
from igsd.estimators import IGSD
from igsd.graphs.adjacency import Adjacency, pointers, ranges
from igsd.graphs.graphset import GraphSet

DATA, NUM_GRAPHS, LIMIT = "NCI1", 1_000_000, 2 * 1024.0
TOLERANCE = 1e-3
"""A relabelled graph sums its nodes in another order, through four layers."""


def rows(context: Context) -> list[Row]:
    """Return the row of the peak memory of ``igsd embed``, which also says its speed."""
    context.require(DATA)
    return [_row(context.folder / "million", NUM_GRAPHS)]


def _row(folder: Path, num_graphs: int) -> Row:
    folder.mkdir()
    paths = {name: str(folder / name) for name in ("graphs", "model")}
    run_once("benchmarks.million:make_side", num_graphs=num_graphs, **paths)
    output = folder / "vectors.npy"
    command = [*igsd_command(), "embed", paths["model"], paths["graphs"], "-o", str(output)]
    peak, seconds, whole, text = watch(command, output)
    difference = _difference(output, IGSD.load(paths["model"]).transform(load(DATA)), num_graphs)
    note = (
        f"igsd embed, {num_graphs / seconds:.0f} graphs/s of wall time; file "
        f"{'whole at the end only' if whole else 'SEEN UNFINISHED'}; "
        f"{'progress shown' if 'embedding' in text else 'NO PROGRESS BAR'}; "
        f"copies within {difference:.0e} of their originals"
    )
    agrees = whole and "embedding" in text and difference <= TOLERANCE
    name = f"{num_graphs} graphs: peak / 2 GiB"
    data = f"{DATA}, relabelled copies"
    return Row(name, data, peak, LIMIT, peak / LIMIT, 1.0, "MiB", note, True, agrees)


def make_side(num_graphs: int, graphs: str, model: str) -> Callable[[], None]:
    """Return the work of writing the graphs and a model trained on the originals."""

    def work() -> None:
        originals = load(DATA)
        IGSD(epochs=1).fit(originals).save(model)
        relabelled_copies(originals, num_graphs).save(graphs)

    return work


def relabelled_copies(graphs: GraphSet, count: int, seed: int = 0) -> GraphSet:
    """Return ``count`` graphs: the set again and again, each copy with its nodes renumbered.

    Only structure and node labels are kept.
    """
    rng = np.random.default_rng(seed)
    plain = replace(
        graphs.without_labels(), edge_labels=None, edge_label_names=(), graph_names=None
    )
    copies = -(-count // len(plain))
    sizes = [len(plain)] * (copies - 1) + [count - (copies - 1) * len(plain)]
    parts = [_relabelled(plain.take(np.arange(size)), rng) for size in sizes]
    lengths = np.concatenate([np.diff(part.adjacency.row_ptr) for part in parts])
    labels = [part.node_labels for part in parts if part.node_labels is not None]
    return replace(
        plain,
        node_ptr=pointers(np.concatenate([part.node_counts() for part in parts])),
        adjacency=Adjacency(
            pointers(lengths), np.concatenate([part.adjacency.col for part in parts])
        ),
        node_labels=np.concatenate(labels) if labels else None,
    )


def _relabelled(graphs: GraphSet, rng: np.random.Generator) -> GraphSet:
    """Return the graphs with the nodes of each in a random order."""
    old_ptr = graphs.adjacency.row_ptr
    # Sorted by (graph, random number): order[new] is the old row, place[old] the new one.
    order = np.lexsort([rng.random(graphs.num_nodes), graphs.graph_of_node()])
    place = np.argsort(order)
    entries = ranges(old_ptr[order], old_ptr[order + 1])
    rows = np.repeat(np.arange(graphs.num_nodes), np.diff(old_ptr)[order])
    columns = place[graphs.adjacency.global_columns(graphs.node_ptr)[entries]]
    ascending = np.lexsort([columns, rows])
    local = columns[ascending] - np.repeat(graphs.node_ptr[:-1], 2 * graphs.edge_counts())
    labels = graphs.node_labels
    return replace(
        graphs,
        adjacency=Adjacency(pointers(np.diff(old_ptr)[order]), local.astype(np.int32)),
        node_labels=None if labels is None else np.asarray(labels)[order],
    )


def watch(command: list[str], output: Path) -> tuple[float, float, bool, str]:
    """Run a command; return (peak MiB, seconds, whether ``output`` came only at its end, errors).

    The peak is read from the kernel while the command runs.
    """
    log = output.with_suffix(".log")
    peak, whole, started = 0.0, True, time.perf_counter()
    with open(log, "w") as errors:
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)
        while process.poll() is None:
            there = output.exists()
            peak = max(peak, _peak_of(process.pid))
            # The file may come between the two looks; it must be whole then.
            whole = whole and (not there or process.poll() is not None or _is_whole(output))
            time.sleep(0.2)
    seconds = time.perf_counter() - started
    text = log.read_text()
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)} ended with exit code {process.returncode}: {text}")
    return peak, seconds, whole, text


def _is_whole(path: Path) -> bool:
    try:
        np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError):
        return False
    return True


def _peak_of(pid: int) -> float:
    """Return the peak resident set of a process in MiB, 0 where the system does not tell."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return max((int(line.split()[1]) / 2**10 for line in lines if "VmHWM" in line), default=0.0)


def _difference(output: Path, originals: np.ndarray, num_graphs: int) -> float:
    """Return how far a thousand embeddings are from those of their originals."""
    found = np.load(output, mmap_mode="r", allow_pickle=False)
    if found.shape != (num_graphs, originals.shape[1]):
        return float("inf")
    chosen = np.linspace(0, num_graphs - 1, min(1000, num_graphs)).astype(np.int64)
    worst = largest_difference(found[chosen], originals[chosen % len(originals)])
    os.unlink(output)  # a gigabyte
    return worst
