from __future__ import annotations

import networkx as nx
import numpy as np
import pytest

from igsd.errors import DataError
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.networkx import from_networkx
from igsd.graphs.weights import strengths, weight_name, weighted


def path(*weights: float | None, directed: bool = False) -> GraphSet:
    graph = nx.DiGraph() if directed else nx.Graph()
    for u, weight in enumerate(weights):
        graph.add_edge(u, u + 1, **({} if weight is None else {"weight": weight}))
    return from_networkx([graph], name="path")


def test_weights_reach_the_matrix() -> None:
    graphs = weighted(path(2.0, 0.5), "weight")
    assert graphs.adjacency.weight is not None
    assert graphs.adjacency.weight.tolist() == [2, 2, 0.5, 0.5]
    assert strengths(graphs).tolist() == [2, 2.5, 0.5]


def test_a_missing_weight_is_one() -> None:
    graphs = path(None, 2.0)
    assert "1 edge without a weight: counted as 1" in graphs.notes
    assert strengths(weighted(graphs, "weight")).tolist() == [1, 3, 2]


def test_an_edge_of_weight_zero_is_no_edge() -> None:
    graphs = weighted(path(0.0, 2.0), "weight")
    assert graphs.num_edges == 1
    assert graphs.edge_attributes is not None
    assert graphs.adjacency.degrees().tolist() == [0, 1, 1]


@pytest.mark.parametrize("graphs", [path(1.0, 1.0), path(None, None)])
def test_ones_change_nothing(graphs: GraphSet) -> None:
    assert weighted(graphs, "weight").adjacency.weight is None


def test_two_directions_count_with_their_mean() -> None:
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 4.0), (1, 2, 5.0)])
    graphs = weighted(from_networkx([graph]), "weight")
    assert graphs.adjacency.weight is not None
    assert graphs.adjacency.weight.tolist() == [3, 3, 5, 5]


def test_what_is_refused() -> None:
    with pytest.raises(
        DataError, match=r"between nodes 1 and 2 of graph 0 of 'path' has weight -2"
    ):
        weighted(path(1.0, -2.0), "weight")
    with pytest.raises(DataError, match=r"--set edge_weight=none"):
        weighted(path(1.0, -2.0), "weight")
    for value in (float("nan"), float("inf"), 1e300):
        with pytest.raises(DataError, match=r"finite .* 1 and 2 of .*'path' has weight .*=none"):
            weighted(path(1.0, value), "weight")
    repeated = nx.MultiGraph([(0, 1, {"weight": 3e38}), (0, 1, {"weight": 3e38})])
    with pytest.raises(DataError, match="has weight inf"):  # their sum was inf, in silence
        weighted(from_networkx([repeated]), "weight")
    with pytest.raises(DataError, match=r"'distance' is not an edge attribute.*weight"):
        weight_name(path(2.0), "distance")
    for value, found in (("strong", "texts such as 'strong'"), (True, "true and false.* 1 and 0")):
        graph = nx.path_graph(2)
        nx.set_edge_attributes(graph, value, "weight")
        with pytest.raises(DataError, match=f"holds {found}.*edge_weight=none"):
            weight_name(from_networkx([graph]), "weight")


@pytest.mark.parametrize("value", ["strong", True, [1.0, 2.0]])
def test_what_is_not_a_number_is_not_completed_by_ones(value: object) -> None:
    """The note said that missing weights counted as 1, and a text was mixed with that number."""
    graph = nx.path_graph(3)
    graph[0][1]["weight"] = value
    notes = from_networkx([graph]).notes
    assert notes == ("edge attribute 'weight' not used: 1 of 2 edges has none",)


def test_which_attribute_is_the_weight() -> None:
    assert weight_name(path(2.0), "weight") == "weight"
    assert weight_name(path(2.0), "none") == weight_name(path(None), "weight") == ""
    assert weighted(path(None), "weight").adjacency.weight is None


def test_a_set_with_weights_is_taken_apart_and_saved(tmp_path: object) -> None:
    graphs = weighted(from_networkx([nx.path_graph(2), nx.path_graph(3)]), "weight")
    assert graphs[1].structure_checksum == graphs.take([1]).structure_checksum
    two = weighted(path(2.0), "weight")
    assert two.structure_checksum != path(2.0).structure_checksum
    np.testing.assert_array_equal(two.take([0, 0]).adjacency.weight, [2, 2, 2, 2])
