"""Where an SVM's kernel matrices come from: one small class for each kind of input.

Each has ``split(train, test)``, which returns the kernel of the training part [t, t] and of the
test rows against it [m, t], and uses nothing of the test rows for the training kernel.
"""

from __future__ import annotations

from typing import Any, Literal, Protocol

import numpy as np

from igsd.errors import ConfigError, nearest
from igsd.evaluation.distances import (
    rbf_kernel,
    rbf_kernel_among,
    scale_gamma,
    squared_distances,
)
from igsd.evaluation.inputs import FloatArray, IntArray, check_features, check_kernel

Kernel = Literal["rbf", "linear", "precomputed"]
Standardise = Literal["no", "yes", "search"]


class KernelSource(Protocol):
    """What the searches ask of a kernel: its two blocks for a split into training and test."""

    standardised: bool

    def split(self, train: IntArray, test: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the kernels training x training [t, t] and test x training [m, t]."""
        ...


class PrecomputedKernel:
    """Blocks of a kernel matrix K [n, n] that is already there."""

    standardised = False

    def __init__(self, K: FloatArray) -> None:
        self.K = K

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


class StandardisedKernel:
    """Kernels of features standardised by the mean and deviation of each training part."""

    standardised = True

    def __init__(self, X: FloatArray, kernel: Kernel = "rbf") -> None:
        self.X = X
        self.kernel = kernel

    def split(self, train: IntArray, test: IntArray) -> tuple[FloatArray, FloatArray]:
        """Return the two blocks; the test rows are scaled with the training part's numbers."""
        from sklearn.preprocessing import StandardScaler

        scaler = StandardScaler().fit(self.X[train])
        A, B = scaler.transform(self.X[train]), scaler.transform(self.X[test])
        if self.kernel == "linear":
            return A @ A.T, B @ A.T
        gamma = scale_gamma(A)
        among = rbf_kernel_among(squared_distances(A), None, gamma)
        return among, rbf_kernel(squared_distances(B, A), gamma)


def kernel_sources(
    X: Any, kernel: Kernel = "rbf", standardise: Standardise | None = None
) -> tuple[KernelSource, ...]:
    """Return the kernels to choose from: one, or both with ``standardise="search"`` (plain first).

    Without ``standardise`` features are, and a precomputed kernel, which has none, is taken as is.
    Raises ConfigError for an unknown name, or standardising asked of a precomputed kernel.
    Raises DataError if the features or the kernel break the rules of ``inputs``.
    """
    if kernel not in ("rbf", "linear", "precomputed"):
        hint = nearest(str(kernel), ("rbf", "linear", "precomputed"))
        raise ConfigError(f"kernel must name a kernel. Got {kernel!r}. {hint}")
    if standardise is None:
        standardise = "no" if kernel == "precomputed" else "yes"
    if standardise not in ("no", "yes", "search"):
        hint = nearest(str(standardise), ("no", "yes", "search"))
        raise ConfigError(f"standardise: no such choice: {standardise!r}. {hint}")
    if kernel == "precomputed":
        if standardise != "no":
            raise ConfigError(
                "standardise must be 'no' with kernel='precomputed', which has no features. "
                f"Got {standardise!r}."
            )
        return (PrecomputedKernel(check_kernel(X)),)
    features = check_features(X)
    sources: list[KernelSource] = []
    if standardise in ("no", "search"):
        plain = RBFKernel(features) if kernel == "rbf" else PrecomputedKernel(features @ features.T)
        sources.append(plain)
    if standardise in ("yes", "search"):
        sources.append(StandardisedKernel(features, kernel))
    return tuple(sources)
