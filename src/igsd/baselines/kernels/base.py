"""Bases of the methods without a network: they take graphs as ``IGSD`` does and keep arrays."""

import os
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from igsd.baselines.kernels.patterns import Patterns, key_source, one_hot, products
from igsd.batches.unseen import warn_of_reading
from igsd.errors import listed, warn_user
from igsd.estimators.base import ConfiguredEstimator
from igsd.evaluation.heads import HeadName
from igsd.files.arrays import Header
from igsd.files.models import read_model, whole_model, write_model
from igsd.graphs.build import WEIGHT
from igsd.graphs.colours import node_keys
from igsd.graphs.datasets import find_entry
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import as_graphset
from igsd.limits import reserve
from igsd.settings.fields import Settings, present_names, setting


class ShallowEstimator(ConfiguredEstimator[Any]):
    """Base of estimators that take graphs and keep what they learned as arrays and plain values.

    A subclass defines its ``Settings``, ``_fit``, ``_transform`` and ``n_features_out_``. It keeps
    what it learned in ``state_``, arrays and JSON values, which is all that ``save`` writes, and
    reads its settings from ``config_``: a parameter changed after ``fit`` waits for the next
    ``fit``. ``head`` is the model that protocols fit to its vectors, see ``evaluation.heads``; it
    may be a setting.

    Learned: ``config_``, ``state_``, ``n_features_out_`` and ``notes_``, sentences about what was
    done differently than asked, e.g. degrees used in place of node labels.
    """

    head: HeadName = "auto"
    state_: Header
    notes_: tuple[str, ...]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from graphs and return self; ``y`` is accepted for pipelines and never read."""
        config, graphs = self._config_of_fit(), as_graphset(X).without_labels()
        self.config_, self.state_, self.notes_ = config, {}, ()
        self.standardised_ = graphs.standardised
        try:
            self._fit(graphs)
        except BaseException:
            del self.config_  # an interrupted fit leaves the estimator unfitted
            raise
        if unseen := self._unseen(graphs):
            note = f"{type(self).__name__} does not use the {listed(unseen, 'or')} of the graphs."
            self.notes_ += (note,)
            warn_user(note)
        warn_of_reading(graphs)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return one row of features per graph, [G, d] float32."""
        check_is_fitted(self, "config_")
        graphs = self._read(X)
        rows = np.asarray(self._transform(graphs), dtype=np.float32)
        if rows.size and not rows.any():  # no column at all: fit has warned already
            warn_user(
                f"Nothing that {type(self).__name__} counts in {graphs.name!r} was seen in "
                "training: all its vectors are zero. Are the node labels spelled differently?",
            )
        return rows

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file at exactly ``path``, whole or not at all."""
        check_is_fitted(self, "config_")
        arrays = {k: v for k, v in self.state_.items() if isinstance(v, np.ndarray)}
        header = {
            "estimator": type(self).__name__,
            "settings": self.from_config(self.config_).get_params(deep=False),
            "state": {k: v for k, v in self.state_.items() if k not in arrays},
            "notes": list(self.notes_),
            **self._reading_to_json(),
        }
        tensors = {k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in arrays.items()}
        write_model(path, tensors, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the estimator that ``save`` wrote; its ``transform`` is bit-equal.

        Raises ``StorageError`` for any other file.
        """
        tensors, header = read_model(path, cls.__name__)
        with whole_model(path):
            stored = cls._stored(header)
            estimator = cls(**present_names(stored["settings"]))
            estimator.config_ = estimator.config()
            arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            estimator.state_ = {**stored["state"], **arrays}
            estimator.notes_ = tuple(stored["notes"])
            estimator._reading_from_json(header)
        return estimator

    @staticmethod
    def _unseen(graphs: GraphSet) -> list[str]:
        """Return what graphs carry that no method without a network uses."""
        parts = {
            "node attributes": graphs.node_attributes is not None,
            "edge attributes": bool(set(graphs.edge_attribute_names) - {WEIGHT}),
            "edge weights": WEIGHT in graphs.edge_attribute_names,
            "edge directions": graphs.directions is not None,
        }
        is_known = find_entry(graphs.name) is not None
        return [] if is_known else [text for text, is_there in parts.items() if is_there]

    @classmethod
    def _stored(cls, header: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the header of a file with ``settings``, ``state`` and ``notes``."""
        return header

    def _fit(self, graphs: GraphSet) -> None:
        """Fill ``state_``; a subclass that has something to learn overrides it."""

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        """Return the features of graphs, [G, d]."""
        raise NotImplementedError


class KernelConfig(Settings):
    """The settings of a kernel."""

    normalise: bool = setting(True, "method", "make each graph's similarity to itself 1")


class PatternKernelConfig(KernelConfig):
    """The settings of a kernel that counts patterns."""

    max_features: int = setting(4096, "method", "commonest patterns that become columns", low=1)


class KernelEstimator(ShallowEstimator):
    """Base of graph kernels: ``kernel(X)`` for an SVM, ``transform(X)`` for everything else.

    A subclass defines ``_represent(graphs)``, by default vectors [G, d] float64 whose products are
    the kernel. A kernel without such vectors also defines ``_products(a, b)``, the kernel of all
    graphs of one set with all of another, and ``_squares(a)``, that of each graph with itself.
    ``columns`` says what ``transform`` returns: these vectors, counts of the commonest patterns, or
    similarities to the graphs of ``fit``.
    """

    columns: ClassVar[str] = "vectors"

    def kernel(self, X: Any, Y: Any = None) -> np.ndarray:
        """Return the kernel of the graphs X with the graphs Y (with X), [n, m] float64.

        For ``cross_validate(K, y, kernel="precomputed")`` and ``SVC(kernel="precomputed")``. A
        value depends only on its two graphs, which may be new, and on ``fit``.
        """
        check_is_fitted(self, "config_")
        a = self._represent(self._read(X))
        b = None if Y is None else self._represent(self._read(Y))
        K = self._products(a, b)
        if self.config_.normalise:
            left = _inverse_root(self._squares(a))
            right = left if b is None else _inverse_root(self._squares(b))
            K *= left[:, None]
            K *= right[None, :]
        return K

    def _node_labels(self, graphs: GraphSet, *, learn: bool = False) -> Any:
        """Return the labels (or degrees) of nodes, one-hot, sparse [N, labels of ``fit``]."""
        if learn:
            self.state_["source"], self.notes_ = key_source(graphs)
        keys = node_keys(graphs, self.state_["source"])
        if learn:
            self.state_["keys"] = np.unique(keys).view(np.int64)
        return one_hot(keys, self.state_["keys"].view(np.uint64))

    def _represent(self, graphs: GraphSet) -> Any:
        raise NotImplementedError

    def _products(self, a: Any, b: Any) -> np.ndarray:
        other = a if b is None else b
        reserve(16.0 * len(a) * len(other), f"a kernel matrix of {len(a)} x {len(other)} graphs")
        return a @ other.T

    def _squares(self, a: Any) -> np.ndarray:
        return (a * a).sum(axis=1)

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        vectors = self._represent(graphs)
        scale = _inverse_root(self._squares(vectors))[:, None]
        return vectors * scale if self.config_.normalise else vectors


class PatternKernel(KernelEstimator):
    """Base of kernels that count patterns: ``_represent`` returns their ``Patterns``.

    The kernel uses every pattern, also those that ``fit`` has not seen. ``transform`` has a column
    for each of the ``max_features`` patterns that occur in the most graphs of ``fit``: on NCI1 a
    table of all patterns would take a gigabyte, nearly all of it zeros.
    """

    columns = "patterns"
    fallback: ClassVar[str] = "degree"
    """Substitute for missing node labels."""

    def _fit(self, graphs: GraphSet) -> None:
        """Choose what nodes show, then the patterns that become columns of ``transform``."""
        self.state_["source"], self.notes_ = key_source(graphs, self.fallback)
        keys = self._represent(graphs).most_common(self.config_.max_features)
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
        patterns, width = self._represent(graphs), self.n_features_out_
        reserve(8.0 * len(graphs) * width, f"a table of {len(graphs)} x {width} numbers")
        keys = self.state_["columns"].view(np.uint64)
        table = patterns.columns(keys).astype(np.float32).toarray()
        if self.config_.normalise:
            table *= _inverse_root(patterns.squares())[:, None].astype(np.float32)
        return table

    @property
    def n_features_out_(self) -> int:
        """The number of patterns that are columns."""
        return len(self.state_["columns"])


def _inverse_root(squares: np.ndarray) -> np.ndarray:
    """Return 1 / sqrt(squares), 0 for a graph without patterns."""
    positive = squares > 0
    return np.where(positive, 1.0 / np.sqrt(np.where(positive, squares, 1.0)), 0.0)
