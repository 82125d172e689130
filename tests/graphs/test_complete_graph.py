from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from igsd.graphs.adjacency import pointers
from igsd.graphs.complete_graph import complete_blocks


def test_by_hand() -> None:
    blocks = complete_blocks(np.array([0, 2, 3]))
    assert blocks.row.tolist() == [0, 0, 1, 1, 2]
    assert blocks.col.tolist() == [0, 1, 0, 1, 2]
    assert blocks.row_ptr.tolist() == [0, 2, 4, 5]
    assert blocks.places(np.array([1, 2]), np.array([0, 0])).tolist() == [2, 4]
    places = np.array([[0, 0, 0], [3, 4, 0], [1, 1, 1]], np.float32)
    assert blocks.distances(places).tolist() == [0, 5, 5, 0, 0]


@given(st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_every_pair_of_a_graph_once(sizes: list[int]) -> None:
    ptr = pointers(np.array(sizes))
    blocks = complete_blocks(ptr)
    expected = [
        (i, j)
        for start, stop in itertools.pairwise(ptr)
        for i in range(start, stop)
        for j in range(start, stop)
    ]
    assert list(zip(blocks.row.tolist(), blocks.col.tolist(), strict=True)) == expected
