"""``NeuralEstimator``: any method that trains a network, as a scikit-learn estimator."""

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from igsd.batches.batch import CHUNK_NODES, chunks
from igsd.batches.features import FeatureMap
from igsd.batches.unseen import warn_of_unseen, warn_of_unused
from igsd.errors import ConfigError, DataError, ParameterError, StorageError, warn_user
from igsd.estimators.base import ConfiguredEstimator, parameter_defaults
from igsd.files import arrays, models
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import as_graphset
from igsd.graphs.summary import fitting_recipe
from igsd.model.igsd import ENCODER_RULE
from igsd.model.network import Dims, Network, Step, build_network
from igsd.processes import kept_memory
from igsd.progress import progress_bar
from igsd.settings import fields, text
from igsd.settings.groups import ENCODERS, Layers, warn_without_effect
from igsd.settings.own import PARTS, called, is_place, offered, part, place_of
from igsd.training.fit import Fitted, Pretrained, Watched, fit, fit_features, view_of
from igsd.training.loop import RandomStream
from igsd.views.source import Source

DISTINCT_CHUNK_NODES = 250_000
"""Nodes of a chunk if equal neighbourhoods are computed once: many, so that many are equal."""

LINKED_CHUNK_NODES = 60_000
"""The same where links have categories: fewer are equal, so the processor's cache counts more."""


