from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.baselines.node_keys import node_keys
from igsd.baselines.wl_colours import wl_colours
from tests.reference.grakel_graphs import adjacency_matrices
from tests.small_graphs import make_graphs


def by_tuples(A: np.ndarray, labels: np.ndarray, levels: int) -> list[list[object]]:
    """Return the colours of one graph as nested tuples, level by level."""
    colours: list[object] = [(int(label),) for label in labels]
    result = [colours]
    for _ in range(levels):
        colours = [
            (colours[v], tuple(sorted((colours[u] for u in np.flatnonzero(A[v])), key=repr)))
            for v in range(len(A))
        ]
        result.append(colours)
    return result


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 9999))
def test_equal_where_nested_tuples_are_equal(seed: int) -> None:
    graphs = make_graphs(6, seed=seed)
    hashes = wl_colours(graphs, node_keys(graphs, "label"), 3)
    tuples: list[list[object]] = [[] for _ in range(4)]
    for g, A in enumerate(adjacency_matrices(graphs)):
        labels = graphs.node_labels[graphs.node_ptr[g] : graphs.node_ptr[g + 1]]
        for level, colours in enumerate(by_tuples(A, labels, 3)):
            tuples[level] += colours
    for level in range(4):
        pairs = set(zip(hashes[level].tolist(), map(repr, tuples[level]), strict=True))
        assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


def test_a_colour_does_not_depend_on_the_set() -> None:
    graphs = make_graphs(6)
    whole = wl_colours(graphs, node_keys(graphs, "label"), 2)
    one = graphs.take([3])
    alone = wl_colours(one, node_keys(one, "label"), 2)
    np.testing.assert_array_equal(alone, whole[:, graphs.node_ptr[3] : graphs.node_ptr[4]])
