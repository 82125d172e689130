from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from igsd.views.sparsify import keep_threshold, keep_top_k, keep_top_k_of_row
from tests.reference import views as reference

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
