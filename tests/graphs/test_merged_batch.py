from __future__ import annotations

import numpy as np

from igsd.graphs.batch import Collator
from igsd.graphs.build import from_edges
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.merged_batch import merged
from tests.small_graphs import HOST


def collator_of(graphs: GraphSet) -> Collator:
    return Collator(graphs.node_ptr, FeatureMap.fit(graphs).transform(graphs), HOST)


def test_the_leaves_of_a_star_are_one_row() -> None:
    star = from_edges([5], np.zeros(4, np.int64), np.arange(1, 5))
    made, edges, groups = merged(collator_of(star), star.adjacency)
    assert groups is not None
    batch = made.batch(np.array([0]), edges)
    assert batch.counts is not None
    assert sorted(batch.counts.tolist()) == [1, 4]
    assert len(batch.x) == 2


def test_where_few_nodes_are_alike_nothing_changes() -> None:
    path = from_edges([6], np.arange(5), np.arange(1, 6))
    collator = collator_of(path)
    assert merged(collator, path.adjacency) == (collator, path.adjacency, None)
