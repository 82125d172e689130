"""PyTorch Geometric ``Data`` to and from a ``GraphSet``.

| in PyG | in the set |
|---|---|
| ``num_nodes``, or the rows of ``x`` | nodes, also those without edges |
| ``edge_index`` | edges, by the rules of ``igsd.graphs.build`` |
| ``x``, ``edge_attr`` | node and edge attributes (numbers, also if one-hot) |
| ``edge_weight`` | the edge attribute ``weight`` |
| ``node_label``, ``edge_label`` | labels, in graphs from ``to_pyg`` |
| ``y``, one integer | class |
| ``y``, floats or several numbers | targets |
| ``target`` | targets, in graphs from ``to_pyg`` of a set with classes |
| ``name``, or else ``smiles`` | graph name |

Reading does not need PyG: any object with these attributes will do, as arrays or tensors. Other
fields are ignored, with a note.
"""

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from igsd.errors import DataError, need
from igsd.graphs.adjacency import pointers
from igsd.graphs.build import WEIGHT, from_edges
from igsd.graphs.columns import NAMES_KEY, Known, Record, common_names, graph_columns, names_text
from igsd.graphs.graphset import UNNAMED, Fields, GraphSet, placeholders

_FIELDS = {"edge_index", "num_nodes", "x", "edge_attr", "edge_weight", "y", "name", "smiles"}
_OWN_FIELDS = {"node_label", "edge_label", "target", NAMES_KEY}


def from_pyg(graphs: Iterable[Any], *, name: str = UNNAMED) -> GraphSet:
    """Return the set of these PyG ``Data`` objects, in their order.

    Raises ``DataError`` naming the graph for columns whose lengths do not fit, a field that only
    some graphs have, node ids out of range, and a graph without nodes.
    """
    items = list(graphs)
    known = common_names(getattr(item, NAMES_KEY, None) for item in items)
    read = [_nodes_and_edges(item, place, name) for place, item in enumerate(items)]
    counts, num_edges = [count for count, _ in read], [ends.shape[1] for _, ends in read]
    offsets = pointers(np.array(counts, np.int64))[:-1]
    shifted = [ends + first for (_, ends), first in zip(read, offsets, strict=True)]
    source, target = np.concatenate([np.zeros((2, 0), np.int64), *shifted], axis=1)
    columns: Fields = {}
    for kind, key, rows in (("node", "x", counts), ("edge", "edge_attr", num_edges)):
        columns |= _attributes(items, key, kind, rows, known or {}, name)
        columns |= _labels(items, kind, rows, known, name) if known is not None else {}
    columns |= _with_weights(items, num_edges, columns, name)
    records = [_graph_record(item, known) for item in items]
    kinds = {key for record in records for key in ("label", "y") if key in record}
    if len(kinds) > 1 and not {"classes", "targets"} <= set(known or {}):
        raise DataError(
            f"'y' of {name!r} is one integer (a class) on some graphs and a float or vector "
            "(targets) on others. Give all of them the same type."
        )
    columns |= graph_columns(records, known or {}, name)
    notes = _ignored(items, _FIELDS if known is None else _FIELDS | _OWN_FIELDS)
    columns["directed"] = True
    return from_edges(counts, source, target, name=name, notes=notes, **columns)


def _are_whole(names: tuple[Any, ...]) -> bool:
    """Return whether all class names are integers, so that ``y`` can hold them."""
    return all(isinstance(name, int) and not isinstance(name, bool) for name in names)


def _array(value: Any) -> np.ndarray:
    """Return a tensor (on any device) or array as a NumPy array."""
    return value.numpy(force=True) if hasattr(value, "numpy") else np.asarray(value)


