from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.views.induced import induced
from tests.reference.views import dense
from tests.views.strategies import graph_set, graph_sets


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.integers(0, 2**32 - 1))
def test_equals_the_rows_and_columns_of_the_matrix(graphs: GraphSet, seed: int) -> None:
    before = graphs.checksum
    keep = np.random.default_rng(seed).random(graphs.num_nodes) < 0.6
    keep[graphs.node_ptr[:-1]] = True
    part = induced(graphs.adjacency, graphs.node_ptr, keep)
    del graphs.__dict__["checksum"]
    assert graphs.checksum == before
    np.testing.assert_array_equal(part.nodes, np.flatnonzero(keep))
    for g in range(len(graphs)):
        A = dense(graphs.adjacency, graphs.node_ptr, g)
        kept = keep[graphs.node_ptr[g] : graphs.node_ptr[g + 1]]
        got = dense(part.adjacency, part.node_ptr, g)
        np.testing.assert_array_equal(got, A[np.ix_(kept, kept)])


def test_weights_follow_their_entries() -> None:
    graphs = graph_set([5], 1.0, seed=0)
    weight = np.arange(20, dtype=np.float32)
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, weight)
    keep = np.array([True, False, True, True, False])
    part = induced(weighted, graphs.node_ptr, keep)
    A = dense(weighted, graphs.node_ptr, 0)
    np.testing.assert_array_equal(dense(part.adjacency, part.node_ptr, 0), A[np.ix_(keep, keep)])
