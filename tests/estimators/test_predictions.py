from __future__ import annotations

from dataclasses import replace

import numpy as np

from igsd.estimators.predictions import given_columns
from tests.small_graphs import make_graphs


def test_what_the_data_says_itself() -> None:
    graphs = replace(
        make_graphs(3, classes=True),
        targets=np.array([[0.5, 1.5], [np.nan, 2.5], [3.5, np.nan]]),
        target_names=("logP", "logS"),
    )
    one = {"names": ["logP"], "task": "numbers"}
    assert given_columns(one, graphs, "X") == {"given": [0.5, None, 3.5]}
    both = {"names": ["logP", "logS"], "task": "numbers"}
    assert given_columns(both, graphs, "X")["given_logS"] == [1.5, 2.5, None]
    classes = {"names": ["class"], "task": "classes"}
    assert given_columns(classes, graphs, "X") == {"given": ["-1", "1", "-1"]}
    assert given_columns(one, make_graphs(3), "X") == {}
    assert given_columns({}, graphs, "X") == {}
