"""``KernelEstimator``: estimators that compare two graphs, and the kernel matrix they deliver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from igsd.baselines.limits import reserve
from igsd.baselines.patterns import Patterns, products
from igsd.baselines.shallow import ShallowConfig, ShallowEstimator
from igsd.errors import warn_user
from igsd.graphs.convert import as_graphset
from igsd.graphs.graphset import GraphSet
from igsd.settings import setting


@dataclass(frozen=True)
class KernelConfig(ShallowConfig):
    """The settings of a kernel."""

    normalise: bool = setting(True, "method", "make each graph's similarity to itself 1")


@dataclass(frozen=True)
class PatternKernelConfig(KernelConfig):
    """The settings of a kernel that counts patterns."""

    max_features: int = setting(
        4096, "method", "patterns that are columns of the vectors, the commonest first", low=1
    )


class KernelEstimator(ShallowEstimator):
    """Base of graph kernels: ``kernel(X)`` for an SVM, ``transform(X)`` for everything else.

    A kernel gives ``_represent(graphs)``, whatever two sets are compared by, ``_products(a, b)``,
    the kernel of every graph of one with every graph of the other, and ``_squares(a)``, that of
    each graph with itself. ``normalise`` divides by the roots of the latter, so that every graph
    has similarity 1 to itself.
    """

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel of the graphs X with the graphs Y (with X), [n, m] float64.

        For ``nested(K, y, kernel="precomputed")`` and ``SVC(kernel="precomputed")``. Both may hold
        graphs that ``fit`` has not seen; a value depends on its two graphs and on ``fit`` alone.
        """
        check_is_fitted(self, "config_")
        a = self._represent(as_graphset(X))
        b = None if Y is None else self._represent(as_graphset(Y))
        K = self._products(a, b)
        if self.config_.normalise:
            left = self._squares(a)
            right = left if b is None else self._squares(b)
            K *= _inverse_root(left)[:, None]
            K *= _inverse_root(right)[None, :]
        return K

    def _represent(self, graphs: GraphSet) -> Any:
        raise NotImplementedError

    def _products(self, a: Any, b: Any) -> np.ndarray:
        raise NotImplementedError

    def _squares(self, a: Any) -> np.ndarray:
        raise NotImplementedError


class VectorKernel(KernelEstimator):
    """Base of kernels with a short explicit map: ``_represent`` returns it, [G, d] float64."""

    def _products(self, a: np.ndarray, b: np.ndarray | None) -> np.ndarray:
        other = a if b is None else b
        reserve(16.0 * len(a) * len(other), f"a kernel matrix of {len(a)} x {len(other)} graphs")
        return a @ other.T

    def _squares(self, a: np.ndarray) -> np.ndarray:
        return (a * a).sum(axis=1)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        vectors = self._represent(graphs)
        if self.config_.normalise:
            vectors = vectors * _inverse_root(self._squares(vectors))[:, None]
        return vectors


class PatternKernel(KernelEstimator):
    """Base of kernels that count patterns: ``_represent`` returns their ``Patterns``.

    The kernel uses every pattern, also those that ``fit`` has not seen. ``transform`` has a column
    for each of the ``max_features`` patterns that stand in the most graphs of ``fit``: all of them
    together would be a table of a gigabyte on NCI1, nearly all of it zeros.
    """

    def _learn_columns(self, graphs: GraphSet) -> None:
        """Keep the patterns that become columns of ``transform``; warns where there are none."""
        patterns = self._represent(graphs)
        keys = patterns.most_common(self.config_.max_features)
        self.state_["columns"] = keys.view(np.int64)
        if not len(keys):
            note = (
                f"{type(self).__name__} has nothing to count in {graphs.name!r}: vectors have no "
                "columns, and no two graphs are alike. Have the graphs lost their edges?"
            )
            self.notes_ += (note,)
            warn_user(note)

    def _products(self, a: Patterns, b: Patterns | None) -> np.ndarray:
        return products(a, b)

    def _squares(self, a: Patterns) -> np.ndarray:
        return a.squares()

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        patterns = self._represent(graphs)
        width = self.n_features_out_
        reserve(8.0 * len(graphs) * width, f"a table of {len(graphs)} x {width} numbers")
        columns = patterns.columns(self.state_["columns"].view(np.uint64))
        table = columns.astype(np.float32).toarray()
        if self.config_.normalise:
            table *= _inverse_root(patterns.squares())[:, None].astype(np.float32)
        return table

    @property
    def n_features_out_(self) -> int:
        """The number of patterns that are columns."""
        return len(self.state_["columns"])


def _inverse_root(squares: np.ndarray) -> np.ndarray:
    """Return 1 / sqrt(squares), 0 where a graph has no pattern at all."""
    positive = squares > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, squares, 1.0)), 0.0)
