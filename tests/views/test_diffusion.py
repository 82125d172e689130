from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from igsd.settings.groups import View
from igsd.views.diffusion import (
    Piece,
    heat,
    heat_coefficients,
    join_pieces,
    keep_threshold,
    keep_top_k,
    keep_top_k_of_row,
    ppr,
    ppr_coefficients,
    relevant_settings,
    transition_matrix,
)
from tests.reference import views as reference
from tests.views.strategies import graph_set


def test_defaults_are_the_papers() -> None:
    view = View()
    assert (view.view, view.teleport, view.threshold, view.top_k) == ("ppr", 0.2, 1e-3, 0)


def test_only_what_matters_is_relevant() -> None:
    def relevant(**settings: Any) -> dict[str, Any]:
        return relevant_settings(View(**settings))

    assert relevant() == relevant(heat_time=3.0, drop_rate=0.5)
    assert relevant() != relevant(teleport=0.3)
    assert relevant(view="heat") != relevant(view="heat", heat_time=3.0)
    assert relevant(top_k=4) == relevant(top_k=4, threshold=0.1)


def test_relevant_settings_have_the_names_of_cached_files() -> None:
    # Views cached by older versions are found by these names and values.
    series = {"exact_limit": 2000, "tolerance": 1e-6}
    expected = {"kind": "ppr", "teleport": 0.2, "threshold": 1e-3, "pushed": 5e-4} | series
    assert relevant_settings(View()) == expected
    expected = {"kind": "heat", "heat_time": 5.0, "top_k": 3, "pushed": 1e-4} | series
    assert relevant_settings(View(view="heat", top_k=3)) == expected


PATH = torch.tensor([[[0.0, 1, 0], [1, 0, 1], [0, 1, 0]]], dtype=torch.float64)


def matrices() -> list[np.ndarray]:
    graphs = graph_set([1, 2, 5, 9, 9], 0.4, seed=3)
    return [reference.dense(graphs.adjacency, graphs.node_ptr, g) for g in range(len(graphs))]


def test_transition_of_a_path_has_the_expected_entries_and_leaves_its_input() -> None:
    before = PATH.clone()
    r = 1 / math.sqrt(6)
    expected = torch.tensor([[0.5, r, 0], [r, 1 / 3, r], [0, r, 0.5]], dtype=torch.float64)
    torch.testing.assert_close(transition_matrix(PATH)[0], expected)
    assert torch.equal(PATH, before)


def test_ppr_of_one_edge_is_known() -> None:
    T = torch.full((1, 2, 2), 0.5, dtype=torch.float64)
    # Eigenvalues 1 and 0 of T give 1 and alpha of S.
    expected = torch.tensor([[[0.6, 0.4], [0.4, 0.6]]], dtype=torch.float64)
    torch.testing.assert_close(ppr(T, 0.2), expected)


def test_heat_of_one_edge_is_known() -> None:
    T = torch.full((1, 2, 2), 0.5, dtype=torch.float64)
    low = math.exp(-5.0)
    expected = torch.tensor([[[1 + low, 1 - low], [1 - low, 1 + low]]], dtype=torch.float64) / 2
    torch.testing.assert_close(heat(T, 5.0), expected)


@pytest.mark.parametrize("alpha", [0.01, 0.2, 0.9])
def test_ppr_equals_the_inverse(alpha: float) -> None:
    for A in matrices():
        T = transition_matrix(torch.from_numpy(A)[None])
        np.testing.assert_allclose(T[0], reference.transition(A), atol=1e-15)
        np.testing.assert_allclose(ppr(T, alpha)[0], reference.ppr(T[0].numpy(), alpha), atol=1e-13)


@pytest.mark.parametrize("t", [0.1, 5.0, 20.0])
def test_heat_equals_the_series(t: float) -> None:
    for A in matrices():
        T = transition_matrix(torch.from_numpy(A)[None])
        np.testing.assert_allclose(heat(T, t)[0], reference.heat(T[0].numpy(), t), atol=1e-13)


