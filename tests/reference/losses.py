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


def infonce(table: Sequence[Vector], temperature: float) -> float:
    """Return the mean over i of -log softmax_j(-L_ij / temperature) at i. Eq. InfoNCE."""
    total = 0.0
    for i, row in enumerate(table):
        denominator = sum(math.exp(-value / temperature) for value in row)
        total -= math.log(math.exp(-row[i] / temperature) / denominator)
    return total / len(table)


def supcon(
    p: Sequence[Vector],
    p_views: Sequence[Sequence[Vector]],
    z: Sequence[Vector],
    z_views: Sequence[Sequence[Vector]],
    labels: Sequence[int],
) -> float:
    """Return Eq. supcon over all pairs (graph, view), the plain sum. Views stand first."""
    num_views, num_graphs = len(p_views), len(labels)
    pairs = [(view, graph) for view in range(num_views) for graph in range(num_graphs)]
    total = 0.0
    for k, i in pairs:
        size = sum(label == labels[i] for label in labels)
        for m, j in pairs:
            if (k, i) != (m, j) and labels[i] == labels[j]:
                apart = squared_distance(p[i], z_views[m][j]) + squared_distance(
                    p_views[k][i], z[j]
                )
                total += apart / (num_views * size)
    return total


def jsd(scores: Sequence[Vector], positives: Sequence[Sequence[bool]]) -> float:
    """Return the negative Jensen-Shannon estimate of mutual information, pair by pair."""
    fit, misfit = [], []
    for row, marks in zip(scores, positives, strict=True):
        for score, positive in zip(row, marks, strict=True):
            softplus = math.log(1 + math.exp(-score))
            if positive:
                fit.append(math.log(2) - softplus)
            else:
                misfit.append(softplus + score - math.log(2))
    mean = lambda values: sum(values) / len(values) if values else 0.0  # noqa: E731
    return mean(misfit) - mean(fit)
