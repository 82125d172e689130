"""NetworkX graphs to and from a ``GraphSet``.

| in NetworkX | in the set |
|---|---|
| node attribute ``label`` | node labels; unknown if missing |
| other node attributes: numbers, vectors of numbers, texts, booleans | node attributes, by name |
| edge attribute ``label`` | edge labels |
| other edge attributes, likewise; ``weight`` is the weight | edge attributes, by name |
| graph attribute ``label``, or a ``y`` that is text, an integer or a boolean | class |
| graph attribute ``y`` that is a float or a vector | targets |
| graph attribute ``name`` | graph name |
| other graph attributes | not used, which a note says |

Nodes may have any hashable names; they are numbered in the order of the graph. An attribute that a
node (edge) of the set lacks is a partial one, which igsd's methods do not use; dates and mixed
values are left out; a note says so. A missing weight is 1. Directed edges, multiple edges and self
loops follow ``igsd.graphs.build``.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.graphs import columns as tables
from igsd.graphs.build import from_edges
from igsd.graphs.graphset import PARTIAL, UNNAMED, GraphSet, placeholders


def from_networkx(graphs: Iterable[Any], *, name: str = UNNAMED) -> GraphSet:
    """Return the set of these NetworkX graphs, in their order.

    Raises ``DataError`` for an empty list, a graph without nodes, and vectors of different lengths.
    """
    items = list(graphs)
    for place, graph in enumerate(items):
        if not hasattr(graph, "is_directed") or not hasattr(graph, "nodes"):
            raise DataError(
                f"Item {place} of {name!r} must be a NetworkX graph, found {type(graph).__name__}."
            )
    known = tables.common_names(graph.graph.get(tables.NAMES_KEY) for graph in items) or {}
    nodes: list[tables.Record] = []
    edges: list[tables.Record] = []
    graph_of: dict[str, list[str]] = {"node": [], "edge": []}
    ends: list[tuple[int, int, int]] = []  # of every line, and the edge that it is of
    for graph in items:
        index = {node: len(nodes) + place for place, node in enumerate(graph.nodes)}
        nodes.extend(data for _, data in graph.nodes(data=True))
        for u, v, data in graph.edges(data=True):
            if u == v:  # dropped, so what it carries, or lacks, does not count
                ends.append((index[u], index[v], -1))
                continue
            ends.append((index[u], index[v], len(edges)))
            if not graph.is_directed():
                ends.append((index[v], index[u], len(edges)))
            edges.append(data)
        title = str(graph.graph.get("name") or "") if len(items) > 1 else ""
        for kind, rows in (("node", nodes), ("edge", edges)):
            graph_of[kind] += [title] * (len(rows) - len(graph_of[kind]))
    pairs = np.array(ends, dtype=np.int64).reshape(-1, 3)
    records = [graph.graph for graph in items]
    columns = tables.graph_columns(records, known, name)
    notes = tables.graph_notes(records)
    for kind, rows in (("node", nodes), ("edge", edges)):
        columns |= tables.label_columns(rows, kind, known)
        attributes, left_out = tables.attribute_columns(rows, kind, known, name, graph_of[kind])
        columns |= attributes
        notes += left_out
    counts = [graph.number_of_nodes() for graph in items]
    for key in ("edge_labels", "edge_attributes", "partial_edge_attributes"):
        if key in columns:
            columns[key] = columns[key][pairs[:, 2]]
    columns["directed"] = any(graph.is_directed() for graph in items)
    source, target, line_of = pairs.T
    columns |= {"line_of": line_of, "name": name, "notes": notes}
    return from_edges(counts, source, target, **columns)


def to_networkx(graphs: GraphSet) -> list[Any]:
    """Return the graphs of a set as NetworkX graphs that ``from_networkx`` turns back without loss.

    Nodes are 0, 1, ...; labels, attributes, class, targets and name are where ``from_networkx``
    expects them. A graph becomes a ``DiGraph`` only if an edge goes one way, or if its two
    directions differ in label or attributes. Raises ``DataError`` for a set whose adjacency has
    weights, which is a view.
    """
    import networkx as nx

    names = tables.names_text(graphs)
    node_records = _records(graphs, "node", graphs.num_nodes)
    edge_records = _records(graphs, "edge", graphs.adjacency.num_entries)
    one_way = _has_asymmetric_edges(graphs)
    rows, columns = graphs.adjacency.rows(), graphs.adjacency.col.tolist()
    entry_ptr = graphs.adjacency.row_ptr[graphs.node_ptr]
    result = []
    for g in range(len(graphs)):
        graph = nx.DiGraph() if one_way[g] else nx.Graph()
        if graphs.graph_names is not None:
            graph.graph["name"] = graphs.graph_names[g]
        if graphs.classes is not None and graphs.classes[g] >= 0:
            graph.graph["label"] = graphs.class_names[graphs.classes[g]]
        if graphs.targets is not None:
            graph.graph["y"] = graphs.targets[g].tolist()
        graph.graph[tables.NAMES_KEY] = names
        first, last = int(graphs.node_ptr[g]), int(graphs.node_ptr[g + 1])
        graph.add_nodes_from((v - first, node_records[v]) for v in range(first, last))
        for e in range(int(entry_ptr[g]), int(entry_ptr[g + 1])):
            if graphs.directions is not None and graphs.directions[e] == 2:
                continue
            graph.add_edge(int(rows[e]) - first, columns[e], **edge_records[e])
        result.append(graph)
    return result


def _records(graphs: GraphSet, kind: str, count: int) -> list[tables.Record]:
    """Return label and attributes of every node or edge entry as a dictionary."""
    records: list[tables.Record] = [{} for _ in range(count)]
    labels = getattr(graphs, f"{kind}_labels")
    if labels is not None:
        names = getattr(graphs, f"{kind}_label_names")
        for record, code in zip(records, labels.tolist(), strict=True):
            if code >= 0:
                record["label"] = names[code]
    attributes = getattr(graphs, f"{kind}_attributes")
    if attributes is not None:
        names = getattr(graphs, f"{kind}_attribute_names")
        names = names or placeholders(attributes.shape[1])
        columns = [attributes[:, place].tolist() for place in range(len(names))]
        for place, values in enumerate(getattr(graphs, f"{kind}_category_names")):
            if values:
                columns[place] = [values[int(code)] for code in columns[place]]
        for record, row in zip(records, zip(*columns, strict=True), strict=True):
            record.update(zip(names, row, strict=True))
    _add_partial(records, graphs, f"partial_{kind}_attributes")
    return records


def _add_partial(records: list[tables.Record], graphs: GraphSet, column: str) -> None:
    """Add the attributes that some records lack to those that have them."""
    table, (names, kinds) = getattr(graphs, column), PARTIAL[column]
    for place, name in enumerate(getattr(graphs, names)):
        values = getattr(graphs, kinds)[place] if getattr(graphs, kinds) else ()
        numbers = np.asarray(table)[:, place]
        for row in np.flatnonzero(numbers >= 0 if values else ~np.isnan(numbers)).tolist():
            records[row][name] = values[int(numbers[row])] if values else float(numbers[row])


def _has_asymmetric_edges(graphs: GraphSet) -> np.ndarray:
    """Return for each graph whether an edge differs from its mirror image, [G] bool."""
    adjacency = graphs.adjacency
    rows, mirror = adjacency.rows(), adjacency.mirror(graphs.node_ptr)
    differs = np.zeros(adjacency.num_entries, dtype=bool)
    attributes, partial = graphs.edge_attributes, graphs.partial_edge_attributes
    for values in (graphs.edge_labels, attributes, graphs.directions, partial):
        if values is not None:
            unequal = (values != values[mirror]) & ~(np.isnan(values) & np.isnan(values[mirror]))
            differs |= unequal if unequal.ndim == 1 else unequal.any(axis=1)
    return np.bincount(graphs.graph_of_node()[rows[differs]], minlength=len(graphs)) > 0


def check_links(nodes: list[Any], links: list[Any]) -> None:
    """Raise ``DataError`` unless ids are unique and links end at them, as NetworkX compares them.

    It would merge nodes of one id, and add a node for an id that is not in the list.
    """
    if not all(isinstance(part, dict) for part in (*nodes, *links)):
        raise DataError("every entry of 'nodes' and 'links' must be an object.")
    ids = [_identity(node.get("id", place)) for place, node in enumerate(nodes)]
    counts = Counter(ids)
    if len(counts) < len(ids):
        (twice, _), *_ = counts.most_common(1)
        raise DataError(f"several nodes have the id {twice!r}: ids must be unique.")
    for place, link in enumerate(links):
        for end in ("source", "target"):
            if end not in link:
                raise DataError(f"link {place} (from 0) has no {end!r}.")
            if (found := _identity(link[end])) not in counts:
                alike = next((key for key in ids if str(key) == str(found)), None)
                hint = "" if alike is None else f" (there is {alike!r}: write both alike)"
                raise DataError(
                    f"the {end} {found!r} of link {place} (from 0) is not the id of a node{hint}."
                )


def _identity(value: Any) -> Any:
    if isinstance(value, dict):
        raise DataError("the id of a node must be a number or a text.")
    return tuple(map(_identity, value)) if isinstance(value, list) else value


def from_igraph(graphs: Iterable[Any], *, name: str = UNNAMED) -> GraphSet:
    """Return the set of these igraph graphs; attributes are read as those of NetworkX."""
    import networkx as nx

    items = []
    for graph in graphs:
        item = nx.MultiDiGraph() if graph.is_directed() else nx.MultiGraph()
        item.graph.update({key: graph[key] for key in graph.attributes()})
        item.add_nodes_from((v.index, v.attributes()) for v in graph.vs)
        item.add_edges_from((*e.tuple, e.attributes()) for e in graph.es)
        items.append(item)
    return from_networkx(items, name=name)


def from_dgl(graphs: Iterable[Any], *, name: str = UNNAMED) -> GraphSet:
    """Return the set of these DGL graphs with one kind of nodes and edges.

    ``ndata`` and ``edata`` are attributes by name, ``label`` the label; DGL graphs are directed.
    """
    import networkx as nx

    items = []
    for graph in graphs:
        item = nx.MultiDiGraph()
        nodes = {key: value.numpy(force=True) for key, value in graph.ndata.items()}
        edges = {key: value.numpy(force=True) for key, value in graph.edata.items()}
        item.add_nodes_from(
            (v, {key: _plain(value[v]) for key, value in nodes.items()})
            for v in range(graph.num_nodes())
        )
        source, target = (end.tolist() for end in graph.edges())
        item.add_edges_from(
            (u, v, {key: _plain(value[e]) for key, value in edges.items()})
            for e, (u, v) in enumerate(zip(source, target, strict=True))
        )
        items.append(item)
    return from_networkx(items, name=name)


def _plain(value: Any) -> Any:
    """Return one number of an array as a number, several as a list."""
    return value.tolist() if value.size != 1 else value.reshape(-1)[0].item()
