"""Small graph sets and batches that the tests share."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from igsd.batches.batch import Batch, Collator
from igsd.batches.features import FeatureMap
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet

HOST = torch.device("cpu")

TINY: dict[str, Any] = {
    "epochs": 2,
    "batch_size": 4,
    "num_layers": 2,
    "hidden_dim": 8,
    "head_hidden_dim": 16,
    "head_dim": 8,
    "cache_views": False,
}
"""Settings that train in a fraction of a second; ten graphs make three steps an epoch."""


def make_graphs(
    num_graphs: int = 10,
    *,
    seed: int = 0,
    labels: bool = True,
    attributes: int = 0,
    classes: bool = False,
    **others: Any,
) -> GraphSet:
    """Return random graphs of 3 to 8 nodes, about a third of all possible edges present."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(3, 9, num_graphs)
    starts = pointers(counts)
    edges = [
        (start + u, start + v)
        for start, n in zip(starts, counts, strict=False)
        for u in range(n)
        for v in range(u)
        if rng.random() < 0.35
    ]
    one, other = np.array(edges, np.int64).reshape(-1, 2).T
    source, target = np.concatenate([one, other]), np.concatenate([other, one])
    total = int(counts.sum())
    columns: dict[str, Any] = dict(others)
    if labels:
        columns["node_labels"] = rng.integers(0, 3, total).astype(np.int32)
        columns.setdefault("node_label_names", ("C", "N", "O"))
    if attributes:
        columns["node_attributes"] = rng.normal(size=(total, attributes)).astype(np.float32)
    if classes:
        columns |= {"classes": np.arange(num_graphs) % 2, "class_names": (-1, 1)}
    return from_edges(counts, source, target, **columns)


def odd_graphs() -> GraphSet:
    """Return one node; three nodes without edges; an edge and an isolated node; a triangle."""
    return from_edges(
        [1, 3, 3, 3], np.array([4, 7, 8, 7]), np.array([5, 8, 9, 9]), name="odd graphs"
    )


def relabelled(graphs: GraphSet, seed: int = 0) -> GraphSet:
    """Return the same graphs with the nodes of each in another order."""
    rng = np.random.default_rng(seed)
    ptr = graphs.node_ptr
    order = np.concatenate(
        [ptr[g] + rng.permutation(ptr[g + 1] - ptr[g]) for g in range(len(graphs))]
    )
    place = np.argsort(order)
    rows, cols = graphs.adjacency.rows(), graphs.adjacency.global_columns(ptr)
    labels = graphs.node_labels
    return from_edges(
        graphs.node_counts(),
        place[rows],
        place[cols],
        node_labels=None if labels is None else labels[order],
        node_label_names=graphs.node_label_names,
    )


def make_batch(
    graphs: GraphSet,
    indices: Any = None,
    *,
    nodes: str = "auto",
    features: FeatureMap | None = None,
) -> Batch:
    """Return some graphs, all by default, as one batch with their own features."""
    chosen = np.arange(len(graphs)) if indices is None else np.asarray(indices)
    features = features or FeatureMap.fit(graphs, nodes)
    graphs = features.prepared(graphs)
    packed = features.transform(graphs)
    return Collator(graphs.node_ptr, packed, HOST).batch(chosen, graphs.adjacency)


def in_double(batch: Batch) -> Batch:
    """Return the batch with node features in float64."""
    return Batch(batch.x.double(), batch.ptr, batch.adjacency)


def from_matrix(matrix: np.ndarray, *, weighted: bool) -> Adjacency:
    """Return the adjacency of one graph given as a symmetric matrix."""
    rows, cols = np.nonzero(matrix)
    weight = matrix[rows, cols].astype(np.float32) if weighted else None
    row_ptr = pointers(np.bincount(rows, minlength=len(matrix)))
    return Adjacency(row_ptr, cols.astype(np.int32), weight)


def weighted_matrix(n: int, seed: int = 0) -> np.ndarray:
    """Return a symmetric matrix of eighths, exact in every float format; some entries are 0."""
    rng = np.random.default_rng(seed)
    half = np.triu(rng.integers(0, 9, (n, n)) * (rng.random((n, n)) < 0.6)) / 8.0
    return half + np.triu(half, 1).T
