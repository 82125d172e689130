from __future__ import annotations

import re
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from igsd.errors import DataError, IGSDWarning
from igsd.graphs.labels import (
    MARKERS,
    GraphLabels,
    LabelTexts,
    check_enough,
    class_of_text,
    drop_missing,
    number_of,
    read_labels,
)


def kept(values: list[Any]) -> list[Any]:
    return drop_missing(values, "y", warn=False)


def test_words_for_a_missing_label() -> None:
    texts = [*MARKERS, "NaN", "None", "N/A", "", None, "a", "unknown", "-1", "0", "n"]
    assert kept(texts) == [None] * 13 + ["a", "unknown", "-1", "0", "n"]


def test_minus_beside_plus_is_a_class() -> None:
    assert kept(["+", "-", "?"]) == ["+", "-", None]
    assert kept(["1", "-", "0"]) == ["1", None, "0"]


@pytest.mark.parametrize(
    ("classes", "is_missing"),
    [
        ([0, 1, -1], True),
        ([0, 1, -1, None, "NA", ""], True),
        ([3, 7, -1, 7], True),
        ([1, -1], False),
        ([1, -1, None], False),
        ([0, 0, -1], False),
        ([-2, 0, 1, -1], False),
        (["a", "b", -1], False),
        (["0", "1", "-1"], False),
        ([True, False, -1], False),
        ([-1], False),
    ],
)
def test_what_minus_one_means(classes: list[Any], is_missing: bool) -> None:
    assert (-1 not in kept(classes) and "-1" not in kept(classes)) is is_missing


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (["?", "NA", "?", "", "a"], r"3 of 4 labels in 'y' are .*: '\?' \(2\), 'NA' \(1\)\."),
        ([0, 1, -1, None, -1], r"2 of 4 labels in 'y' are taken as missing: -1 \(2\)\."),
        ([1, -1, ""], r"-1 in 'y' \(1\) is taken as a class: it means no label only beside"),
        ([1, -1, None], None),
        (["", "a"], None),
        ([0, 1, None], None),
    ],
)
def test_what_is_taken_as_missing_is_told(values: list[Any], message: str | None) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        drop_missing(values, "y")
    assert len(caught) == (message is not None)
    assert message is None or re.search(message, str(caught[0].message))


NAN = float("nan")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (GraphLabels([None, None], True, ("kind",)), "'kind' holds no label: .* for all 2 graphs"),
        (GraphLabels(["a", "a", None], True, ("kind",)), "All labels in 'kind' are 'a'"),
        (GraphLabels(np.array([NAN, NAN]), False, ("logP",)), "'logP' holds no label"),
        (GraphLabels(np.array([NAN, 1.0]), False, ("logP",)), "'logP' is known for 1 graph"),
    ],
)
def test_labels_that_teach_nothing(given: GraphLabels, message: str) -> None:
    with pytest.raises(DataError, match=message):
        check_enough(given)


def test_labels_that_are_enough() -> None:
    check_enough(GraphLabels(["a", "b", None], True, ("kind",)))
    check_enough(GraphLabels(np.array([0.5, 1.0, NAN]), False, ("logP",)))


def test_text_among_measured_numbers() -> None:
    """One cell >5 made a class of every number, without a word."""
    texts = ["0.0", "1.5", ">5", "3.0", "", "low"]
    message = (
        r"'logS' must hold finite numbers or nothing here\. Of 5 filled cells, 2 are neither: "
        r"'>5' \(line 4\), 'low' \(line 7\)\. Empty such cells .* --task classes"
    )
    columns = LabelTexts(("logS",), [texts], list(range(2, 8)))
    with pytest.raises(DataError, match=message):
        read_labels(columns, "auto", warn=False)
    assert read_labels(columns, "classes", warn=False).y == ["0", "1.5", ">5", "3", None, "low"]
    with pytest.raises(DataError, match=r"1 is neither: 'x' \(graph 21\)"):
        read_labels(LabelTexts(("n",), [[*map(str, range(21)), "x"]]), "auto", warn=False)


