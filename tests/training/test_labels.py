from __future__ import annotations

import numpy as np

from igsd.training.labels import Labels
from tests.small_graphs import HOST


def test_classes() -> None:
    labels = Labels(np.array([1, -1, 0, -1]), 2)
    assert labels.are_classes
    assert labels.labelled.tolist() == [0, 2]
    assert labels.unlabelled.tolist() == [1, 3]
    assert labels.of(np.array([2, 0]), HOST).tolist() == [0, 1]


def test_a_graph_with_one_of_its_numbers_has_a_label() -> None:
    nan = np.nan
    labels = Labels(np.array([[1, nan], [nan, nan], [2, 3]], np.float32), 2)
    assert not labels.are_classes
    assert labels.labelled.tolist() == [0, 2]


def test_checksum() -> None:
    a, b = Labels(np.array([0, 1, -1]), 2), Labels(np.array([0, 1, 1]), 2)
    assert a.checksum == Labels(np.array([0, 1, -1]), 2).checksum != b.checksum
