from __future__ import annotations

import warnings

import pytest

from igsd.errors import IGSDWarning
from igsd.graphs.missing_values import (
    MARKERS,
    minus_one_is_unknown,
    warn_of_class_minus_one,
    warn_of_markers,
    without_markers,
)


def test_markers_become_empty() -> None:
    texts = [*MARKERS, "NaN", "None", "N/A", "", "a", "unknown", "-1", "0", "n"]
    assert without_markers(texts) == [""] * 12 + ["a", "unknown", "-1", "0", "n"]


def test_minus_beside_plus_is_a_class() -> None:
    assert without_markers(["+", "-", "?"]) == ["+", "-", ""]
    assert without_markers(["1", "-", "0"]) == ["1", "", "0"]


@pytest.mark.parametrize(
    ("classes", "is_unknown"),
    [
        ([0, 1, -1], True),
        ([3, 7, -1, 7], True),
        ([1, -1], False),
        ([0, 0, -1], False),
        ([-2, 0, 1, -1], False),
        (["a", "b", -1], False),
        ([True, False, -1], False),
        ([-1], False),
    ],
)
def test_what_minus_one_means(classes: list[object], is_unknown: bool) -> None:
    assert minus_one_is_unknown(classes) is is_unknown


def test_minus_one_in_a_column_of_classes() -> None:
    assert without_markers(["0", "-1", "NA", "1"], of_classes=True) == ["0", "", "", "1"]
    assert without_markers(["0", "-1", "NA", "1"]) == ["0", "-1", "", "1"]
    assert without_markers(["1", "-1", "NA"], of_classes=True) == ["1", "-1", ""]
    with pytest.warns(IGSDWarning, match="1 cell -1 in 'y' is taken as a class"):
        warn_of_class_minus_one(["1", "-1", ""], "y")


def test_what_is_taken_for_missing_is_told() -> None:
    with pytest.warns(
        IGSDWarning, match=r"Of 4 filled cells in 'y', 3 are .*: '\?' \(2\), 'NA' \(1\)\."
    ):
        warn_of_markers(["?", "NA", "?", "", "a"], "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_markers(["", "a"], "y")
