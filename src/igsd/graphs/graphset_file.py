"""A ``GraphSet`` on disk: one safetensors file, memory-mapped when it is opened."""

from __future__ import annotations

import itertools
import os
from dataclasses import fields
from typing import Any

import numpy as np

from igsd.errors import StorageError
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.graphset import GraphSet
from igsd.storage import read_arrays, write_arrays

_VERSION = 1
_TEXTS = ("graph_names", "ids")
_PLAIN = (
    "node_label_names",
    "node_attribute_names",
    "edge_label_names",
    "edge_attribute_names",
    "class_names",
    "target_names",
    "name",
    "notes",
)


def save_graphset(graphs: GraphSet, path: str | os.PathLike[str]) -> None:
    """Write ``graphs`` to one file at exactly ``path``, whole or not at all."""
    arrays = graphs._columns()
    for key in _TEXTS:
        texts = getattr(graphs, key)
        if texts is not None:
            encoded = [text.encode() for text in texts]
            arrays[key] = np.frombuffer(b"".join(encoded), np.uint8)
            arrays[f"{key}_ptr"] = pointers(np.array([len(e) for e in encoded], np.int64))
    header: dict[str, Any] = {"kind": "graph set", "version": _VERSION}
    header |= {key: getattr(graphs, key) for key in _PLAIN}
    write_arrays(path, arrays, header)


def load_graphset(path: str | os.PathLike[str]) -> GraphSet:
    """Return the set in the file at ``path``; raises ``StorageError`` for any other file."""
    arrays, header = read_arrays(path, "graph set")
    if header.get("version") != _VERSION:
        raise StorageError(
            f"{path} is a graph set of format {header.get('version')}; this igsd reads format "
            f"{_VERSION}. Import the original data again with `igsd data import`."
        )
    try:
        texts: dict[str, Any] = {
            key: _split(arrays.pop(key, None), arrays.pop(f"{key}_ptr", None)) for key in _TEXTS
        }
        adjacency = Adjacency(
            arrays.pop("row_ptr"), arrays.pop("col"), arrays.pop("edge_weight", None)
        )
        rest: dict[str, Any] = {key: _tuple(header[key]) for key in _PLAIN} | arrays
        graphs = GraphSet(adjacency=adjacency, **texts, **rest)
    except (KeyError, TypeError) as error:
        raise StorageError(
            f"{path} is damaged: a column is missing or unknown ({error})."
        ) from error
    _check_pointers(graphs, path)
    return graphs


def _split(text: np.ndarray | None, bounds: np.ndarray | None) -> tuple[str, ...] | None:
    if text is None or bounds is None:
        return None
    raw = text.tobytes()
    return tuple(raw[a:b].decode() for a, b in itertools.pairwise(bounds.tolist()))


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _check_pointers(graphs: GraphSet, path: str | os.PathLike[str]) -> None:
    """Raise ``StorageError`` unless pointers and column lengths belong together."""
    nodes, entries = graphs.num_nodes, graphs.adjacency.num_entries
    lengths = {"node_labels": nodes, "node_attributes": nodes, "edge_labels": entries}
    lengths |= {"edge_attributes": entries, "classes": len(graphs), "targets": len(graphs)}
    lengths |= dict.fromkeys(("lines", *_TEXTS), len(graphs))
    known = {f.name for f in fields(graphs)}
    fits = len(graphs.adjacency.row_ptr) == nodes + 1 and len(graphs.adjacency.col) == entries
    for key, length in lengths.items():
        column = getattr(graphs, key) if key in known else None
        fits = fits and (column is None or len(column) == length)
    if not fits:
        raise StorageError(f"{path} is damaged: its columns have different lengths.")
