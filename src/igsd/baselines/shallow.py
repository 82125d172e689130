"""``ShallowEstimator``: the contract of ``IGSD`` for methods without a network."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from igsd.baselines.setting_rules import Rule, check_settings
from igsd.errors import IGSDWarning, StorageError
from igsd.estimator_base import GraphInputMixin, draw_seed
from igsd.graphs.convert import as_graphset
from igsd.graphs.graphset import GraphSet
from igsd.model_file import read_model, whole_model, write_model

_SEED = Rule(int, minimum=0, maximum=2**32 - 1)


class ShallowEstimator(GraphInputMixin, TransformerMixin, BaseEstimator):
    """Base of estimators that take graphs and keep what they learned as arrays and plain values.

    A method gives ``RULES`` for its parameters, ``_fit``, ``_transform`` and ``COLUMN``, the word
    its columns are named with. What it learned it keeps in ``state_``, a dictionary of arrays and
    of values that JSON can hold; ``save`` and ``load`` need to know nothing else. Methods read
    their parameters from ``settings_``, as they were at ``fit``, so that a parameter changed
    afterwards waits for the next ``fit``.

    Learned: ``settings_``, ``state_``, ``n_features_out_`` and ``notes_``, sentences about what was
    done otherwise than asked, e.g. degrees in place of node labels.
    """

    RULES: ClassVar[Mapping[str, Rule]] = {}
    COLUMN: ClassVar[str] = "feature"

    settings_: Any
    state_: dict[str, Any]
    n_features_out_: int
    notes_: tuple[str, ...]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from graphs and return self; ``y`` is accepted for pipelines and never read."""
        given = self.get_params(deep=False)
        given["random_state"] = draw_seed(given["random_state"])
        rules = {**self.RULES, "random_state": _SEED}
        settings = check_settings(type(self).__name__, given, rules)
        graphs = as_graphset(X).without_labels()
        self.settings_, self.state_, self.notes_ = SimpleNamespace(**settings), {}, ()
        self._fit(graphs)
        self.n_features_out_ = self._width()
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return one row of features per graph, [G, d] float32, for graphs seen or unseen."""
        check_is_fitted(self, "n_features_out_")
        graphs = as_graphset(X)
        rows = np.asarray(self._transform(graphs), dtype=np.float32)
        if not rows.any():
            warnings.warn(
                f"Nothing that {type(self).__name__} counts in {graphs.name!r} was seen in "
                "training: all its vectors are zero. Are the node labels written in another way?",
                IGSDWarning,
                stacklevel=2,
            )
        return rows

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the columns: the method's word and a number."""
        check_is_fitted(self, "n_features_out_")
        return np.array([f"{self.COLUMN}{i}" for i in range(self.n_features_out_)], dtype=object)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file at exactly ``path``, whole or not at all."""
        check_is_fitted(self, "n_features_out_")
        arrays = {k: v for k, v in self.state_.items() if isinstance(v, np.ndarray)}
        header = {
            "estimator": type(self).__name__,
            "settings": vars(self.settings_),
            "state": {k: v for k, v in self.state_.items() if k not in arrays},
            "notes": list(self.notes_),
        }
        tensors = {k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in arrays.items()}
        write_model(path, tensors, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the estimator that ``save`` wrote; its ``transform`` is bit-equal.

        Raises ``StorageError`` for any other file.
        """
        tensors, header = read_model(path)
        if header.get("estimator") != cls.__name__:
            found = header.get("estimator")
            raise StorageError(f"{path} holds a {found} model, but no {cls.__name__}.")
        with whole_model(path):
            estimator = cls(**header["settings"])
            estimator.settings_ = SimpleNamespace(**header["settings"])
            arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            estimator.state_ = {**header["state"], **arrays}
            estimator.notes_ = tuple(header["notes"])
            estimator.n_features_out_ = estimator._width()
        return estimator

    def _fit(self, graphs: GraphSet) -> None:
        """Fill ``state_``."""
        raise NotImplementedError

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        """Return the features of graphs, [G, d]."""
        raise NotImplementedError

    def _width(self) -> int:
        """Return the number of features, read from ``state_`` and ``settings_``."""
        raise NotImplementedError
