from __future__ import annotations

import numpy as np

from igsd.baselines.spherical_kmeans import spherical_kmeans


def test_finds_directions_whatever_the_lengths() -> None:
    rng = np.random.default_rng(1)
    directions = np.eye(3)
    points = directions[rng.integers(3, size=200)] * rng.uniform(0.1, 9, (200, 1))
    points += 0.01 * rng.normal(size=points.shape)
    centres = spherical_kmeans(points, 3, np.random.default_rng(0))
    similar = np.sort(centres @ directions.T, axis=1)
    assert similar[:, -1].min() > 0.99
    assert len(set((centres @ directions.T).argmax(axis=1))) == 3


def test_fewer_points_than_centres() -> None:
    points = np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    centres = spherical_kmeans(points, 10, np.random.default_rng(0))
    assert sorted(centres.tolist()) == [[0.0, 1.0], [1.0, 0.0]]


def test_nothing_but_zeros() -> None:
    assert spherical_kmeans(np.zeros((3, 2)), 4, np.random.default_rng(0)).tolist() == [[1.0, 0.0]]
