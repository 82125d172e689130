from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.errors import ConfigError
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import GraphSet
from igsd.views.random import (
    AUGMENTATIONS,
    change,
    draw_two,
    edge_drop,
    edge_perturb,
    edge_uniform,
    grown_nodes,
    hashed_uniform,
    induced,
    kept_nodes,
    node_uniform,
    parse_augmentations,
    splitmix64,
)
from tests.reference.views import dense
from tests.small_graphs import from_matrix
from tests.views.random_views import (
    RATES,
    SEEDS,
    assert_alike_in_every_batch,
    view_of_unchanged,
)
from tests.views.strategies import graph_set, graph_sets


def test_numbers_are_uniform_and_keys_tell_them_apart() -> None:
    x = hashed_uniform(7, np.arange(200)[:, None], np.arange(100)[None, :])
    assert x.shape == (200, 100)
    ordered = np.sort(x.ravel())
    assert ordered[0] >= 0
    assert ordered[-1] < 1
    assert len(np.unique(ordered)) == 20_000
    assert np.abs(ordered - (np.arange(20_000) + 0.5) / 20_000).max() < 1.63 / np.sqrt(20_000)
    # Neighbouring rows and columns have nothing in common: standard deviation about 0.007.
    assert abs(np.corrcoef(x[:-1].ravel(), x[1:].ravel())[0, 1]) < 0.03
    assert abs(np.corrcoef(x[:, :-1].ravel(), x[:, 1:].ravel())[0, 1]) < 0.03


def test_a_pure_function_of_seed_and_keys() -> None:
    keys = np.arange(5)
    np.testing.assert_array_equal(hashed_uniform(3, keys), hashed_uniform(3, keys.copy()))
    assert (hashed_uniform(3, keys) != hashed_uniform(4, keys)).all()
    pair = np.array([1]), np.array([2])
    assert hashed_uniform(3, *pair) != hashed_uniform(3, *pair[::-1])


def test_a_node_has_its_number_in_every_batch() -> None:
    alone = node_uniform(np.array([0, 4]), np.array([9]), seed=1)
    among = node_uniform(np.array([0, 2, 6, 10]), np.array([5, 9, 9]), seed=1)
    np.testing.assert_array_equal(among[2:6], alone)
    np.testing.assert_array_equal(among[6:], alone)
    assert (among[:2] != alone[:2]).all()


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.integers(0, 2**32 - 1))
def test_equals_the_rows_and_columns_of_the_matrix(graphs: GraphSet, seed: int) -> None:
    before = graphs.checksum
    keep = np.random.default_rng(seed).random(graphs.num_nodes) < 0.6
    keep[graphs.node_ptr[:-1]] = True
    part = induced(graphs.adjacency, graphs.node_ptr, keep)
    del graphs.__dict__["checksum"]
    assert graphs.checksum == before
    np.testing.assert_array_equal(part.nodes, np.flatnonzero(keep))
    for g in range(len(graphs)):
        A = dense(graphs.adjacency, graphs.node_ptr, g)
        kept = keep[graphs.node_ptr[g] : graphs.node_ptr[g + 1]]
        got = dense(part.adjacency, part.node_ptr, g)
        np.testing.assert_array_equal(got, A[np.ix_(kept, kept)])


def test_weights_follow_their_entries() -> None:
    graphs = graph_set([5], 1.0, seed=0)
    weight = np.arange(20, dtype=np.float32)
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, weight)
    keep = np.array([True, False, True, True, False])
    part = induced(weighted, graphs.node_ptr, keep)
    A = dense(weighted, graphs.node_ptr, 0)
    np.testing.assert_array_equal(dense(part.adjacency, part.node_ptr, 0), A[np.ix_(keep, keep)])


def test_splitmix64_gives_its_published_first_numbers() -> None:
    # The generator adds its constant before it mixes, so state 0 is what gives the first number.
    golden = 0x9E3779B97F4A7C15
    states = np.array([0, golden, 2 * golden % 2**64], dtype=np.uint64)
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert splitmix64(states).tolist() == expected


