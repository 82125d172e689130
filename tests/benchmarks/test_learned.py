from __future__ import annotations

import math
import os

import pytest

from benchmarks.learned import CASES, epoch_side

pytestmark = pytest.mark.skipif(
    "IGSD_DATA" not in os.environ, reason="needs real data: set IGSD_DATA to its folder"
)


@pytest.mark.parametrize("name", [case.name for case in CASES])
def test_an_epoch_of_each_method(name: str) -> None:
    epoch = epoch_side(name, "MUTAG")
    first, second = epoch(), epoch()
    assert len(first) == len(second) == 2
    assert all(math.isfinite(loss) for loss in first + second)
    assert sum(second) < sum(first)
    assert len(epoch_side(name, "MUTAG", [1])()) == 1
