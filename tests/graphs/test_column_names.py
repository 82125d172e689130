from __future__ import annotations

import numpy as np
import pytest

from igsd.graphs.build import from_edges
from igsd.graphs.column_names import common_names, names_text


def test_only_columns_that_exist_are_written() -> None:
    none = np.array([], dtype=int)
    graphs = from_edges([1], none, none, classes=np.array([0]), class_names=(-1, "é", 0.5, True))
    text = names_text(graphs)
    assert common_names([text, text]) == {"classes": (-1, "é", 0.5, True)}


@pytest.mark.parametrize(
    "texts", [[], [None], ["{}", None], ['{"classes": [1]}', '{"classes": [2]}'], ["{"], ["3"]]
)
def test_texts_that_say_nothing(texts: list[str | None]) -> None:
    assert not common_names(texts)


def test_unknown_columns_are_ignored() -> None:
    assert common_names(['{"classes": [1], "colour": [2]}']) == {"classes": (1,)}
