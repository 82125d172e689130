"""``Vectors``: what an SVM compares graphs by, vectors of their own or a kernel of all pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.baselines.registry import svm_kernel
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class KernelMatrix:
    """The kernel of every graph with every graph, [G, G], where others have vectors [G, d]."""

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True)
class LinearVectors:
    """Vectors [G, d] that are compared by their products, where others are by their distances."""

    values: np.ndarray

    def __len__(self) -> int:
        return len(self.values)


Vectors = np.ndarray | KernelMatrix | LinearVectors


def compared_by(values: np.ndarray, kernel: str) -> Vectors:
    """Return what a method delivers as ``score_seed`` takes it; ``kernel`` as in ``svm_kernel``."""
    kinds: dict[str, Any] = {"linear": LinearVectors, "precomputed": KernelMatrix}
    return kinds[kernel](values) if kernel in kinds else values


def delivered(estimator: Any, graphs: GraphSet, protocol: str) -> tuple[np.ndarray, str]:
    """Return what a fitted estimator delivers for a protocol, and how an SVM takes it.

    Vectors [G, d], or the kernel of all pairs [G, G] where the second is ``precomputed``
    (``svm_kernel``).
    """
    kernel = svm_kernel(estimator, protocol)
    is_matrix = kernel == "precomputed"
    return estimator.kernel(graphs) if is_matrix else estimator.transform(graphs), kernel
