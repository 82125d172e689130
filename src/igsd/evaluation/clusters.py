"""Clusters of similar graphs, and outliers."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from igsd.errors import ConfigError, DataError, counted
from igsd.evaluation.inputs import fitted_model, vectors_by
from igsd.evaluation.neighbors import check_count, nearest, unit_columns


@dataclass(frozen=True)
class Clusters:
    """A clustering: cluster 0 is the largest, and graphs without a cluster have label -1.

    ``labels`` [G] int64; ``strengths`` [G]: how firmly a graph belongs to its cluster, 0 to 1;
    ``sizes``: graphs of each cluster; ``examples``: the graph nearest to the centre of each.
    """

    labels: np.ndarray
    strengths: np.ndarray
    sizes: tuple[int, ...]
    examples: tuple[int, ...]

    @property
    def num_noise(self) -> int:
        """Graphs that are in no cluster."""
        return len(self.labels) - sum(self.sizes)


@dataclass(frozen=True)
class Outliers:
    """Graphs ranked by their mean distance to the nearest others, farthest first.

    ``graphs`` [G]: numbers of the graphs; ``distances`` [G]: theirs, in the same order.
    """

    graphs: np.ndarray
    distances: np.ndarray


def agreement(clusters: Clusters, classes: Any) -> float | None:
    """Return how far clusters agree with classes [G], -1 where unknown: the adjusted Rand index.

    It counts the graphs that have both, and is 1 for the same groups and about 0 by chance. None
    if these are fewer than two, or all of one cluster and one class.
    """
    codes = np.asarray(classes)
    both = (clusters.labels >= 0) & (codes >= 0)
    groups, codes = clusters.labels[both], codes[both]
    if len(codes) < 2 or len({*groups.tolist()}) == len({*codes.tolist()}) == 1:
        return None
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(codes, groups))


def cluster(data: Any, min_size: int = 5, *, model: Any = None) -> Clusters:
    """Return the clusters that HDBSCAN finds among vectors.

    ``data``: vectors [G, d]; with a ``model``, fitted or the path of a saved one, anything that it
    embeds. ``min_size``: graphs that make a cluster. Columns are scaled to unit variance, as for
    ``igsd.neighbors``. Nothing is random. Raises ``DataError`` for vectors that are not finite, too
    few or all equal.

    >>> cluster([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]], min_size=3).labels.tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if not isinstance(min_size, Integral) or min_size < 2:
        raise ConfigError(f"A cluster must have at least 2 graphs. Got min_size {min_size!r}.")
    vectors = vectors_of(data, model, "Clustering", min_size)
    from sklearn.cluster import HDBSCAN

    scaled = unit_columns(vectors)
    found = HDBSCAN(min_cluster_size=min_size, copy=True).fit(scaled)
    counts = np.bincount(found.labels_[found.labels_ >= 0])
    order = np.argsort(-counts, kind="stable")
    numbers = np.full(len(counts) + 1, -1)  # the last place is for noise, whose label is -1
    numbers[order] = np.arange(len(counts))
    labels = numbers[found.labels_]
    examples = []
    for number in range(len(counts)):
        members = np.flatnonzero(labels == number)
        apart = ((scaled[members] - scaled[members].mean(axis=0)) ** 2).sum(axis=1)
        examples.append(int(members[apart.round(9).argmin()]))
    return Clusters(labels, found.probabilities_, tuple(counts[order].tolist()), tuple(examples))


def outliers(data: Any, k: int = 10, *, model: Any = None) -> Outliers:
    """Return the graphs ranked by the mean distance to their k nearest neighbours.

    ``data``, ``model`` and the distance are those of ``igsd.neighbors``; ties go by number. Raises
    ``DataError`` for vectors that are not finite, not more than k or all equal.

    >>> outliers([[0.0], [0.1], [9.0], [0.2]], k=2).graphs.tolist()
    [2, 0, 3, 1]
    """
    k = check_count(k)
    vectors = vectors_of(data, model, f"The mean distance to {k} neighbours", k + 1)
    distances = nearest(vectors, range(len(vectors)), k)[1].mean(axis=1).round(6)
    order = np.argsort(-distances, kind="stable")
    return Outliers(order, distances[order])


def vectors_of(data: Any, model: Any, what: str, least: int = 2) -> np.ndarray:
    """Return the vectors [G, d] float64 of ``data``, by a model, or the path of one, if given.

    ``what`` needs ``least`` graphs, as a ``DataError`` says; another one says that all are equal.
    """
    vectors = vectors_by(data, fitted_model(model))
    if len(vectors) < least:
        raise DataError(
            f"{what} needs at least {counted(least, 'graph')}. "
            f"Got {counted(len(vectors), 'graph')}."
        )
    if not unit_columns(vectors).shape[1]:
        raise DataError(
            f"All {len(vectors)} vectors are equal, so there is nothing to tell apart. A model "
            "gives all graphs one vector if it knows none of their labels, or if they are the same."
        )
    return vectors
