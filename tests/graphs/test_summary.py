from __future__ import annotations

from pathlib import Path

from hypothesis import given, settings

from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.tu import read_tu
from igsd.graphs.summary import Spread, components, summarize
from tests.graphs.strategies import graph_sets
from tests.graphs.tu_writer import write_tu
from tests.reference.graphs import count_components


def test_figures(tu_folder: Path) -> None:
    summary = summarize(read_tu(tu_folder))
    assert (summary.name, summary.graphs) == ("TINY", 2)
    assert summary.nodes == Spread(2.5, 2, 3)
    assert summary.edges == Spread(2.0, 1, 3)
    assert summary.classes == {-1: 1, 1: 1}
    assert summary.node_labels == {3: 3, 7: 2}
    assert summary.edge_labels == {0: 2, 1: 2}
    assert (summary.node_attributes, summary.targets) == (("x0", "x1"), ("y0",))
    assert (summary.isolated_nodes, summary.disconnected_graphs, summary.unlabelled) == (0, 0, 0)


def test_isolated_nodes(tmp_path: Path) -> None:
    folder = write_tu(tmp_path / "D", A="1, 2\n2, 2\n", graph_indicator="1\n1\n1\n2\n")
    summary = summarize(read_tu(folder))
    assert (summary.isolated_nodes, summary.disconnected_graphs) == (2, 1)
    assert summary.classes == {}


@settings(max_examples=40, deadline=None)
@given(graph_sets())
def test_components_equal_the_plain_loop(graphs: GraphSet) -> None:
    expected = [count_components(graphs, g) for g in range(len(graphs))]
    assert components(graphs).tolist() == expected
