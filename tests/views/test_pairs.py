from __future__ import annotations

import numpy as np
import pytest
import torch

from igsd.config import Config
from igsd.graphs.build import from_edges
from igsd.graphs.features import FeatureMap
from igsd.model.build import build_model
from igsd.views.pairs import PairSource
from igsd.views.spec import ViewSpec
from igsd.views.view import diffusion_view
from tests.reference.adjacency import dense
from tests.reference.views import dense as dense_view
from tests.small_graphs import HOST, TINY, make_graphs, odd_graphs

GRAPHS = make_graphs()


def source(kind: str = "ppr", seed: int = 0, **settings) -> PairSource:
    spec = ViewSpec(kind=kind, **settings)
    return PairSource(GRAPHS, FeatureMap.fit(GRAPHS), spec, seed=seed, device=HOST, cache=False)


@pytest.mark.parametrize("kind", ["ppr", "heat"])
def test_the_view_is_the_diffusion_of_the_same_graphs(kind: str) -> None:
    indices = np.array([4, 1, 7])
    graphs, view = source(kind).pair(indices, (0, 0))
    whole = diffusion_view(GRAPHS, ViewSpec(kind=kind))
    S = dense(view)
    for place, g in enumerate(indices):
        rows = slice(int(view.ptr[place]), int(view.ptr[place + 1]))
        np.testing.assert_array_equal(S[rows, rows], dense_view(whole, GRAPHS.node_ptr, g))
    assert not view.adjacency.missing_loops.any()
    assert graphs.adjacency.missing_loops.all()


@pytest.mark.parametrize("kind", ["ppr", "edge-drop"])
def test_both_show_the_same_nodes(kind: str) -> None:
    graphs, view = source(kind).pair(np.array([2, 0]), (0, 0))
    assert torch.equal(graphs.x, view.x)
    assert torch.equal(graphs.ptr, view.ptr)


def test_edge_drop_is_a_function_of_seed_and_draw() -> None:
    indices = np.arange(10)

    def drawn(seed: int, draw: tuple[int, int]) -> np.ndarray:
        return dense(source("edge-drop", seed, drop_rate=0.5).pair(indices, draw)[1])

    np.testing.assert_array_equal(drawn(0, (1, 2)), drawn(0, (1, 2)))
    assert (drawn(0, (1, 2)) != drawn(0, (1, 3))).any()
    assert (drawn(0, (1, 2)) != drawn(0, (2, 2))).any()
    assert (drawn(0, (1, 2)) != drawn(1, (1, 2))).any()


def test_edge_drop_removes_whole_edges_of_the_graph() -> None:
    graphs, view = source("edge-drop", drop_rate=0.5).pair(np.arange(10), (0, 0))
    A, kept = dense(graphs), dense(view)
    np.testing.assert_array_equal(kept, kept.T)
    assert (kept <= A).all()
    assert 0 < kept.sum() < A.sum()


@pytest.mark.parametrize("kind", ["ppr", "heat", "edge-drop"])
def test_odd_graphs(kind: str) -> None:
    odd = odd_graphs()
    pairs = PairSource(
        odd, FeatureMap.fit(odd), ViewSpec(kind=kind), seed=0, device=HOST, cache=False
    )
    _, view = pairs.pair(np.array([0, 1, 2, 3]), (0, 0))
    assert np.isfinite(dense(view)).all()
    assert view.num_graphs == 4


def test_alike_nodes_as_one_row_give_the_same_model() -> None:
    """Losses, gradients and running statistics of a step are those of all nodes."""
    cliques = [(u, v) for u in range(4) for v in range(u)] + [(0, 4), (0, 5), (4, 5)]
    edges = np.concatenate([np.array(cliques) + 6 * g for g in range(4)])
    edges = np.concatenate([edges, [(1, 4), (7, 10)]])
    graphs = from_edges([6] * 4 + [3], *edges.T)
    features = FeatureMap.fit(graphs)
    found = {}
    for merge in (False, True):
        pairs = PairSource(
            graphs, features, ViewSpec(), seed=0, device=HOST, cache=False, merge=merge
        )
        torch.manual_seed(0)
        model = build_model(Config(**TINY), features.dim)
        batch, view = pairs.pair(np.arange(5), (0, 0))
        (out,) = model(batch, [view])
        (out.p.square().sum() + out.p_view.sin().sum()).backward()
        gradients = [p.grad for p in model.parameters() if p.grad is not None]
        found[merge] = [*out, *gradients, *model.buffers()]
        assert (batch.counts is not None) == merge
    for ours, plain in zip(found[True], found[False], strict=True):
        torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-5)


def test_rows_with_a_fixed_number_of_entries_are_never_merged() -> None:
    graphs = from_edges([4], np.array([0, 0, 0]), np.array([1, 2, 3]))
    spec = ViewSpec(top_k=2)
    pairs = PairSource(
        graphs, FeatureMap.fit(graphs), spec, seed=0, device=HOST, cache=False, merge=True
    )
    assert pairs.pair(np.array([0]), (0, 0))[0].counts is None
