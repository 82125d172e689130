"""Records of nodes, edges and graphs as the columns of a set, and the names of those columns.

A single NetworkX or PyG graph does not know the labels and classes of the other graphs of its set,
nor the order of the columns. Every exported graph carries them as text under ``NAMES_KEY``, so that
export and import give back the same set. ``check_columns``: whether those of a file fit.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from numbers import Real
from typing import Any

import numpy as np

from igsd.errors import DataError, StorageError, counted, shortened
from igsd.graphs.build import WEIGHT, encode_categories
from igsd.graphs.graphset import (
    CATEGORIES,
    COLUMNS,
    NAMES,
    PARTIAL,
    Fields,
    GraphSet,
    placeholders,
)

NAMES_KEY = "igsd_names"
"""The key under which an exported graph carries the names of all columns."""

Record = dict[str, Any]
"""What NetworkX or PyG know of a node, an edge or a graph, by the name of the attribute."""

Parts = dict[str, tuple[np.ndarray, tuple[Any, ...]]]
"""A table [n, width] and the names of its categories, by the name of the attribute."""

Known = Mapping[str, tuple[Any, ...]]
"""Names by column, as graphs exported by igsd carry them; otherwise empty."""


def names_text(graphs: GraphSet) -> str:
    """Return the names of every column of ``graphs`` as JSON; raises ``DataError`` for a view."""
    if graphs.adjacency.weight is not None:
        raise DataError(f"{graphs.name!r} has weighted edges: a view cannot be exported.")
    present = [column for column in NAMES if getattr(graphs, column) is not None]
    names = {column: list(getattr(graphs, NAMES[column])) for column in present}
    kinds = {key: value for key in CATEGORIES if (value := getattr(graphs, key))}
    return json.dumps(names | kinds)


def common_names(texts: Iterable[Any]) -> dict[str, tuple[Any, ...]] | None:
    """Return the names by column if all texts are equal and valid, otherwise None."""
    different = set(texts)
    if len(different) != 1:
        return None
    try:
        found = json.loads(different.pop())
        return {key: tuple(found[key]) for key in found if key in (*NAMES, *CATEGORIES)}
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


def attribute_columns(
    records: Sequence[Record], kind: str, known: Known, owner: str, graph_of: Sequence[str] = ()
) -> tuple[Fields, tuple[str, ...]]:
    """Return (columns, notes): ``<kind>_attributes`` from every key except ``label``.

    Numbers and vectors of numbers stay as they are, a vector as several columns; texts and booleans
    become codes of categories. Keys are in natural order (x2 before x10), or in that of ``known``.
    A key is left out, with a note, if its values are dates, or of different kinds. One that a
    record lacks is in the columns ``partial_<kind>_attributes``, NaN or -1 where it is missing, and
    in a note too. A missing weight of an edge is 1. Raises ``DataError`` for vectors of different
    lengths. ``graph_of``: the name of the graph of each record, for the notes.
    """
    keys = sorted({key for record in records for key in record if key != "label"}, key=natural_key)
    parts: Parts = {}
    partial: Parts = {}
    notes, stored = [], _stored_categories(known, kind)
    for key in keys:
        values = [record.get(key) for record in records]
        missing = sum(value is None for value in values)
        present = [value for value in values if value is not None]
        if kind == "edge" and key == WEIGHT and missing and _are_single_numbers(present):
            values = [1.0 if value is None else value for value in values]
            notes.append(f"{counted(missing, 'edge')} without a weight: counted as 1")
            missing = 0
        fault = _fault(values, graph_of)
        if missing and not fault:
            count = counted(len(values), kind)
            first = _first_missing(values, missing, graph_of)
            notes.append(
                f"{kind} attribute {key!r} not used: {missing} of {count} {lacks(missing)}{first}"
            )
            if not _is_even(present):
                continue
        if fault:
            notes.append(f"{kind} attribute {key!r} not used: {fault}")
            continue
        table = partial if missing else parts
        if not all(isinstance(value, _KINDS) for value in present):
            numbers = _stack(values, str(key), kind, owner)
            table[str(key)] = numbers, ()
            notes += _merged_numbers(numbers, f"{kind} attribute {key!r}")
        else:
            codes, names = categories(values, stored.get(str(key)))
            table[str(key)] = codes.astype(np.float64).reshape(-1, 1), names
    left_out = _tables(partial)
    rest: Fields = {}
    if left_out is not None:
        title = f"partial_{kind}_attributes"
        rest = dict(zip((title, *PARTIAL[title]), left_out, strict=True))
    column = f"{kind}_attributes"
    order = known.get(column)
    if order and not records:
        parts = {name: (np.zeros((0, 1)), stored.get(name, ())) for name in order}
    elif order and set(order) == set(parts):
        parts = {name: parts[name] for name in order}
    found = _tables(parts)
    if found is None:
        return rest, tuple(notes)
    # Columns without names were exported under placeholders.
    columns: Fields = {column: found[0], NAMES[column]: () if order == () else found[1]}
    if found[2]:
        columns[f"{kind}_category_names"] = found[2]
    return columns | rest, tuple(notes)


def _merged_numbers(numbers: np.ndarray, what: str) -> list[str]:
    """Return a note if large numbers that differ, such as times, are equal as 32-bit floats."""
    known = numbers[np.isfinite(numbers)]
    if np.abs(known).max(initial=0.0) < 2**24:
        return []
    with np.errstate(over="ignore"):
        merged = np.unique(known.astype(np.float32)).size < np.unique(known).size
    hint = "subtract a common offset to keep them apart"
    return [
        f"{what}: some numbers differ only beyond seven digits and count as equal; {hint}"
    ] * merged


def _tables(parts: Parts) -> tuple[np.ndarray, tuple[str, ...], tuple[Any, ...]] | None:
    """Return (table, names, those of categories) of attributes, None if there are none."""
    if not parts:
        return None
    titles: list[str] = []
    codes_of: list[tuple[Any, ...]] = []
    for key, (part, kinds) in parts.items():
        width = part.shape[1]
        titles += [key] if width == 1 else [f"{key}[{i}]" for i in range(width)]
        codes_of += [kinds] * width
    table = np.concatenate([part for part, _ in parts.values()], axis=1)
    return table, tuple(titles), tuple(codes_of) if any(codes_of) else ()


def _stored_categories(known: Known, kind: str) -> dict[str, tuple[Any, ...]]:
    """Return the categories of each attribute that exported graphs carry."""
    names, values = known.get(f"{kind}_attributes", ()), known.get(f"{kind}_category_names", ())
    return {name: tuple(each) for name, each in zip(names, values, strict=False) if each}


def _first_missing(values: Sequence[Any], missing: int, graph_of: Sequence[str]) -> str:
    """Return in which graph the first value is missing, for the end of a note."""
    place = next(place for place, value in enumerate(values) if value is None)
    where = graph_of[place] if graph_of else ""
    return "" if not where else f", in {where}" if missing == 1 else f", first in {where}"


def natural_key(key: Any) -> list[Any]:
    """Return a key for natural sorting: x2 before x10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", str(key))]


