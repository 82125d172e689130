from __future__ import annotations

import warnings

import pytest

from igsd.errors import IGSDWarning
from igsd.graphs.missing_values import MARKERS, warn_of_markers, without_markers


def test_markers_become_empty() -> None:
    texts = [*MARKERS, "NaN", "None", "N/A", "", "a", "unknown", "-1", "0", "n"]
    assert without_markers(texts) == [""] * 12 + ["a", "unknown", "-1", "0", "n"]


def test_minus_beside_plus_is_a_class() -> None:
    assert without_markers(["+", "-", "?"]) == ["+", "-", ""]
    assert without_markers(["1", "-", "0"]) == ["1", "", "0"]


def test_what_is_taken_for_missing_is_told() -> None:
    with pytest.warns(
        IGSDWarning, match=r"Of 4 filled cells in 'y', 3 are .*: '\?' \(2\), 'NA' \(1\)\."
    ):
        warn_of_markers(["?", "NA", "?", "", "a"], "y")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_markers(["", "a"], "y")
