from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.given_labels import GivenLabels, check_enough

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
