"""Columns out of loose records: one dictionary per node, edge or graph becomes packed arrays."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.graphs.build import encode_categories

Known = Mapping[str, tuple[Any, ...]]
"""Names by column, as the graphs carry them when igsd exported them; otherwise empty."""


def label_columns(records: Sequence[Mapping[str, Any]], kind: str, known: Known) -> dict[str, Any]:
    """Return the columns ``<kind>_labels`` and their names, or nothing where no record has one."""
    column = f"{kind}_labels"
    values = [record.get("label") for record in records]
    if column not in known and all(value is None for value in values):
        return {}
    codes, names = categories(values, known.get(column))
    return {column: codes.astype(np.int32), f"{kind}_label_names": names}


def categories(
    values: Sequence[Any], names: tuple[Any, ...] | None
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return (codes, names) of values, by the given names where they hold every value."""
    if names is not None:
        index = {name: code for code, name in enumerate(names)}
        index[None] = -1
        if all(value in index for value in values):
            return np.array([index[value] for value in values], dtype=np.int64), names
    return encode_categories(values)


def number_columns(
    records: Sequence[Mapping[str, Any]], kind: str, known: Known, owner: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return (columns, notes): ``<kind>_attributes`` from every key but ``label`` with numbers.

    Keys stand in sorted order (x2 before x10), or as ``known`` has them. A vector under one key
    becomes several columns. Raises ``DataError`` for a key that only some records have, and for
    vectors of different lengths.
    """
    keys = {key for record in records for key in record if key != "label"}
    numeric, notes = [], []
    for key in sorted(keys, key=_natural):
        if any(_is_number(record[key]) for record in records if key in record):
            numeric.append(key)
        else:
            notes.append(f"{kind} attribute {key!r} left out, not a number")
    column = f"{kind}_attributes"
    order = known.get(column)
    if order and (set(order) == set(numeric) or not records):
        numeric = list(order)
    if not numeric:
        return {}, tuple(notes)
    parts = {key: _stack(records, key, kind, owner) for key in numeric}
    names = tuple(name for key, part in parts.items() for name in _names(key, part.shape[1]))
    # A set whose columns had no names was exported under stand-ins; it gets none back.
    names = () if order == () else names
    table = np.concatenate(list(parts.values()), axis=1)
    return {column: table.astype(np.float32), f"{kind}_attribute_names": names}, tuple(notes)


def graph_columns(records: Sequence[Mapping[str, Any]], known: Known, owner: str) -> dict[str, Any]:
    """Return the names, classes and targets that stand under ``name``, ``label`` and ``y``."""
    columns: dict[str, Any] = {}
    if any("name" in record for record in records):
        columns["graph_names"] = tuple(str(record.get("name", "")) for record in records)
    labels = [record.get("label") for record in records]
    values = [record.get("y") for record in records]
    if all(label is None for label in labels) and not any(_is_target(y) for y in values):
        labels, values = values, [None] * len(values)
    if "classes" in known or any(label is not None for label in labels):
        codes, names = categories([_scalar(label) for label in labels], known.get("classes"))
        columns |= {"classes": codes, "class_names": names}
    if any(value is not None for value in values):
        columns |= _targets(values, known, owner)
    return columns


def _targets(values: Sequence[Any], known: Known, owner: str) -> dict[str, Any]:
    """Return targets [G, t], NaN for a graph that has none."""
    rows = [None if value is None else _vector(value) for value in values]
    width = next(len(row) for row in rows if row is not None)
    table = np.full((len(rows), width), np.nan)
    for graph, row in enumerate(rows):
        if row is not None and len(row) != width:
            raise DataError(
                f"Graph {graph} of {owner!r} has {len(row)} targets in 'y', the graphs before it "
                f"have {width}. All need the same number; NaN stands for an unknown one."
            )
        if row is not None:
            table[graph] = row
    names = known.get("targets", ())
    names = names if len(names) == width else tuple(f"y{i}" for i in range(width))
    return {"targets": table, "target_names": names}


def _stack(records: Sequence[Mapping[str, Any]], key: str, kind: str, owner: str) -> np.ndarray:
    """Return the numbers under one key of every record, [n, width]."""
    rows = []
    for place, record in enumerate(records):
        if key not in record or not _is_number(record[key]):
            found = repr(record[key]) if key in record else "nothing"
            raise DataError(
                f"The {kind} attribute {key!r} must be a number on every {kind} of {owner!r}; "
                f"{kind} {place} (counted over all graphs) has {found}. Add the number there, or "
                "remove the attribute everywhere."
            )
        rows.append(_vector(record[key]))
        if len(rows[-1]) != len(rows[0]):
            raise DataError(
                f"The {kind} attribute {key!r} of {owner!r} must have the same length everywhere; "
                f"{kind} {place} has {len(rows[-1])} numbers, the first has {len(rows[0])}."
            )
    return np.array(rows, dtype=np.float64).reshape(len(rows), len(rows[0]) if rows else 1)


def _is_number(value: Any) -> bool:
    """Say whether a value is a number or a non-empty vector of numbers."""
    if isinstance(value, Real | np.bool_):
        return True
    if not isinstance(value, list | tuple) and not hasattr(value, "__array__"):
        return False
    vector = _vector(value)
    return vector is not None and len(vector) > 0


def _vector(value: Any) -> Any:
    """Return a number or vector as a flat float array, or None where it is neither."""
    try:
        return np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        return None


def _is_target(value: Any) -> bool:
    """Say whether ``y`` is a float or a vector and so not a class."""
    value = _scalar(value)
    if isinstance(value, float):
        return True
    return not isinstance(value, str | int | bool | None) and _is_number(value)


def _scalar(value: Any) -> Any:
    """Return the plain number inside an array or tensor of one number, anything else as it is."""
    if hasattr(value, "__array__") and np.asarray(value).size == 1:
        return np.asarray(value).item()
    return value


def _natural(key: Any) -> list[Any]:
    """Return a sort key that counts: x2 before x10."""
    parts = re.split(r"(\d+)", str(key))
    return [int(part) if part.isdigit() else part for part in parts]


def _names(key: Any, width: int) -> list[str]:
    return [str(key)] if width == 1 else [f"{key}[{i}]" for i in range(width)]
