"""The graphs whose embeddings are closest to given ones, of the same set or not."""

from typing import Any

import numpy as np

from igsd.errors import ConfigError, DataError

_ENTRIES = 8_000_000
"""Distances that are held at one time."""


def neighbors(
    data: Any, queries: Any, k: int = 10, *, model: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances), [Q, k] each, of the graphs of ``data`` closest to each query.

    ``data``: vectors [G, d]; with a fitted ``model``, anything that it embeds. ``queries``: of the
    same kind, Q graphs or vectors that need not be in ``data``; or the numbers of graphs of
    ``data``, each of which is then left out of its own neighbours.

    The distance is Euclidean after scaling each column to unit variance over ``data``, divided by
    the square root of the number of columns that vary: two random graphs are about 1.4 apart,
    whatever d is. It is rounded to six decimals; ties go by index, nearest first. There are fewer
    than k columns if ``data`` is small. Raises ``DataError`` for a query that is not in the set or
    has another width, ``ConfigError`` for k below 1.

    >>> neighbors([[0.0], [1.0], [5.0]], [[0.9]], k=2)[0].tolist()
    [[1, 0]]
    """
    places = _places(queries)
    vectors = np.asarray(data if model is None else model.transform(data), np.float64)
    if places is not None:
        return nearest(vectors, places, k)
    return nearest(vectors, queries if model is None else model.transform(queries), k)


def nearest(vectors: np.ndarray, queries: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances) as ``neighbors`` does, from vectors [G, d].

    ``queries``: numbers of rows of ``vectors`` [Q], or other vectors [Q, d].
    """
    if k < 1:
        raise ConfigError(f"k must be at least 1. Got {k}.")
    places = _places(queries)
    if places is not None and len(places) and not 0 <= places.min() <= places.max() < len(vectors):
        wrong = int(places.min() if places.min() < 0 else places.max())
        raise DataError(
            f"There is no graph {wrong}: the set has {len(vectors)} graphs, numbered from 0 to "
            f"{len(vectors) - 1}."
        )
    mean, scale, varies = _columns(vectors)
    # Squared distances are differences of products: centring keeps small ones precise.
    scaled = unit_columns(vectors)
    scaled -= mean
    if places is None:
        rows = np.asarray(queries, np.float64)
        if rows.ndim != 2 or rows.shape[1] != np.shape(vectors)[1]:
            raise DataError(
                f"Queries must be numbers of graphs, or vectors of {np.shape(vectors)[1]} numbers "
                f"as those of the set. Got shape {rows.shape}."
            )
        asked = rows[:, varies] / scale - mean
    else:
        asked = scaled[places]
    num_graphs, columns = len(scaled), max(scaled.shape[1], 1)
    width = min(k, num_graphs - (places is not None))
    indices = np.empty((len(asked), width), np.int64)
    distances = np.empty(indices.shape)
    lengths, own = (scaled**2).sum(axis=1), (asked**2).sum(axis=1)
    block = max(1, _ENTRIES // num_graphs)
    for start in range(0, len(asked), block):
        stop = start + block
        squares = lengths + own[start:stop, None] - 2 * (asked[start:stop] @ scaled.T)
        apart = np.sqrt(np.maximum(squares, 0) / columns).round(6)
        if places is not None:
            apart[np.arange(len(apart)), places[start:stop]] = np.inf
        for query, row in enumerate(apart, start):
            indices[query], distances[query] = _smallest(row, width)
    return indices, distances


def _places(queries: Any) -> np.ndarray | None:
    """Return queries that are numbers of graphs as an array, otherwise None."""
    if isinstance(queries, int | np.integer) and not isinstance(queries, bool):
        queries = [queries]
    if isinstance(queries, list | tuple | range | np.ndarray) and len(queries):
        first = queries[0]
        if isinstance(first, int | np.integer) and not isinstance(first, bool):
            return np.asarray(queries, np.int64)
    return None


def _smallest(row: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and values of the ``count`` smallest numbers; ties go by place."""
    if count < 1:
        return np.zeros(0, np.int64), np.zeros(0)
    limit = np.partition(row, count - 1)[count - 1]
    near = np.flatnonzero(row <= limit)
    order = near[np.argsort(row[near], kind="stable")][:count]
    return order, row[order]


def _columns(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (mean of the scaled columns, deviations, which columns vary)."""
    values = np.asarray(vectors, np.float64)
    deviation = values.std(axis=0)
    varies = deviation > 1e-12 * np.abs(values).max(initial=1.0)
    scale = deviation[varies]
    return (values[:, varies] / scale).mean(axis=0), scale, varies


def unit_columns(vectors: np.ndarray) -> np.ndarray:
    """Return the columns of ``vectors`` [G, d] that vary, scaled to unit variance."""
    _, scale, varies = _columns(vectors)
    return np.asarray(vectors, np.float64)[:, varies] / scale