@settings(max_examples=40, deadline=None)
@given(graph_sets(), RATES, SEEDS)
def test_edges_go_in_pairs_and_nothing_else_changes(
    graphs: GraphSet, rate: float, seed: int
) -> None:
    view = view_of_unchanged(edge_drop, graphs, rate, seed)
    for g in range(len(graphs)):
        A, left = (dense(x, graphs.node_ptr, g) for x in (graphs.adjacency, view))
        np.testing.assert_array_equal(left, left.T)
        assert (left <= A).all()


@settings(max_examples=30, deadline=None)
@given(graph_sets(), RATES, SEEDS, st.data())
def test_a_graph_loses_the_same_edges_in_every_batch(
    graphs: GraphSet, rate: float, seed: int, data: st.DataObject
) -> None:
    assert_alike_in_every_batch(edge_drop, graphs, rate, seed, data)


def test_rate_zero_keeps_all_and_weights_follow_their_entries() -> None:
    graphs = graph_set([9, 4], 0.5, seed=0)
    weight = np.arange(graphs.adjacency.num_entries, dtype=np.float32)
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, weight)
    ids = np.arange(2)
    all_kept = edge_drop(weighted, graphs.node_ptr, ids, 0.0, 1)
    np.testing.assert_array_equal(all_kept.col, weighted.col)
    some = edge_drop(weighted, graphs.node_ptr, ids, 0.4, 1)
    assert some.weight is not None
    np.testing.assert_array_equal(weighted.col[some.weight.astype(int)], some.col)


def test_the_share_removed_is_the_rate_and_draws_differ() -> None:
    graphs = graph_set([150, 150], 1.0, seed=0)
    ids = np.arange(2)
    views = [edge_drop(graphs.adjacency, graphs.node_ptr, ids, 0.2, seed) for seed in (1, 2)]
    edges = graphs.adjacency.num_entries
    for view in views:
        # 22,350 edges: the standard deviation of the share is 0.0027.
        assert 1 - view.num_entries / edges == pytest.approx(0.2, abs=0.012)
    first, second = (dense(view, graphs.node_ptr, 0) for view in views)
    other_graph = dense(views[0], graphs.node_ptr, 1)
    for unlike in (second, other_graph):
        both = (first * unlike).sum() / (150 * 149)
        assert both == pytest.approx(0.64, abs=0.02)


def test_numbers_are_uniform() -> None:
    u, v = np.triu_indices(300, 1)
    x = np.sort(edge_uniform(np.zeros(len(u), np.int64), u, v, seed=-5))
    assert x[0] >= 0
    assert x[-1] < 1
    assert np.abs(x - (np.arange(len(x)) + 0.5) / len(x)).max() < 1.63 / np.sqrt(len(x))


@settings(max_examples=30, deadline=None)
@given(graph_sets(), st.floats(0, 1, exclude_max=True), st.integers(0, 2**62))
def test_every_graph_keeps_a_node(graphs: GraphSet, rate: float, seed: int) -> None:
    keep = kept_nodes(graphs.node_ptr, np.arange(len(graphs)), rate, seed)
    assert keep.shape == (graphs.num_nodes,)
    assert np.add.reduceat(keep, graphs.node_ptr[:-1]).min() >= 1


def test_the_share_removed_is_the_rate() -> None:
    ptr = np.array([0, 20_000])
    none, some, half = (kept_nodes(ptr, np.arange(1), rate, seed=1) for rate in (0.0, 0.2, 0.5))
    assert none.all()
    # The standard deviation of a share is 0.0035.
    assert [1 - some.mean(), 1 - half.mean()] == pytest.approx([0.2, 0.5], abs=0.015)
    again = kept_nodes(ptr, np.arange(1), 0.2, seed=2)
    assert (some & again).mean() == pytest.approx(0.64, abs=0.02)


def test_a_graph_loses_the_same_nodes_in_every_batch() -> None:
    whole = kept_nodes(np.array([0, 6, 16]), np.array([0, 1]), 0.4, 3)
    np.testing.assert_array_equal(kept_nodes(np.array([0, 10]), np.array([1]), 0.4, 3), whole[6:])


