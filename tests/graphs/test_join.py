from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from igsd.errors import DataError
from igsd.graphs.convert import as_graphset
from igsd.graphs.graphset import GraphSet
from igsd.graphs.join import join_sets
from tests.graphs.strategies import graph_sets
from tests.small_graphs import make_graphs


@settings(max_examples=25, deadline=None)
@given(graph_sets())
def test_the_graphs_of_a_set_joined_are_the_set(graphs: GraphSet) -> None:
    assert join_sets(list(graphs)) == graphs
    assert join_sets([graphs, graphs]) == graphs.take(np.arange(len(graphs)).tolist() * 2)


def test_graphs_picked_by_a_loop_are_a_list_of_graphs() -> None:
    graphs = replace(make_graphs(classes=True), lines=np.arange(2, 12), ids=tuple("abcdefghij"))
    picked = as_graphset([graph for graph in graphs if graph.num_nodes > 4])
    chosen = np.flatnonzero(graphs.node_counts() > 4)
    assert picked == graphs.take(chosen)
    assert picked.lines is not None
    assert picked.lines.tolist() == (chosen + 2).tolist()
    assert picked.ids == tuple("abcdefghij"[i] for i in chosen)


def test_sets_that_do_not_belong_together() -> None:
    with pytest.raises(DataError, match="'node_labels' of set 1"):
        join_sets([make_graphs(), make_graphs(labels=False)])
    with pytest.raises(DataError, match="'node_label_names' of set 1"):
        join_sets([make_graphs(), make_graphs(node_label_names=("A", "B", "C"))])
