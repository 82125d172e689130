"""``nearest_graphs``: the graphs whose embeddings are closest to that of one."""

from __future__ import annotations

import numpy as np

from igsd.errors import ConfigError, DataError


def nearest_graphs(vectors: np.ndarray, query: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances) of the k graphs closest to graph ``query``, nearest first.

    The distance is Euclidean between the rows of ``vectors`` [G, d] after each column was brought
    to unit variance over the set, divided by the square root of the number of columns that vary:
    two graphs drawn at random are about 1.4 apart, whatever d is. Ties go by index. The query
    itself is left out, and fewer than k come back from a smaller set.
    Raises ``DataError`` for a query that is no graph of the set, ``ConfigError`` for k below 1.
    """
    if not 0 <= query < len(vectors):
        raise DataError(
            f"There is no graph {query}: the set has {len(vectors)} graphs, numbered from 0 to "
            f"{len(vectors) - 1}."
        )
    if k < 1:
        raise ConfigError(f"-k must be at least 1. Got {k}.")
    values = np.asarray(vectors, np.float64)
    deviation = values.std(axis=0)
    varies = deviation > 1e-12 * np.abs(values).max(initial=1.0)
    scaled = values[:, varies] / deviation[varies]
    squares = ((scaled - scaled[query]) ** 2).sum(axis=1)
    distances = np.sqrt(squares / max(int(varies.sum()), 1))
    order = np.lexsort((np.arange(len(values)), distances))
    order = order[order != query][:k]
    return order, distances[order]