def lacks(count: int) -> str:
    """Return the end of the note on an attribute that some nodes or edges lack."""
    return "has none" if count == 1 else "have none"


def _are_single_numbers(present: Sequence[Any]) -> bool:
    """Return whether there are values, and all are numbers: no vectors, and not only booleans."""
    if all(isinstance(value, _KINDS) for value in present):
        return False
    return all(isinstance(_scalar(value), Real | np.bool_) for value in present)


def _is_even(present: Sequence[Any]) -> bool:
    """Return whether there are values, and all are texts or numbers of the same length."""
    if all(isinstance(value, _KINDS) for value in present):
        return bool(present)
    return len({len(_vector(value)) for value in present}) == 1


def _fault(values: Sequence[Any], graph_of: Sequence[str]) -> str:
    """Return why the values of an attribute cannot be used, an empty text if they can."""
    present = [value for value in values if value is not None]
    if any(_is_date(value) for value in present[:_LOOKED_AT]) and all(map(_is_date, present)):
        return "dates are not turned into numbers; store e.g. the year, or days since a day"
    if all(isinstance(value, _KINDS) for value in present):
        return ""
    if all(_is_number(value) for value in present):
        return ""
    place, odd = next(
        (place, value)
        for place, value in enumerate(values)
        if value is not None and not _is_number(value)
    )
    where = f" (in {graph_of[place]})" if graph_of and graph_of[place] else ""
    if isinstance(odd, str) and any(_is_number(value) for value in present):
        return f"numbers and texts such as {shortened(odd, 30)!r}{where} are mixed"
    return f"values of type {type(odd).__name__}{where} are neither numbers nor texts"


_KINDS = (str, bool, np.bool_)
_LOOKED_AT = 100
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?([T ][\d:.+Z-]*)?|\d\d?[./]\d\d?[./]\d{4}")


def _is_date(value: Any) -> bool:
    """Return whether a value is a date or a time, or a text that reads as a date."""
    if isinstance(value, str):
        return _DATE.fullmatch(value.strip()) is not None
    return isinstance(value, date | time | timedelta | np.datetime64 | np.timedelta64)


