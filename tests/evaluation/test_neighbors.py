from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.evaluation.clusters import cluster, outliers
from igsd.evaluation.neighbors import nearest, neighbors


def nearest_graphs(vectors: np.ndarray, query: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    indices, distances = nearest(vectors, [query], k)
    return indices[0], distances[0]


def nearest_of_all(vectors: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    return nearest(vectors, np.arange(len(vectors)), k)


def test_equals_a_plain_loop() -> None:
    vectors = np.random.default_rng(1).normal(size=(9, 4)) * [1, 10, 100, 1]
    indices, distances = nearest_graphs(vectors, 2, 3)
    scaled = vectors / vectors.std(axis=0)
    expected = sorted(
        (float(np.linalg.norm(scaled[i] - scaled[2]) / 2), i) for i in range(9) if i != 2
    )[:3]
    assert indices.tolist() == [i for _, i in expected]
    np.testing.assert_allclose(distances, [d for d, _ in expected], atol=1e-6)


def test_constant_columns_do_not_count() -> None:
    vectors = np.array([[0.0, 5.0], [1.0, 5.0], [3.0, 5.0]])
    np.testing.assert_allclose(
        nearest_graphs(vectors, 0, 2)[1], nearest_graphs(vectors[:, :1], 0, 2)[1]
    )


def test_twins_are_at_distance_zero_and_go_by_index() -> None:
    indices, distances = nearest_graphs(np.ones((4, 2)), 1, 10)
    assert indices.tolist() == [0, 2, 3]
    assert distances.tolist() == [0, 0, 0]


@pytest.mark.parametrize("query", [-1, 4])
def test_a_query_outside_the_set(query: int) -> None:
    with pytest.raises(DataError, match="numbered from 0 to 3"):
        nearest_graphs(np.ones((4, 2)), query, 1)


@pytest.mark.parametrize("queries", [[3, "net_004"], [1, 2.5], (0, None)])
def test_numbers_among_other_queries(queries: object) -> None:
    with pytest.raises(DataError, match="Queries must be of one kind: numbers of graphs"):
        neighbors(np.ones((4, 2)), queries)


def test_no_neighbours_asked_for() -> None:
    with pytest.raises(ConfigError, match="k must be at least 1"):
        nearest_graphs(np.ones((4, 2)), 0, 0)
    with pytest.raises(ConfigError, match=r"a whole number\. Got 2\.5"):
        neighbors(np.ones((4, 2)), [0], k=2.5)  # type: ignore[arg-type]


def test_of_all_equals_one_by_one() -> None:
    vectors = np.random.default_rng(2).normal(size=(300, 5)) * 3 + 1000
    vectors[17] = vectors[3]  # twins
    indices, distances = nearest_of_all(vectors, 4)
    for query in (0, 3, 17, 299):
        expected, apart = nearest_graphs(vectors, query, 4)
        assert indices[query].tolist() == expected.tolist()
        np.testing.assert_allclose(distances[query], apart, atol=1e-6)
    assert distances[3, 0] == 0


def test_of_all_in_small_sets() -> None:
    assert nearest_of_all(np.ones((1, 2)), 3)[0].shape == (1, 0)
    assert nearest_of_all(np.ones((3, 2)), 5)[0].tolist() == [[1, 2], [0, 2], [0, 1]]


def test_queries_outside_the_set_equal_a_plain_loop() -> None:
    draws = np.random.default_rng(3)
    vectors, queries = draws.normal(size=(50, 6)) * 4 + 2, draws.normal(size=(7, 6))
    vectors[:, 5] = 1.0  # does not vary
    indices, distances = neighbors(vectors, queries, k=3)
    kept = vectors[:, :5]
    for query, row, apart in zip(queries, indices, distances, strict=True):
        scaled = (kept - query[:5]) / kept.std(axis=0)
        plain = np.sqrt((scaled**2).mean(axis=1))
        assert row.tolist() == np.argsort(plain, kind="stable")[:3].tolist()
        np.testing.assert_allclose(apart, plain[row], atol=1e-6)
    assert neighbors(vectors, vectors[:2], k=1)[0].tolist() == [[0], [1]]  # none is left out


def test_queries_of_another_width() -> None:
    with pytest.raises(DataError, match=r"vectors of 2 numbers .* Got shape \(1, 3\)"):
        neighbors(np.ones((4, 2)), [[1.0, 2.0, 3.0]])


def test_a_model_embeds_both_sides() -> None:
    class Doubled:
        def transform(self, numbers: list[float]) -> np.ndarray:
            return 2 * np.array(numbers).reshape(-1, 1)

    indices, _ = neighbors([0.0, 1.0, 5.0], [4.0, 0.8], k=1, model=Doubled())
    assert indices.tolist() == [[2], [1]]
    assert neighbors([0.0, 1.0, 5.0], [2], k=2, model=Doubled())[0].tolist() == [[1, 0]]


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e300])
def test_vectors_that_have_no_distance(wrong: float) -> None:
    """A column with such a number was left out, so that graphs were 0 apart, in silence."""
    vectors = np.array([[0.0, 1], [1, 2], [wrong, 3], [4, 9]])
    with pytest.raises(DataError, match=r"The vectors must be .* Row 2, column 0"):
        neighbors(vectors, [0], k=2)
    with pytest.raises(DataError, match=r"Queries must be finite .* Query 0 \(from 0\) is not"):
        neighbors(np.eye(2), [[wrong, 1]], k=1)


@pytest.mark.parametrize(
    ("data", "queries", "message"),
    [
        ([["a", "b"], ["c", "d"]], [0], "vectors must be numbers .*'a'"),
        (np.eye(2) * 1j, [0], "vectors must be numbers .*complex"),
        ([1.0, 2.0, 3.0], [0], r"must be a table .* Got shape \(3,\)"),
        (np.eye(2), "CCO", r"graphs need their model\)\. Got something else: .*'CCO'"),
        (np.eye(2), None, "Queries must be numbers of graphs"),
        (np.eye(2), np.array([["2020-01-01"] * 2], "datetime64[D]"), "something else: .*datetime"),
    ],
)
def test_what_is_no_vector(data: Any, queries: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        neighbors(data, queries, k=1)


@pytest.mark.parametrize("k", [0, 1.5, True, "2"])
def test_numbers_of_neighbours(k: Any) -> None:
    for search in (lambda: neighbors(np.eye(3), [0], k=k), lambda: outliers(np.eye(3), k)):
        with pytest.raises(ConfigError, match="k must be at least 1, a whole number"):
            search()
    with pytest.raises(ConfigError, match="at least 2 graphs"):
        cluster(np.eye(3), k)


def test_masked_vectors_and_huge_numbers_get_a_sentence() -> None:
    vectors = np.ma.masked_array(np.eye(4), mask=np.eye(4))
    with pytest.raises(DataError, match="a masked entry has no value"):
        neighbors(vectors, [0], k=1)
    with pytest.raises(DataError, match="There is no graph"):
        neighbors(np.eye(4), [10**30], k=1)
    with pytest.raises(DataError, match="There is no graph -1"):
        neighbors(np.eye(4), [-(10**30)], k=1)
