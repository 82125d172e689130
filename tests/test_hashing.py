from __future__ import annotations

import numpy as np

from igsd.hashing import splitmix64


def test_the_first_numbers_of_the_generator() -> None:
    # The published sequence for seed 0: each state is the last one plus the golden gamma.
    gamma = np.uint64(0x9E3779B97F4A7C15)
    states = np.arange(3, dtype=np.uint64) * gamma
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert splitmix64(states).tolist() == expected
