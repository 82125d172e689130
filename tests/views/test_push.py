from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import torch

from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.graphs.readers.networkx import from_networkx
from igsd.graphs.weights import weighted
from igsd.settings.groups import View
from igsd.views import push
from igsd.views.cache import diffusion_view
from igsd.views.diffusion import is_pushed, push_piece, series_coefficients, sparse_transition
from igsd.views.push import HeatPushes, PPRPushes, error_bound, pushed_blocks


def network(n: int, kind: str, *, weights: bool = False) -> GraphSet:
    graph = nx.barabasi_albert_graph(n, 5, seed=1)
    if kind == "random":
        graph = nx.gnm_random_graph(n, 5 * n, seed=1)
    if kind == "small world":
        graph = nx.watts_strogatz_graph(n, 10, 0.1, seed=1)
    if weights:
        rng = np.random.default_rng(0)
        nx.set_edge_attributes(
            graph, {e: float(rng.uniform(0.2, 3)) for e in graph.edges}, "weight"
        )
    return weighted(from_networkx([graph]), "weight")


def exact(graphs: GraphSet, view: View) -> np.ndarray:
    T = sparse_transition(graphs.adjacency, graphs.node_ptr, 0)[0].toarray()
    if view.view == "ppr":
        return view.teleport * np.linalg.inv(np.eye(len(T)) - (1 - view.teleport) * T)
    values, V = np.linalg.eigh(T)
    return (V * np.exp(view.heat_time * (values - 1))) @ V.T


def pushed(graphs: GraphSet, view: View) -> np.ndarray:
    piece = push_piece(graphs.adjacency, graphs.node_ptr, 0, view, lambda steps, note="": None)
    n = graphs.num_nodes
    S = np.zeros((n, n))
    S[np.repeat(np.arange(n), piece.counts), piece.col] = piece.weight
    return S


@pytest.mark.slow
@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("kind", ["random", "hubs", "small world"])
@pytest.mark.parametrize("view", ["ppr", "heat"])
def test_the_error_is_within_its_bound_on_2000_nodes(view: str, kind: str, weights: bool) -> None:
    graphs, settings = network(2000, kind, weights=weights), View(view=view)
    S, P = exact(graphs, settings), pushed(graphs, settings)
    delta = error_bound(settings.threshold)
    assert delta == settings.threshold / 2
    kept = P > 0
    gap = S - P
    assert gap[kept].max() <= delta + 1e-6
    assert gap[kept].min() >= -1e-6
    assert S[~kept].max() < settings.threshold + delta
    np.testing.assert_array_equal(P, P.T)


@pytest.mark.parametrize("view", ["ppr", "heat"])
def test_rows_are_bounded_before_anything_is_dropped(view: str) -> None:
    graphs, settings, delta = network(150, "hubs"), View(view=view), 2e-3
    T, d = sparse_transition(graphs.adjacency, graphs.node_ptr, 0)
    pushes: PPRPushes | HeatPushes = PPRPushes(T, d, settings.teleport, delta)
    if view == "heat":
        pushes = HeatPushes(T, d, series_coefficients(settings), delta)
    rows = list(pushed_blocks(pushes, lambda block: block))
    X = np.concatenate([block.toarray() for block in rows])
    gap = exact(graphs, settings) - X
    assert gap.min() >= -1e-6
    assert (gap <= delta * np.sqrt(d[None, :] / d[:, None]) + 2e-6).all()
    assert np.minimum(gap, gap.T).max() <= delta + 2e-6


def test_threads_and_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = network(400, "hubs", weights=True)
    one, threads = pushed(graphs, View()), torch.get_num_threads()
    try:
        torch.set_num_threads(3)
        np.testing.assert_array_equal(pushed(graphs, View()), one)
    finally:
        torch.set_num_threads(threads)
    monkeypatch.setattr(push, "_MOST_PUSHES", 100)
    monkeypatch.setattr(push, "_BLOCK_ENTRIES", 0)
    np.testing.assert_allclose(pushed(graphs, View()), one, atol=2e-6)


@pytest.mark.parametrize("weights", [False, True])
def test_compiled_loops_give_the_same_to_the_last_bit(
    weights: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("numba", reason="compiled loops need igsd[speed]")
    graphs = network(300, "hubs", weights=weights)
    T, d = sparse_transition(graphs.adjacency, graphs.node_ptr, 0)
    found = []
    for fewest in (1, 301):
        monkeypatch.setattr(push, "_COMPILED_NODES", fewest)
        pushes = PPRPushes(T, d, 0.2, 1e-4)
        found.append(pushes.rows(np.arange(40, 80)).toarray())
    np.testing.assert_array_equal(*found)
    assert (found[0][:, 40:80].diagonal() > 0.2).all()
    monkeypatch.setattr(push, "_COMPILED_NODES", 1)
    monkeypatch.setattr(push, "_compiled", lambda: None)  # as without numba
    np.testing.assert_array_equal(pushes.rows(np.arange(40, 80)).toarray(), found[0])


def test_the_numbering_of_nodes_changes_nothing_beyond_rounding() -> None:
    graphs, settings = network(120, "random"), View(threshold=2e-3)
    order = np.random.default_rng(0).permutation(120)
    rows, columns = graphs.adjacency.rows(), graphs.adjacency.col
    other = from_edges([120], order[rows], order[columns])
    one, two = pushed(graphs, settings), pushed(other, settings)
    np.testing.assert_allclose(one, two[np.ix_(order, order)], atol=2e-6)


def test_isolated_nodes_and_top_k() -> None:
    graph = nx.barabasi_albert_graph(60, 3, seed=0)
    graph.add_node(60)
    graphs = from_networkx([graph])
    S = pushed(graphs, View())
    assert S[60, :60].max() == 0
    assert 1 - error_bound(1e-3) <= S[60, 60] <= 1
    few = pushed(graphs, View(top_k=3)) > 0
    assert few.sum(axis=1).min() >= 1
    assert few[:60].sum(axis=1).mean() < 8


def test_it_is_chosen_by_its_cost() -> None:
    assert is_pushed(20_000, View())
    assert is_pushed(20_000, View(view="heat"))
    assert not is_pushed(5_000, View(view="heat"))
    assert not is_pushed(500, View())
    assert not is_pushed(20_000, View(threshold=0.0))
    graphs = network(300, "random")
    series = diffusion_view(graphs, View(exact_limit=0))
    assert series.weight is not None


def test_progress_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    graphs = network(4000, "random")
    diffusion_view(graphs, View(), verbose=True)
    assert "diffusion: " in capsys.readouterr().err
