"""The local topological profile: every part equals a plain version of it."""

import networkx as nx
import numpy as np
import pytest

from igsd import GraphSet, make_method, open_data
from igsd.baselines.references import topology
from igsd.evaluation.cross_validation import cross_validate

SHAPES = [
    nx.karate_club_graph(),
    nx.path_graph(5),
    nx.star_graph(6),
    nx.disjoint_union(nx.cycle_graph(6), nx.path_graph(2)),
    nx.empty_graph(3),
    nx.empty_graph(1),
    nx.gnp_random_graph(40, 0.1, seed=3),
    nx.grid_2d_graph(4, 5),
]
GRAPHS = [nx.Graph(nx.convert_node_labels_to_integers(g).edges) for g in SHAPES]
for bare, shape in zip(GRAPHS, SHAPES, strict=True):
    bare.add_nodes_from(range(len(shape)))


@pytest.fixture(scope="module")
def graphs() -> GraphSet:
    return open_data([nx.relabel_nodes(g, {v: v for v in sorted(g)}) for g in GRAPHS])


@pytest.fixture(scope="module")
def whole() -> nx.Graph:
    return nx.disjoint_union_all([_sorted(g) for g in GRAPHS])


def _sorted(graph: nx.Graph) -> nx.Graph:
    ordered = nx.Graph()
    ordered.add_nodes_from(sorted(graph))
    ordered.add_edges_from(sorted(graph.edges))
    return ordered


@pytest.fixture(scope="module")
def parts(whole: nx.Graph) -> tuple:
    A = nx.to_scipy_sparse_array(whole, format="csr", dtype=float)
    rows, columns = (np.array(ends) for ends in zip(*sorted(whole.edges), strict=True))
    return A, rows, columns


@pytest.mark.parametrize("entries", [topology._ENTRIES, 300, 1])
def test_betweenness_is_that_of_networkx(
    whole: nx.Graph, parts: tuple, entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(topology, "_ENTRIES", entries)
    A, rows, columns = parts
    sizes = [len(g) for g in GRAPHS]
    mine = topology.edge_betweenness(A, np.concatenate([[0], np.cumsum(sizes)]))
    known = nx.edge_betweenness_centrality(whole, normalized=False)
    expected = [known[tuple(sorted(edge))] for edge in zip(rows, columns, strict=True)]
    assert np.asarray(mine[rows, columns]).ravel() == pytest.approx(np.array(expected))


def test_jaccard_index_is_that_of_networkx(whole: nx.Graph, parts: tuple) -> None:
    A, rows, columns = parts
    pairs = list(zip(rows.tolist(), columns.tolist(), strict=True))
    expected = [value for _, _, value in nx.jaccard_coefficient(whole, pairs)]
    assert topology.jaccard_index(A, rows, columns) == pytest.approx(np.array(expected))


def test_local_degree_score_is_the_plain_loop(whole: nx.Graph, parts: tuple) -> None:
    A, rows, columns = parts

    def at(u: int, v: int) -> float:
        rank = 1 + sum(whole.degree[w] > whole.degree[v] for w in whole[u])
        return 1.0 if whole.degree[u] == 1 else 1 - np.log(rank) / np.log(whole.degree[u])

    expected = [max(at(u, v), at(v, u)) for u, v in zip(rows, columns, strict=True)]
    assert topology.local_degree_score(A, rows, columns) == pytest.approx(np.array(expected))


def test_degree_profile_is_the_plain_loop(whole: nx.Graph, parts: tuple) -> None:
    expected = []
    for v in sorted(whole):
        near = [float(whole.degree[w]) for w in whole[v]] or [0.0]
        spread = np.sqrt(((near - np.mean(near)) ** 2).sum() / max(len(near) - 1, 1))
        expected.append([whole.degree[v], min(near), max(near), np.mean(near), spread])
    assert np.stack(topology.degree_profile(parts[0]), axis=1) == pytest.approx(np.array(expected))


def test_histograms_are_those_of_numpy() -> None:
    values = np.array([0.0, 1.0, 2.0, 9.0, 3.0, 3.0])
    counts = topology.histograms(values, np.array([0, 0, 0, 0, 2, 2]), 3, 4)
    assert counts[0].tolist() == np.histogram(values[:4], 4)[0].tolist()
    assert counts[1].tolist() == [0, 0, 0, 0]
    assert counts[2].tolist() == np.histogram([3.0, 3.0], 4)[0].tolist()


def test_vectors_count_every_node_and_edge_and_ignore_the_order_of_nodes(graphs: GraphSet) -> None:
    method = make_method("ltp", num_bins=10)
    vectors = method.fit_transform(graphs)
    assert vectors.shape == (len(graphs), method.n_features_out_) == (8, 80)
    totals = vectors.reshape(8, 8, 10).sum(axis=2)
    assert totals[:, :5].T.tolist() == [graphs.node_counts().tolist()] * 5
    assert totals[:, 5:].T.tolist() == [graphs.edge_counts().tolist()] * 3
    turned = [nx.relabel_nodes(g, {v: len(g) - 1 - v for v in g}) for g in GRAPHS]
    assert np.array_equal(method.transform(open_data(turned)), vectors)


def test_it_tells_rings_from_trees() -> None:
    rings = [nx.cycle_graph(n) for n in range(5, 20)]
    trees = [nx.random_labeled_tree(n, seed=n) for n in range(5, 20)]
    graphs, classes = open_data(rings + trees), np.repeat([0, 1], 15)
    vectors = make_method("ltp").fit_transform(graphs)
    assert cross_validate(vectors, classes, protocol="nested", num_folds=3).mean > 0.95
