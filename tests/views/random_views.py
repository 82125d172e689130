"""What every view that changes edges at random must do."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st

from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet

RATES = st.floats(0, 1, exclude_max=True)
SEEDS = st.integers(0, 2**62)

View = Callable[..., Adjacency]
"""From (adjacency, node_ptr, graph_ids, rate, seed) to the edges of the view."""


def view_of_unchanged(view: View, graphs: GraphSet, rate: float, seed: int) -> Adjacency:
    """Return the view of all graphs, which must come out of it as they were."""
    before = graphs.checksum
    made = view(graphs.adjacency, graphs.node_ptr, np.arange(len(graphs)), rate, seed)
    del graphs.__dict__["checksum"]
    assert graphs.checksum == before
    assert made.col.dtype == np.int32
    assert len(made.row_ptr) == graphs.num_nodes + 1
    return made


def assert_alike_in_every_batch(
    view: View, graphs: GraphSet, rate: float, seed: int, data: st.DataObject
) -> None:
    """Check that a graph changes alike whichever others are in its batch."""
    indices = np.array(data.draw(st.lists(st.integers(0, len(graphs) - 1), min_size=1)))
    whole = view(graphs.adjacency, graphs.node_ptr, np.arange(len(graphs)), rate, seed)
    expected = whole.take(graphs.node_ptr, indices)
    batch = graphs.take(indices)
    got = view(batch.adjacency, batch.node_ptr, indices, rate, seed)
    np.testing.assert_array_equal(got.row_ptr, expected.row_ptr)
    np.testing.assert_array_equal(got.col, expected.col)
