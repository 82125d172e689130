"""The graphs whose embeddings are closest to given ones, of the same set or not."""

from numbers import Integral
from typing import Any, NamedTuple, Self

import numpy as np

from igsd.errors import ConfigError, DataError, shortened
from igsd.evaluation.inputs import as_numbers, fitted_model, vectors_by

_ENTRIES = 8_000_000
"""Distances that are held at one time."""


def neighbors(
    data: Any, queries: Any, k: int = 10, *, model: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances), [Q, k] each, of the graphs of ``data`` closest to each query.

    ``data``: vectors [G, d]; with a ``model``, anything that it embeds; or an ``igsd.Index``, for
    which only queries that are graphs need its ``model``. ``model``: a fitted one, or the path of
    one that ``igsd.load_model`` opens, such as ``"molecules"``. ``queries``: of the same kind as
    ``data``, Q graphs or vectors that need not be in it; or the numbers of graphs of ``data``, each
    of which is then left out of its own neighbours.

    The distance is Euclidean after scaling each column to unit variance over ``data``, divided by
    the square root of the number of columns that vary: two random graphs are about 1.4 apart,
    whatever d is. It is rounded to six decimals; ties go by index, nearest first. There are fewer
    than k columns if ``data`` is small. Search is exact, except in an index of more than 100,000
    vectors. Raises ``DataError`` for a query that is not in the set or has another width, and for a
    model that did not make the index; ``ConfigError`` for k below 1.

    >>> neighbors([[0.0], [1.0], [5.0]], [[0.9]], k=2)[0].tolist()
    [[1, 0]]
    """
    from igsd.evaluation.index import Index  # which imports this module

    places, model = places_of(queries), fitted_model(model)
    if isinstance(data, Index):
        if model is not None:
            data.check_model(model)
        is_embedded = model is None or places is not None
        return data.search(queries if is_embedded else model.transform(queries), k)
    vectors = vectors_by(data, model)
    if places is not None:
        return nearest(vectors, places, k)
    return nearest(vectors, queries if model is None else model.transform(queries), k)


def nearest(
    vectors: np.ndarray, queries: Any, k: int, *, space: "Space | None" = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances) as ``neighbors`` does, from vectors [G, d].

    ``queries``: numbers of rows of ``vectors`` [Q], or other vectors [Q, d]. ``space``: how columns
    are scaled, by default over ``vectors``.
    """
    places = checked_places(queries, len(vectors), k)
    space = Space.of(vectors) if space is None else space
    scaled = space.scaled(vectors)
    asked = space.asked(queries) if places is None else scaled[places]
    return scan(scaled, asked, min(k, len(scaled) - (places is not None)), places)


class Space(NamedTuple):
    """How columns are scaled before distances: those that vary, by their deviation, centred.

    ``mean`` and ``scale``: of the columns that vary, the mean after scaling. ``varies`` [d].
    """

    mean: np.ndarray
    scale: np.ndarray
    varies: np.ndarray

    @classmethod
    def of(cls, vectors: np.ndarray) -> Self:
        """Return the scaling of vectors [G, d]."""
        values = np.asarray(vectors, np.float64)
        deviation = values.std(axis=0)
        varies = deviation > 1e-12 * np.abs(values).max(initial=0.0)
        scale = deviation[varies]
        return cls((values[:, varies] / scale).mean(axis=0), scale, varies)

    @classmethod
    def plain(cls, width: int) -> Self:
        """Return the scaling that leaves vectors [G, width] as they are."""
        return cls(np.zeros(width), np.ones(width), np.ones(width, dtype=bool))

    def fits(self, lowest: np.ndarray, highest: np.ndarray, count: int) -> bool:
        """Return whether ``count`` vectors with these extremes [d] can have this scaling.

        Numbers of unit variance around 0 have an extreme from 1 to sqrt(count); rounding aside.
        """
        with np.errstate(all="ignore"):
            ends = np.abs(self.scaled(np.stack([lowest, highest]))).max(axis=0)
        return bool(((ends > 0.9) & (ends < 1.1 * np.sqrt(count))).all())

    def scaled(self, vectors: np.ndarray) -> np.ndarray:
        """Return vectors in this space, float64."""
        rows = np.asarray(vectors, np.float64)[:, self.varies] / self.scale
        # Squared distances are differences of products: centring keeps small ones precise.
        rows -= self.mean
        return rows

    def asked(self, queries: Any) -> np.ndarray:
        """Return other vectors in this space; ``DataError`` unless they are finite [Q, d]."""
        rule = f"Queries must be numbers of graphs, or vectors of {len(self.varies)} numbers as "
        rule += "those of the set (graphs need their model)."
        try:
            rows = as_numbers(queries)
        except (TypeError, ValueError) as error:
            raise DataError(f"{rule} Got something else: {shortened(str(error))}.") from error
        if rows.ndim != 2 or rows.shape[1] != len(self.varies):
            raise DataError(f"{rule} Got shape {rows.shape}.")
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = self.scaled(rows)
            is_sound = np.isfinite(np.square(scaled).sum(axis=1)) & np.isfinite(rows).all(axis=1)
        if not is_sound.all():
            which = f"Query {int(np.argmin(is_sound))} (from 0) is not."
            raise DataError(f"Queries must be finite numbers, also when squared. {which}")
        return scaled


