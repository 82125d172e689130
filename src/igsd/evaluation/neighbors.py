"""The graphs whose embeddings are closest to that of a graph, or of each graph."""

import numpy as np

from igsd.errors import ConfigError, DataError

_BLOCK = 256


def nearest_graphs(vectors: np.ndarray, query: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances) of the k graphs closest to graph ``query``, nearest first.

    The distance is Euclidean between the rows of ``vectors`` [G, d] after scaling each column to
    unit variance over the set, divided by the square root of the number of columns that vary: two
    random graphs are about 1.4 apart, whatever d is. Ties go by index. The query itself is left
    out; a set of fewer than k + 1 graphs gives fewer. Raises ``DataError`` for a query outside the
    set, ``ConfigError`` for k below 1.
    """
    if not 0 <= query < len(vectors):
        raise DataError(
            f"There is no graph {query}: the set has {len(vectors)} graphs, numbered from 0 to "
            f"{len(vectors) - 1}."
        )
    if k < 1:
        raise ConfigError(f"k must be at least 1. Got {k}.")
    scaled = unit_columns(vectors)
    squares = ((scaled - scaled[query]) ** 2).sum(axis=1)
    distances = np.sqrt(squares / max(scaled.shape[1], 1))
    order = np.argsort(distances, kind="stable")
    order = order[order != query][:k]
    return order, distances[order]


def nearest_of_all(vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances), [G, min(k, G - 1)] each, of the neighbours of every graph.

    Distances as in ``nearest_graphs``, to six decimals: closer ones count as ties.
    """
    scaled = unit_columns(vectors)
    # Squared distances are differences of products: centring keeps small ones precise.
    scaled -= scaled.mean(axis=0)
    num_graphs, columns = len(scaled), max(scaled.shape[1], 1)
    lengths = (scaled**2).sum(axis=1)
    indices = np.empty((num_graphs, min(k, num_graphs - 1)), np.int64)
    distances = np.empty(indices.shape)
    for start in range(0, num_graphs, _BLOCK):
        block = scaled[start : start + _BLOCK]
        squares = lengths + lengths[start : start + _BLOCK, None] - 2 * (block @ scaled.T)
        for graph, row in enumerate(np.sqrt(np.maximum(squares, 0) / columns).round(6), start):
            order = np.argsort(row, kind="stable")
            indices[graph] = order[order != graph][:k]
            distances[graph] = row[indices[graph]]
    return indices, distances


def unit_columns(vectors: np.ndarray) -> np.ndarray:
    """Return the columns of ``vectors`` [G, d] that vary, scaled to unit variance."""
    values = np.asarray(vectors, np.float64)
    deviation = values.std(axis=0)
    varies = deviation > 1e-12 * np.abs(values).max(initial=1.0)
    return values[:, varies] / deviation[varies]
