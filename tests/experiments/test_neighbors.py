from __future__ import annotations

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.experiments.neighbors import nearest_graphs


def test_equals_a_plain_loop() -> None:
    vectors = np.random.default_rng(1).normal(size=(9, 4)) * [1, 10, 100, 1]
    indices, distances = nearest_graphs(vectors, 2, 3)
    scaled = vectors / vectors.std(axis=0)
    expected = sorted(
        (float(np.linalg.norm(scaled[i] - scaled[2]) / 2), i) for i in range(9) if i != 2
    )[:3]
    assert indices.tolist() == [i for _, i in expected]
    np.testing.assert_allclose(distances, [d for d, _ in expected])


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


def test_no_neighbours_asked_for() -> None:
    with pytest.raises(ConfigError, match="-k must be at least 1"):
        nearest_graphs(np.ones((4, 2)), 0, 0)
