from __future__ import annotations

import pytest

from igsd.errors import DataError
from igsd.graphs.readers.networkx import from_networkx
from igsd.graphs.readers.pajek import read_pajek


def edges(text: str) -> list[list[tuple[int, int, float]]]:
    found = read_pajek(text.encode())
    return [[(u, v, d.get("weight", 1.0)) for u, v, d in g.edges(data=True)] for g in found]


def test_vertices_with_equal_labels_stay_apart() -> None:
    """NetworkX merges them: four vertices were two."""
    text = '*Vertices 4\n1 "x"\n2 "x"\n3 "x"\n4 "y"\n*Edges\n1 2 1\n2 3 1\n3 4 2.5\n'
    (graph,) = read_pajek(text.encode())
    assert dict(graph.nodes(data="label")) == {1: "x", 2: "x", 3: "x", 4: "y"}
    assert edges(text) == [[(1, 2, 1.0), (2, 3, 1.0), (3, 4, 2.5)]]
    assert not graph.is_directed()
    assert from_networkx([graph]).node_label_names == ("x", "y")


def test_lists_and_matrices() -> None:
    """A list was read as an edge and its weight."""
    assert edges("*Vertices 3\n*Arcslist\n1 2 3\n") == [[(1, 2, 1.0), (1, 3, 1.0)]]
    assert edges("*Vertices 3\n*Edgeslist\n2 1 3\n") == [[(1, 2, 1.0), (2, 3, 1.0)]]
    assert edges("*Vertices 2\n*Matrix\n0 2\n0 0\n") == [[(1, 2, 2.0)]]


def test_edges_beside_arcs_go_both_ways() -> None:
    found = edges('*Vertices 3\n1 "a" 0.1 0.2 ellipse\n*Arcs\n1 2\n*Edges\n2 3 4 c Blue\n')
    assert found == [[(1, 2, 1.0), (2, 3, 4.0), (3, 2, 4.0)]]


def test_several_networks_are_several_graphs() -> None:
    """A second one became nodes that were called *Network and so on."""
    found = read_pajek(b"*Network one\n*Vertices 2\n*Edges\n1 2\n*Network two\n*Vertices 3\n")
    assert [(graph.graph["name"], len(graph)) for graph in found] == [("one", 2), ("two", 3)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("*Vertices 2\n*Edges\n1 5\n", "line 3, '1 5': there is no vertex 5: there are 2"),
        ("*Vertices 2\n*Vertices 3\n", "has vertices already"),
        ("*Vertices 2\n*Partition c\n1\n", "are not read"),
        ("*Vertices x\n", "line 1, .*cannot be understood"),
        ("*Vertices 99999999999\n", "1,000,000 vertices at most"),
        ("*Vertices 2\n*Matrix\n1 0 0\n", "needs 2 rows"),
        ("1 2\n", "cannot be understood"),
    ],
)
def test_what_is_refused(text: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_pajek(text.encode())
