"""One batch of 128 graphs, from index to tensors, against PyG's ``DataLoader``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch_geometric.loader import DataLoader

from benchmarks.context import Context
from benchmarks.plain_data import plain_graphs
from benchmarks.row import Row
from benchmarks.side import Side, run_once
from benchmarks.timing import alternate
from benchmarks.training import batches_of, feature_map, load
from igsd.batches.batch import Collator
from igsd.graphs.graphset import GraphSet

DATA, BAR, REPEATS = "NCI1", 5.0, 15


def rows(context: Context) -> list[Row]:
    """Return the row of NCI1: the mean CPU time of a batch over the batches of an epoch."""
    context.require(DATA)
    with (
        Side("benchmarks.batch:ours_side", data=DATA) as ours,
        Side("benchmarks.batch:loader_side", data=DATA) as theirs,
    ):
        measured = alternate({"ours": ours, "theirs": theirs}, context.rounds(REPEATS))
    same = run_once("benchmarks.batch:compare_side", data=DATA).result
    batches = measured["ours"].first
    mine, other = (1e3 * measured[side].cpu / batches for side in ("ours", "theirs"))
    note = f"mean of {batches} batches; features, edges and graph numbers " + (
        "equal" if same else "DIFFER"
    )
    name = "batch of 128 / DataLoader"
    return [Row(name, DATA, mine, other, other / mine, BAR, "ms", note, agrees=same)]


def ours_side(data: str) -> Callable[[], int]:
    """Return the work of making all batches of an epoch; its result: how many."""
    graphs = load(data)
    collator, batches = _collator(graphs), batches_of(graphs)

    def work() -> int:
        for indices in batches:
            collator.batch(indices, graphs.adjacency)
        return len(batches)

    return work


def loader_side(data: str) -> Callable[[], int]:
    """Return the work of drawing the same batches from a ``DataLoader``; its result: how many."""
    graphs = load(data)
    loader = _loader(graphs, batches_of(graphs))
    return lambda: sum(1 for _ in loader)


def compare_side(data: str) -> Callable[[], bool]:
    """Return the work of comparing every batch; its result: whether all tensors are equal."""
    graphs = load(data)
    collator, batches = _collator(graphs), batches_of(graphs)

    def work() -> bool:
        loader = _loader(graphs, batches)
        for indices, theirs in zip(batches, loader, strict=True):
            ours = collator.batch(indices, graphs.adjacency)
            pairs = (
                (ours.x, theirs.x),
                (ours.edge_index, theirs.edge_index),
                (ours.batch, theirs.batch),
            )
            if not all(torch.equal(mine, other) for mine, other in pairs):
                return False
        return True

    return work


def _collator(graphs: GraphSet) -> Collator:
    features = feature_map(graphs).transform(graphs)
    return Collator(graphs.node_ptr, features, torch.get_default_device())


def _loader(graphs: GraphSet, batches: list[np.ndarray]) -> DataLoader:
    """Return a loader of the same graphs, without weights: the graphs, not the views."""
    plain = plain_graphs(graphs, feature_map(graphs))
    for graph in plain:
        del graph.edge_weight
    return DataLoader(plain, batch_sampler=[batch.tolist() for batch in batches])