def test_s_is_symmetric_to_the_last_bit() -> None:
    A = np.stack([A for A in matrices() if len(A) == 9])
    T = transition_matrix(torch.from_numpy(A))
    for S in (ppr(T, 0.2), heat(T, 5.0)):
        assert torch.equal(S, S.mT)


def test_diffusion_leaves_t_as_it_is() -> None:
    T = transition_matrix(PATH)
    before = T.clone()
    ppr(T, 0.2)
    heat(T, 5.0)
    assert torch.equal(T, before)


def test_ppr_coefficients_are_a_geometric_row() -> None:
    np.testing.assert_allclose(ppr_coefficients(0.2, 3), [0.2, 0.16, 0.128, 0.1024])
    assert 1 - ppr_coefficients(0.2, 9).sum() == pytest.approx(0.8**10)


def test_heat_coefficients_are_poisson_weights_and_do_not_overflow() -> None:
    expected = [math.exp(-5), 5 * math.exp(-5), 12.5 * math.exp(-5)]
    np.testing.assert_allclose(heat_coefficients(5.0, 2), expected)
    assert heat_coefficients(1000.0, 2000).sum() == pytest.approx(1.0)


S = torch.tensor([[0.5, 0.3, 0.1], [0.3, 0.6, 0.0], [0.1, 0.0, 0.9]])


def test_threshold_keeps_an_entry_that_equals_it() -> None:
    expected = [[True, True, False], [True, True, False], [False, False, True]]
    assert keep_threshold(S, 0.3).tolist() == expected


def test_threshold_zero_keeps_all_but_zeros_and_rounding() -> None:
    noisy = S.clone()
    noisy[1, 2] = noisy[2, 1] = 1e-17
    assert keep_threshold(noisy, 0.0).tolist() == (S > 0).tolist()


def test_top_1_keeps_the_diagonal_here() -> None:
    assert keep_top_k(S, 1).tolist() == np.eye(3, dtype=bool).tolist()


def test_top_2_keeps_what_is_large_for_either_end() -> None:
    # 0.1 is third in row 0, but second in row 2: it stays, in both places.
    assert keep_top_k(S, 2).tolist() == [
        [True, True, True],
        [True, True, False],
        [True, False, True],
    ]
    assert keep_top_k_of_row(S, 2).tolist()[0] == [True, True, False]


def test_ties_with_the_kth_largest_stay_with_it() -> None:
    tied = torch.tensor([[0.4, 0.3, 0.3000001, 0.1]])
    assert keep_top_k_of_row(tied, 2).tolist() == [[True, True, True, False]]


@pytest.mark.parametrize("k", [3, 10])
def test_k_of_the_size_or_more_keeps_all_but_zeros(k: int) -> None:
    assert keep_top_k(S, k).tolist() == (S > 0).tolist()


@given(st.integers(1, 8), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_top_k_equals_the_plain_loop(n: int, k: int, seed: int) -> None:
    half = np.random.default_rng(seed).integers(0, 5, (n, n)) / 8
    symmetric = half + half.T
    kept = keep_top_k(torch.from_numpy(symmetric), k).numpy()
    np.testing.assert_array_equal(kept, reference.top_k(symmetric, k) > 0)
    np.testing.assert_array_equal(kept, kept.T)


def test_pieces_in_any_order_become_one_table() -> None:
    node_ptr = np.array([0, 2, 3, 5])
    last_and_first = Piece(
        graphs=np.array([2, 0]),
        counts=np.array([1, 0, 2, 1]),
        col=np.array([1, 0, 1, 0], np.int32),
        weight=np.array([0.1, 0.2, 0.3, 0.4], np.float32),
    )
    middle = Piece(
        np.array([1]), np.array([1]), np.array([0], np.int32), np.array([1.0], np.float32)
    )
    view = join_pieces([last_and_first, middle], node_ptr)
    assert view.row_ptr.tolist() == [0, 2, 3, 4, 5, 5]
    assert view.col.tolist() == [0, 1, 0, 0, 1]
    assert view.weight is not None
    np.testing.assert_allclose(view.weight, [0.2, 0.3, 0.4, 1.0, 0.1], rtol=1e-7)
