from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning
from igsd.estimators.class_labels import codes_of, encode_classes

NAN = float("nan")


@pytest.mark.parametrize(
    ("y", "codes", "classes"),
    [
        (["b", "a", None, "b", "a"], [1, 0, -1, 1, 0], ["a", "b"]),
        ([0, 1, -1, 0, 1], [0, 1, -1, 0, 1], [0, 1]),
        ([3, 7, -1, 7, 3], [0, 1, -1, 1, 0], [3, 7]),
        (np.array([0, 1, -1, 0, 1]), [0, 1, -1, 0, 1], [0, 1]),
        (np.array([0, 1, -1, 0, 1], object), [0, 1, -1, 0, 1], [0, 1]),
        ([-1, 1, None, -1, 1], [0, 1, -1, 0, 1], [-1, 1]),
        (np.array([-1, 1, NAN, -1, 1]), [0, 1, -1, 0, 1], [-1, 1]),
        ([-1, 0, None, -1, 0], [0, 1, -1, 0, 1], [-1, 0]),
        ([0.0, 2.0, NAN, 0.0, 2.0], [0, 1, -1, 0, 1], [0, 2]),
        (np.array(["x", NAN, "y", "x", "y"], object), [0, -1, 1, 0, 1], ["x", "y"]),
        ([True, False, None, True, False], [1, 0, -1, 1, 0], [False, True]),
        (["-1", "1", None, "-1", "1"], [0, 1, -1, 0, 1], ["-1", "1"]),
        ([1, 1, 0, 0, 2, 2], [1, 1, 0, 0, 2, 2], [0, 1, 2]),
    ],
)
def test_codes_and_classes(y: Any, codes: list[int], classes: list[Any]) -> None:
    found, names = encode_classes(y, len(y))
    assert found.tolist() == codes
    assert found.dtype == np.int64
    assert names.tolist() == classes


@pytest.mark.parametrize(
    "y",
    [
        [-1, 1, 1, -1],  # MUTAG's own classes
        np.array([-1, 1, 1, -1]),
        [-1, 0, 0, 0],  # one class beside the gaps, or two classes
        [-1, -2, 0, 1],
        np.array([-1.0, 0.0, 1.0, 1.0]),  # numbers, but no whole ones as they were given
        [-1, "a", "b", "a"],
    ],
)
def test_a_minus_one_that_is_not_clear(y: Any) -> None:
    with pytest.raises(
        DataError, match=r"y holds -1 beside .* None or NaN.*'classes' of a GraphSet"
    ):
        encode_classes(y, 4)


@pytest.mark.parametrize("y", [[0, 1, -1, None, 0, 1, -1], [0, 1, -1, NAN, 0.0, 1, -1]])
def test_two_signs_for_no_label_are_told(y: Any) -> None:
    """The third class came without a word."""
    with pytest.warns(
        IGSDWarning, match=r"y holds -1 \(2\) beside None or NaN \(1\), .* like 0, 1"
    ):
        codes, classes = encode_classes(y, 7)
    assert classes.tolist() == [-1, 0, 1]
    assert codes.tolist() == [1, 2, 0, -1, 1, 2, 0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, r"needs labels.*igsd\.IGSD"),
        ([None] * 4, "holds no label"),
        ([NAN] * 4, "holds no label"),
        ([-1] * 4, "holds no label"),
        (["a", "a", None, "a"], r"at least two classes\. All 3 labels in y are 'a'"),
        ([0, 0, 0, 0], "All 4 labels in y are 0"),
        ([0, 1, 0], r"3 labels for 4 graphs"),
        ([0, 1, 0, 1, 1], r"5 labels for 4 graphs"),
        ([0.5, 1.0, 0.5, 1.0], r"Graph 0 has 0\.5.*regressor"),
        ([0, 1, 0, float("inf")], "Graph 3 has inf"),
        (["a", 1, "a", 1], "all text or all whole numbers"),
        (np.zeros((4, 2)), r"shape \(4, 2\)"),
        ("abab", "list with one label per graph"),
        (3, "list with one label per graph"),
        ([0, 1, [1], 0], "Graph 2 has a list"),
    ],
)
def test_things_that_are_no_classes(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        encode_classes(y, 4)


def test_a_class_with_one_label_is_noted() -> None:
    with pytest.warns(IGSDWarning, match="1 class has a single labelled graph: c"):
        codes, _ = encode_classes(["a", "a", "b", "b", "c", None], 6)
    assert codes.tolist() == [0, 0, 1, 1, 2, -1]


class TestKnownClasses:
    def test_codes(self) -> None:
        classes = np.array(["a", "b"])
        assert codes_of(["b", None, "a"], classes, 3).tolist() == [1, -1, 0]

    def test_minus_one_is_a_gap_unless_it_is_a_class(self) -> None:
        assert codes_of([0, -1, 0], np.array([0, 5]), 3).tolist() == [0, -1, 0]
        assert codes_of([1, -1, None], np.array([-1, 1]), 3).tolist() == [1, 0, -1]

    def test_an_unknown_class_is_named(self) -> None:
        with pytest.raises(DataError, match=r"1 class of y: z\. It was trained on a, b"):
            codes_of(["a", "z"], np.array(["a", "b"]), 2)
