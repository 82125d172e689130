"""Views by plain loops in float64, one graph at a time: slow, short, and easy to believe."""

from __future__ import annotations

import math

import numpy as np

from igsd.graphs.adjacency import Adjacency


def dense(adjacency: Adjacency, node_ptr: np.ndarray, graph: int) -> np.ndarray:
    """Return one graph of an adjacency as a dense matrix [n, n] float64."""
    first, last = int(node_ptr[graph]), int(node_ptr[graph + 1])
    matrix = np.zeros((last - first, last - first))
    for v in range(first, last):
        for e in range(int(adjacency.row_ptr[v]), int(adjacency.row_ptr[v + 1])):
            weight = 1.0 if adjacency.weight is None else float(adjacency.weight[e])
            matrix[v - first, adjacency.col[e]] = weight
    return matrix


def transition(A: np.ndarray) -> np.ndarray:
    """Return T = D^-1/2 (A + I) D^-1/2, entry by entry."""
    n = len(A)
    loops = [[A[i, j] + (i == j) for j in range(n)] for i in range(n)]
    degree = [sum(row) for row in loops]
    T = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            T[i, j] = loops[i][j] / math.sqrt(degree[i] * degree[j])
    return T


def series(T: np.ndarray, theta: list[float]) -> np.ndarray:
    """Return sum_k theta_k T^k, power after power."""
    S, power = np.zeros_like(T), np.eye(len(T))
    for coefficient in theta:
        S += coefficient * power
        power = power @ T
    return S


def ppr(T: np.ndarray, alpha: float) -> np.ndarray:
    """Return alpha (I - (1 - alpha) T)^-1."""
    return alpha * np.linalg.inv(np.eye(len(T)) - (1 - alpha) * T)


def heat(T: np.ndarray, t: float) -> np.ndarray:
    """Return the heat kernel by 200 terms of its series, enough for t up to 20."""
    theta = [math.exp(-t)]
    for k in range(1, 200):
        theta.append(theta[-1] * t / k)
    return series(T, theta)


def threshold(S: np.ndarray, least: float) -> np.ndarray:
    """Return S with every entry below ``least`` set to zero."""
    return np.array([[x if x >= least else 0.0 for x in row] for row in S]).reshape(S.shape)


def top_k(S: np.ndarray, k: int, tie: float = 1e-5) -> np.ndarray:
    """Return S with the entries that are in the top k of their row or column, ties included."""
    n = len(S)
    kept = np.zeros_like(S)
    least = [sorted(row, reverse=True)[k - 1] if k <= n else 0.0 for row in S.tolist()]
    for i in range(n):
        for j in range(n):
            if S[i, j] > 1e-12 and S[i, j] >= min(least[i], least[j]) * (1 - tie):
                kept[i, j] = S[i, j]
    return kept
