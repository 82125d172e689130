"""``project``: vectors as points in the plane, by PCA, UMAP or t-SNE."""

from typing import Any, NamedTuple

import numpy as np

from igsd.errors import ConfigError, counted, need
from igsd.evaluation.neighbors import unit_columns

MAP_METHODS = ("pca", "umap", "tsne")
"""How a map can be made; ``umap`` needs the extra ``maps``, which also has a faster ``tsne``."""

_FEWEST = 5


class Projection(NamedTuple):
    """Points [G, 2] and the titles of the two axes."""

    points: np.ndarray
    x_title: str
    y_title: str


def project(vectors: np.ndarray, method: str = "pca", seed: int = 0) -> Projection:
    """Project vectors [G, d] to the plane; the same vectors and seed give the same points.

    Columns are scaled to unit variance first. Raises ``ConfigError`` for a method that does not
    exist or is not installed, and for fewer than five graphs with UMAP or t-SNE.
    """
    if method not in MAP_METHODS:
        raise ConfigError(f"A map is made by one of {', '.join(MAP_METHODS)}. Got {method!r}.")
    if method == "pca":
        points, shares = main_directions(vectors)
        of = [f"({100 * share:.0f} % of the variance)" for share in shares]
        titles = (f"first principal component {of[0]}", f"second principal component {of[1]}")
        return Projection(points, *titles)
    if len(vectors) < _FEWEST:
        raise ConfigError(
            f"A map by {method} needs at least {_FEWEST} graphs. Got {len(vectors)}. "
            "Use pca, the default, for fewer."
        )
    values: Any = unit_columns(vectors)
    if method == "umap":
        # Small sets start from random places: a spectral start needs more points than dimensions.
        options = {"init": "spectral" if len(values) > 20 else "random", "n_jobs": 1}
        UMAP = need("maps", "umap", "A map by umap").UMAP
        made = UMAP(n_neighbors=min(15, len(values) - 1), random_state=seed, **options)
        return Projection(np.asarray(made.fit_transform(values), np.float64), "UMAP 1", "UMAP 2")
    perplexity = min(30.0, (len(values) - 1) / 3)
    try:
        from openTSNE import TSNE
    except ImportError:  # slower beyond some thousand graphs
        from sklearn.manifold import TSNE as PLAIN

        points = PLAIN(perplexity=perplexity, random_state=seed, n_jobs=1).fit_transform(values)
    else:
        points = TSNE(perplexity=perplexity, random_state=seed, n_jobs=1).fit(values)
    return Projection(np.asarray(points, np.float64), "t-SNE 1", "t-SNE 2")


def framed(points: np.ndarray) -> tuple[np.ndarray, str]:
    """Return points [G, 2] with a few that lie far from all others at the edge, and a note on them.

    A point is moved, along an axis, if it is beyond the middle 96 % of the points by more than half
    of their range, and if the picture would otherwise be three times as wide. The note is empty if
    there is none.
    """
    low, high = np.percentile(points, [2, 98], axis=0)
    room = high - low
    is_stretched = (np.ptp(points, axis=0) > 6 * room) & (room > 0)
    inside = np.clip(points, low - room / 2, high + room / 2)
    moved = np.where(is_stretched, inside, points)
    count = int((moved != points).any(axis=1).sum())
    if not count:
        return points, ""
    words = "lies far outside and is" if count == 1 else "lie far outside and are"
    return moved, f"{counted(count, 'graph')} {words} drawn at the edge"


def main_directions(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (points [G, 2], shares of the variance [2]): PCA of standardised columns."""
    values = np.asarray(vectors, np.float64)
    deviation = values.std(axis=0)
    values = (values - values.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)
    # The covariance is d x d however many graphs there are.
    spectrum, directions = np.linalg.eigh(values.T @ values)
    top = directions[:, ::-1][:, :2]
    # A direction has no sign of its own: the largest weight is made positive.
    top = top * np.where(np.take_along_axis(top, np.abs(top).argmax(0)[None], 0) < 0, -1.0, 1.0)
    shares = np.maximum(spectrum[::-1][:2], 0) / max(spectrum.sum(), np.finfo(float).tiny)
    missing = 2 - top.shape[1]
    return np.pad(values @ top, ((0, 0), (0, missing))), np.pad(shares, (0, missing))


def spread_evenly(total: int, most: int) -> np.ndarray:
    """Return at most ``most`` of the positions 0..total-1, evenly spread, with both ends."""
    return np.linspace(0, total - 1, min(total, most)).round().astype(np.int64)
