from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.baselines.patterns import Patterns, products


def random_patterns(seed: int, num_graphs: int, entries: int) -> Patterns:
    rng = np.random.default_rng(seed)
    graph = rng.integers(num_graphs, size=entries)
    # Some patterns everywhere, many only once.
    keys = np.where(rng.random(entries) < 0.5, rng.integers(4, size=entries), rng.integers(999))
    return Patterns.count(graph, (keys + 7).astype(np.uint64), num_graphs)


def dense(patterns: Patterns, keys: list[int]) -> np.ndarray:
    table = np.zeros((patterns.counts.shape[0], len(keys)))
    for column, key in enumerate(patterns.keys.tolist()):
        table[:, keys.index(key)] = patterns.counts.toarray()[:, column]
    return table


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 9999), st.integers(1, 60), st.integers(1, 60))
def test_products_equal_dense_ones(seed: int, n: int, m: int) -> None:
    a, b = random_patterns(seed, n, 5 * n), random_patterns(seed + 1, m, 5 * m)
    keys = sorted(set(a.keys.tolist()) | set(b.keys.tolist()))
    A, B = dense(a, keys), dense(b, keys)
    np.testing.assert_array_equal(products(a, b), A @ B.T)
    np.testing.assert_array_equal(products(a), A @ A.T)
    np.testing.assert_array_equal(a.squares(), (A * A).sum(axis=1))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 9999))
def test_unary_products_are_sums_of_minima(seed: int) -> None:
    a = random_patterns(seed, 8, 60)
    table = a.counts.toarray()
    expected = np.minimum(table[:, None], table[None]).sum(axis=2)
    np.testing.assert_array_equal(products(a.unary()), expected)


def test_counts_too_large_for_float32() -> None:
    graph = np.repeat([0, 1], [5000, 5001])
    patterns = Patterns.count(graph, np.full(10_001, 3, np.uint64), 2)
    assert products(patterns).tolist() == [[25_000_000, 25_005_000], [25_005_000, 25_010_001]]


def test_columns_and_most_common() -> None:
    keys = np.array([5, 5, 9, 2, 9, 9], np.uint64)
    patterns = Patterns.count(np.array([0, 1, 0, 0, 1, 1]), keys, 3)
    assert patterns.most_common(2).tolist() == [5, 9]
    assert patterns.most_common(9).tolist() == [2, 5, 9]
    wanted = np.array([1, 5, 9, 11], np.uint64)
    assert patterns.columns(wanted).toarray().tolist() == [[0, 1, 1, 0], [0, 1, 2, 0], [0] * 4]
