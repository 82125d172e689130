"""Random small sets of graphs: one-node, edgeless and unconnected graphs among them."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import strategies as st

from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet


def graph_set(sizes: list[int], density: float, seed: int) -> GraphSet:
    """Return graphs of these sizes, each pair of nodes joined with probability ``density``."""
    rng = np.random.default_rng(seed)
    source: list[np.ndarray] = []
    target: list[np.ndarray] = []
    start = 0
    for n in sizes:
        u, v = np.triu_indices(n, 1)
        chosen = rng.random(len(u)) < density
        source.append(u[chosen] + start)
        target.append(v[chosen] + start)
        start += n
    return from_edges(sizes, np.concatenate(source), np.concatenate(target))


def relabelled(graphs: GraphSet, seed: int) -> tuple[GraphSet, np.ndarray]:
    """Return the same graphs with their nodes in another order, and the new place of each node."""
    rng = np.random.default_rng(seed)
    ptr = graphs.node_ptr
    parts = [rng.permutation(b - a) + a for a, b in itertools.pairwise(ptr)]
    place = np.concatenate(parts)
    rows, cols = graphs.adjacency.rows(), graphs.adjacency.global_columns(ptr)
    return from_edges(np.diff(ptr), place[rows], place[cols]), place


@st.composite
def graph_sets(draw: st.DrawFn, max_nodes: int = 12) -> GraphSet:
    """Draw a set of one to five graphs."""
    sizes = draw(st.lists(st.integers(1, max_nodes), min_size=1, max_size=5))
    density = draw(st.sampled_from([0.0, 0.15, 0.4, 1.0]))
    return graph_set(sizes, density, draw(st.integers(0, 2**32 - 1)))
