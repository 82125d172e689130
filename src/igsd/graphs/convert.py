"""``as_graphset``: whatever a user may hand to ``fit`` and ``transform``, as a ``GraphSet``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from igsd.errors import DataError
from igsd.graphs.graphset import UNNAMED, GraphSet

_ACCEPTED = (
    "Accepted are a GraphSet, and a list of NetworkX graphs, of PyG Data objects, of SMILES "
    "strings or of parts of a GraphSet."
)


def as_graphset(graphs: Any, *, name: str = UNNAMED) -> GraphSet:
    """Return ``graphs`` as a set: a ``GraphSet`` as it is, a list of one kind of graph converted.

    Lists, tuples, arrays, generators, PyG data sets and PyG batches are fine, and so is a list of
    parts of one ``GraphSet``. Raises ``DataError`` for an empty list, a single graph, several kinds
    in one list, and anything else.
    """
    if isinstance(graphs, GraphSet):
        return graphs
    if hasattr(type(graphs), "to_data_list"):
        graphs = graphs.to_data_list()
    single = _kind(graphs)
    if single is not None:
        raise DataError(_single_graph(single, graphs))
    if isinstance(graphs, Mapping | bytes) or not isinstance(graphs, Iterable):
        raise DataError(f"Graphs were expected, found {type(graphs).__name__}. {_ACCEPTED}")
    items = list(graphs)
    if not items:
        raise DataError(f"The list of graphs is empty; at least one is needed. {_ACCEPTED}")
    return _convert(items, _common_kind(items), name)


def _convert(items: list[Any], kind: str, name: str) -> GraphSet:
    """Return a list of one kind of graph as a set."""
    if kind == "GraphSet":
        from igsd.graphs.join import join_sets

        return join_sets(items, name=name)
    if kind == "NetworkX graph":
        from igsd.graphs.networkx_graphs import from_networkx

        return from_networkx(items, name=name)
    if kind == "PyG Data":
        from igsd.graphs.pyg_graphs import from_pyg

        return from_pyg(items, name=name)
    from igsd.graphs.smiles import from_smiles

    return from_smiles(items, name=name)


def _common_kind(items: list[Any]) -> str:
    """Return the kind that all items have; raises ``DataError`` at the first that differs."""
    first = _kind(items[0])
    if first is None:
        raise DataError(
            f"Graph 0 of the list is of type {type(items[0]).__name__}, which is no graph that "
            f"igsd knows. {_ACCEPTED}"
        )
    for place, item in enumerate(items):
        kind = _kind(item)
        if kind != first:
            found = kind or f"an object of type {type(item).__name__}"
            raise DataError(
                f"All graphs of a list must be of one kind: graph 0 is a {first}, but graph "
                f"{place} is {found}. {_ACCEPTED}"
            )
    return first


def _kind(item: Any) -> str | None:
    """Return which kind of graph one object is, or None."""
    if isinstance(item, GraphSet):
        return "GraphSet"
    if isinstance(item, str):
        return "SMILES string"
    if hasattr(item, "is_directed") and hasattr(item, "add_nodes_from"):
        return "NetworkX graph"
    # A PyG data set answers for its graphs' fields too, but it is a list of graphs.
    if not hasattr(type(item), "indices") and hasattr(item, "edge_index"):
        return "PyG Data"
    return None


def _single_graph(kind: str, graph: Any) -> str:
    if isinstance(graph, str):
        return (
            f"A list of graphs was expected, found the text {graph[:60]!r}. Put a SMILES string "
            "into a list, [text]; open a data set or file with igsd.load_dataset or "
            "igsd.open_data."
        )
    return f"A list of graphs was expected, found a single {kind}. Put it into a list: [graph]."