def test_the_share_hidden_is_the_rate() -> None:
    ptr = np.array([0, 20_000])
    assert (node_uniform(ptr, np.arange(1), seed=1) < 0.3).mean() == pytest.approx(0.3, abs=0.015)


def test_a_graph_hides_the_same_nodes_in_every_batch() -> None:
    whole = node_uniform(np.array([0, 6, 16]), np.array([0, 1]), 3)
    alone = node_uniform(np.array([0, 10]), np.array([1]), 3)
    np.testing.assert_array_equal(alone, whole[6:])
    assert (node_uniform(np.array([0, 50]), np.array([1]), 4)[:10] != alone).any()


@settings(max_examples=40, deadline=None)
@given(graph_sets(), RATES, SEEDS)
def test_simple_symmetric_graphs_come_out(graphs: GraphSet, rate: float, seed: int) -> None:
    view = view_of_unchanged(edge_perturb, graphs, rate, seed)
    assert view.num_entries <= graphs.adjacency.num_entries
    for row in range(graphs.num_nodes):
        neighbours = view.col[view.row_ptr[row] : view.row_ptr[row + 1]]
        assert (np.diff(neighbours) > 0).all()
    for g in range(len(graphs)):
        A, moved = (dense(x, graphs.node_ptr, g) for x in (graphs.adjacency, view))
        np.testing.assert_array_equal(moved, moved.T)
        assert not np.diag(moved).any()
        u, v = np.nonzero(np.triu(A))
        stays = edge_uniform(np.full(len(u), g), u, v, seed) >= rate
        assert moved[u[stays], v[stays]].all()


@settings(max_examples=20, deadline=None)
@given(graph_sets(), RATES, SEEDS, st.data())
def test_a_graph_changes_alike_in_every_batch(
    graphs: GraphSet, rate: float, seed: int, data: st.DataObject
) -> None:
    assert_alike_in_every_batch(edge_perturb, graphs, rate, seed, data)


def test_rate_zero_changes_nothing_and_a_half_moves_half() -> None:
    graphs = graph_set([30], 0.2, seed=0)
    before = dense(graphs.adjacency, graphs.node_ptr, 0)
    still, moved = (
        edge_perturb(graphs.adjacency, graphs.node_ptr, np.arange(1), rate, 1)
        for rate in (0.0, 0.5)
    )
    still, moved = (dense(view, graphs.node_ptr, 0) for view in (still, moved))
    np.testing.assert_array_equal(before, still)
    share = (before * moved).sum() / before.sum()
    assert 0.35 < share < 0.75
    assert (moved > before).any()


def test_a_sparse_graph_keeps_about_as_many_edges() -> None:
    graphs = graph_set([400], 0.02, seed=0)
    view = edge_perturb(graphs.adjacency, graphs.node_ptr, np.array([0]), 0.3, 1)
    assert view.num_entries == pytest.approx(graphs.adjacency.num_entries, rel=0.03)


def test_weights_move_with_their_edges() -> None:
    graphs = graph_set([12], 0.4, seed=3)
    rows, cols = graphs.adjacency.rows(), graphs.adjacency.col
    weight = (np.minimum(rows, cols) * 12 + np.maximum(rows, cols)).astype(np.float32)
    weighted = Adjacency(graphs.adjacency.row_ptr, graphs.adjacency.col, weight)
    view = edge_perturb(weighted, graphs.node_ptr, np.array([0]), 0.5, 2)
    matrix = dense(view, graphs.node_ptr, 0)
    np.testing.assert_array_equal(matrix, matrix.T)
    values = matrix[np.triu_indices(12)]
    found = values[values > 0]
    assert len(np.unique(found)) == len(found)
    assert set(found) <= set(weight.tolist())


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.floats(0.01, 0.99), st.integers(0, 2**62))
def test_connected_and_as_large_as_asked(graphs: GraphSet, rate: float, seed: int) -> None:
    before = graphs.checksum
    keep = grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(len(graphs)), rate, seed)
    del graphs.__dict__["checksum"]
    assert graphs.checksum == before
    for g in range(len(graphs)):
        whole = nx.from_numpy_array(dense(graphs.adjacency, graphs.node_ptr, g))
        kept = np.flatnonzero(keep[graphs.node_ptr[g] : graphs.node_ptr[g + 1]])
        assert len(kept) >= 1
        assert nx.is_connected(whole.subgraph(kept))
        wanted = len(whole) - int(rate * len(whole))
        component = nx.node_connected_component(whole, int(kept[0]))
        assert len(kept) == min(wanted, len(component))


