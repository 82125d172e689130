"""``read_tu``: data sets in the TU layout, from a folder or a zip.

| file | lines | meaning |
|---|---|---|
| ``DS_A.txt`` | one per edge | two node ids |
| ``DS_graph_indicator.txt`` | one per node | the graph it belongs to |
| ``DS_graph_labels.txt`` | one per graph | class (optional; -1 is a class like any other) |
| ``DS_graph_attributes.txt`` | one per graph | targets (optional) |
| ``DS_node_labels.txt``, ``DS_node_attributes.txt`` | one per node | optional |
| ``DS_edge_labels.txt``, ``DS_edge_attributes.txt`` | one per line of ``DS_A.txt`` | optional |

Rules where files differ:

- Graph ids count from 0 or from 1, by the smallest one. They must not fall from line to line and
  must not skip a number: node columns would otherwise be mixed up without anybody noticing.
- Node ids count from 0 if the id 0 occurs, from 1 if the id "number of nodes" occurs, and like the
  graph ids if neither does.
- Of several columns in a label file the first one is the label; the others are noted and left out.
- Numbers may be separated by commas, semicolons, spaces or tabs.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import DataError
from igsd.graphs.build import encode_categories, from_edges
from igsd.graphs.graphset import GraphSet
from igsd.graphs.number_table import line_of, parse_numbers
from igsd.graphs.tu_files import TUFiles, find_tu_files


def read_tu(path: str | os.PathLike[str]) -> GraphSet:
    """Return the data set in the TU folder or zip at ``path``; zips are read in memory.

    Raises ``DataError`` naming file, line, rule and what stood there for anything that is not a
    whole, consistent data set.
    """
    files = find_tu_files(Path(path))
    counts, first_graph = _node_counts(files)
    num_nodes, num_graphs = int(counts.sum()), len(counts)
    notes = ["graphs are numbered from 0 in the files"] if first_graph == 0 else []
    source, target = _edges(files, counts, first_graph, notes)
    columns: dict[str, Any] = {}
    for kind, expected in (("node", num_nodes), ("edge", len(source))):
        columns |= _labels(files, f"{kind}_labels", expected, kind, notes)
        columns |= _attributes(files, f"{kind}_attributes", expected, kind)
    classes = _labels(files, "graph_labels", num_graphs, "graph", notes)
    if classes:
        columns["classes"] = classes["graph_labels"].astype(np.int64)
        columns["class_names"] = classes["graph_label_names"]
    targets = _attributes(files, "graph_attributes", num_graphs, "graph")
    if targets:
        columns["targets"] = targets["graph_attributes"].astype(np.float64)
        columns["target_names"] = tuple(f"y{i}" for i in range(columns["targets"].shape[1]))
    return from_edges(counts, source, target, name=files.name, notes=tuple(notes), **columns)


def _node_counts(files: TUFiles) -> tuple[np.ndarray, int]:
    """Return (nodes per graph, id of the first graph) from the graph indicator."""
    part = "graph_indicator"
    raw = files.read(part)
    if raw is None:
        raise DataError(
            f"{files.label(part)} is missing; it says which graph each node belongs to, and no TU "
            "data set can be read without it."
        )
    ids = parse_numbers(raw, files.label(part), whole=True, columns=1)[:, 0]
    steps = np.diff(ids, prepend=ids[:1])
    if ids[0] not in (0, 1):
        raise DataError(
            f"{files.label(part)}, line {line_of(raw, 0)}: the first graph must be 0 or 1, "
            f"found {ids[0]}."
        )
    bad = np.flatnonzero((steps < 0) | (steps > 1))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{files.label(part)}, line {line_of(raw, row)}: after graph {ids[row - 1]} the same "
            f"or the next number was expected, found {ids[row]}. Nodes must be listed graph by "
            "graph, and every graph needs at least one node."
        )
    return np.bincount(ids - ids[0]), int(ids[0])


def _edges(
    files: TUFiles, counts: np.ndarray, first_graph: int, notes: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (source, target) of every line of ``DS_A.txt``, counted from 0 over all graphs."""
    raw = files.read("A")
    file, num_nodes = files.label("A"), int(counts.sum())
    pairs = parse_numbers(raw or b"", file, whole=True, columns=2)
    low, high = int(pairs.min()), int(pairs.max())
    base = first_graph
    if low == 0 or high == num_nodes:
        base = 0 if low == 0 else 1
    if low < base or high >= base + num_nodes:
        row = int(np.flatnonzero(((pairs < base) | (pairs >= base + num_nodes)).any(axis=1))[0])
        raise DataError(
            f"{file}, line {line_of(raw or b'', row)}: node ids must run from {base} to "
            f"{base + num_nodes - 1} (the graph indicator has {num_nodes} lines), "
            f"found {_pair(pairs, row)}."
        )
    if base == 0:
        notes.append("nodes are numbered from 0 in the files")
    pairs -= base
    source, target = pairs[:, 0], pairs[:, 1]
    graph = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    bad = np.flatnonzero(graph[source] != graph[target])
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{file}, line {line_of(raw or b'', row)}: edge {_pair(pairs + base, row)} joins graph "
            f"{graph[source[row]] + first_graph} with graph {graph[target[row]] + first_graph}; an "
            "edge must stay inside one graph. Do the files belong to the same data set?"
        )
    return source, target


def _labels(
    files: TUFiles, part: str, expected: int, kind: str, notes: list[str]
) -> dict[str, Any]:
    """Return codes and names of an optional label file as columns; notes columns left out."""
    raw = files.read(part)
    if raw is None:
        return {}
    table = parse_numbers(raw, files.label(part), whole=True)
    _check_length(files, part, len(table), expected, kind)
    if table.shape[1] > 1:
        notes.append(f"{part}: first of {table.shape[1]} columns used as the label")
    codes, names = encode_categories(table[:, 0])
    return {part: codes.astype(np.int32), f"{kind}_label_names": names}


def _attributes(files: TUFiles, part: str, expected: int, kind: str) -> dict[str, Any]:
    """Return the numbers of an optional attribute file as columns."""
    raw = files.read(part)
    if raw is None:
        return {}
    table = parse_numbers(raw, files.label(part), whole=False)
    _check_length(files, part, len(table), expected, kind)
    names = tuple(f"x{column}" for column in range(table.shape[1]))
    return {part: np.ascontiguousarray(table, np.float32), f"{kind}_attribute_names": names}


def _check_length(files: TUFiles, part: str, found: int, expected: int, kind: str) -> None:
    """Raise ``DataError`` unless a file has one line per node, edge or graph."""
    if found != expected:
        other = "A" if kind == "edge" else "graph_indicator"
        raise DataError(
            f"{files.label(part)} has {found} lines, but {files.name}_{other}.txt has {expected} "
            f"{kind}s. The file is cut short, or belongs to another data set."
        )


def _pair(pairs: np.ndarray, row: int) -> str:
    return f"{pairs[row, 0]}, {pairs[row, 1]}"
