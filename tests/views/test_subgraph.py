from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.errors import ConfigError
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.views.subgraph import grown_nodes
from tests.reference.views import dense
from tests.small_graphs import from_matrix
from tests.views.strategies import graph_set, graph_sets


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.floats(0.01, 0.99), st.integers(0, 2**62))
def test_connected_and_as_large_as_asked(graphs: GraphSet, rate: float, seed: int) -> None:
    before = graphs.checksum
    keep = grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(len(graphs)), rate, seed)
    del graphs.__dict__["checksum"]
    assert graphs.checksum == before
    for g in range(len(graphs)):
        whole = nx.from_numpy_array(dense(graphs.adjacency, graphs.node_ptr, g))
        kept = np.flatnonzero(keep[graphs.node_ptr[g] : graphs.node_ptr[g + 1]])
        assert len(kept) >= 1
        assert nx.is_connected(whole.subgraph(kept))
        wanted = len(whole) - int(rate * len(whole))
        component = nx.node_connected_component(whole, int(kept[0]))
        assert len(kept) == min(wanted, len(component))


def test_rate_zero_keeps_all_nodes_reached_or_not() -> None:
    graphs = graph_set([6], 0.0, seed=0)
    assert grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(1), 0.0, 0).all()
    assert grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(1), 0.5, 0).sum() == 1


def test_the_same_part_in_every_batch_and_another_for_another_seed() -> None:
    graphs = graph_set([9, 30], 0.2, seed=1)
    whole = grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(2), 0.5, 4)
    one = graphs.take([1])
    alone = grown_nodes(one.adjacency, one.node_ptr, np.array([1]), 0.5, 4)
    np.testing.assert_array_equal(alone, whole[9:])
    assert (grown_nodes(one.adjacency, one.node_ptr, np.array([1]), 0.5, 5) != alone).any()


def test_every_edge_at_the_border_is_as_likely() -> None:
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 1
    adjacency = from_matrix(star, weighted=False)
    copies = 3000
    many = Adjacency(
        np.concatenate([[0], np.cumsum(np.tile(adjacency.degrees(), copies))]),
        np.tile(adjacency.col, copies),
    )
    ptr = 4 * np.arange(copies + 1)
    keep = grown_nodes(many, ptr, np.arange(copies), 0.5, 0).reshape(copies, 4)
    assert (keep.sum(axis=1) == 2).all()
    assert keep[:, 0].all()
    # Standard deviation of a share: 0.009.
    assert keep[:, 1:].mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.035)


def test_a_rate_out_of_range_is_named() -> None:
    graphs = graph_set([3], 1.0, seed=0)
    with pytest.raises(ConfigError, match=r"'rate' parameter of grown_nodes"):
        grown_nodes(graphs.adjacency, graphs.node_ptr, np.array([0]), 1.0, 0)