def test_rate_zero_keeps_all_nodes_reached_or_not() -> None:
    graphs = graph_set([6], 0.0, seed=0)
    assert grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(1), 0.0, 0).all()
    assert grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(1), 0.5, 0).sum() == 1


def test_the_same_part_in_every_batch_and_another_for_another_seed() -> None:
    graphs = graph_set([9, 30], 0.2, seed=1)
    whole = grown_nodes(graphs.adjacency, graphs.node_ptr, np.arange(2), 0.5, 4)
    one = graphs.take([1])
    alone = grown_nodes(one.adjacency, one.node_ptr, np.array([1]), 0.5, 4)
    np.testing.assert_array_equal(alone, whole[9:])
    assert (grown_nodes(one.adjacency, one.node_ptr, np.array([1]), 0.5, 5) != alone).any()


def test_every_edge_at_the_border_is_as_likely() -> None:
    star = np.zeros((4, 4))
    star[0, 1:] = star[1:, 0] = 1
    adjacency = from_matrix(star, weighted=False)
    copies = 3000
    many = Adjacency(
        np.concatenate([[0], np.cumsum(np.tile(adjacency.degrees(), copies))]),
        np.tile(adjacency.col, copies),
    )
    ptr = 4 * np.arange(copies + 1)
    keep = grown_nodes(many, ptr, np.arange(copies), 0.5, 0).reshape(copies, 4)
    assert (keep.sum(axis=1) == 2).all()
    assert keep[:, 0].all()
    # Standard deviation of a share: 0.009.
    assert keep[:, 1:].mean(axis=0) == pytest.approx([1 / 3] * 3, abs=0.035)


def test_each_graph_is_changed_by_its_own_kind_alone() -> None:
    kinds = np.array([*AUGMENTATIONS, "edge-drop", "graph"])
    graphs = graph_set([40] * len(kinds), 0.1, seed=0)
    edges, *nodes = change(graphs.adjacency, graphs.node_ptr, np.arange(6), kinds, 0.3, seed=1)
    kept, masked = (np.add.reduceat(chosen, graphs.node_ptr[:-1]) for chosen in nodes)
    for g, kind in enumerate(kinds):
        assert (kept[g] < 40) == (kind in ("node-drop", "subgraph"))
        assert (masked[g] > 0) == (kind == "attribute-mask")
        before, after = (dense(x, graphs.node_ptr, g) for x in (graphs.adjacency, edges))
        assert (before != after).any() == (kind in ("edge-perturb", "edge-drop"))
    assert kept[list(kinds).index("subgraph")] <= 28


def test_two_different_kinds_all_as_likely() -> None:
    first, second = draw_two(np.arange(12_000), 4, seed=2)
    assert (first != second).all()
    pairs = np.bincount(4 * first + second, minlength=16).reshape(4, 4)
    # Twelve pairs: 1,000 of each, standard deviation 30.
    assert np.abs(pairs[~np.eye(4, dtype=bool)] - 1000).max() < 130
    one, other = draw_two(np.arange(5), 1, seed=2)
    assert not one.any()
    assert not other.any()


def test_names() -> None:
    assert parse_augmentations("subgraph+node-drop") == ("subgraph", "node-drop")
    assert parse_augmentations("ppr+edge-drop") == ("ppr", "edge-drop")
    for wrong in ("", "node-drop+node-drop", "subgraphs"):
        with pytest.raises(ConfigError, match="'augmentations' parameter of GraphCL"):
            parse_augmentations(wrong)
    with pytest.raises(ConfigError, match="'subgraph'"):
        parse_augmentations("subgraphs")
