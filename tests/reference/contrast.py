"""The losses of the baselines as plain loops over Python numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tests.reference.losses import Vector, unit


def cosine(a: Vector, b: Vector) -> float:
    """Return the cosine of two vectors."""
    return sum(x * y for x, y in zip(unit(a), unit(b), strict=True))


def ntxent(a: Sequence[Vector], b: Sequence[Vector], temperature: float) -> float:
    """Return GraphCL's Eq. 3, the mean over graphs and over both directions."""
    total = 0.0
    for i in range(len(a)):
        own = math.exp(cosine(a[i], b[i]) / temperature)
        others = [j for j in range(len(a)) if j != i]
        forth = sum(math.exp(cosine(a[i], b[j]) / temperature) for j in others)
        back = sum(math.exp(cosine(a[j], b[i]) / temperature) for j in others)
        total -= 0.5 * (math.log(own / forth) + math.log(own / back))
    return total / len(a)


def cross_correlation(a: Sequence[Vector], b: Sequence[Vector]) -> list[list[float]]:
    """Return C_ij, the correlation of coordinate i of a with coordinate j of b."""
    left, right = ([standardised(column) for column in zip(*x, strict=True)] for x in (a, b))
    return [[sum(x * y for x, y in zip(u, v, strict=True)) / len(u) for v in right] for u in left]


def standardised(column: Sequence[float]) -> list[float]:
    """Return numbers with mean 0 and variance 1, but for the small constant of BatchNorm."""
    mean = sum(column) / len(column)
    variance = sum((x - mean) ** 2 for x in column) / len(column)
    return [(x - mean) / math.sqrt(variance + 1e-5) for x in column]


def barlow(a: Sequence[Vector], b: Sequence[Vector], weight: float) -> float:
    """Return sum_i (1 - C_ii)^2 + weight * sum_{i != j} C_ij^2."""
    total = 0.0
    for i, row in enumerate(cross_correlation(a, b)):
        for j, value in enumerate(row):
            total += (1 - value) ** 2 if i == j else weight * value**2
    return total