def check_count(k: Any) -> int:
    """Return a number of neighbours; raises ``ConfigError`` unless it is whole and positive."""
    if not isinstance(k, Integral) or isinstance(k, bool) or k < 1:
        raise ConfigError(f"k must be at least 1, a whole number. Got {k!r}.")
    return int(k)


def checked_places(queries: Any, num_graphs: int, k: int) -> np.ndarray | None:
    """Return the places of queries that are numbers of graphs, None for vectors.

    Raises ``ConfigError`` for k below 1, and ``DataError`` for a graph that is not there.
    """
    check_count(k)
    places = places_of(queries)
    if places is not None and not 0 <= places.min() <= places.max() < num_graphs:
        wrong = int(places.min() if places.min() < 0 else places.max())
        raise DataError(
            f"There is no graph {wrong}: the set has {num_graphs} graphs, numbered from 0 to "
            f"{num_graphs - 1}."
        )
    return places


def scan(
    scaled: np.ndarray, asked: np.ndarray, width: int, places: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return (indices, distances) [Q, width] of the rows of ``scaled`` closest to each query.

    ``scaled`` [G, c] and ``asked`` [Q, c] are in one ``Space``. ``places``: the row that is
    left out for each query, None for none.
    """
    columns = max(scaled.shape[1], 1)
    indices = np.empty((len(asked), width), np.int64)
    distances = np.empty(indices.shape)
    lengths, own = (scaled**2).sum(axis=1), (asked**2).sum(axis=1)
    block = max(1, _ENTRIES // len(scaled))
    for start in range(0, len(asked), block):
        stop = start + block
        squares = lengths + own[start:stop, None] - 2 * (asked[start:stop] @ scaled.T)
        apart = np.sqrt(np.maximum(squares, 0) / columns).round(6)
        if places is not None:
            apart[np.arange(len(apart)), places[start:stop]] = np.inf
        for query, row in enumerate(apart, start):
            indices[query], distances[query] = _smallest(row, width)
    return indices, distances


def places_of(queries: Any) -> np.ndarray | None:
    """Return queries that are numbers of graphs as an array, otherwise None.

    Raises ``DataError`` for numbers among other things.
    """
    if isinstance(queries, int | np.integer) and not isinstance(queries, bool):
        queries = [queries]
    if isinstance(queries, list | tuple | range | np.ndarray) and len(queries):
        first = queries[0]
        if isinstance(first, int | np.integer) and not isinstance(first, bool):
            for query in () if isinstance(queries, np.ndarray) else queries:
                if not isinstance(query, int | np.integer) or isinstance(query, bool):
                    raise DataError(
                        "Queries must be of one kind: numbers of graphs, graphs or vectors. Got "
                        f"the number {first} and {shortened(repr(query))}. The number of a graph "
                        "is its place in graph_names of its set."
                    )
            # A number beyond 64 bits is beyond every set as well.
            limit = np.iinfo(np.int64).max
            return np.array([min(max(int(place), -1), limit) for place in queries], np.int64)
    return None


def _smallest(row: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the places and values of the ``count`` smallest numbers; ties go by place."""
    if count < 1:
        return np.zeros(0, np.int64), np.zeros(0)
    limit = np.partition(row, count - 1)[count - 1]
    near = np.flatnonzero(row <= limit)
    order = near[np.argsort(row[near], kind="stable")][:count]
    return order, row[order]


def unit_columns(vectors: np.ndarray) -> np.ndarray:
    """Return the columns of ``vectors`` [G, d] that vary, scaled to unit variance."""
    space = Space.of(vectors)
    return np.asarray(vectors, np.float64)[:, space.varies] / space.scale
