"""Hypothesis strategies for whole graph sets with every kind of column."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet


@st.composite
def graph_sets(draw: st.DrawFn, *, max_graphs: int = 5, max_nodes: int = 6) -> GraphSet:
    """Draw a set of small graphs: loops, repeats, isolated nodes and optional columns."""
    counts = np.array(draw(st.lists(st.integers(1, max_nodes), min_size=1, max_size=max_graphs)))
    offsets = np.cumsum(counts) - counts
    ends = []
    for count, offset in zip(counts, offsets, strict=True):
        node = st.integers(0, int(count) - 1)
        pairs = draw(st.lists(st.tuples(node, node), max_size=8))
        ends += [(u + offset, v + offset) for u, v in pairs]
    pairs_array = np.array(ends, dtype=np.int64).reshape(-1, 2)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    return from_edges(
        counts,
        pairs_array[:, 0],
        pairs_array[:, 1],
        **_columns(draw, rng, int(counts.sum()), len(ends), len(counts)),
    )


def _columns(
    draw: st.DrawFn, rng: np.random.Generator, nodes: int, edges: int, graphs: int
) -> dict[str, Any]:
    columns: dict[str, Any] = {}
    if draw(st.booleans()):
        columns["node_labels"] = rng.integers(-1, 3, nodes).astype(np.int32)
        columns["node_label_names"] = ("C", "N", "O")
    if draw(st.booleans()):
        columns["node_attributes"] = rng.normal(size=(nodes, 2)).astype(np.float32)
        columns["node_attribute_names"] = ("mass", "charge")
    if draw(st.booleans()):
        columns["edge_labels"] = rng.integers(0, 2, edges)
        columns["edge_label_names"] = ("single", "double")
    if draw(st.booleans()):
        columns["edge_attributes"] = rng.normal(size=(edges, 1))
        columns["edge_attribute_names"] = ("weight",)
    if draw(st.booleans()):
        columns["classes"] = rng.integers(-1, 2, graphs)
        columns["class_names"] = draw(st.sampled_from([(-1, 1), ("no", "yes"), (1, 2)]))
    if draw(st.booleans()):
        values = rng.normal(size=(graphs, 2))
        values[rng.random(values.shape) < 0.2] = np.nan
        columns["targets"] = values
        columns["target_names"] = ("mu", "alpha")
    if draw(st.booleans()):
        columns["graph_names"] = tuple(f"graph é {i}" for i in range(graphs))
    return columns
