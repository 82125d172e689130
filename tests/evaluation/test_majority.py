from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.evaluation.majority import majority
from igsd.evaluation.nested import nested


def test_share_of_the_largest_class():
    y = np.array([0] * 10 + [1] * 30)
    result = majority(y, seed=1)
    assert result.mean == pytest.approx(0.75)
    assert result.test_sizes == nested(np.zeros((40, 1)), y, seed=1, grid=(1.0,)).test_sizes


def test_even_classes_are_not_guessed_wrong_fold_by_fold():
    # 15 and 15 in ten folds: the class with fewer training graphs has more test graphs.
    assert majority(np.repeat([0, 1], 15)).mean == pytest.approx(0.5, abs=0.01)


def test_given_splits():
    # Most of the training part is 0, most of the set 1.
    y = np.array([0, 0, 1, 1, 1, 1, 0])
    result = majority(y, splits=[(np.array([0, 1, 2, 6]), np.array([3, 4, 5]))], protocol="gckn")
    assert (result.accuracies, result.protocol) == ((1.0,), "gckn")


def test_missing_labels():
    with pytest.raises(DataError, match="have none"):
        majority(np.array([0, -1, 1]))
