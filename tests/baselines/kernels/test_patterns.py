from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from igsd.baselines.kernels.patterns import (
    Patterns,
    block_matrix,
    feature_basis,
    inverse_root,
    one_hot,
    products,
    walk_matrix,
)
from igsd.errors import DataError
from igsd.graphs.build import from_edges
from igsd.graphs.colours import node_keys
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs


def labelled(codes: list[int], names: tuple[object, ...]) -> np.ndarray:
    none = np.zeros(0, np.int64)
    graphs = from_edges(
        [len(codes)],
        none,
        none,
        node_labels=np.array(codes, np.int32),
        node_label_names=names,  # type: ignore[arg-type]
    )
    return node_keys(graphs, "label")


def test_keys_belong_to_names_and_not_to_codes() -> None:
    assert labelled([0, 1], ("C", "N")).tolist() == labelled([1, 0], ("N", "C")).tolist()
    assert labelled([0], (1,)).tolist() != labelled([0], ("1",)).tolist()


def test_a_missing_label_is_a_label_of_its_own() -> None:
    keys = labelled([-1, 0, -1], ("C",))
    assert keys[0] == keys[2] != keys[1]


def test_the_same_on_every_machine() -> None:
    assert labelled([0], ("C",)).tolist() == [8141929895886339286]


def test_degrees() -> None:
    star = from_edges([4], np.array([0, 0, 0]), np.array([1, 2, 3]))
    keys = node_keys(star, "degree")
    assert keys[1] == keys[2] == keys[3] != keys[0]


def test_labels_missing_where_there_were_some() -> None:
    with pytest.raises(DataError, match="'plain' has none"):
        node_keys(make_graphs(labels=False, name="plain"), "label")


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


def test_a_block_for_each_graph(odd: GraphSet) -> None:
    A = block_matrix(odd).toarray()
    expected = np.zeros((10, 10))
    for u, v in ((4, 5), (7, 8), (8, 9), (7, 9)):
        expected[u, v] = expected[v, u] = 1
    np.testing.assert_array_equal(A, expected)
    alone = np.diag((expected.sum(axis=1) == 0).astype(float))
    np.testing.assert_array_equal(walk_matrix(odd).toarray(), expected + alone)


def test_one_hot() -> None:
    known = np.array([3, 5, 9], np.uint64)
    rows = one_hot(np.array([5, 3, 4, 11], np.uint64), known).toarray()
    assert rows.tolist() == [[0, 1, 0], [1, 0, 0], [0, 0, 0], [0, 0, 0]]


def test_coordinates_give_back_a_kernel_of_low_rank() -> None:
    X = np.random.default_rng(0).normal(size=(8, 3))
    K = X @ X.T
    coordinates = K @ feature_basis(K, 10)
    assert coordinates.shape == (8, 3)
    np.testing.assert_allclose(coordinates @ coordinates.T, K, atol=1e-10)
    assert feature_basis(K, 2).shape == (8, 2)


def test_inverse_root() -> None:
    X = np.random.default_rng(0).normal(size=(4, 4))
    K = X @ X.T
    root = inverse_root(K)
    np.testing.assert_allclose(root @ K @ root, np.eye(4), atol=1e-8)
    singular = np.ones((3, 3))
    assert np.isfinite(inverse_root(singular)).all()
