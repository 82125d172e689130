"""The kernels that an SVM is given, as libsvm defines them: RBF, linear and precomputed.

``split(train, test)`` returns the kernel of the training part [t, t], which does not depend on the
test rows, and of the test rows against it [m, t].
"""

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from sklearn.preprocessing import StandardScaler

from igsd.errors import ConfigError, nearest
from igsd.evaluation.inputs import FloatArray, IntArray, check_features, check_kernel

_BLOCK = 256


def squared_distances(A: FloatArray, B: FloatArray | None = None) -> FloatArray:
    """Return ``||a_i - b_j||^2`` for all rows of A [n, d] and B [m, d], as float64 [n, m].

    Without B: the distances among the rows of A, symmetric, with a zero diagonal. The rows are
    centred first, so that a large mean does not cost precision.
    """
    mean = (A if B is None else B).mean(axis=0)
    A = A - mean
    B = A if B is None else B - mean
    norms, others = np.einsum("ij,ij->i", A, A), np.einsum("ij,ij->i", B, B)
    distances = A @ B.T
    for start in range(0, len(A), _BLOCK):
        block = distances[start : start + _BLOCK]
        block *= -2.0
        # Both norms in one sum: added separately, (i, j) and (j, i) would round differently.
        block += norms[start : start + _BLOCK, None] + others
        np.maximum(block, 0.0, out=block)
    if B is A:
        np.fill_diagonal(distances, 0.0)
    return distances


def scale_gamma(X_train: FloatArray) -> float:
    """Return ``1 / (d * var(X_train))``, scikit-learn's ``gamma="scale"``; 1 if X is constant."""
    variance = float(X_train.var())
    return 1.0 / (X_train.shape[1] * variance) if variance != 0.0 else 1.0


def rbf_kernel(distances: FloatArray, gamma: float) -> FloatArray:
    """Return ``exp(-gamma * distances)``, the RBF kernel, as a new array."""
    kernel = distances * -gamma
    return np.exp(kernel, out=kernel)


def rbf_kernel_among(distances: FloatArray, rows: IntArray | None, gamma: float) -> FloatArray:
    """Return the RBF kernel [t, t] among chosen rows (None: all) of symmetric distances [n, n].

    The blocks below the diagonal are mirrored: the exponential is the most expensive part.
    """
    size = len(distances) if rows is None else len(rows)
    kernel = np.empty((size, size))
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        part = np.s_[start:stop, start:] if rows is None else np.ix_(rows[start:stop], rows[start:])
        block = rbf_kernel(distances[part], gamma)
        kernel[start:stop, start:] = block
        kernel[stop:, start:stop] = block[:, stop - start :].T
    return kernel


Kernel = Literal["rbf", "linear", "precomputed"]
Standardise = Literal["no", "yes", "search"]


@dataclass(frozen=True, eq=False)
class PrecomputedKernel:
    """Blocks of a precomputed kernel matrix K [n, n]."""

    K: FloatArray
    standardised = False

    def split(self, train: IntArray, test: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the two blocks of K."""
        return self.K[np.ix_(train, train)], self.K[np.ix_(test, train)]


class RBFKernel:
    """RBF kernels of plain features; the distances are computed once, gamma for each split."""

    standardised = False

    def __init__(self, X: FloatArray) -> None:
        self.X = X
        self.distances = squared_distances(X)

    def split(self, train: IntArray, test: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the two blocks, with gamma from the variance of the training part."""
        gamma = scale_gamma(self.X[train])
        among = rbf_kernel_among(self.distances, train, gamma)
        return among, rbf_kernel(self.distances[np.ix_(test, train)], gamma)


@dataclass(frozen=True, eq=False)
class StandardisedKernel:
    """Kernels of features standardised by the mean and deviation of each training part."""

    X: FloatArray
    kernel: Kernel
    standardised = True

    def split(self, train: IntArray, test: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the two blocks; the test rows are scaled with the training part's numbers."""
        scaler = StandardScaler().fit(self.X[train])
        A, B = scaler.transform(self.X[train]), scaler.transform(self.X[test])
        if self.kernel == "linear":
            return A @ A.T, B @ A.T
        gamma = scale_gamma(A)
        among = rbf_kernel_among(squared_distances(A), None, gamma)
        return among, rbf_kernel(squared_distances(B, A), gamma)


Sources = tuple[PrecomputedKernel | RBFKernel | StandardisedKernel, ...]


def kernel_sources(
    X: Any, kernel: Kernel = "rbf", standardise: Standardise | None = None
) -> Sources:
    """Return the kernels to choose from: one, or both with ``standardise="search"`` (plain first).

    By default features are standardised, and a precomputed kernel, which has none, is used as it
    is. Raises ``ConfigError`` for an unknown name and for standardising a precomputed kernel,
    ``DataError`` if the features or the kernel break the rules of ``inputs``.
    """
    if kernel not in get_args(Kernel):
        hint = nearest(str(kernel), get_args(Kernel))
        raise ConfigError(f"There is no kernel {kernel!r}. {hint}")
    if standardise is None:
        standardise = "no" if kernel == "precomputed" else "yes"
    if standardise not in get_args(Standardise):
        hint = nearest(str(standardise), get_args(Standardise))
        raise ConfigError(f"'standardise' cannot be {standardise!r}. {hint}")
    if kernel == "precomputed":
        if standardise != "no":
            raise ConfigError(
                "standardise must be 'no' with kernel='precomputed', which has no features. "
                f"Got {standardise!r}."
            )
        return (PrecomputedKernel(check_kernel(X)),)
    features = check_features(X)
    sources: Sources = () if standardise == "no" else (StandardisedKernel(features, kernel),)
    if standardise == "yes":
        return sources
    is_rbf = kernel == "rbf"
    return RBFKernel(features) if is_rbf else PrecomputedKernel(features @ features.T), *sources
