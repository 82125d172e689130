"""``map`` and ``draw_graphs``: vectors as points in the plane, and a few graphs as drawings."""

import io
from typing import Any, NamedTuple

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from igsd.errors import DataError
from igsd.graphs.build import encode_categories
from igsd.graphs.datasets import shown_names
from igsd.graphs.graphset import GraphSet
from igsd.report.plots import COLOURS, GRID, QUIET, TEXT, Plot, embedding_plot
from igsd.report.projection import project

MOST_GRAPHS = 9
MOST_NODES = 400
"""Of a larger graph the nodes of highest degree are drawn."""


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
    from igsd.evaluation.clusters import vectors_of  # drawing graphs does not need it

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


def draw_graphs(graphs: GraphSet) -> Plot:
    """Return drawings of up to nine graphs, spread evenly over the set.

    Nodes are coloured by their label, edges are as wide as their weight, and of a large graph only
    the nodes of highest degree are drawn, which its title says.
    """
    import networkx as nx

    from igsd.graphs.readers.networkx import to_networkx

    chosen = np.unique(np.linspace(0, len(graphs) - 1, min(MOST_GRAPHS, len(graphs))).astype(int))
    side = int(np.ceil(np.sqrt(len(chosen))))
    figure = Figure(figsize=(3 * side, 3 * -(-len(chosen) // side)), dpi=130, layout="constrained")
    classes = dict(zip(graphs.class_names, shown_names(graphs, "classes"), strict=True))
    codes = {name: code for code, name in enumerate(graphs.node_label_names)}
    for place, number in enumerate(chosen.tolist(), 1):
        (graph,) = to_networkx(graphs.take([number]))
        title = graph.graph.get("name") or f"graph {number}"
        if "label" in graph.graph:
            title = f"{title} ({classes[graph.graph['label']]})"
        if len(graph) > MOST_NODES:
            degrees = sorted(graph.degree, key=lambda pair: -pair[1])
            title += f", {MOST_NODES} of {len(graph)} nodes"
            graph = graph.subgraph([v for v, _ in degrees[:MOST_NODES]])
        axes = figure.add_subplot(-(-len(chosen) // side), side, place)
        at = nx.spring_layout(graph, seed=0, weight=None)
        largest = (
            max((d.get("weight", 1.0) for *_, d in graph.edges(data=True)), default=1.0) or 1.0
        )
        is_small = len(graph) <= 60
        lines = [[at[u], at[v]] for u, v in graph.edges]
        weights = [d.get("weight", 1.0) for *_, d in graph.edges(data=True)]
        widths = [0.4 + 1.6 * max(weight, 0.0) / largest for weight in weights]
        colour = QUIET if is_small else GRID
        axes.add_collection(LineCollection(lines, linewidths=widths, colors=colour, zorder=1))
        for u, v in graph.edges if graph.is_directed() and is_small else ():
            if not graph.has_edge(v, u):
                middle = {"xy": 0.4 * at[u] + 0.6 * at[v], "xytext": at[u]}
                axes.annotate("", **middle, arrowprops={"arrowstyle": "->", "color": QUIET})
        marks = [codes.get(graph.nodes[v].get("label"), 0) % len(COLOURS) for v in graph]
        points = np.array([at[v] for v in graph]).reshape(-1, 2)
        size = float(np.clip(600 / max(len(graph), 1), 4, 40))
        axes.scatter(
            points[:, 0], points[:, 1], s=size, c=[COLOURS[mark] for mark in marks], zorder=2
        )
        axes.set_title(title if len(title) <= 40 else f"{title[:37]}...", fontsize=8, color=TEXT)
        axes.axis("off")
    return Plot(figure)
