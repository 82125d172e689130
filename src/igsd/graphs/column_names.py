"""The names that belong to a set's columns, as one text that travels with every exported graph.

A single NetworkX or PyG graph does not know which labels or classes its siblings have, nor in which
order the columns stood. The text under ``NAMES_KEY`` keeps that, so that export and import give
back the same set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from igsd.graphs.graphset import GraphSet

NAMES_KEY = "igsd_names"
"""Under what name an exported graph carries the text."""

_FIELDS = {
    "node_labels": "node_label_names",
    "node_attributes": "node_attribute_names",
    "edge_labels": "edge_label_names",
    "edge_attributes": "edge_attribute_names",
    "classes": "class_names",
    "targets": "target_names",
}


def names_text(graphs: GraphSet) -> str:
    """Return the names of every column that ``graphs`` has, as JSON."""
    present = {
        column: list(getattr(graphs, names))
        for column, names in _FIELDS.items()
        if getattr(graphs, column) is not None
    }
    return json.dumps(present)


def common_names(texts: Iterable[Any]) -> dict[str, tuple[Any, ...]] | None:
    """Return the names by column when every text is the same valid one, otherwise None."""
    different = set(texts)
    if len(different) != 1:
        return None
    try:
        found = json.loads(different.pop())
        return {column: tuple(found[column]) for column in found if column in _FIELDS}
    except (TypeError, ValueError):
        return None
