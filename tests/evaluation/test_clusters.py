from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import igsd
from igsd.errors import ConfigError, DataError

RNG = np.random.default_rng(0)
BLOBS = np.concatenate([RNG.normal(size=(8, 3)), RNG.normal(size=(20, 3)) + 30, [[200.0, 0, 0]]])


class Doubling:
    def transform(self, data: Any) -> np.ndarray:
        return 2 * np.asarray(data)


def test_clusters_are_ordered_by_size_and_have_a_typical_graph() -> None:
    found = igsd.cluster(BLOBS)
    assert found.sizes == (20, 8)
    assert found.num_noise == 1
    assert found.labels.tolist() == [1] * 8 + [0] * 20 + [-1]
    assert [found.labels[graph] for graph in found.examples] == [0, 1]
    assert found.strengths[-1] == 0
    assert np.array_equal(igsd.cluster(BLOBS, model=Doubling()).labels, found.labels)


def test_sparse_points_make_no_cluster() -> None:
    found = igsd.cluster(np.arange(6.0)[:, None] ** 3, min_size=6)
    assert (found.sizes, found.num_noise, found.examples) == ((), 6, ())


def test_outliers_are_the_plain_loop() -> None:
    ranking = igsd.outliers(BLOBS, k=3)
    scaled = BLOBS / BLOBS.std(axis=0) / np.sqrt(3)
    apart = np.linalg.norm(scaled[:, None] - scaled, axis=2)
    expected = np.sort(apart, axis=1)[:, 1:4].mean(axis=1)
    assert ranking.graphs[0] == 28
    np.testing.assert_allclose(ranking.distances, expected[ranking.graphs], atol=2e-6)
    assert (np.diff(ranking.distances) <= 0).all()


@pytest.mark.parametrize("function", [igsd.cluster, igsd.outliers, igsd.map])
def test_vectors_that_cannot_be_used(function: Any) -> None:
    for data, message in (
        (np.zeros((1, 3)), "needs at least .* Got 1 graph"),
        ([[1.0, 2.0]] * 20, "All 20 vectors are equal"),
        ([[1.0], [np.nan]] * 10, "The vectors must be finite. Row 1"),
        ([[1.0], [1.0, 2.0]], "The vectors must be numbers"),
        (np.zeros(20), "must be a table"),
    ):
        with pytest.raises(DataError, match=message):
            function(data)
    with pytest.raises(ConfigError, match="which has no graphs"):
        function(Doubling())


def test_numbers_that_cannot_be_meant() -> None:
    with pytest.raises(ConfigError, match=r"at least 2 graphs\. Got min_size 1"):
        igsd.cluster(BLOBS, min_size=1)
    with pytest.raises(DataError, match=r"to 29 neighbours needs at least 30 graphs\. Got 29"):
        igsd.outliers(BLOBS, k=29)
    with pytest.raises(ConfigError, match="k must be at least 1"):
        igsd.outliers(BLOBS, k=0)
