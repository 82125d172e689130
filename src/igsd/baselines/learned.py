"""``LearnedEstimator``: what every baseline that trains a network has in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor

from igsd.baselines.learned_config import learned_recipe
from igsd.baselines.learned_network import LearnedNetwork
from igsd.baselines.learned_training import FittedNetwork, StepSource, fit_learned
from igsd.errors import ParameterError
from igsd.estimator_base import ConfiguredEstimator
from igsd.evaluation.embed import chunks
from igsd.graphs.batch import Batch, Collator
from igsd.graphs.convert import as_graphset
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.unseen_labels import warn_of_unseen_labels
from igsd.model_file import read_model, whole_model, write_model
from igsd.progress import progress_bar
from igsd.training.memory import kept_memory


class LearnedEstimator(ConfiguredEstimator[Any]):
    """Learns a vector for each graph from graphs alone. Takes the same graphs as ``igsd.IGSD``.

    A method makes a ``network`` and says what the ``source`` of its
    training steps is; where its vectors need more than the graphs themselves, ``_embed`` too. The
    settings are explained in the configuration class; ``random_state``, ``checkpoint``, ``log_dir``
    and ``verbose`` are as in ``IGSD``.

    Learned: ``network_``, ``features_``, ``history_`` (mean losses per epoch), ``config_`` and
    ``n_features_out_``.
    """

    network_: Any
    features_: FeatureMap
    history_: list[dict[str, float]]

    @classmethod
    def from_recipe(cls, name: str, **changes: Any) -> Self:
        """Return an unfitted estimator with an IGSD recipe's nodes, encoder and run."""
        return cls.from_config(learned_recipe(name, cls.config_class)).set_params(**changes)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on graphs and return self; ``y`` is accepted for pipelines and never read."""
        given = self.get_params(deep=False)
        config = self._config_of_fit()
        besides = {key: given[key] for key in ("checkpoint", "log_dir", "verbose")}
        graphs = as_graphset(X)
        try:
            fitted = fit_learned(graphs, config, self, name=type(self).__name__, **besides)
        except ParameterError as error:
            raise error.of_estimator(type(self).__name__) from error
        return self._set_fitted(config, fitted)

    def transform(self, X: Any) -> np.ndarray:
        """Return the embeddings [G, d] float32 of graphs, seen in training or not."""
        return np.concatenate(list(self.transform_chunks(X)))

    def transform_chunks(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the rows of ``transform`` in pieces, so that memory does not grow with the set."""
        check_is_fitted(self, "network_")
        graphs = as_graphset(X)
        warn_of_unseen_labels(self.features_, graphs)
        self.network_.eval()
        shown = self.get_params(deep=False)["verbose"]
        with kept_memory(), progress_bar("embedding", len(graphs), shown=shown) as advance:
            for start, stop in chunks(graphs.node_ptr):
                with torch.no_grad():
                    rows = self._embed(graphs.take(np.arange(start, stop)))
                yield rows.float().cpu().numpy()
                advance(len(rows))

    @property
    def n_features_out_(self) -> int:
        """Width of an embedding."""
        return int(self.network_.out_dim)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file at exactly ``path``, whole or not at all."""
        check_is_fitted(self, "network_")
        header = {
            "estimator": type(self).__name__,
            "config": self.config_.to_json(),
            "features": self.features_.to_json(),
            "history": self.history_,
        }
        write_model(path, self.network_.state_dict(), header)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the estimator that ``save`` wrote; its ``transform`` is bit-equal.

        Raises ``StorageError`` for any other file.
        """
        tensors, header = read_model(path, cls.__name__)
        with whole_model(path):
            config = cls.config_class().updated(header["config"])
            features = FeatureMap.from_json(header["features"])
            estimator = cls.from_config(config)
            with torch.random.fork_rng(devices=[]):
                network = estimator.network(config, features.dim)
            network.load_state_dict(tensors)
            fitted = FittedNetwork(network.eval(), features, list(header["history"]))
        return estimator._set_fitted(config, fitted)

    def network(self, config: Any, in_dim: int) -> LearnedNetwork:
        """Return a fresh network for node features of width ``in_dim``."""
        raise NotImplementedError

    def source(
        self, graphs: GraphSet, features: FeatureMap, config: Any, device: torch.device
    ) -> StepSource:
        """Return what makes the inputs of a training step."""
        raise NotImplementedError

    def _embed(self, part: GraphSet) -> Tensor:
        """Return the embeddings [G, d] of some graphs."""
        return self.network_.embed(self._batch(part))

    def _batch(self, part: GraphSet) -> Batch:
        """Return all graphs of a set as one batch on the network's device."""
        device = next(self.network_.parameters()).device
        collator = Collator(part.node_ptr, self.features_.transform(part), device)
        return collator.batch(np.arange(len(part)), part.adjacency)

    def _set_fitted(self, config: Any, fitted: FittedNetwork) -> Self:
        self.network_, self.features_ = fitted.network, fitted.features
        self.history_, self.config_ = fitted.history, config
        return self
