"""``project``: vectors as points in the plane, by PCA, UMAP or t-SNE."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from igsd.errors import ConfigError
from igsd.evaluation.neighbors import unit_columns
from igsd.report.embedding_plot import main_directions

MAP_METHODS = ("pca", "umap", "tsne")
"""How a map can be made; the first needs no other package."""

_FEWEST = 5
_PACKAGES = {"umap": ("UMAP", "umap-learn"), "tsne": ("t-SNE", "openTSNE")}


class Projection(NamedTuple):
    """Points [G, 2] and what the two axes are."""

    points: np.ndarray
    x_title: str
    y_title: str


def project(vectors: np.ndarray, method: str = "pca") -> Projection:
    """Return vectors [G, d] as points, always the same for the same vectors.

    Columns have unit variance first. Raises ``ConfigError`` for a method that is not there or not
    installed, and for fewer than five graphs with UMAP or t-SNE.
    """
    if method not in MAP_METHODS:
        raise ConfigError(f"A map is made by one of {', '.join(MAP_METHODS)}. Got {method!r}.")
    if method == "pca":
        points, shares = main_directions(vectors)
        texts = [f"{100 * share:.0f} % of the variance" for share in shares]
        titles = (f"first main direction ({texts[0]})", f"second main direction ({texts[1]})")
        return Projection(points, *titles)
    if len(vectors) < _FEWEST:
        raise ConfigError(
            f"A map by {method} needs at least {_FEWEST} graphs; the run has {len(vectors)}. "
            "One by pca, the default, needs fewer."
        )
    values = unit_columns(vectors)
    points = _umap(values) if method == "umap" else _tsne(values)
    name = _PACKAGES[method][0]
    return Projection(np.asarray(points, np.float64), f"{name} 1", f"{name} 2")


def _umap(values: np.ndarray) -> Any:
    try:
        from umap import UMAP
    except ImportError as error:
        raise _missing("umap") from error
    neighbours = min(15, len(values) - 1)
    # Small sets start from random places: a spectral start needs more points than dimensions.
    start = "spectral" if len(values) > 20 else "random"
    return UMAP(n_neighbors=neighbours, init=start, random_state=0, n_jobs=1).fit_transform(values)


def _tsne(values: np.ndarray) -> Any:
    try:
        from openTSNE import TSNE
    except ImportError as error:
        raise _missing("tsne") from error
    perplexity = min(30.0, (len(values) - 1) / 3)
    return TSNE(perplexity=perplexity, random_state=0, n_jobs=1).fit(values)


def _missing(method: str) -> ConfigError:
    package = _PACKAGES[method][1]
    return ConfigError(
        f'A map by {method} needs {package}, which is not installed: pip install "igsd[maps]". '
        "One by pca, the default, needs no other package."
    )
