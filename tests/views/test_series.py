from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.graphs.build import from_edges
from igsd.graphs.graphset import GraphSet
from igsd.settings.groups import View
from igsd.views.cache import diffusion_view
from igsd.views.diffusion import diffuse_columns, series_coefficients, sparse_transition
from tests.reference import views as reference
from tests.views.strategies import graph_set, graph_sets


@pytest.mark.parametrize("tolerance", [0.5, 1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("alpha", [0.05, 0.2, 0.9])
def test_ppr_stops_at_the_first_k_within_tolerance(
    alpha: float, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("igsd.views.diffusion.TOLERANCE", tolerance)
    K = len(series_coefficients(View(teleport=alpha))) - 1
    assert (1 - alpha) ** (K + 1) <= tolerance * (1 + 1e-9)
    assert K == 0 or (1 - alpha) ** K > tolerance


@pytest.mark.parametrize("tolerance", [0.5, 1e-2, 1e-6, 1e-12])
@pytest.mark.parametrize("t", [0.1, 5.0, 80.0])
def test_heat_stops_at_the_first_k_within_tolerance(
    t: float, tolerance: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("igsd.views.diffusion.TOLERANCE", tolerance)
    K = len(series_coefficients(View(view="heat", heat_time=t))) - 1
    logs = [k * math.log(t) - t - math.lgamma(k + 1) for k in range(K, K + 400)]
    tail_and_last = [math.exp(x) for x in logs]
    assert math.fsum(tail_and_last[1:]) <= tolerance * (1 + 1e-9)
    assert K == 0 or math.fsum(tail_and_last) > tolerance


def test_sparse_transition_equals_the_plain_loop() -> None:
    graphs = graph_set([4, 9], 0.4, seed=2)
    A = reference.dense(graphs.adjacency, graphs.node_ptr, 1)
    T = sparse_transition(graphs.adjacency, graphs.node_ptr, 1)[0].toarray()
    np.testing.assert_allclose(T, reference.transition(A), atol=1e-15)


def test_columns_equal_the_power_series() -> None:
    graphs = graph_set([9], 0.4, seed=2)
    T, _ = sparse_transition(graphs.adjacency, graphs.node_ptr, 0)
    theta = np.array([0.3, 0.1, 0.4, 0.05])
    expected = reference.series(T.toarray(), theta.tolist())
    np.testing.assert_allclose(diffuse_columns(T, theta, 2, 7), expected[:, 2:7], atol=1e-15)


@settings(max_examples=40, deadline=None)
@given(graph_sets(), st.sampled_from(["ppr", "heat"]), st.sampled_from([1e-1, 1e-3, 1e-6]))
def test_series_is_within_tolerance_of_the_exact_view(
    graphs: GraphSet, kind: str, tolerance: float
) -> None:
    exact = diffusion_view(graphs, View(view=kind, threshold=0.0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("igsd.views.diffusion.TOLERANCE", tolerance)
        series = diffusion_view(graphs, View(view=kind, threshold=0.0, exact_limit=0))
    for g in range(len(graphs)):
        S, S_K = (reference.dense(view, graphs.node_ptr, g) for view in (exact, series))
        # Float32 storage rounds by 6e-8 on top of the stated bound.
        assert np.abs(S - S_K).max() <= tolerance + 2e-7
        np.testing.assert_array_equal(S_K, S_K.T)


@pytest.mark.parametrize("top_k", [0, 3])
def test_blocks_and_sparsification_agree_with_the_exact_view(
    top_k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("igsd.views.diffusion.BLOCK_ENTRIES", 200)
    monkeypatch.setattr("igsd.views.diffusion.TOLERANCE", 1e-9)
    graphs = graph_set([3, 40, 5], 0.08, seed=4)
    spec = {"top_k": top_k, "threshold": 0.0123}
    exact = diffusion_view(graphs, View(**spec))
    series = diffusion_view(graphs, View(**spec, exact_limit=10))
    np.testing.assert_array_equal(exact.row_ptr, series.row_ptr)
    np.testing.assert_array_equal(exact.col, series.col)
    np.testing.assert_allclose(exact.weight, series.weight, atol=1e-7)


@pytest.mark.slow
def test_a_graph_of_the_size_of_dds_largest_is_diffused_sparsely() -> None:
    n = 5748
    ring = np.arange(n)
    graphs = from_edges([n], ring, (ring + 1) % n)
    view = diffusion_view(graphs, View())
    assert len(set(view.degrees().tolist())) == 1
    assert view.num_entries < 40 * n
