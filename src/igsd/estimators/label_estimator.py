"""``LabelEstimator``: what every estimator that learns from few labels has in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from igsd.config_semi import SemiConfig, load_semi_recipe
from igsd.estimators.own_encoder import OwnEncoderEstimator
from igsd.graphs.convert import as_graphset
from igsd.graphs.features import FeatureMap
from igsd.graphs.graphset import GraphSet
from igsd.graphs.unseen_labels import warn_of_unseen_labels
from igsd.model_file import read_model, whole_model, write_model
from igsd.progress import progress_bar
from igsd.training.fit_labelled import FittedLabels, Judge, LabelMethod, Watched, fit_labelled
from igsd.training.graph_source import GraphSource
from igsd.training.labels import Labels
from igsd.training.self_training import PseudoLabels, warn_if_never

_PSEUDO = ("graphs", "codes", "confidence", "rounds")


class LabelEstimator(OwnEncoderEstimator[SemiConfig]):
    """Fits a method on graphs of which some have a label.

    A subclass names its ``_method`` and says what labels are.

    Learned: ``network_``, ``features_``, ``history_`` (one line per epoch),
    ``pretraining_history_`` (the same of the epochs before the first label), ``config_``,
    ``pseudo_labels_``, ``own_encoder_`` and ``n_features_out_``.
    """

    _method: ClassVar[LabelMethod]

    network_: Any
    features_: FeatureMap
    history_: list[dict[str, float]]
    pretraining_history_: list[dict[str, float]]
    pseudo_labels_: PseudoLabels

    @classmethod
    def from_recipe(cls, name: str, **changes: Any) -> Self:
        """Return an unfitted estimator with the settings of a shipped recipe, some changed."""
        return cls.from_config(load_semi_recipe(name, cls.config_class)).set_params(**changes)

    def transform(self, X: Any) -> np.ndarray:
        """Return the embeddings [G, d] float32 of graphs, seen in training or not."""
        return np.concatenate(list(self.transform_chunks(X)))

    def transform_chunks(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the rows of ``transform`` in pieces, so that memory does not grow with the set."""
        weight = self._mix_weight()
        yield from self._pieces(X, lambda batch: self.network_.embed(batch, weight), "embedding")

    @property
    def n_features_out_(self) -> int:
        """Width of an embedding."""
        return int(self.network_.out_dim)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file at exactly ``path``, whole or not at all."""
        check_is_fitted(self, "network_")
        tensors = {f"network.{name}": t for name, t in self.network_.state_dict().items()}
        for name in _PSEUDO:
            column = np.array(getattr(self.pseudo_labels_, name))
            tensors[f"pseudo.{name}"] = torch.from_numpy(column)
        header = {
            "estimator": type(self).__name__,
            "config": self.config_.to_json(),
            "own_encoder": self.own_encoder_,
            "features": self.features_.to_json(),
            "history": self.history_,
            "pretraining": self.pretraining_history_,
            "labels": self._labels_to_json(),
        }
        write_model(path, tensors, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, encoder: nn.Module | None = None) -> Self:
        """Return the estimator that ``save`` wrote; its predictions are bit-equal.

        ``encoder``: the module of your own that it was trained with, if it was. Raises
        ``StorageError`` for any other file, ``ConfigError`` where the encoder is missing.
        """
        tensors, header = read_model(path, cls.__name__)
        with whole_model(path):
            config = cls.config_class().updated(header["config"])
            estimator = cls._to_be_filled(path, config, header["own_encoder"], encoder)
            estimator._labels_from_json(header["labels"])
            features = FeatureMap.from_json(header["features"])
            with torch.random.fork_rng(devices=[]):
                network = cls._method.build(
                    config, features.dim, estimator._num_outputs(), encoder, features.links
                )
            network.load_state_dict(_under(tensors, "network."))
            pseudo = PseudoLabels(*(tensors[f"pseudo.{name}"].numpy() for name in _PSEUDO))
            history, before = list(header["history"]), list(header.get("pretraining", ()))
            fitted = FittedLabels(network.eval(), features, history, pseudo, before)
        estimator._set_fitted(config, encoder, fitted)
        return estimator

    def _fit(self, graphs: GraphSet, labels: Labels, watched: Watched | None) -> Self:
        config, own = self._config_of_fit(), self._own_encoder()
        given = self.get_params(deep=False)
        if config.self_training and len(labels.unlabelled):
            warn_if_never(config.epochs, config.self_training_start)
        fitted = fit_labelled(
            graphs,
            labels,
            config,
            self._method,
            encoder=own,
            watched=watched,
            checkpoint=given["checkpoint"],
            log_dir=given["log_dir"],
            verbose=given["verbose"],
        )
        self._set_fitted(config, own, fitted)
        return self

    def _outputs(self, X: Any) -> np.ndarray:
        """Return the network's outputs [G, C] float32 of graphs."""
        return np.concatenate(
            list(self._pieces(X, lambda b: self.network_.outputs(b), "predicting"))
        )

    def _pieces(self, X: Any, function: Any, title: str) -> Iterator[np.ndarray]:
        check_is_fitted(self, "network_")
        graphs = as_graphset(X)
        warn_of_unseen_labels(self.features_, graphs)
        device = next(self.network_.parameters()).device
        self.network_.eval()
        shown = self.get_params(deep=False)["verbose"]
        with progress_bar(title, len(graphs), shown=shown) as advance:
            source = GraphSource(graphs, self.features_, device)
            for indices in source.pieces(np.arange(len(graphs))):
                with torch.no_grad():
                    rows = function(source.batch(indices)).float().cpu().numpy()
                yield rows
                advance(len(rows))

    def _watched(self, eval_set: tuple[Any, Any] | None, judge: Any) -> Watched | None:
        """Return the graphs of ``eval_set`` and how their outputs are judged, as ``judge`` says."""
        if eval_set is None:
            return None
        graphs = as_graphset(eval_set[0])
        made: Judge = judge(eval_set[1], len(graphs))
        return Watched(graphs, made)

    def _set_fitted(self, config: SemiConfig, own: nn.Module | None, fitted: FittedLabels) -> None:
        self.network_, self.features_ = fitted.network, fitted.features
        self.history_, self.pretraining_history_ = fitted.history, fitted.before
        self.pseudo_labels_ = fitted.pseudo
        self._set_config(config, own)

    def _mix_weight(self) -> float:
        """Return lambda of Eq. mix as it is set now, 1 for a method that has none."""
        check_is_fitted(self, "network_")
        return self.config().mix_weight if "mix_weight" in self.get_params() else 1.0

    def _num_outputs(self) -> int:
        raise NotImplementedError

    def _labels_to_json(self) -> dict[str, Any]:
        raise NotImplementedError

    def _labels_from_json(self, value: dict[str, Any]) -> None:
        raise NotImplementedError


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