class NeuralEstimator(ConfiguredEstimator[Any]):
    """Learns vectors of graphs by training a network. Takes the same graphs as ``igsd.IGSD``.

    A method is a subclass with a ``network_class`` and ``@settings_as_parameters``.

    Learned: ``network_``, ``features_``, ``history_`` (mean losses per epoch), ``config_``,
    ``own_encoder_`` (the class of the user's own encoder, or None), ``own_parts_`` (where the
    user's own encoder, view and loss are defined) and ``n_features_out_``.
    """

    network_class: ClassVar[type[Network]]
    _weights_prefix: ClassVar[str] = ""
    _pretrained: Pretrained | None = None

    network_: Any
    features_: FeatureMap
    history_: list[dict[str, float]]
    own_encoder_: str | None
    own_parts_: dict[str, str]
    recipe_: str | None

    @classmethod
    def from_recipe(cls, name: str, **changes: Any) -> Self:
        """Return an unfitted estimator with the settings of a shipped recipe, some changed."""
        text.load_recipe(name, cls.config_class)  # refuses an unknown one
        return cls(recipe=name, **changes)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Train on graphs and return self; ``y`` is accepted for pipelines and never read."""
        return self._fit(as_graphset(X))

    def features_for(self, X: Any) -> FeatureMap:
        """Return what ``fit`` would show of these graphs, without training.

        Its ``dim`` is the width of the node features, which an encoder of one's own is built for.
        """
        graphs, unfitted = as_graphset(X), type(self)(**self.get_params(deep=False))
        unfitted._choose_recipe(graphs)
        return fit_features(graphs, unfitted._config_of_fit())

    def transform(self, X: Any) -> np.ndarray:
        """Return the vectors [G, d] float32 of graphs, seen in training or not."""
        return np.concatenate(list(self.transform_chunks(X)))

    def transform_chunks(self, X: Any) -> Iterator[np.ndarray]:
        """Yield the rows of ``transform`` in chunks, so that memory does not grow with the set."""
        check_is_fitted(self, "network_")
        self.network_.settings = self._fitted_config()
        yield from self._chunks(X, self.network_.embed, "embedding")

    def chunk_ranges(self, X: Any, *, is_embedding: bool = True) -> Iterator[tuple[int, int]]:
        """Yield (start, stop) of graphs that are computed together; rounding depends on these."""
        check_is_fitted(self, "network_")
        graphs, network = self._read(X), self.network_
        is_distinct = is_embedding and network.embeds_distinct(self.features_)
        several = DISTINCT_CHUNK_NODES if self.features_.links is None else LINKED_CHUNK_NODES
        yield from chunks(graphs.node_ptr, several if is_distinct else CHUNK_NODES)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator atomically to one file at exactly ``path``.

        A file holds numbers, never code: a warning names an encoder, view or loss of your own and
        says how to load the file.
        """
        models.write_model(path, *self.packed())
        if self.own_parts_:
            given = ", ".join(f"{name}=..." for name in self.own_parts_)
            named = ", ".join(f"the {name} {place}" for name, place in self.own_parts_.items())
            warn_user(
                f"{path} holds the weights, but not {named}: code is never saved. Load it with "
                f"{type(self).__name__}.load(path, {given})."
            )

    def packed(self) -> tuple[dict[str, torch.Tensor], arrays.Header]:
        """Return the (tensors, header) that ``save`` writes."""
        check_is_fitted(self, "network_")
        tensors = self.network_.state_dict(prefix=self._weights_prefix)
        header = {
            "estimator": type(self).__name__,
            "config": self._fitted_config().to_json(),
            "own_encoder": self.own_encoder_,
            **({"own_parts": self.own_parts_} if self.own_parts_ else {}),
            **self._reading_to_json(),
            "features": self.features_.to_json(),
            "history": self.history_,
        }
        more_tensors, more_header = self._state()
        return tensors | more_tensors, header | more_header

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, encoder: Any = None, **own: Any) -> Self:
        """Return the estimator that ``save`` wrote; its results are bit-equal.

        ``path``: the file, or a run folder of ``igsd train``. ``encoder``: your own module, if it
        was trained with one: a file holds numbers, never code. ``view`` and ``loss``: your own
        functions, which only ``fit`` needs. Raises ``StorageError`` for any other file, and
        ``ConfigError`` if the encoder is missing or does not fit.
        """
        if unknown := own.keys() - {"view", "loss"}:
            raise TypeError(f"{cls.__name__}.load() got an unexpected argument {min(unknown)!r}")
        estimator = cls.unpacked(*models.read_model(path, cls.__name__), path, encoder=encoder)
        return estimator.set_params(**own)

    @classmethod
    def unpacked(
        cls,
        tensors: Mapping[str, torch.Tensor],
        header: arrays.Header,
        path: str | os.PathLike[str],
        *,
        encoder: Any = None,
    ) -> Self:
        """Return the estimator that ``packed`` describes; ``path``: its file, for messages."""
        with models.whole_model(path):
            own, history = header.get("own_encoder"), list(header["history"])
            config = cls.config_class.from_json(header["config"])
            features = FeatureMap.from_json(header["features"])
            places = dict(header.get("own_parts", {}))
        given = encoder
        if isinstance(config, Layers) and encoder is None and config.encoder in offered("encoders"):
            encoder = part("encoders", config.encoder, None, ENCODERS)
        if own and encoder is None:
            raise ConfigError(
                f"{path} was trained with an encoder of your own, {own}. Load it with "
                f"{cls.__name__}.load(path, encoder=...)."
            )
        estimator = cls.from_config(config)
        if given is not None:
            estimator.set_params(encoder=given)
        with models.whole_model(path):
            estimator._set_state(tensors, header)
            estimator._reading_from_json(header)
            with RandomStream(config.seed):
                dims = Dims(features, estimator._num_outputs(), encoder)
                network = build_network(cls.network_class, config, dims)
        prefix = cls._weights_prefix
        weights = {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
        try:
            network.load_state_dict(weights)
        except RuntimeError as error:
            if encoder is None:
                raise StorageError(
                    f"{path} is damaged, or a model of another version: {error}. Copy it again "
                    "from its source, or train it again."
                ) from error
            raise ConfigError(
                f"The weights in {path} belong to the encoder {own or config.encoder!r} and do not "
                f"fit the given {type(encoder).__qualname__}: {error}"
            ) from error
        parts = {} if given is None else {"encoder": given}
        estimator._set_fitted(config, parts, Fitted(network.eval(), features, history))
        estimator.own_parts_ = places | estimator.own_parts_
        return estimator

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        self.network_.settings = self._fitted_config()
        return int(self.network_.out_dim)

    def _fit(self, graphs: GraphSet, labels: Any = None, watched: Watched | None = None) -> Self:
        self._choose_recipe(graphs)
        config, own = self._config_of_fit(), self._own_parts()
        parameters = self.get_params(deep=False)
        if parameters.get("recipe") is not None:  # otherwise settings of the command line
            warn_without_effect(config, self._given_settings())
        options = {name: parameters[name] for name in ("checkpoint", "log_dir", "verbose")}
        options |= {"labels": labels, "watched": watched, "pretrained": self._pretrained, **own}
        name = config.section or type(self).__name__
        try:
            fitted = fit(graphs, config, self.network_class, name=name, **options)
        except ParameterError as error:
            raise error.of_estimator(type(self).__name__) from error
        warn_of_unused(fitted.features, graphs)
        self.standardised_ = graphs.standardised
        return self._set_fitted(config, own, fitted)

    def _set_fitted(self, config: Any, own: Mapping[str, Any], fitted: Fitted) -> Self:
        self.network_, self.features_ = fitted.network, fitted.features
        self.history_, self.config_ = fitted.history, config
        self.own_parts_ = {name: place_of(found) for name, found in own.items()}
        for name in PARTS:  # and what --set names on the command line
            if name not in own and is_place(str(getattr(config, name, ""))):
                self.own_parts_[name] = getattr(config, name)
        encoder = self.own_parts_.get("encoder")
        self.own_encoder_ = None if encoder is None else encoder.rpartition(":")[2]
        return self

    def _chunks(
        self, X: Any, compute: Callable[[Step], torch.Tensor], title: str
    ) -> Iterator[np.ndarray]:
        graphs, network = self._read(X), self.network_.eval()
        warn_of_unseen(self.features_, graphs)
        config, device = network.settings, next(network.parameters()).device
        ranges = self.chunk_ranges(graphs, is_embedding=title == "embedding")
        shown = self.get_params(deep=False)["verbose"]
        with kept_memory(), progress_bar(title, len(graphs), shown=shown) as advance:
            for start, stop in ranges:
                part = graphs.take(np.arange(start, stop))
                source = Source(part, self.features_, device, view=view_of(config), cache=False)
                with torch.no_grad(), called("encoder", None, ENCODER_RULE):
                    rows = compute(Step(source, (np.arange(len(part)),))).float().cpu().numpy()
                if not np.isfinite(rows).all():
                    place = start + int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
                    raise DataError(
                        f"The vector of graph {place} of {graphs.name!r} is not finite: weights of "
                        "the model or attributes of the graph are too large. Train again with a "
                        "smaller learning_rate, or look at that graph."
                    )
                yield rows
                advance(len(rows))

    def _own_parts(self) -> fields.Values:
        """Return the user's own encoder (a module), view and loss (functions), where given.

        Raises ``ParameterError`` for a loss with weights, which nothing would train.
        """
        given = self.get_params(deep=False)
        open_to = {e.name for e in self.config_class.settings() if e.metadata.get("own")}
        found = {k: given[k] for k in ("view", "loss") if k in open_to and callable(given[k])}
        if isinstance(encoder := given["encoder"], type):
            raise ParameterError(
                "encoder",
                type(self).__name__,
                f"must be an nn.Module object, but {encoder.__name__} is a class. Call it with its "
                f"arguments: encoder={encoder.__name__}(...).",
            )
        if isinstance(given["encoder"], torch.nn.Module):
            found = {"encoder": given["encoder"]} | found
        loss = found.get("loss")
        if isinstance(loss, torch.nn.Module) and any(True for _ in loss.parameters()):
            raise ParameterError(
                "loss",
                type(self).__name__,
                f"must be a function of projections. {place_of(loss)} has weights of its own, "
                "which would not be trained. Put them into an encoder.",
            )
        return found

    def _choose_recipe(self, graphs: GraphSet) -> None:
        """Choose the recipe of a fit for its graphs, unless it is given."""
        recipe = self.get_params(deep=False).get("recipe")
        self.recipe_ = fitting_recipe(graphs) if recipe == "auto" else recipe
        names = {entry.name for entry in self.config_class.settings()}
        if recipe == "auto" and self.recipe_ == "networks" and not {"view", "temperature"} <= names:
            self.recipe_ = "molecules"  # the encoder of that recipe is not for all methods
        # A recipe for labelled nodes suits nodes with attributes alone as well.
        self._lacks_labels = recipe == "auto" and graphs.node_labels is None

    def _named_settings(self) -> fields.Values:
        """Return the parameters that are settings, those left at None by the recipe."""
        named = self._given_settings()
        for name, found in self._own_parts().items():
            entry = next(e for e in self.config_class.settings() if e.name == name)
            named[name] = place_of(found) if entry.metadata.get("own") else entry.default
        recipe = self.get_params(deep=False).get("recipe")
        recipe = getattr(self, "recipe_", None) if recipe == "auto" else recipe
        base = text.load_recipe(recipe, self.config_class) if recipe else self.config_class()
        values = base.to_json()
        if getattr(self, "_lacks_labels", False) and "label" in values.get("node_features", ""):
            values["node_features"] = "auto"
        return values | named

    def _given_settings(self) -> fields.Values:
        """Return the parameters that are settings, without those that the recipe decides."""
        defaults = parameter_defaults(self.config_class)  # None where the recipe decides
        given = super()._named_settings().items()
        return {k: v for k, v in given if v is not None or defaults[k] is not None}

    def _fitted_config(self) -> Any:
        """Return the settings of ``fit``, with the present settings of the embedding."""
        present = self.get_params(deep=False)
        names = [n for n in ("mix_weight", "embed_views") if present.get(n) is not None]
        try:
            return self.config_.updated({name: present[name] for name in names})
        except ParameterError as error:
            raise error.of_estimator(type(self).__name__) from error

    def _num_outputs(self) -> int:
        """Return the number of outputs of the network: 0 without labels."""
        return 0

    def _state(self) -> tuple[dict[str, torch.Tensor], arrays.Header]:
        """Return the (tensors, header entries) that ``save`` writes besides the network."""
        return {}, {}

    def _set_state(self, tensors: Mapping[str, torch.Tensor], header: arrays.Header) -> None:
        """Restore what ``_state`` returned."""
