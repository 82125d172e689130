from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.errors import ConfigError
from igsd.graphs.graphset import GraphSet
from igsd.views.node_drop import kept_nodes
from tests.views.strategies import graph_sets


@settings(max_examples=30, deadline=None)
@given(graph_sets(), st.floats(0, 1, exclude_max=True), st.integers(0, 2**62))
def test_every_graph_keeps_a_node(graphs: GraphSet, rate: float, seed: int) -> None:
    keep = kept_nodes(graphs.node_ptr, np.arange(len(graphs)), rate, seed)
    assert keep.shape == (graphs.num_nodes,)
    assert np.add.reduceat(keep, graphs.node_ptr[:-1]).min() >= 1


def test_the_share_removed_is_the_rate() -> None:
    ptr = np.array([0, 20_000])
    none, some, half = (kept_nodes(ptr, np.arange(1), rate, seed=1) for rate in (0.0, 0.2, 0.5))
    assert none.all()
    # The standard deviation of a share is 0.0035.
    assert [1 - some.mean(), 1 - half.mean()] == pytest.approx([0.2, 0.5], abs=0.015)
    again = kept_nodes(ptr, np.arange(1), 0.2, seed=2)
    assert (some & again).mean() == pytest.approx(0.64, abs=0.02)


def test_a_graph_loses_the_same_nodes_in_every_batch() -> None:
    whole = kept_nodes(np.array([0, 6, 16]), np.array([0, 1]), 0.4, 3)
    np.testing.assert_array_equal(kept_nodes(np.array([0, 10]), np.array([1]), 0.4, 3), whole[6:])


@pytest.mark.parametrize("rate", [-0.1, 1.0, float("nan")])
def test_a_rate_out_of_range_is_named(rate: float) -> None:
    with pytest.raises(ConfigError, match=r"'rate' parameter of kept_nodes must be in \[0, 1\)"):
        kept_nodes(np.array([0, 2, 4]), np.arange(2), rate, 0)
