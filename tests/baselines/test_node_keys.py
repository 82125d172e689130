from __future__ import annotations

import numpy as np
import pytest

from igsd.baselines.node_keys import node_keys
from igsd.errors import DataError
from igsd.graphs.build import from_edges
from tests.small_graphs import make_graphs


def labelled(codes: list[int], names: tuple[object, ...]) -> np.ndarray:
    none = np.zeros(0, np.int64)
    graphs = from_edges(
        [len(codes)],
        none,
        none,
        node_labels=np.array(codes, np.int32),
        node_label_names=names,  # type: ignore[arg-type]
    )
    return node_keys(graphs, "label")


def test_keys_belong_to_names_and_not_to_codes() -> None:
    assert labelled([0, 1], ("C", "N")).tolist() == labelled([1, 0], ("N", "C")).tolist()
    assert labelled([0], (1,)).tolist() != labelled([0], ("1",)).tolist()


def test_a_missing_label_is_a_label_of_its_own() -> None:
    keys = labelled([-1, 0, -1], ("C",))
    assert keys[0] == keys[2] != keys[1]


def test_the_same_on_every_machine() -> None:
    assert labelled([0], ("C",)).tolist() == [8141929895886339286]


def test_degrees() -> None:
    star = from_edges([4], np.array([0, 0, 0]), np.array([1, 2, 3]))
    keys = node_keys(star, "degree")
    assert keys[1] == keys[2] == keys[3] != keys[0]


def test_labels_missing_where_there_were_some() -> None:
    with pytest.raises(DataError, match="'plain' has none"):
        node_keys(make_graphs(labels=False, name="plain"), "label")
