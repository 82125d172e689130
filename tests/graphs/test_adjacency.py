from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from igsd.graphs.adjacency import Adjacency, pointers, ranges

# A path of three nodes and a single edge.
NODE_PTR = np.array([0, 3, 5])
ADJACENCY = Adjacency(np.array([0, 1, 3, 4, 5, 6]), np.array([1, 0, 2, 1, 1, 0], np.int32))


def test_rows_degrees_and_global_columns() -> None:
    assert ADJACENCY.num_entries == 6
    assert ADJACENCY.degrees().tolist() == [1, 2, 1, 1, 1]
    assert ADJACENCY.rows().tolist() == [0, 1, 1, 2, 3, 4]
    assert ADJACENCY.global_columns(NODE_PTR).tolist() == [1, 0, 2, 1, 4, 3]


def test_take_keeps_columns_and_weights() -> None:
    weighted = Adjacency(ADJACENCY.row_ptr, ADJACENCY.col, np.arange(6, dtype=np.float32))
    taken = weighted.take(NODE_PTR, np.array([1, 0, 1]))
    assert taken.row_ptr.tolist() == [0, 1, 2, 3, 5, 6, 7, 8]
    assert taken.col.tolist() == [1, 0, 1, 0, 2, 1, 1, 0]
    assert taken.weight is not None
    assert taken.weight.tolist() == [4, 5, 0, 1, 2, 3, 4, 5]


def test_joined_keeps_weights_where_a_part_has_none() -> None:
    weighted = Adjacency(ADJACENCY.row_ptr, ADJACENCY.col, np.arange(6, dtype=np.float32))
    both = Adjacency.joined([weighted, ADJACENCY])
    assert both.row_ptr.tolist() == [0, 1, 3, 4, 5, 6, 7, 9, 10, 11, 12]
    assert both.col.tolist() == [1, 0, 2, 1, 1, 0] * 2
    assert both.weight is not None
    assert both.weight.tolist() == [0, 1, 2, 3, 4, 5, 1, 1, 1, 1, 1, 1]
    assert Adjacency.joined([ADJACENCY, ADJACENCY]).weight is None


def test_replaced_changes_the_chosen_graphs_alone() -> None:
    lonely = Adjacency(np.zeros(4, np.int64), np.zeros(0, np.int32))
    changed = ADJACENCY.replaced(NODE_PTR, np.array([0]), lonely)
    assert changed.row_ptr.tolist() == [0, 0, 0, 0, 1, 2]
    assert changed.col.tolist() == [1, 0]
    assert ADJACENCY.num_entries == 6


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(0, 6)), max_size=8))
def test_ranges_equal_the_plain_loop(pieces: list[tuple[int, int]]) -> None:
    starts = np.array([start for start, _ in pieces], dtype=np.int64)
    stops = np.array([start + length for start, length in pieces], dtype=np.int64)
    expected = [value for start, length in pieces for value in range(start, start + length)]
    assert ranges(starts, stops).tolist() == expected


def test_pointers() -> None:
    assert pointers(np.array([2, 0, 3])).tolist() == [0, 2, 2, 5]
    assert pointers(np.array([], dtype=np.int64)).tolist() == [0]


def test_mirror() -> None:
    assert ADJACENCY.mirror(NODE_PTR).tolist() == [1, 0, 3, 2, 5, 4]
