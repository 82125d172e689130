"""``LabelEstimator``: what every estimator that learns from few labels has in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from igsd.config_semi import SemiConfig, load_semi_recipe
from igsd.errors import ConfigError, ParameterError, StorageError
from igsd.estimator_base import GraphInputMixin, draw_seed, is_drawn
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


class LabelEstimator(GraphInputMixin, TransformerMixin, BaseEstimator):
    """Fits a method on graphs of which some have a label.

    A subclass names its ``_config_class`` and its ``_method``, and says what labels are.

    Learned: ``network_``, ``features_``, ``history_`` (one line per epoch), ``config_``,
    ``pseudo_labels_``, ``own_encoder_`` and ``n_features_out_``.
    """

    _config_class: ClassVar[type[SemiConfig]]
    _method: ClassVar[LabelMethod]

    network_: Any
    features_: FeatureMap
    history_: list[dict[str, float]]
    config_: SemiConfig
    pseudo_labels_: PseudoLabels
    own_encoder_: str | None

    @classmethod
    def from_recipe(cls, name: str, **changes: Any) -> Self:
        """Return an unfitted estimator with the settings of a shipped recipe, some changed."""
        return cls.from_config(load_semi_recipe(name, cls._config_class)).set_params(**changes)

    @classmethod
    def from_config(cls, config: SemiConfig, **others: Any) -> Self:
        """Return an unfitted estimator with these settings."""
        settings = config.to_json()
        return cls(random_state=settings.pop("seed"), **settings, **others)

    def config(self) -> SemiConfig:
        """Return the settings, checked; raises ``ConfigError`` for one outside its rule."""
        seed = self.get_params(deep=False)["random_state"]
        if is_drawn(seed):
            seed = self.config_.seed if hasattr(self, "config_") else SemiConfig.seed
        return self._config_with(seed)

    def transform(self, X: Any) -> np.ndarray:
        """Return the embeddings [G, d] float32 of graphs, seen in training or not."""
        return np.concatenate(list(self.transform_chunks(X)))

    def transform_chunks(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the rows of ``transform`` in pieces, so that memory does not grow with the set."""
        weight = self._mix_weight()
        yield from self._pieces(X, lambda batch: self.network_.embed(batch, weight), "embedding")

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Return the names of the embedding's columns: igsd0, igsd1, ..."""
        check_is_fitted(self, "network_")
        return np.array([f"igsd{i}" for i in range(self.n_features_out_)], dtype=object)

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
            "labels": self._labels_to_json(),
        }
        write_model(path, tensors, header)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, encoder: nn.Module | None = None) -> Self:
        """Return the estimator that ``save`` wrote; its predictions are bit-equal.

        ``encoder``: the module of your own that it was trained with, if it was. Raises
        ``StorageError`` for any other file, ``ConfigError`` where the encoder is missing.
        """
        tensors, header = read_model(path)
        if header.get("estimator") != cls.__name__:
            raise StorageError(
                f"{path} holds a {header.get('estimator')} model, but no {cls.__name__}."
            )
        with whole_model(path):
            own = header["own_encoder"]
            if own and encoder is None:
                raise ConfigError(
                    f"{path} was trained with an encoder of your own, {own}. Load it with "
                    f"{cls.__name__}.load(path, encoder=...)."
                )
            config = cls._config_class().updated(header["config"])
            estimator = cls.from_config(config)
            if encoder is not None:
                estimator.set_params(encoder=encoder)
            estimator._labels_from_json(header["labels"])
            features = FeatureMap.from_json(header["features"])
            with torch.random.fork_rng(devices=[]):
                network = cls._method.build(
                    config, features.dim, estimator._num_outputs(), encoder, features.links
                )
            network.load_state_dict(_under(tensors, "network."))
            pseudo = PseudoLabels(*(tensors[f"pseudo.{name}"].numpy() for name in _PSEUDO))
            fitted = FittedLabels(network.eval(), features, list(header["history"]), pseudo)
        estimator._set_fitted(config, encoder, fitted)
        return estimator

    def _fit(self, graphs: GraphSet, labels: Labels, watched: Watched | None) -> Self:
        config = self._config_with(draw_seed(self.get_params(deep=False)["random_state"]))
        given = self.get_params(deep=False)
        own = given["encoder"] if isinstance(given["encoder"], nn.Module) else None
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

    def _config_with(self, seed: Any) -> SemiConfig:
        given = self.get_params(deep=False) | {"seed": seed}
        if isinstance(given["encoder"], nn.Module):
            given["encoder"] = SemiConfig.encoder
        names = [entry.name for entry in self._config_class.settings()]
        try:
            return self._config_class(**{name: given[name] for name in names})
        except ParameterError as error:
            raise error.of_estimator(type(self).__name__) from error

    def _set_fitted(self, config: SemiConfig, own: nn.Module | None, fitted: FittedLabels) -> None:
        self.network_, self.features_ = fitted.network, fitted.features
        self.history_, self.pseudo_labels_ = fitted.history, fitted.pseudo
        self.config_ = config
        self.own_encoder_ = None if own is None else type(own).__qualname__

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