def _nodes_and_edges(item: Any, place: int, name: str) -> tuple[int, np.ndarray]:
    """Return the number of nodes of one graph and the ends of its edges, [2, M] int64."""
    graph = f"Graph {place} of {name!r}"
    if not hasattr(item, "edge_index"):
        kind = type(item).__name__
        raise DataError(f"{graph} must be PyG Data, found {kind}, which has no 'edge_index'.")
    ends = np.zeros(0) if item.edge_index is None else _array(item.edge_index)
    ends = ends if ends.size else np.zeros((2, 0), np.int64)
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise DataError(
            f"{graph}: 'edge_index' must hold whole numbers of shape [2, edges], found "
            f"{ends.dtype} of shape {list(ends.shape)}."
        )
    rows = None if getattr(item, "x", None) is None else len(item.x)
    with warnings.catch_warnings():
        # PyG warns if it has to infer the number; the rule below is the same as its own.
        warnings.simplefilter("ignore")
        count = getattr(item, "num_nodes", None)
    low, high = int(ends.min(initial=0)), int(ends.max(initial=-1))
    if count is None:
        count = high + 1 if rows is None else rows
    if rows is not None and rows != count:
        raise DataError(f"{graph}: 'x' has {rows} rows, but 'num_nodes' is {int(count)}.")
    if low < 0 or high >= count:
        raise DataError(
            f"{graph}: 'edge_index' names node {low if low < 0 else high}, but its nodes run from "
            f"0 to {int(count) - 1}."
        )
    return int(count), ends.astype(np.int64)


def _attributes(
    items: list[Any], key: str, kind: str, counts: list[int], known: Known, name: str
) -> Fields:
    """Return ``x`` or ``edge_attr`` of all graphs as one column of numbers."""
    parts = _parts(items, key, counts, name)
    if parts is None:
        return {}
    tables = [part.reshape(len(part), -1) if part.size else part for part in parts]
    width = max((table.shape[1] for table in tables if table.ndim == 2), default=1)
    for place, table in enumerate(tables):
        if table.size and table.shape[1] != width:
            raise DataError(
                f"Graph {place} of {name!r}: {key!r} has {table.shape[1]} columns, other graphs "
                f"have {width}. All graphs need the same columns."
            )
    joined = np.concatenate([table.reshape(-1, width) for table in tables])
    names = known.get(f"{kind}_attributes")
    if names is None or len(names) not in (0, width):
        names = placeholders(width)
    columns: Fields = {f"{kind}_attributes": joined}
    codes = known.get(f"{kind}_category_names", ())
    if len(codes) == width:
        columns[f"{kind}_category_names"] = tuple(map(tuple, codes))
    return columns | {f"{kind}_attribute_names": names}


def _with_weights(items: list[Any], counts: list[int], columns: Fields, name: str) -> Fields:
    """Return the edge attributes with ``edge_weight`` of all graphs as a last column."""
    parts = _parts(items, "edge_weight", counts, name)
    if parts is None:
        return {}
    weights = np.concatenate([part.reshape(-1, 1) for part in parts])
    names = (*columns.get("edge_attribute_names", ()), WEIGHT)
    table = columns.get("edge_attributes", weights[:, :0])
    return {
        "edge_attributes": np.concatenate([table, weights], axis=1),
        "edge_attribute_names": names,
    }


def _labels(items: list[Any], kind: str, counts: list[int], known: Known, name: str) -> Fields:
    """Return the label codes that ``to_pyg`` stored, with their names."""
    parts = _parts(items, f"{kind}_label", counts, name)
    if parts is None or f"{kind}_labels" not in known:
        return {}
    codes = np.concatenate([part.reshape(-1) for part in parts]).astype(np.int32)
    names = known[f"{kind}_labels"]
    if codes.size and (codes.min() < -1 or codes.max() >= len(names)):
        raise DataError(
            f"'{kind}_label' of {name!r} must be codes from -1 to {len(names) - 1} for the names "
            f"that the graphs carry, found {int(codes.min())} to {int(codes.max())}."
        )
    return {f"{kind}_labels": codes, f"{kind}_label_names": names}


def _parts(items: list[Any], key: str, counts: list[int], name: str) -> list[np.ndarray] | None:
    """Return one field of every graph, checked against the number of its nodes or edges."""
    values = [getattr(item, key, None) for item in items]
    if all(value is None for value in values):
        return None
    parts = []
    for place, (value, count) in enumerate(zip(values, counts, strict=True)):
        if value is None and count:
            raise DataError(
                f"Graph {place} of {name!r} has no {key!r}, but other graphs have one. All graphs "
                "need the same fields."
            )
        part = np.zeros((0, 1)) if value is None else _array(value)
        if len(part) != count:
            found = f"{key!r} has {len(part)} rows"
            raise DataError(f"Graph {place} of {name!r}: {found}, not {count}.")
        parts.append(part)
    return parts


