"""Edges with labels, a direction and attributes, as categories."""

from __future__ import annotations

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

from igsd.batches.links import EdgePart, LinkFeatures, alike_both_ways
from igsd.errors import DataError
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.networkx import from_networkx


def network(num_nodes: int = 12, *, label: bool = True) -> GraphSet:
    rng = np.random.default_rng(0)
    graph = nx.gnp_random_graph(num_nodes, 0.4, seed=1, directed=True)
    for _, _, data in graph.edges(data=True):
        data |= {"weight": 2.0, "length": float(rng.random()), "kind": str(rng.choice(["a", "b"]))}
        data |= {"label": str(rng.choice(["u", "v", "w"]))} if label else {}
    return from_networkx([graph], name="network")


@pytest.mark.parametrize("label", [True, False])
@pytest.mark.parametrize("directed", [True, False])
def test_a_vector_is_label_direction_and_attributes(label: bool, directed: bool) -> None:
    graphs = network(label=label)
    links = LinkFeatures.fit(graphs, 0, weight="weight", directed=directed)
    graphs = graphs if directed else alike_both_ways(graphs)
    assert [part.name for part in links.parts] == ["kind", "length"]
    rows = links.table()[links.categories(links.bond_codes(graphs), None)]
    assert len(links.table()) == links.num_categories
    assert graphs.edge_attributes is not None
    assert graphs.directions is not None
    for e, row in enumerate(rows.tolist()):
        expected: list[float] = []
        if label:
            assert graphs.edge_labels is not None
            expected += np.eye(len(links.bond_names))[graphs.edge_labels[e]].tolist()
        if directed:
            expected += np.eye(3)[graphs.directions[e] - 1].tolist()
        kind, length = graphs.edge_attributes[e, :2]
        expected += np.eye(links.parts[0].size)[int(kind)].tolist()
        bin = sum(length >= cut for cut in links.parts[1].boundaries)
        assert row == expected + np.eye(8)[bin].tolist()


def test_bins_hold_about_equally_many_edges() -> None:
    graphs = alike_both_ways(network(30))
    codes = LinkFeatures.fit(graphs, 0).parts[1].codes(graphs)
    counts = np.bincount(codes)
    assert len(counts) == 8
    assert counts.min() > 0.7 * counts.max()


def test_an_entry_of_a_view_has_a_label_alone() -> None:
    links = LinkFeatures.fit(network(), 0, directed=True)
    table = links.table()
    assert table[links.no_bond].sum() == 0
    assert table[links.bond_code("v")].tolist() == [0, 1, 0] + [0] * (table.shape[1] - 3)
    assert links.bond_code("unheard of") == links.no_bond


def test_a_value_not_seen_in_training() -> None:
    graphs = network()
    links = LinkFeatures.fit(graphs, 0, directed=True)
    other = replace(graphs, edge_category_names=(("a", "c"), (), ()))
    assert graphs.edge_attributes is not None
    is_other = graphs.edge_attributes[:, 0] == 1
    assert (links.parts[0].codes(other)[is_other] == 2).all()
    bare = replace(graphs, edge_attributes=None, edge_attribute_names=(), edge_category_names=())
    with pytest.raises(DataError, match="trained on graphs with the edge attribute 'kind'"):
        links.bond_codes(bare)


def test_undirected_graphs_for_a_model_of_directed_ones() -> None:
    graphs = network()
    links = LinkFeatures.fit(graphs, 0, directed=True)
    both = links.bond_codes(replace(graphs, directions=None))
    table = links.table()
    assert (table[both][:, 5] == 1).all()


def test_many_attributes_share_the_kinds() -> None:
    rng = np.random.default_rng(0)
    graph = nx.complete_graph(12)
    for _, _, data in graph.edges(data=True):
        data |= {f"x{i}": float(rng.random()) for i in range(20)}
    links = LinkFeatures.fit(from_networkx([graph]), 0)
    assert 1 < len(links.parts) < 20
    assert links.num_categories <= 2 * 4096


def test_a_number_that_is_always_the_same_says_nothing() -> None:
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, 1.5, "length")
    assert LinkFeatures.fit(from_networkx([graph]), 0).parts == ()


def test_few_different_numbers_are_told_apart() -> None:
    graph = nx.path_graph(4)
    nx.set_edge_attributes(graph, {(0, 1): 1, (1, 2): 10, (2, 3): 100}, "n")
    (part,) = LinkFeatures.fit(from_networkx([graph]), 0).parts
    assert part == EdgePart("n", boundaries=(5.5, 55.0))


def mutual(one: dict[str, object], other: dict[str, object]) -> GraphSet:
    """Return 0 <-> 1 with these attributes there and back, and 1 -> 2 with the first ones."""
    graph = nx.DiGraph()
    graph.add_edge(0, 1, **one)
    graph.add_edge(1, 0, **other)
    graph.add_edge(1, 2, **one)
    return from_networkx([graph], name="mutual")


@pytest.mark.parametrize("key", ["label", "kind"])
def test_a_pair_of_kinds_is_a_kind_whichever_is_which(key: str) -> None:
    sets = [mutual({key: a}, {key: b}) for a, b in (("x", "y"), ("y", "x"))]
    for graphs, alone in zip(map(alike_both_ways, sets), ("x", "y"), strict=True):
        codes, names = graphs.edge_labels, graphs.edge_label_names
        if key == "kind":
            assert graphs.edge_attributes is not None
            codes = graphs.edge_attributes[:, 0].astype(int)
            names = graphs.edge_category_names[0]
        assert codes is not None
        assert [names[code] for code in codes] == ["x + y", "x + y", alone, alone]
    links = LinkFeatures.fit(sets[0], 0)
    one, two = (links.bond_codes(graphs)[:2].tolist() for graphs in sets)
    assert one == two
    assert len(set(one)) == 1
    by_direction = LinkFeatures.fit(sets[0], 0, directed=True)
    assert len(set(by_direction.bond_codes(sets[0])[:2].tolist())) == 2
    assert LinkFeatures.from_json(links.to_json()) == links


def test_numbers_by_direction_count_as_their_mean() -> None:
    graphs = alike_both_ways(mutual({"n": 1.0, "m": 5}, {"n": 4.0, "m": 5}))
    assert graphs.edge_attributes is not None
    assert graphs.edge_attributes.tolist() == [[5, 2.5], [5, 2.5], [5, 1], [5, 1]]


def test_a_kind_in_one_direction_alone_counts_for_both() -> None:
    graphs = alike_both_ways(mutual({"label": "x"}, {}))
    assert graphs.edge_labels is not None
    assert graphs.edge_labels.tolist() == [0, 0, 0, 0]


def test_edges_that_do_not_differ_are_left_alone() -> None:
    same = mutual({"label": "x", "n": 1.5}, {"label": "x", "n": 1.5})
    assert alike_both_ways(same) is same
    bare = from_networkx([nx.path_graph(3)])
    assert alike_both_ways(bare) is bare


def test_too_many_pairs_of_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = nx.DiGraph()
    for u in range(70):
        for v in range(u):
            graph.add_edge(u, v, label=u)
            graph.add_edge(v, u, label=100 + v)
    graphs = from_networkx([graph, graph])
    monkeypatch.setattr("igsd.batches.links.MOST_KINDS", 200)
    with pytest.raises(DataError, match=r"2553 kinds of edges.* at most 200 are.*directed='both'"):
        LinkFeatures.fit(graphs, 0)
    assert LinkFeatures.fit(graphs, 0, directed=True).bond_names
