"""``draw_graphs``: a few graphs of a set as drawings of nodes and edges."""

import numpy as np
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from igsd.graphs.datasets import shown_names
from igsd.graphs.graphset import GraphSet
from igsd.report.plots import COLOURS, GRID, QUIET, TEXT, Plot

MOST_GRAPHS = 9
MOST_NODES = 400
"""Of a larger graph the nodes of highest degree are drawn."""


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
