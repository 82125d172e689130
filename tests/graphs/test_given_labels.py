from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.given_labels import GivenLabels, LabelTexts, check_enough, read_labels

NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (GivenLabels([None, None], True, ("kind",)), "'kind' holds no label: .* of the 2 graphs"),
        (GivenLabels(["a", "a", None], True, ("kind",)), "All labels in 'kind' are 'a'"),
        (GivenLabels(np.array([NAN, NAN]), False, ("logP",)), "'logP' holds no label"),
        (GivenLabels(np.array([NAN, 1.0]), False, ("logP",)), "'logP' is known of 1 graph"),
    ],
)
def test_labels_that_teach_nothing(given: GivenLabels, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_enough(given)


def test_labels_that_are_enough() -> None:
    check_enough(GivenLabels(["a", "b", None], True, ("kind",)))
    check_enough(GivenLabels(np.array([0.5, 1.0, NAN]), False, ("logP",)))


def test_text_among_measured_numbers() -> None:
    """One cell >5 made a class of every number, without a word."""
    texts = ["0.0", "1.5", ">5", "3.0", "", "low"]
    message = (
        r"'logS' must hold numbers or nothing here\. Of 5 filled cells, 2 are neither: "
        r"'>5' \(line 4\), 'low' \(line 7\)\. Empty such cells .* --task classes"
    )
    columns = LabelTexts(("logS",), [texts], list(range(2, 8)))
    with pytest.raises(DataError, match=message):
        read_labels(columns, "auto", told=False)
    assert read_labels(columns, "classes", told=False).y == ["0", "1.5", ">5", "3", None, "low"]
    with pytest.raises(DataError, match=r"1 is neither: 'x' \(graph 21\)"):
        read_labels(LabelTexts(("n",), [[*map(str, range(21)), "x"]]), "auto", told=False)


@pytest.mark.parametrize("texts", [["1", "2", ">5"], ["1.5", "a", "b"], ["1", "2", "2", "1.0"]])
def test_few_whole_numbers_and_text_are_classes(texts: list[str]) -> None:
    assert read_labels(LabelTexts(("y",), [texts]), "auto", told=False).are_classes
