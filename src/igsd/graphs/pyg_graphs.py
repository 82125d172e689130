"""``from_pyg``: PyTorch Geometric ``Data`` as a ``GraphSet``; ``pyg_export`` is the way back.

| in PyG | in the set |
|---|---|
| ``num_nodes``, or the rows of ``x`` | nodes; those without edges are kept |
| ``edge_index`` | edges, by the rules of ``igsd.graphs.build`` |
| ``x``, ``edge_attr`` | node and edge attributes: numbers, also where rows are one-hot |
| ``node_label``, ``edge_label`` | labels, in graphs that ``to_pyg`` made |
| ``y``, one whole number | class |
| ``y``, floats or several numbers | targets |
| ``target`` | targets, in graphs that ``to_pyg`` made of a set with classes |
| ``name``, or else ``smiles`` | graph name |

Reading needs no installed PyG: any object with these attributes will do, with arrays or tensors.
Other fields are left out and noted.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.graphs.adjacency import pointers
from igsd.graphs.build import from_edges
from igsd.graphs.column_names import NAMES_KEY, common_names
from igsd.graphs.graphset import UNNAMED, GraphSet
from igsd.graphs.loose_columns import Known, graph_columns

_FIELDS = {"edge_index", "num_nodes", "x", "edge_attr", "y", "name", "smiles"}
_OWN_FIELDS = {"node_label", "edge_label", "target", NAMES_KEY}


def from_pyg(graphs: Iterable[Any], *, name: str = UNNAMED) -> GraphSet:
    """Return the set of these PyG ``Data`` objects, in their order.

    Raises ``DataError`` naming the graph for columns whose lengths do not fit, a field that only
    some graphs have, node ids out of range, a graph without nodes and numbers that are not finite.
    """
    items = list(graphs)
    known = common_names(_field(item, NAMES_KEY) for item in items)
    edges = [_edge_index(item, place, name) for place, item in enumerate(items)]
    counts = np.array(
        [_num_nodes(item, edges[place], place, name) for place, item in enumerate(items)], np.int64
    )
    source, target = _joined_edges(edges, counts, name)
    num_edges = [ends.shape[1] for ends in edges]
    columns = _attributes(items, "x", "node", counts, known or {}, name)
    columns |= _attributes(items, "edge_attr", "edge", num_edges, known or {}, name)
    if known is not None:
        columns |= _labels(items, "node", counts, known, name)
        columns |= _labels(items, "edge", num_edges, known, name)
    records = [_graph_record(item, known) for item in items]
    _check_one_meaning(records, known, name)
    columns |= graph_columns(records, known or {}, name)
    notes = _left_out(items, known is not None)
    return from_edges(counts, source, target, name=name, notes=notes, **columns)


def are_whole(names: tuple[Any, ...]) -> bool:
    """Say whether all names of classes are whole numbers, so that ``y`` can hold them."""
    return all(isinstance(name, int) and not isinstance(name, bool) for name in names)


def _field(item: Any, key: str) -> Any:
    return getattr(item, key, None)


def _array(value: Any) -> np.ndarray:
    """Return a tensor or array as a NumPy array, wherever it was stored."""
    return value.numpy(force=True) if hasattr(value, "numpy") else np.asarray(value)


def _edge_index(item: Any, place: int, name: str) -> np.ndarray:
    """Return the ends of one graph's edges, [2, M] int64; none where it has no ``edge_index``."""
    if not hasattr(item, "edge_index"):
        raise DataError(
            f"Item {place} of {name!r} must be PyG Data, found {type(item).__name__}, which has no "
            "'edge_index'."
        )
    value = item.edge_index
    if value is None:
        return np.zeros((2, 0), np.int64)
    ends = _array(value)
    if ends.size == 0:
        return np.zeros((2, 0), np.int64)
    if ends.ndim != 2 or ends.shape[0] != 2 or ends.dtype.kind not in "iu":
        raise DataError(
            f"Graph {place} of {name!r}: 'edge_index' must hold whole numbers of shape [2, edges], "
            f"found {ends.dtype} of shape {list(ends.shape)}."
        )
    return ends.astype(np.int64)


