from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from igsd.views.diffusion import heat, heat_coefficients, ppr, ppr_coefficients, transition_matrix
from tests.reference import views as reference
from tests.views.strategies import graph_set

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
