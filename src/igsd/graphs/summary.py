"""``summarize``: the figures of a set of graphs that `igsd data show` prints."""

from dataclasses import dataclass

import numpy as np

from igsd.graphs.build import WEIGHT
from igsd.graphs.chemistry import has_bonds
from igsd.graphs.datasets import find_entry
from igsd.graphs.graphset import GraphSet, Name, placeholders


@dataclass(frozen=True)
class Spread:
    """Mean, smallest and largest of a count over the graphs."""

    mean: float
    min: int
    max: int


@dataclass(frozen=True)
class GraphSetSummary:
    """Figures of one set; counts of classes and labels by name, in the set's order.

    ``unlabelled``: graphs without a class in a set with classes. ``degrees``: over the nodes.
    ``weights``: the range of the weights of edges, empty without any. ``one_way``: the share of the
    edges that go one way.
    """

    name: str
    graphs: int
    nodes: Spread
    edges: Spread
    classes: dict[Name, int]
    unlabelled: int
    node_labels: dict[Name, int]
    edge_labels: dict[Name, int]
    node_attributes: tuple[str, ...]
    edge_attributes: tuple[str, ...]
    targets: tuple[str, ...]
    degrees: Spread
    components: Spread
    weights: str
    one_way: float
    isolated_nodes: int
    disconnected_graphs: int


def summarize(graphs: GraphSet) -> GraphSetSummary:
    """Return the figures of ``graphs``; the label of an undirected edge is counted once."""
    classes, edge_labels, adjacency = graphs.classes, graphs.edge_labels, graphs.adjacency
    if edge_labels is not None:
        edge_labels = edge_labels[adjacency.rows() < adjacency.global_columns(graphs.node_ptr)]
    parts = components(graphs)
    return GraphSetSummary(
        name=graphs.name,
        graphs=len(graphs),
        nodes=_spread(graphs.node_counts()),
        edges=_spread(graphs.edge_counts()),
        classes=_counts(classes, graphs.class_names),
        unlabelled=0 if classes is None else int((classes < 0).sum()),
        node_labels=_counts(graphs.node_labels, graphs.node_label_names),
        edge_labels=_counts(edge_labels, graphs.edge_label_names),
        node_attributes=_attribute_names(graphs.node_attributes, graphs.node_attribute_names),
        edge_attributes=_attribute_names(graphs.edge_attributes, graphs.edge_attribute_names),
        targets=_attribute_names(graphs.targets, graphs.target_names),
        degrees=_spread(adjacency.degrees()),
        components=_spread(parts),
        weights=_weights(graphs),
        one_way=0.0 if graphs.directions is None else float((graphs.directions != 3).mean()),
        isolated_nodes=int((adjacency.degrees() == 0).sum()),
        disconnected_graphs=int((parts > 1).sum()),
    )


def components(graphs: GraphSet) -> np.ndarray:
    """Return the number of connected components of every graph, [G] int64."""
    from scipy.sparse import csgraph, csr_array

    columns, row_ptr = graphs.adjacency.global_columns(graphs.node_ptr), graphs.adjacency.row_ptr
    entries = (np.ones(len(columns), np.int8), columns, row_ptr)
    matrix = csr_array(entries, shape=(graphs.num_nodes, graphs.num_nodes))
    _, component = csgraph.connected_components(matrix, directed=False)
    # Count the first node of each component; a component never leaves its graph.
    _, first_nodes = np.unique(component, return_index=True)
    return np.bincount(graphs.graph_of_node()[first_nodes], minlength=len(graphs))


def _spread(counts: np.ndarray) -> Spread:
    return Spread(float(counts.mean()), int(counts.min()), int(counts.max()))


def _weights(graphs: GraphSet) -> str:
    """Return the range and the mean of the weights of edges in words."""
    if WEIGHT not in graphs.edge_attribute_names or graphs.edge_attributes is None:
        return ""
    w = np.asarray(graphs.edge_attributes)[:, graphs.edge_attribute_names.index(WEIGHT)]
    known = w[np.isfinite(w)]
    if not len(known):
        return "none of them finite" if len(w) else ""
    text = f"{known.min():.4g} to {known.max():.4g}, {known.mean():.4g} on average"
    return text + (", some not finite" if len(known) < len(w) else "")


def _counts(codes: np.ndarray | None, names: tuple[Name, ...]) -> dict[Name, int]:
    """Return the count of each name; unknown codes (-1) are not counted."""
    if codes is None:
        return {}
    found = np.bincount(codes[codes >= 0], minlength=len(names)).tolist()
    return dict(zip(names, found, strict=False))


def _attribute_names(values: np.ndarray | None, names: tuple[str, ...]) -> tuple[str, ...]:
    return () if values is None else names or placeholders(values.shape[1])


RECIPES = ("molecules", "social", "networks")
"""The recipes chosen by what nodes and edges carry; one of them suits every data set."""


def fitting_recipe(graphs: GraphSet) -> str:
    """Return the recipe that suits graphs, by what their nodes and edges carry.

    ``networks`` for node attributes and for edges with labels, attributes or a direction; else
    ``molecules`` if nodes have labels, ``social`` if not. Molecules, and the data sets known by
    name, which published figures are about, keep the recipe of their node labels.
    """
    if graphs.node_labels is not None and (find_entry(graphs.name) or has_bonds(graphs)):
        return "molecules"
    carries = graphs.node_attributes, graphs.edge_labels, graphs.directions
    more = set(edge_attribute_names(graphs)) - {WEIGHT}
    if more or any(column is not None for column in carries):
        return "networks"
    return "social" if graphs.node_labels is None else "molecules"


def edge_attribute_names(graphs: GraphSet) -> tuple[str, ...]:
    """Return the names of the edge attributes, placeholders if they have none."""
    width = 0 if graphs.edge_attributes is None else graphs.edge_attributes.shape[1]
    return graphs.edge_attribute_names or placeholders(width)
