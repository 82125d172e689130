"""Squared Euclidean distances and the RBF kernels made from them, as libsvm defines them."""

from __future__ import annotations

import numpy as np

from igsd.evaluation.inputs import FloatArray, IntArray

_BLOCK = 256


def squared_distances(A: FloatArray, B: FloatArray | None = None) -> FloatArray:
    """Return ``||a_i - b_j||^2`` for all rows of A [n, d] and B [m, d], as float64 [n, m].

    Without B: the distances among the rows of A, symmetric, with a zero diagonal. One matrix
    product does the work, on rows shifted to a mean, so that large means do not eat the digits.
    """
    mean = (A if B is None else B).mean(axis=0)
    A = A - mean
    B = A if B is None else B - mean
    norms, others = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    distances = A @ B.T
    for start in range(0, len(A), _BLOCK):
        block = distances[start : start + _BLOCK]
        block *= -2.0
        # Both norms in one sum: added one by one, (i, j) and (j, i) would round differently.
        block += norms[start : start + _BLOCK, None] + others
        np.maximum(block, 0.0, out=block)
    if B is A:
        np.fill_diagonal(distances, 0.0)
    return distances


def scale_gamma(X_train: FloatArray) -> float:
    """Return the RBF width ``1 / (d * var(X_train))``, scikit-learn's ``gamma="scale"``.

    The variance runs over all entries of the training part [n, d]; constant features give 1.
    """
    variance = float(X_train.var())
    return 1.0 / (X_train.shape[1] * variance) if variance != 0.0 else 1.0


def rbf_kernel(distances: FloatArray, gamma: float) -> FloatArray:
    """Return ``exp(-gamma * distances)``, the RBF kernel, same shape; the input is not changed."""
    kernel = distances * -gamma
    return np.exp(kernel, out=kernel)


def rbf_kernel_among(distances: FloatArray, rows: IntArray | None, gamma: float) -> FloatArray:
    """Return the RBF kernel [t, t] among chosen rows (None: all) of symmetric distances [n, n].

    Only the blocks on and above the diagonal are computed, the rest is mirrored: the exponential
    costs more than everything else here.
    """
    size = len(distances) if rows is None else len(rows)
    kernel = np.empty((size, size))
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        if rows is None:
            part = distances[start:stop, start:]
        else:
            part = distances[np.ix_(rows[start:stop], rows[start:])]
        block = rbf_kernel(part, gamma)
        kernel[start:stop, start:] = block
        kernel[stop:, start:stop] = block[:, stop - start :].T
    return kernel
