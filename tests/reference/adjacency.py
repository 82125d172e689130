"""The adjacency of a batch as one dense matrix."""

from __future__ import annotations

import numpy as np

from igsd.batches.batch import Batch


def dense(batch: Batch) -> np.ndarray:
    """Return A [n, n] float64, entry by entry from the edge list."""
    A = np.zeros((len(batch.x), len(batch.x)))
    ends, weights = batch.edge_index.numpy(), batch.edge_weight.double().numpy()
    for e in range(ends.shape[1]):
        A[ends[0, e], ends[1, e]] += weights[e]
    return A
