"""``to_pyg``: a ``GraphSet`` as PyTorch Geometric ``Data``."""

from __future__ import annotations

from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.graphs.column_names import NAMES_KEY, names_text
from igsd.graphs.graphset import GraphSet
from igsd.graphs.pyg_graphs import are_whole


def to_pyg(graphs: GraphSet) -> list[Any]:
    """Return the graphs of a set as PyG ``Data`` that ``from_pyg`` turns back without loss.

    ``y`` is the class: the file's own label where all of them are whole numbers, otherwise the
    code 0..C-1; without classes it is the row of targets [1, t]. Labels of nodes and edges are
    codes in ``node_label`` and ``edge_label``; the names belonging to them travel as text in
    ``igsd_names``. Raises ``DataError`` without PyG, and for a set with weighted edges, a view.
    """
    try:
        import torch
        from torch_geometric.data import Data
    except ImportError as error:
        raise DataError(
            "Exporting to PyG needs torch_geometric, which is not installed: "
            'pip install "igsd[pyg]".'
        ) from error
    if graphs.adjacency.weight is not None:
        raise DataError(f"{graphs.name!r} has weighted edges: a view cannot be exported.")
    names = names_text(graphs)
    node_ptr, entry_ptr = graphs.node_ptr, graphs.adjacency.row_ptr[graphs.node_ptr]
    ends = np.stack([graphs.adjacency.rows(), graphs.adjacency.col])
    result = []
    for g in range(len(graphs)):
        nodes, entries = slice(*node_ptr[g : g + 2]), slice(*entry_ptr[g : g + 2])
        local = ends[:, entries] - np.array([[node_ptr[g]], [0]])
        fields = {
            "edge_index": local,
            "x": _part(graphs.node_attributes, nodes),
            "edge_attr": _part(graphs.edge_attributes, entries),
            "node_label": _part(graphs.node_labels, nodes, np.int64),
            "edge_label": _part(graphs.edge_labels, entries, np.int64),
            **_graph_fields(graphs, g),
        }
        tensors = {k: torch.from_numpy(v) for k, v in fields.items() if v is not None}
        data = Data(num_nodes=int(node_ptr[g + 1] - node_ptr[g]), **tensors)
        data[NAMES_KEY] = names
        if graphs.graph_names is not None:
            data.name = graphs.graph_names[g]
        result.append(data)
    return result


def _part(column: np.ndarray | None, rows: slice, dtype: Any = None) -> np.ndarray | None:
    """Return a copy of some rows: tensors are writeable, and the set's columns are not."""
    return None if column is None else np.array(column[rows], dtype=dtype or column.dtype)


def _graph_fields(graphs: GraphSet, g: int) -> dict[str, np.ndarray]:
    """Return ``y`` and ``target`` of one graph."""
    fields = {}
    if graphs.targets is not None:
        fields["target" if graphs.classes is not None else "y"] = np.array(
            graphs.targets[g : g + 1]
        )
    if graphs.classes is not None and graphs.classes[g] >= 0:
        code = int(graphs.classes[g])
        value = graphs.class_names[code] if are_whole(graphs.class_names) else code
        fields["y"] = np.array([value], dtype=np.int64)
    return fields
