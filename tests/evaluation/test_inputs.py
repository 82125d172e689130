from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.evaluation.inputs import check_codes, check_features, check_groups, check_kernel


@pytest.mark.parametrize(
    ("y", "words"),
    [
        ([0, 1, -1, 1, 0], "1 of 5 have none .the first is graph 2.*protocol semi"),
        ([1, 1, 1], "at least two classes"),
        ([0, 0, 0, 4], "every class needs at least 3 graphs.*Class 4 has 1"),
        ([0, 0, 0, 4, 4], "Class 4 has 2"),
        ([0, 0, 4, 4], "Class 0 has 2, 4 has 2"),
        ([0.0, 1.0], "integers"),
        ([[0, 1]], "one for each graph"),
    ],
)
def test_labels_that_cannot_be_scored(y, words):
    with pytest.raises(DataError, match=words):
        check_codes(np.array(y))


def test_classes_are_called_by_their_names():
    # Messages once named the code, which the user has never seen.
    y, names = np.array([0, 0, 0, 1, 1]), ("inactive", "active")
    with pytest.raises(DataError, match=r"Class 'active' has 2\. Leave the graphs"):
        check_codes(y, names=names)
    with pytest.raises(DataError, match="same label, 'inactive'"):
        check_codes(y[:3], names=names)


def test_gaps_where_they_may_be():
    y = np.array([0, -1, 0, 1, 0, 1, 1])
    assert check_codes(y, gaps=True).tolist() == y.tolist()
    with pytest.raises(DataError, match="Class 1 has 2"):
        check_codes(y[:-1], gaps=True)


def test_number_of_labels():
    with pytest.raises(DataError, match="Got 4 codes for 5 graphs"):
        check_codes(np.array([0, 0, 1, 1]), 5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_must_be_finite(value):
    X = np.zeros((4, 3))
    X[2, 1] = value
    with pytest.raises(DataError, match="Row 2, column 1"):
        check_features(X)


@pytest.mark.parametrize("X", [np.zeros((0, 3)), np.zeros(4), [["a", "b"]], np.zeros((3, 0))])
def test_features_must_be_a_table_of_numbers(X):
    with pytest.raises(DataError, match="features X must be"):
        check_features(X)


def test_kernel_must_be_square_and_symmetric():
    with pytest.raises(DataError, match="square"):
        check_kernel(np.zeros((3, 2)))
    with pytest.raises(DataError, match="symmetric"):
        check_kernel(np.array([[1.0, 0.5], [0.2, 1.0]]))


def test_groups_one_for_each_graph():
    with pytest.raises(DataError, match="3 integers"):
        check_groups([0, 1], 3)