def _graph_record(item: Any, known: Known | None) -> Record:
    """Return name, class and targets of one graph under the keys of ``graph_columns``."""
    texts = [
        t
        for t in (getattr(item, "name", None), getattr(item, "smiles", None))
        if isinstance(t, str)
    ]
    record: Record = {"name": texts[0]} if texts else {}
    if known is not None and getattr(item, "target", None) is not None:
        record["y"] = _array(item.target).reshape(-1)
    y = np.zeros(0) if getattr(item, "y", None) is None else _array(item.y).reshape(-1)
    if y.size == 1 and y.dtype.kind in "iub":
        label = y[0].item()
        classes = (known or {}).get("classes", ())
        is_code = classes and not _are_whole(classes) and 0 <= label < len(classes)
        record["label"] = classes[label] if is_code else label
    elif y.size:
        record["y"] = y.astype(np.float64)
    return record


def _ignored(items: list[Any], read: set[str]) -> tuple[str, ...]:
    """Return a note for each field that is not read."""
    fields: set[str] = set()
    for item in items:
        fields.update(item.keys() if hasattr(item, "keys") else vars(item))
    extra = sorted(key for key in fields - read if not key.startswith("_"))
    why = f"of PyG graphs these are read: {', '.join(sorted(_FIELDS))}"
    return tuple(f"field {key!r} not used: {why}" for key in extra)


def to_pyg(graphs: GraphSet) -> list[Any]:
    """Return the graphs of a set as PyG ``Data`` that ``from_pyg`` turns back without loss.

    ``y`` is the class: its name if all class names are integers, otherwise its code 0..C-1; without
    classes it is the row of targets [1, t]. Labels of nodes and edges are codes in ``node_label``
    and ``edge_label``; their names are text in ``igsd_names``. Raises ``ConfigError`` without PyG,
    ``DataError`` for a set with weighted edges, a view.
    """
    Data = need("pyg", "torch_geometric.data", "Exporting to PyG").Data
    import torch

    names = names_text(graphs)
    node_ptr, entry_ptr = graphs.node_ptr, graphs.adjacency.row_ptr[graphs.node_ptr]
    ends = np.stack([graphs.adjacency.rows(), graphs.adjacency.col])
    given = np.arange(graphs.adjacency.num_entries)
    if graphs.directions is not None:  # an edge that goes one way is one column of edge_index
        given = np.flatnonzero(graphs.directions != 2)
    entry_ptr, result = np.searchsorted(given, entry_ptr), []
    for g in range(len(graphs)):
        nodes, entries = slice(*node_ptr[g : g + 2]), given[slice(*entry_ptr[g : g + 2])]
        local = ends[:, entries] - np.array([[node_ptr[g]], [0]])
        fields = {
            "edge_index": local,
            "x": _part(graphs.node_attributes, nodes),
            "edge_attr": _part(graphs.edge_attributes, entries),
            "node_label": _part(graphs.node_labels, nodes, np.int64),
            "edge_label": _part(graphs.edge_labels, entries, np.int64),
        }
        if graphs.targets is not None:
            fields["y" if graphs.classes is None else "target"] = np.array(
                graphs.targets[g : g + 1]
            )
        if graphs.classes is not None and graphs.classes[g] >= 0:
            code = int(graphs.classes[g])
            value = graphs.class_names[code] if _are_whole(graphs.class_names) else code
            fields["y"] = np.array([value], dtype=np.int64)
        tensors = {k: torch.from_numpy(v) for k, v in fields.items() if v is not None}
        data = Data(num_nodes=int(node_ptr[g + 1] - node_ptr[g]), **tensors)
        data[NAMES_KEY] = names
        if graphs.graph_names is not None:
            data.name = graphs.graph_names[g]
        result.append(data)
    return result


def _part(column: np.ndarray | None, rows: Any, dtype: Any = None) -> np.ndarray | None:
    """Return a copy of some rows: tensors are writeable, the columns of a set are not."""
    return None if column is None else np.array(column[rows], dtype=dtype or column.dtype)
