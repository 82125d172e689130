"""Small sets of molecules, with and without coordinates, that the tests share."""

from __future__ import annotations

import numpy as np

from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet

BONDS = ("aromatic", "double", "single", "triple")


def make_molecules(
    num_graphs: int = 6, *, seed: int = 0, coordinates: bool = True, labels: bool = True
) -> GraphSet:
    """Return trees of 1 to 7 atoms with labelled bonds, the atoms at random places."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 8, num_graphs)
    counts[0] = 1
    starts = np.cumsum(counts) - counts
    pairs = [
        (start + v, start + rng.integers(v))
        for start, n in zip(starts, counts, strict=True)
        for v in range(1, n)
    ]
    source, target = np.array(pairs, np.int64).reshape(-1, 2).T
    total = int(counts.sum())
    columns: dict[str, object] = {}
    if coordinates:
        columns["node_attributes"] = rng.uniform(-3, 3, (total, 3)).astype(np.float32)
        columns["node_attribute_names"] = ("x", "y", "z")
    if labels:
        columns["edge_labels"] = rng.choice(4, len(pairs), p=[0.1, 0.2, 0.6, 0.1])
        columns["edge_label_names"] = BONDS
    return from_edges(
        counts,
        source,
        target,
        node_labels=rng.integers(0, 3, total).astype(np.int32),
        node_label_names=("C", "N", "O"),
        name="molecules",
        **columns,  # type: ignore[arg-type]
    )
