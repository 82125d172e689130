"""IGSD as scikit-learn estimators: vectors without labels, classes and numbers with few."""

import os
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from igsd.errors import ConfigError
from igsd.estimators.base import parameter_defaults, settings_as_parameters
from igsd.estimators.labelled import GraphClassifier, GraphRegressor
from igsd.estimators.neural import NeuralEstimator
from igsd.files.arrays import read_header
from igsd.files.models import model_path
from igsd.graphs.molecule import are_smiles
from igsd.graphs.open import as_graphset
from igsd.model.igsd import IGSDModel, SemiModel
from igsd.settings.igsd import Config, SemiConfig, SemiRegressionConfig


@settings_as_parameters(Config)
class IGSD(NeuralEstimator):
    """Learns a vector for each graph from graphs alone, by Iterative Graph Self-Distillation.

    ``fit`` and ``transform`` take a ``GraphSet``, or a list of NetworkX graphs, PyTorch Geometric
    ``Data`` objects or SMILES strings. A string that is not a molecule raises ``DataError`` with
    its index, since leaving it out would shift all rows after it. Labels are never read.

    ``encoder`` may be your own ``nn.Module``: it takes a ``Batch``, returns one row per graph and
    has an integer attribute ``out_dim``. ``view`` may be a function of (adjacency, seed): the
    adjacency of one graph, a SciPy CSR array [n, n], to one over the same nodes. ``loss`` may be a
    function of (p, p_view, z, z_view), the predictions of the student and the projections of the
    teacher for graphs and their views, [B, d] each, to one number.

    Learned: ``network_`` (also called ``model_``), ``features_``, ``history_`` (mean losses per
    epoch), ``config_`` (the settings of the fit), ``own_encoder_`` (the class of your own encoder,
    or None), ``own_parts_`` and ``n_features_out_``. Of settings changed after ``fit``, only
    ``mix_weight`` and ``embed_views`` take effect without fitting again.

    >>> from igsd import IGSD, load_dataset
    >>> vectors = IGSD(epochs=1).fit_transform(load_dataset("MUTAG"))
    >>> vectors.shape
    (188, 256)
    """

    network_class = IGSDModel

    @property
    def model_(self) -> IGSDModel:
        """The trained student and teacher."""
        return self.network_


class HandsOver(NeuralEstimator):
    """Delegates molecules to the predictor, which starts from the encoder in the package.

    That is the default for molecules, as on the command line. Any setting or recipe that is given
    trains a network instead. ``predictor_``: the predictor of the last fit, or None.
    """

    predictor_name: ClassVar[str]
    predictor_: Any = None

    @classmethod
    def _predictor_class(cls) -> Any:
        from igsd.estimators import predictor  # which takes a while to import

        return getattr(predictor, cls.predictor_name)

    def fit(self, X: Any, y: Any = None, *, eval_set: Any = None, **kwargs: Any) -> Self:
        """Train on graphs and return self.

        ``eval_set``: (graphs, labels) that are not trained on; they are scored after every epoch of
        a network, in ``history_``, and nothing is selected by them.
        """
        graphs, self.predictor_ = as_graphset(X), None
        if eval_set is not None or self._is_set() or not are_smiles(graphs.graph_names):
            super().fit(graphs, y, eval_set=eval_set, **kwargs)  # type: ignore[call-arg]
            return self
        values = self.get_params(deep=False)
        chosen = {name: values[name] for name in ("random_state", "verbose")}
        self._adopt(self._predictor_class()(**chosen).fit(graphs, y, **kwargs))
        return self

    def _is_set(self) -> bool:
        """Return whether a recipe or setting is given."""
        values = self.get_params(deep=False)
        defaults = parameter_defaults(self.config_class)
        given = self.config_class.known(values).items()
        is_given = [value != defaults.get(name) for name, value in given]
        return values["recipe"] != "auto" or any(is_given) or values["checkpoint"] is not None

    def _adopt(self, predictor: Any) -> Self:
        """Take over what a fitted predictor learned."""
        self.predictor_ = predictor
        for name in ("classes_", "scale_", "config_", "notes_", "standardised_"):
            if hasattr(predictor, name):
                setattr(self, name, getattr(predictor, name))
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the vectors [G, d] float32 of graphs, seen in training or not."""
        return super().transform(X) if self.predictor_ is None else self.predictor_.transform(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each graph, or its numbers."""
        if self.predictor_ is None:
            found: np.ndarray = super().predict(X)
            return found
        return self.predictor_.predict(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy, or R^2, on the graphs that have a label."""
        if self.predictor_ is None:
            return float(super().score(X, y, sample_weight))
        return float(self.predictor_.score(X, y, sample_weight))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted estimator atomically to one file at exactly ``path``."""
        if self.predictor_ is None:
            super().save(path)
        else:
            self.predictor_.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, encoder: Any = None, **own: Any) -> Self:
        """Return the estimator that ``save`` wrote; its results are bit-equal."""
        kind = (read_header(model_path(path)) or {}).get("estimator")
        if kind != cls.predictor_name:
            return super().load(path, encoder=encoder, **own)
        if encoder is not None or own:
            given = "encoder" if encoder is not None else min(own)
            raise ConfigError(f"{path} predicts from the encoder inside it: give no {given}.")
        return cls()._adopt(cls._predictor_class().load(path))

    @property
    def n_features_out_(self) -> int:
        """Width of a vector."""
        if self.predictor_ is None:
            return super().n_features_out_
        return int(self.predictor_.n_features_out_)


