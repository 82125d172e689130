"""The losses as plain loops over Python numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

Vector = Sequence[float]


def unit(v: Vector) -> list[float]:
    """Return v divided by its length."""
    length = math.sqrt(sum(a * a for a in v))
    return [a / length for a in v]


def squared_distance(a: Vector, b: Vector) -> float:
    """Return ||a - b||^2 of the normalised vectors."""
    return sum((x - y) ** 2 for x, y in zip(unit(a), unit(b), strict=True))


def consistency(
    p: Sequence[Vector], p_view: Sequence[Vector], z: Sequence[Vector], z_view: Sequence[Vector]
) -> list[list[float]]:
    """Return L_con(i, j) = ||p_i - z'_j||^2 + ||p'_i - z_j||^2. Eq. con."""
    return [
        [
            squared_distance(p[i], z_view[j]) + squared_distance(p_view[i], z[j])
            for j in range(len(z))
        ]
        for i in range(len(p))
    ]


def infonce(table: Sequence[Vector], temperature: float, offset: int = 0) -> float:
    """Return the mean over i of -log softmax_j(-L_ij / temperature) at offset + i. Eq. InfoNCE."""
    total = 0.0
    for i, row in enumerate(table):
        denominator = sum(math.exp(-value / temperature) for value in row)
        total -= math.log(math.exp(-row[offset + i] / temperature) / denominator)
    return total / len(table)
