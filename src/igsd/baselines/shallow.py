"""``ShallowEstimator``: the contract of ``IGSD`` for methods without a network."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from igsd.errors import warn_user
from igsd.estimator_base import ConfiguredEstimator
from igsd.graphs.convert import as_graphset
from igsd.graphs.graphset import GraphSet
from igsd.model_file import read_model, whole_model, write_model
from igsd.settings import Settings


@dataclass(frozen=True)
class ShallowConfig(Settings):
    """The settings of a method without a network. One that draws nothing has a seed too."""

    groups: ClassVar[Mapping[str, str]] = {**Settings.groups, "method": "The method"}


class ShallowEstimator(ConfiguredEstimator[Any]):
    """Base of estimators that take graphs and keep what they learned as arrays and plain values.

    A method gives its settings, a ``ShallowConfig`` of its own, ``_fit``, ``_transform`` and
    ``n_features_out_``. What it learned it keeps in ``state_``, a dictionary of arrays and of
    values that JSON can hold; ``save`` and ``load`` need to know nothing else. Methods read their
    settings from ``config_``, as they were at ``fit``, so that a parameter changed afterwards waits
    for the next ``fit``.

    Learned: ``config_``, ``state_``, ``n_features_out_`` and ``notes_``, sentences about what was
    done otherwise than asked, e.g. degrees in place of node labels.
    """

    state_: dict[str, Any]
    notes_: tuple[str, ...]

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from graphs and return self; ``y`` is accepted for pipelines and never read."""
        config, graphs = self._config_of_fit(), as_graphset(X).without_labels()
        self.config_, self.state_, self.notes_ = config, {}, ()
        try:
            self._fit(graphs)
        except BaseException:
            del self.config_  # half a fit is none
            raise
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return one row of features per graph, [G, d] float32, for graphs seen or unseen."""
        check_is_fitted(self, "config_")
        graphs = as_graphset(X)
        rows = np.asarray(self._transform(graphs), dtype=np.float32)
        if rows.size and not rows.any():  # without a column, fit has said so
            warn_user(
                f"Nothing that {type(self).__name__} counts in {graphs.name!r} was seen in "
                "training: all its vectors are zero. Are the node labels written in another way?",
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
            estimator = cls(**header["settings"])
            estimator.config_ = estimator.config()
            arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
            estimator.state_ = {**header["state"], **arrays}
            estimator.notes_ = tuple(header["notes"])
        return estimator

    def _fit(self, graphs: GraphSet) -> None:
        """Fill ``state_``."""
        raise NotImplementedError

    def _transform(self, graphs: GraphSet) -> np.ndarray:
        """Return the features of graphs, [G, d]."""
        raise NotImplementedError