@settings_as_parameters(SemiConfig)
class IGSDClassifier(HandsOver, GraphClassifier):
    """Predicts the class of a graph from few labels and many graphs.

    With nothing but defaults, molecules are predicted from the pre-trained encoder in the package
    (``MoleculeClassifier``), with calibrated probabilities. Other graphs, and molecules if a recipe
    or a setting is given, train a network by semi-supervised IGSD.

    ``fit`` takes a ``GraphSet``, or a list of NetworkX graphs, PyTorch Geometric ``Data`` objects
    or SMILES strings, and ``y``: one class per graph, text or whole numbers, None or NaN if there
    is none (-1 also means none if all other labels are whole numbers >= 0). It can then
    ``predict`` graphs that it has never seen.

    Learned: ``classes_``, ``pseudo_labels_`` (graph, class, confidence and round of each),
    ``history_``, ``pretraining_history_``, ``network_``, ``features_``, ``config_``.

    >>> from igsd import IGSDClassifier, load_dataset
    >>> graphs = load_dataset("MUTAG")
    >>> y = [c if i % 10 == 0 else None for i, c in enumerate(graphs.classes)]
    >>> model = IGSDClassifier(epochs=5, self_training=False).fit(graphs, y)
    >>> model.predict(graphs).shape
    (188,)
    """

    network_class = SemiModel
    predictor_name = "MoleculeClassifier"

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class in the order of ``classes_``, [G, C] float64."""
        if self.predictor_ is None:
            return super().predict_proba(X)
        found: np.ndarray = self.predictor_.predict_proba(X)
        return found


@settings_as_parameters(SemiRegressionConfig)
class IGSDRegressor(HandsOver, GraphRegressor):
    """Predicts numbers for a graph from few labels and many graphs.

    With nothing but defaults, molecules are predicted from the pre-trained encoder in the package
    (``MoleculeRegressor``). Other graphs, and molecules if a recipe or a setting is given, train a
    network by semi-supervised IGSD.

    ``fit`` takes graphs as ``igsd.IGSD`` does, and ``y``: one or several numbers per graph, NaN or
    None if unknown. There are no classes, so neither Eq. supcon nor self-training.

    Learned: ``scale_``, ``history_``, ``pretraining_history_``, ``network_``, ``features_``,
    ``config_``.
    """

    network_class = SemiModel
    predictor_name = "MoleculeRegressor"

    def predict_interval(self, X: Any, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the (lower, upper) ends of intervals; only for molecules with default settings."""
        if self.predictor_ is None:
            check_is_fitted(self, "config_")
            raise ConfigError(
                "A trained network has no intervals. IGSDRegressor gives them for molecules, if "
                "neither a recipe nor a setting is given."
            )
        ends: tuple[np.ndarray, np.ndarray] = self.predictor_.predict_interval(X, coverage)
        return ends
