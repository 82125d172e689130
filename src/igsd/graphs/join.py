"""``join_sets``: several sets of graphs as one, for example the graphs that a loop has picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import chain
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.graphset import UNNAMED, GraphSet

_COLUMNS = (
    "node_labels",
    "node_attributes",
    "edge_labels",
    "edge_attributes",
    "classes",
    "targets",
    "lines",
)


def join_sets(sets: Sequence[GraphSet], *, name: str = UNNAMED) -> GraphSet:
    """Return the graphs of all sets, one set after the other.

    The sets must have the same columns with the same names, as parts of one set have. Raises
    ``DataError`` where they differ.
    """
    first = sets[0]
    for place, other in enumerate(sets):
        for entry in fields(GraphSet):
            _check_alike(entry.name, getattr(first, entry.name), getattr(other, entry.name), place)
    columns: dict[str, Any] = {
        key: np.concatenate([getattr(s, key) for s in sets])
        for key in _COLUMNS
        if getattr(first, key) is not None
    }
    return replace(
        first,
        node_ptr=pointers(np.concatenate([s.node_counts() for s in sets])),
        adjacency=Adjacency.joined([s.adjacency for s in sets]),
        graph_names=_joined_texts([s.graph_names for s in sets]),
        ids=_joined_texts([s.ids for s in sets]),
        name=name,
        notes=tuple(dict.fromkeys(note for s in sets for note in s.notes)),
        **columns,
    )


def _check_alike(column: str, first: Any, other: Any, place: int) -> None:
    """Raise ``DataError`` where a column is not in both sets, or its names differ."""
    differ = column in _COLUMNS and (first is None) != (other is None)
    is_names = column.endswith("_names") and column != "graph_names"
    if differ or (is_names and first != other):
        raise DataError(
            f"Sets of graphs can be joined when they have the same columns with the same names, as "
            f"parts of one set have: {column!r} of set {place} is not that of set 0."
        )


def _joined_texts(texts: Sequence[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    """Return the texts of all sets, None where one has none."""
    known = [part for part in texts if part is not None]
    # Not a sum of tuples, which would copy all names for every graph of a long list.
    return tuple(chain.from_iterable(known)) if len(known) == len(texts) else None