def _joined_edges(edges: list[np.ndarray], counts: np.ndarray, name: str) -> np.ndarray:
    """Return the ends of all edges [2, M], counted over all graphs; raises for one out of range."""
    for place, ends in enumerate(edges):
        if ends.size and (ends.min() < 0 or ends.max() >= counts[place]):
            bad = int(ends.min() if ends.min() < 0 else ends.max())
            raise DataError(
                f"Graph {place} of {name!r}: 'edge_index' names node {bad}, but its nodes run "
                f"from 0 to {counts[place] - 1}."
            )
    shifted = [ends + first for ends, first in zip(edges, pointers(counts)[:-1], strict=True)]
    return np.concatenate([np.zeros((2, 0), np.int64), *shifted], axis=1)


def _num_nodes(item: Any, ends: np.ndarray, place: int, name: str) -> int:
    """Return the number of nodes of one graph."""
    rows = None if _field(item, "x") is None else len(item.x)
    with warnings.catch_warnings():
        # PyG warns where it has to infer the number; the rule here is the same as its own.
        warnings.simplefilter("ignore")
        count = _field(item, "num_nodes")
    if count is None:
        count = rows if rows is not None else int(ends.max(initial=-1)) + 1
    if rows is not None and rows != count:
        raise DataError(
            f"Graph {place} of {name!r}: 'x' has {rows} rows, but 'num_nodes' is {int(count)}."
        )
    return int(count)


def _attributes(
    items: list[Any], key: str, kind: str, counts: Any, known: Known, name: str
) -> dict[str, Any]:
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
    names = known.get(f"{kind}_attributes", tuple(f"x{i}" for i in range(width)))
    names = names if len(names) in (0, width) else tuple(f"x{i}" for i in range(width))
    column = f"{kind}_attributes"
    return {column: joined.astype(np.float32), f"{kind}_attribute_names": names}


def _labels(items: list[Any], kind: str, counts: Any, known: Known, name: str) -> dict[str, Any]:
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


def _parts(items: list[Any], key: str, counts: Any, name: str) -> list[np.ndarray] | None:
    """Return one field of every graph, checked against the number of its nodes or edges."""
    values = [_field(item, key) for item in items]
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
            raise DataError(
                f"Graph {place} of {name!r}: {key!r} has {len(part)} rows, not {count}."
            )
        parts.append(part)
    return parts


def _graph_record(item: Any, known: Known | None) -> dict[str, Any]:
    """Return name, class and targets of one graph under the keys of ``graph_columns``."""
    record: dict[str, Any] = {}
    name = _field(item, "name")
    name = name if isinstance(name, str) else _field(item, "smiles")
    if isinstance(name, str):
        record["name"] = name
    if known is not None and _field(item, "target") is not None:
        record["y"] = _array(item.target).reshape(-1)
    value = _field(item, "y")
    if value is None:
        return record
    y = _array(value).reshape(-1)
    if y.size == 1 and y.dtype.kind in "iub":
        label = y[0].item()
        names = (known or {}).get("classes", ())
        coded = names and not are_whole(names) and 0 <= label < len(names)
        record["label"] = names[label] if coded else label
    elif y.size:
        record["y"] = y.astype(np.float64)
    return record


def _check_one_meaning(records: list[dict[str, Any]], known: Known | None, name: str) -> None:
    """Raise ``DataError`` where ``y`` is a class on one graph and a number on another."""
    kinds = {key for record in records for key in ("label", "y") if key in record}
    if len(kinds) > 1 and not {"classes", "targets"} <= set(known or {}):
        raise DataError(
            f"'y' of {name!r} is one whole number (a class) on some graphs and a float or vector "
            "(targets) on others. Give all of them the same type."
        )


def _left_out(items: list[Any], exported: bool) -> tuple[str, ...]:
    """Return a note that names the fields which have no place in a set."""
    read = _FIELDS | _OWN_FIELDS if exported else _FIELDS
    fields: set[str] = set()
    for item in items:
        keys = item.keys() if hasattr(item, "keys") else vars(item)
        fields |= {key for key in keys if not key.startswith("_")}
    extra = sorted(fields - read)
    return (f"fields left out: {', '.join(extra)}",) if extra else ()
