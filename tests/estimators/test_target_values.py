from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning
from igsd.estimators.target_values import TargetScale, check_known, read_targets

NAN = float("nan")


def test_one_number_per_graph() -> None:
    values, is_single = read_targets([1, None, 3.0, NAN], 4)
    assert is_single
    np.testing.assert_array_equal(values, [[1], [NAN], [3], [NAN]])


def test_several_numbers() -> None:
    values, is_single = read_targets(np.arange(6).reshape(3, 2), 3)
    assert not is_single
    assert values.shape == (3, 2)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "needs targets"),
        ([1.0, 2.0], "Got 2 for 3 graphs"),
        (["a", "b", "c"], "must hold numbers"),
        ([1.0, float("inf"), 2.0], "Graph 1 has"),
        (np.zeros((3, 2, 2)), r"shape \(3, 2, 2\)"),
        (5.0, r"shape \(\)"),
    ],
)
def test_things_that_are_no_targets(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_targets(y, 3)


def test_too_little_is_known() -> None:
    with pytest.raises(DataError, match="all of it is NaN"):
        check_known(np.full((3, 1), NAN))
    with pytest.raises(DataError, match=r"target 1 \(0\)"):
        check_known(np.array([[1, NAN], [2, NAN]]))
    with pytest.raises(DataError, match=r"target 0 \(1\)"):
        check_known(np.array([[1.0], [NAN]]))


@pytest.mark.filterwarnings("ignore:All known values")
def test_the_scale_is_that_of_known_targets() -> None:
    targets = np.array([[1.0, 5.0], [3.0, NAN], [NAN, 5.0]])
    scale = TargetScale.fit(targets, is_single=False)
    assert scale.mean.tolist() == [2.0, 5.0]
    assert scale.scale.tolist() == [1.0, 0.0]
    made = scale.standardised(targets)
    assert made.dtype == np.float32
    np.testing.assert_array_equal(made, [[-1, 0], [1, NAN], [NAN, 0]])
    np.testing.assert_array_equal(scale.restored(made), targets)
    assert TargetScale.from_json(scale.to_json()).to_json() == scale.to_json()


def test_one_number_comes_back_as_one() -> None:
    scale = TargetScale.fit(np.array([[2.0], [4.0]]), is_single=True)
    assert scale.restored(np.array([[1.0], [-1.0]])).tolist() == [4.0, 2.0]


@pytest.mark.filterwarnings("ignore:All known values")
def test_a_constant_target_is_predicted() -> None:
    """The network's own output was added to it; the deviation of equal numbers is not always 0."""
    targets = np.full((3, 1), 0.1)
    assert np.std(targets) > 0
    scale = TargetScale.fit(targets, is_single=True)
    assert scale.standardised(targets).tolist() == [[0.0]] * 3
    assert scale.restored(np.array([[-4.41], [3.0]])).tolist() == [0.1, 0.1]


def test_a_constant_target_is_told() -> None:
    targets = np.array([[1.0, 2.0], [1.0, 3.0], [np.nan, 4.0]])
    with pytest.warns(IGSDWarning, match="known values of target logp are the same"):
        TargetScale.fit(targets, is_single=False, names=("logp", "mu"))
