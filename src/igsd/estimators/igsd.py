"""``IGSD``: the method as a scikit-learn transformer, from graphs to vectors."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted
from torch import nn

from igsd.config import Config, load_recipe
from igsd.errors import ConfigError, StorageError
from igsd.estimators.own_encoder import OwnEncoderEstimator
from igsd.evaluation.embed import embed_chunks
from igsd.graphs.convert import as_graphset
from igsd.graphs.features import FeatureMap
from igsd.model.build import build_model
from igsd.model.igsd import IGSDModel
from igsd.model_file import read_model, whole_model, write_model
from igsd.progress import progress_bar
from igsd.training.fit import Fitted, fit_self_supervised, view_spec


class IGSD(OwnEncoderEstimator[Config]):
    """Learns a vector for each graph from graphs alone, by Iterative Graph Self-Distillation.

    ``fit`` and ``transform`` take a ``GraphSet``, or a list of NetworkX graphs, PyTorch Geometric
    ``Data`` objects or SMILES strings; a string that is no molecule raises ``DataError`` with its
    place in the list, since a row left out would shift all that follow. Labels are never read.

    The settings are those of ``igsd.config.Config``, explained there and by ``igsd train --help``;
    ``random_state`` is its ``seed``, and may also be None, a ``RandomState`` or a ``Generator``:
    then each ``fit`` draws a seed of its own, which ``config_.seed`` and the saved file keep.
    Besides them:

    - ``encoder``: ``"gin"``, ``"gcn"``, ``"mpnn"`` (for molecules), or an ``nn.Module`` of your own
      (see ``build_model``).
    - ``checkpoint``: a file in which training saves itself; ``fit`` goes on from it if it exists.
    - ``log_dir``: a folder for TensorBoard curves (extra ``igsd[tensorboard]``).
    - ``verbose``: show progress bars.

    Learned: ``model_``, ``features_``, ``history_`` (mean losses per epoch), ``config_`` (the
    settings of the fit), ``own_encoder_`` (the class of your own encoder, or None) and
    ``n_features_out_``. Of settings changed after ``fit``, only ``mix_weight`` and ``embed_views``
    count without fitting again.

    >>> from igsd import IGSD, load_dataset
    >>> vectors = IGSD(epochs=1).fit_transform(load_dataset("MUTAG"))
    >>> vectors.shape
    (188, 256)
    """

    config_class = Config
    model_: IGSDModel
    features_: FeatureMap
    history_: list[dict[str, float]]

    def __init__(
        self,
        *,
        epochs: int = 20,
        batch_size: int = 128,
        learning_rate: float = 1e-3,
        weight_decay: float = 0.0,
        node_features: str = "auto",
        degree_cap: int = 64,
        view: str = "ppr",
        num_views: int = 1,
        teleport: float = 0.2,
        heat_time: float = 5.0,
        threshold: float = 1e-3,
        top_k: int = 0,
        drop_rate: float = 0.2,
        exact_limit: int = 2000,
        cache_views: bool = True,
        encoder: str | nn.Module = "gin",
        num_layers: int = 4,
        hidden_dim: int = 64,
        encoder_batch_norm: bool = True,
        readout: str = "sum",
        concat_layers: bool = True,
        edge_hidden_dim: int = 128,
        distance_bins: int = 20,
        set2set_steps: int = 3,
        projector: bool = True,
        predictor: bool = True,
        head_hidden_dim: int = 1024,
        head_dim: int = 256,
        head_batch_norm: bool = True,
        temperature: float = 0.2,
        ema_decay: float = 0.99,
        mix_weight: float = 0.5,
        embed_views: str = "graph",
        accelerator: str = "auto",
        devices: int = 1,
        precision: str = "32-true",
        checkpoint_every: int = 200,
        random_state: int | np.random.RandomState | np.random.Generator | None = 0,
        checkpoint: str | os.PathLike[str] | None = None,
        log_dir: str | os.PathLike[str] | None = None,
        verbose: bool = False,
    ) -> None:
        # A list: under a debugger the dictionary that locals() gave grows during the loop.
        for name, value in list(locals().items()):
            if name not in ("self", "__class__"):
                setattr(self, name, value)

    @classmethod
    def from_recipe(cls, name: str, **changes: Any) -> IGSD:
        """Return an unfitted estimator with the settings of a shipped recipe, some changed."""
        return cls.from_config(load_recipe(name)).set_params(**changes)

    def fit(self, X: Any, y: Any = None) -> IGSD:
        """Train on graphs and return self; ``y`` is accepted for pipelines and never read."""
        config, own = self._config_of_fit(), self._own_encoder()
        graphs = as_graphset(X)
        fitted = fit_self_supervised(
            graphs,
            config,
            encoder=own,
            checkpoint=self.checkpoint,
            log_dir=self.log_dir,
            verbose=self.verbose,
        )
        self._set_fitted(config, own, fitted)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the embeddings [G, d] float32 of graphs, seen in training or not.

        Implements Eq. mix; with ``embed_views="both"`` the view's embedding stands beside it.
        """
        return np.concatenate(list(self.transform_chunks(X)))

    def transform_chunks(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the rows of ``transform`` in pieces, so that memory does not grow with the set."""
        check_is_fitted(self, "model_")
        config, graphs = self._fitted_config(), as_graphset(X)
        pieces = embed_chunks(
            self.model_,
            self.features_,
            graphs,
            mix_weight=config.mix_weight,
            view=view_spec(config) if config.embed_views == "both" else None,
            device=next(self.model_.parameters()).device,
        )
        with progress_bar("embedding", len(graphs), shown=self.verbose) as advance:
            for rows in pieces:
                yield rows
                advance(len(rows))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator to one file at exactly ``path``, whole or not at all."""
        check_is_fitted(self, "model_")
        write_model(
            path,
            self.model_.state_dict(),
            {
                "estimator": "IGSD",
                "config": self._fitted_config().to_json(),
                "own_encoder": self.own_encoder_,
                "features": self.features_.to_json(),
                "history": self.history_,
            },
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, encoder: nn.Module | None = None) -> IGSD:
        """Return the estimator that ``save`` wrote; its ``transform`` is bit-equal.

        ``path``: the file, or the run folder of ``igsd train`` with a model in it.
        ``encoder``: the module of your own that it was trained with, if it was: a file holds
        numbers, never code. Raises ``StorageError`` for any other file, ``ConfigError`` where the
        encoder is missing or does not fit.
        """
        tensors, header = read_model(path, "IGSD")
        with whole_model(path):
            own, history = header["own_encoder"], list(header["history"])
            config = Config().updated(header["config"])
            features = FeatureMap.from_json(header["features"])
        estimator = cls._to_be_filled(path, config, own, encoder)
        with torch.random.fork_rng(devices=[]):
            model = build_model(config, features.dim, encoder, features.links)
        try:
            model.load_state_dict(tensors)
        except RuntimeError as error:
            if encoder is None:
                raise StorageError(f"{path} is damaged: weights are missing: {error}") from error
            raise ConfigError(
                f"The weights in {path} belong to the encoder "
                f"{own or config.encoder!r} and do not fit the given "
                f"{type(encoder).__qualname__}: {error}"
            ) from error
        estimator._set_fitted(config, encoder, Fitted(model.eval(), features, history))
        return estimator

    @property
    def n_features_out_(self) -> int:
        """Width of an embedding."""
        width: Any = self.model_.student.encoder.out_dim
        return 2 * width if self.embed_views == "both" else width

    def _fitted_config(self) -> Config:
        """Return the settings of ``fit``, except those of the embedding, which are today's."""
        now = self.config()
        return self.config_.updated({"mix_weight": now.mix_weight, "embed_views": now.embed_views})

    def _set_fitted(self, config: Config, own: nn.Module | None, fitted: Fitted) -> None:
        self.model_, self.features_, self.history_ = fitted.model, fitted.features, fitted.history
        self._set_config(config, own)
