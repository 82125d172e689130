"""Spherical k-means: centres on the unit sphere, points compared by their angle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from igsd.baselines.limits import check_time, reserve

_ROUNDS = 30


def spherical_kmeans(
    points: NDArray[np.float64], num_centres: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return unit vectors [<= num_centres, d] that many of the points [n, d] are close to.

    Points are brought to length 1 first, those of length 0 are left out. Starts like k-means++:
    each next centre is a point drawn in proportion to 1 - cosine to the nearest so far. Fewer come
    back where there are fewer different points.
    """
    reserve(16.0 * len(points) * (num_centres + points.shape[1]), "the samples of k-means")
    length = np.linalg.norm(points, axis=1, keepdims=True)
    unit = (points / np.where(length > 0, length, 1.0))[length[:, 0] > 0]
    if not len(unit):
        return np.eye(1, points.shape[1])
    centres = _start(unit, num_centres, rng)
    nearest = np.full(len(unit), -1)
    for _ in range(_ROUNDS):
        check_time("k-means")
        found = (unit @ centres.T).argmax(axis=1)
        if np.array_equal(found, nearest):
            break
        nearest = found
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, unit)
        size = np.linalg.norm(sums, axis=1, keepdims=True)
        # A centre that lost all its points stays where it was.
        centres = np.where(size > 0, sums / np.where(size > 0, size, 1.0), centres)
    return centres


def _start(
    unit: NDArray[np.float64], num_centres: int, rng: np.random.Generator
) -> NDArray[np.float64]:
    """Return points far from each other, as first centres."""
    chosen = [int(rng.integers(len(unit)))]
    distance = 1 - unit @ unit[chosen[0]]
    while len(chosen) < num_centres:
        distance = np.where(distance > 1e-9, distance, 0.0)
        if not distance.any():
            break
        chosen.append(int(rng.choice(len(unit), p=distance / distance.sum())))
        distance = np.minimum(distance, 1 - unit @ unit[chosen[-1]])
    return unit[chosen]
