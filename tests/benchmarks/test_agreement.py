"""How differences are measured."""

from __future__ import annotations

import math

from benchmarks.agreement import largest_difference


def test_relative_to_the_largest_number() -> None:
    assert largest_difference([1.0, 10.0], [1.0, 9.0]) == 0.1
    assert largest_difference([], []) == 0.0
    assert largest_difference([0.0], [0.0]) == 0.0


def test_other_shapes_and_nan_never_agree() -> None:
    assert math.isinf(largest_difference([1.0], [1.0, 1.0]))
    assert math.isinf(largest_difference([float("nan")], [float("nan")]))
