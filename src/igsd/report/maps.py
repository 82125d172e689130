"""``map``: vectors as points in the plane and as a figure."""

import io
from typing import Any, NamedTuple

import numpy as np

from igsd.errors import DataError
from igsd.evaluation.clusters import vectors_of
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import GraphSet
from igsd.report.plots import embedding_plot
from igsd.report.projection import project


class Map(NamedTuple):
    """Points [G, 2], the titles of the axes, and a Matplotlib figure of them."""

    points: np.ndarray
    x_title: str
    y_title: str
    figure: Any

    def _repr_png_(self) -> bytes:
        """Return the figure, which notebooks show."""
        written = io.BytesIO()
        self.figure.savefig(written, format="png")
        return written.getvalue()


def map(
    data: Any,
    method: str = "pca",
    *,
    model: Any = None,
    classes: Any = None,
    title: str = "",
    random_state: int = 0,
) -> Map:
    """Return the vectors of graphs as points in the plane, and a figure of them.

    ``data``: vectors [G, d]; with a ``model``, fitted or the path of a saved one, anything that it
    embeds. ``method``: ``pca``, ``umap`` or ``tsne``; UMAP needs the extra ``igsd[maps]``, t-SNE
    uses openTSNE if that is installed and otherwise scikit-learn. ``classes`` [G] colour the
    figure; by default those of a ``GraphSet``. The same ``random_state`` gives the same points.

    >>> map([[0.0, 1.0], [2.0, 5.0], [4.0, 9.0]]).points.shape
    (3, 2)
    """
    vectors = vectors_of(data, model, "A map")
    made = project(vectors, method, random_state)
    codes, names = None, tuple[Any, ...]()
    if classes is not None:
        if not hasattr(classes, "__len__") or len(classes) != len(vectors):
            got = f"{len(classes)} classes" if hasattr(classes, "__len__") else repr(classes)
            raise DataError(
                f"There must be one class for each graph. Got {got} for {len(vectors)} graphs."
            )
        codes, names = encode_categories(list(classes))
    elif isinstance(data, GraphSet) and data.classes is not None:
        codes, names = data.classes, data.class_names
    return Map(*made, embedding_plot(made, codes, names, title).figure)
