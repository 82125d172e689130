"""Records of nodes, edges and graphs as the columns of a set, and the names of those columns.

A single NetworkX or PyG graph does not know the labels and classes of the other graphs of its set,
nor the order of the columns. Every exported graph carries them as text under ``NAMES_KEY``, so that
export and import give back the same set.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import NAMES, Fields, GraphSet, placeholders

NAMES_KEY = "igsd_names"
"""The key under which an exported graph carries the names of all columns."""

Record = dict[str, Any]
"""What NetworkX or PyG know of a node, an edge or a graph, by the name of the attribute."""

Known = Mapping[str, tuple[Any, ...]]
"""Names by column, as graphs exported by igsd carry them; otherwise empty."""


def names_text(graphs: GraphSet) -> str:
    """Return the names of every column of ``graphs`` as JSON; raises ``DataError`` for a view."""
    if graphs.adjacency.weight is not None:
        raise DataError(f"{graphs.name!r} has weighted edges: a view cannot be exported.")
    present = [column for column in NAMES if getattr(graphs, column) is not None]
    return json.dumps({column: list(getattr(graphs, NAMES[column])) for column in present})


def common_names(texts: Iterable[Any]) -> dict[str, tuple[Any, ...]] | None:
    """Return the names by column if all texts are equal and valid, otherwise None."""
    different = set(texts)
    if len(different) != 1:
        return None
    try:
        found = json.loads(different.pop())
        return {column: tuple(found[column]) for column in found if column in NAMES}
    except (TypeError, ValueError):
        return None


def label_columns(records: Sequence[Record], kind: str, known: Known) -> Fields:
    """Return the column ``<kind>_labels`` and its names, or nothing if no record has a label."""
    column = f"{kind}_labels"
    values = [record.get("label") for record in records]
    if column not in known and all(value is None for value in values):
        return {}
    codes, names = categories(values, known.get(column))
    return {column: codes.astype(np.int32), NAMES[column]: names}


def categories(
    values: Sequence[Any], names: tuple[Any, ...] | None
) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return (codes, names) of values, by ``names`` if these include every value."""
    if names is not None:
        index = {name: code for code, name in enumerate(names)} | {None: -1}
        if all(value in index for value in values):
            return np.array([index[value] for value in values], dtype=np.int64), names
    return encode_categories(values)


def number_columns(
    records: Sequence[Record], kind: str, known: Known, owner: str
) -> tuple[Fields, tuple[str, ...]]:
    """Return (columns, notes): ``<kind>_attributes`` from every numeric key except ``label``.

    Keys are in natural order (x2 before x10), or in that of ``known``. A vector becomes several
    columns. Raises ``DataError`` for a key that only some records have, and for vectors of
    different lengths.
    """
    keys = {key for record in records for key in record if key != "label"}
    numeric, notes = [], []
    for key in sorted(keys, key=_natural):
        if any(_is_number(record[key]) for record in records if key in record):
            numeric.append(key)
        else:
            notes.append(f"{kind} attribute {key!r} ignored: not a number")
    column = f"{kind}_attributes"
    order = known.get(column)
    if order and (set(order) == set(numeric) or not records):
        numeric = list(order)
    if not numeric:
        return {}, tuple(notes)
    parts = [_stack(records, key, kind, owner) for key in numeric]
    names: list[str] = []
    for key, width in zip(numeric, (part.shape[1] for part in parts), strict=True):
        names += [str(key)] if width == 1 else [f"{key}[{i}]" for i in range(width)]
    table = np.concatenate(parts, axis=1).astype(np.float32)
    # Columns without names were exported under placeholders.
    return {column: table, NAMES[column]: () if order == () else tuple(names)}, tuple(notes)


def _natural(key: Any) -> list[Any]:
    """Return a key for natural sorting: x2 before x10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(key))]


def _stack(records: Sequence[Record], key: str, kind: str, owner: str) -> np.ndarray:
    """Return the numbers under one key of every record, [n, width]."""
    rows: list[np.ndarray] = []
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


def graph_columns(records: Sequence[Record], known: Known, owner: str) -> Fields:
    """Return names, classes and targets from the keys ``name``, ``label`` and ``y``."""
    columns: Fields = {}
    if any("name" in record for record in records):
        columns["graph_names"] = tuple(str(record.get("name", "")) for record in records)
    labels = [record.get("label") for record in records]
    values = [record.get("y") for record in records]
    if all(label is None for label in labels) and not any(_is_target(y) for y in values):
        labels, values = values, [None] * len(values)
    if "classes" in known or any(label is not None for label in labels):
        codes, names = categories([_scalar(label) for label in labels], known.get("classes"))
        columns |= {"classes": codes, "class_names": names}
    rows = [None if value is None else _vector(value) for value in values]
    if any(row is not None for row in rows):
        columns |= _targets(rows, known.get("targets", ()), owner)
    return columns


def _targets(rows: Sequence[Any], names: tuple[Any, ...], owner: str) -> Fields:
    """Return targets [G, t], NaN for a graph that has none."""
    width = next(len(row) for row in rows if row is not None)
    table = np.full((len(rows), width), np.nan)
    for graph, row in enumerate(rows):
        if row is not None and len(row) != width:
            raise DataError(
                f"Graph {graph} of {owner!r} has {len(row)} targets in 'y', the graphs before it "
                f"have {width}. All need the same number; use NaN for an unknown one."
            )
        table[graph] = np.nan if row is None else row
    names = names if len(names) == width else placeholders(width, "y")
    return {"targets": table, "target_names": names}


def _is_target(value: Any) -> bool:
    """Return whether ``y`` is a float or a vector, and therefore not a class."""
    value = _scalar(value)
    is_class = isinstance(value, str | int | bool | None)
    return isinstance(value, float) or (not is_class and _is_number(value))


def _is_number(value: Any) -> bool:
    """Return whether a value is a number or a non-empty vector of numbers."""
    if isinstance(value, Real | np.bool_):
        return True
    may_be_vector = isinstance(value, list | tuple) or hasattr(value, "__array__")
    vector = _vector(value) if may_be_vector else None
    return vector is not None and len(vector) > 0


def _vector(value: Any) -> Any:
    """Return a number or vector as a flat float array, or None if it is neither."""
    try:
        return np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        return None


def _scalar(value: Any) -> Any:
    """Unpack an array or tensor of one number; return anything else unchanged."""
    if hasattr(value, "__array__") and np.asarray(value).size == 1:
        return np.asarray(value).item()
    return value
