from __future__ import annotations

import numpy as np

from igsd.graphs.colours import refined_keys, splitmix64


def test_the_first_numbers_of_the_generator() -> None:
    # The published sequence for seed 0: each state is the last one plus the golden gamma.
    gamma = np.uint64(0x9E3779B97F4A7C15)
    states = np.arange(3, dtype=np.uint64) * gamma
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert splitmix64(states).tolist() == expected


def test_order_of_neighbours_does_not_matter_and_repeats_do() -> None:
    own = np.array([1, 1, 1, 2], dtype=np.uint64)
    row_ptr = np.array([0, 2, 4, 5, 7])
    neighbours = np.array([5, 9, 9, 5, 5, 5, 9], dtype=np.uint64)
    a, b, c, d = refined_keys(own, neighbours, row_ptr)
    assert a == b
    assert len({a, c, d}) == 3


def test_a_node_without_neighbours() -> None:
    own = np.array([1, 1], dtype=np.uint64)
    keys = refined_keys(own, np.zeros(0, dtype=np.uint64), np.array([0, 0, 0]))
    assert keys[0] == keys[1]
