from __future__ import annotations

from dataclasses import replace

import numpy as np

from igsd.evaluation.twin_counts import count_twins
from tests.small_graphs import make_graphs


def test_counts_groups_and_the_best_accuracy() -> None:
    base = make_graphs(4, seed=5, classes=True)
    graphs = replace(base.take([0, 0, 0, 1, 1, 2]), classes=np.array([0, 0, 1, 1, 1, 0]))
    twins = count_twins(graphs)
    assert (twins.graphs, twins.distinct, twins.shared, twins.largest) == (6, 3, 5, 3)
    assert twins.ceiling == 5 / 6


def test_no_ceiling_where_a_class_is_missing() -> None:
    graphs = make_graphs(4, classes=True)
    assert count_twins(replace(graphs, classes=np.array([0, 1, -1, 0]))).ceiling is None
    assert count_twins(graphs.without_labels()).ceiling is None