@pytest.mark.parametrize("texts", [["1", "2", ">5"], ["1.5", "a", "b"], ["1", "2", "2", "1.0"]])
def test_few_whole_numbers_and_text_are_classes(texts: list[str]) -> None:
    assert read_labels(LabelTexts(("y",), [texts]), "auto", warn=False).are_classes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.0", 1),
        ("1e2", 100),
        ("9007199254740993.0", 2**53 + 1),
        ("9223372036854775807", 2**63 - 1),
        ("18446744073709551615", "18446744073709551615"),
        ("1.5", "1.5"),
        ("nan", "nan"),
        ("1e-99999999999999999999", "1e-99999999999999999999"),
    ],
)
def test_whole_numbers_are_exact(text: str, expected: int | str) -> None:
    assert class_of_text(text) == expected


def test_numbers_beyond_those_of_models_are_refused() -> None:
    texts = LabelTexts(("y",), [["0.5", "1e300", "", "-1e39"]], [2, 3, 4, 5])
    with pytest.raises(
        DataError, match=r"'y' must be of a size between .* \(line 3\), '-1e39' \(line 5\)"
    ):
        read_labels(texts, "auto", warn=False)
    with pytest.raises(DataError, match=r"'1e300' \(graph 1\)"):
        read_labels(replace(texts, lines=None), "numbers", warn=False)


@pytest.mark.parametrize("form", ["{}.5 nM", ">{}.1", "{}.2%", "<= {},5"])
def test_measured_numbers_are_no_classes(form: str) -> None:
    """Numbers with units and bounds became as many classes."""
    columns = LabelTexts(("ic50",), [[form.format(n) for n in range(30)]])
    with pytest.raises(DataError, match="'ic50' look like measured numbers, some with"):
        read_labels(columns, "auto", warn=False)
    groups = LabelTexts(("group",), [["1a", "2b", "10%"] * 10])
    assert read_labels(groups, "auto", warn=False).are_classes


def test_names_with_underscores_are_no_numbers() -> None:
    """Python reads 2020_01 as 202001, and so did tables, labels and edge lists."""
    texts = ["2020_01", "2020_02", "2020_01"]
    assert [number_of(text) for text in texts] == [None] * 3
    assert class_of_text("2020_01") == "2020_01"
    found = read_labels(LabelTexts(("batch",), [texts]), "auto", warn=True)
    assert (found.are_classes, found.y) == (True, texts)


def test_classes_that_differ_in_case_or_blanks_are_told() -> None:
    """They became several classes without a word."""
    values = ["yes", "Yes", "YES ", "no", "na", "NA", None, 1, "1e3", "1E3"]
    with pytest.warns(IGSDWarning) as caught:
        found = drop_missing(values, "active")
    assert found[:4] == values[:4]
    (text,) = [str(w.message) for w in caught if "upper and lower case" in str(w.message)]
    assert "'active'" in text
    assert "different classes: 'yes' and 'Yes' and 'YES '. If" in text


def test_values_that_are_given_once_with_their_counts() -> None:
    with pytest.warns(IGSDWarning, match=r"5 of 9 labels in 'y' are taken as missing: '\?' \(5\)"):
        found = drop_missing(["a", "?", None, "b"], "y", counts=[3, 5, 2, 1])
    assert found == ["a", None, None, "b"]


@pytest.mark.parametrize("form", ["{} ± 0.3", "{} (n=2)", "{}-3.0", "{}*", "10^{}", ">{}"])
def test_numbers_with_what_was_measured_are_no_classes(form: str) -> None:
    """They became dozens of classes of one molecule each."""
    texts = [form.format(f"2.{n}") for n in range(40)]
    with pytest.raises(DataError, match="look like measured numbers"):
        read_labels(LabelTexts(("y",), [texts]), "auto", warn=False)


@pytest.mark.parametrize("other", [">2.5", "inactive"])
def test_half_of_the_numbers_are_enough_to_be_measured(other: str) -> None:
    texts = [f"{n}.5" if n % 2 else other for n in range(40)]
    with pytest.raises(DataError, match="look like measured numbers"):
        read_labels(LabelTexts(("y",), [texts]), "auto", warn=False)


def test_classes_that_begin_with_a_digit_are_classes() -> None:
    texts = ["1. active", "2. inactive", "5-HT receptor"] * 10
    assert read_labels(LabelTexts(("y",), [texts]), "auto", warn=False).are_classes