def _stack(values: Sequence[Any], key: str, kind: str, owner: str) -> np.ndarray:
    """Return the numbers of every record, [n, width], NaN where there are none."""
    vectors = [None if value is None else _vector(value) for value in values]
    width = next((len(row) for row in vectors if row is not None), 1)
    rows = np.full((len(vectors), width), np.nan)
    for place, row in enumerate(vectors):
        if row is not None and len(row) != width:
            raise DataError(
                f"The {kind} attribute {key!r} of {owner!r} must have the same length everywhere; "
                f"{kind} {place} has {counted(len(row), 'number')}, the first has {width}."
            )
        if row is not None:
            rows[place] = row
    return rows


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


_GRAPH_KEYS = {"name", "label", "y", NAMES_KEY}
_FORMAT_KEYS = {"node_default", "edge_default", "mode", "Creator", "Version"}
"""What NetworkX's readers of GraphML, GEXF and GML say about the file."""


def graph_notes(records: Sequence[Record]) -> tuple[str, ...]:
    """Return a note for each graph attribute that is not read."""
    keys = {str(key) for record in records for key in record} - _GRAPH_KEYS - _FORMAT_KEYS
    why = "vectors are made of nodes and edges; store a class as 'label', numbers to predict as 'y'"
    return tuple(
        f"graph attribute {key!r} not used: {why}" for key in sorted(keys, key=natural_key)
    )


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
    """Return a number or vector as a flat float array, or None if it is neither.

    Whole numbers beyond any float are infinite, which is refused where numbers must be finite.
    """
    try:
        if np.asarray(value).dtype.kind in "mM":  # dates, which NumPy would count in some unit
            return None
        return np.asarray(value, dtype=np.float64).reshape(-1)
    except (TypeError, ValueError):
        return None
    except OverflowError:
        return np.full(np.size(value), np.inf)


def _scalar(value: Any) -> Any:
    """Unpack an array or tensor of one number; return anything else unchanged."""
    if hasattr(value, "__array__") and np.asarray(value).size == 1:
        return np.asarray(value).item()
    return value


def check_columns(graphs: GraphSet, path: str | os.PathLike[str]) -> None:
    """Raise ``StorageError`` if native code, which does not check, would read elsewhere."""
    broken = graphs.adjacency.broken_part(graphs.node_ptr)
    _require(broken is None, path, broken or "")
    lengths = {"node": graphs.num_nodes, "edge": graphs.adjacency.num_entries, "graph": len(graphs)}
    columns = [(key, getattr(graphs, key), lengths[kind]) for key, kind in COLUMNS.items()]
    for key, column, length in columns:
        _require(column is None or len(column) == length, path, key)
    for codes, names in (
        (graphs.node_labels, graphs.node_label_names),
        (graphs.edge_labels, graphs.edge_label_names),
        (graphs.classes, graphs.class_names),
        (graphs.atom_kinds, graphs.atom_kind_names),
    ):
        # Codes may have no names.
        _require(codes is None or _is_within(codes, -1, len(names) or 2**31), path, "labels")
    _require(graphs.directions is None or _is_within(graphs.directions, 1, 4), path, "directions")
    tables = dict(zip(CATEGORIES, (graphs.node_attributes, graphs.edge_attributes), strict=True))
    for column, (titles, categories) in PARTIAL.items():
        tables[categories] = table = getattr(graphs, column)
        width = 0 if table is None else table.shape[1]
        _require(len(getattr(graphs, titles)) == width, path, column)
    for key, table in tables.items():
        all_values = getattr(graphs, key)
        _require(len(all_values) in (0, 0 if table is None else table.shape[1]), path, key)
        for place, values in enumerate(all_values):
            codes = np.asarray(table)[:, place]
            _require(not values or _is_within(codes, -1, len(values)), path, key)
    kinds, ranks, bonds = graphs.atom_kinds, graphs.atom_ranks, graphs.bond_kinds
    if kinds is None or ranks is None or bonds is None:
        _require(kinds is ranks is bonds, path, "atom_kinds")  # all or none
        return
    places = graphs.node_ptr[:-1].repeat(graphs.node_counts()) + ranks
    is_order = np.array_equal(np.sort(places), np.arange(graphs.num_nodes))
    _require(is_order and _is_within(kinds, 0, 2**31), path, "atom_ranks")
    _require(_is_within(bonds, 0, 2**15), path, "bond_kinds")


def _is_within(codes: np.ndarray, low: int, high: int) -> bool:
    return not len(codes) or bool(low <= codes.min() and codes.max() < high)


def _require(is_sound: bool, path: str | os.PathLike[str], column: str) -> None:
    if not is_sound:
        raise StorageError(
            f"{path} is damaged: its column {column!r} does not fit the others. Copy it again, or "
            "import the original data again with `igsd data import`."
        )
