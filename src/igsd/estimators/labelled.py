"""Classifiers and regressors of graphs that learn from few labels."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted
from torch import Tensor, nn

from igsd.errors import DataError
from igsd.estimators.base import settings_as_parameters
from igsd.estimators.neural import NeuralEstimator
from igsd.estimators.targets import TargetScale, check_known, codes_of, encode_classes, read_targets
from igsd.files.arrays import Header
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open import as_graphset
from igsd.model.igsd import SemiModel
from igsd.settings.igsd import SemiConfig, SemiRegressionConfig
from igsd.training.fit import Fitted, Watched
from igsd.training.self_training import PseudoLabels, warn_if_never
from igsd.training.task import Labels

Judge = Callable[[np.ndarray], dict[str, float]]
"""Turns the outputs [G, C] of watched graphs into named figures."""

_PSEUDO = ("graphs", "codes", "confidence", "rounds")


class LabelEstimator(NeuralEstimator):
    """Fits a network on graphs of which some have a label.

    Learned: as in ``NeuralEstimator``, and ``pseudo_labels_`` and ``pretraining_history_`` (the
    losses of the pretraining).
    """

    _weights_prefix: ClassVar[str] = "network."

    pretraining_history_: list[dict[str, float]]
    pseudo_labels_: PseudoLabels

    def _fit(
        self, graphs: GraphSet, labels: Labels | None = None, watched: Watched | None = None
    ) -> Self:
        config = self._config_of_fit()
        if labels is not None and len(labels.unlabelled) and getattr(config, "self_training", 0):
            warn_if_never(config.epochs, config.self_training_start)
        return super()._fit(graphs, labels, watched)

    def _outputs(self, X: Any) -> np.ndarray:
        """Return the network's outputs [G, C] float32 of graphs."""
        check_is_fitted(self, "network_")
        return np.concatenate(list(self._chunks(X, self.network_.outputs, "predicting")))

    def _watched(
        self, eval_set: tuple[Any, Any] | None, judge: Callable[[Any, int], Judge]
    ) -> Watched | None:
        """Return the graphs of ``eval_set`` with the function that scores their outputs."""
        if eval_set is None:
            return None
        graphs = as_graphset(eval_set[0])
        return Watched(graphs, judge(eval_set[1], len(graphs)))

    def _set_fitted(self, config: Any, own: nn.Module | None, fitted: Fitted) -> Self:
        if fitted.pseudo is not None:  # a loaded model has its own already
            self.pseudo_labels_, self.pretraining_history_ = fitted.pseudo, fitted.before
        return super()._set_fitted(config, own, fitted)

    def _state(self) -> tuple[dict[str, Tensor], Header]:
        columns = ((name, np.array(getattr(self.pseudo_labels_, name))) for name in _PSEUDO)
        tensors = {f"pseudo.{name}": torch.from_numpy(column) for name, column in columns}
        header = {"pretraining": self.pretraining_history_, "labels": self._labels_to_json()}
        return tensors, header

    def _set_state(self, tensors: Mapping[str, Tensor], header: Header) -> None:
        self._labels_from_json(header["labels"])
        self.pseudo_labels_ = PseudoLabels(*(tensors[f"pseudo.{name}"].numpy() for name in _PSEUDO))
        self.pretraining_history_ = list(header.get("pretraining", ()))

    def _labels_to_json(self) -> Header:
        raise NotImplementedError

    def _labels_from_json(self, value: Header) -> None:
        raise NotImplementedError


class GraphClassifier(ClassifierMixin, LabelEstimator):
    """A classifier of graphs that learns from those with a label and from those without.

    ``y``: one class per graph, text or whole numbers; None, NaN or -1 if there is none, by the
    rule of ``igsd.graphs.labels.drop_missing``. ``classes_``: the classes in order.
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any = None, *, eval_set: tuple[Any, Any] | None = None) -> Self:
        """Train on graphs and return self.

        ``eval_set``: (graphs, labels) that are not trained on: their accuracy after every epoch is
        added to ``history_`` as ``eval_accuracy``, and nothing is selected by it.
        """
        graphs = as_graphset(X)
        codes, classes = encode_classes(y, len(graphs))
        watched = self._watched(eval_set, lambda y, count: _judge(codes_of(y, classes, count)))
        self._fit(graphs, Labels(codes, len(classes)), watched)
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class in the order of ``classes_``, [G, C] float64."""
        return softmax(self._outputs(X).astype(np.float64), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each graph, [G]."""
        codes = self._outputs(X).argmax(axis=1)
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the graphs that have a label.

        Raises ``DataError`` for a class that the model does not know, and if there are no labels.
        """
        check_is_fitted(self, "network_")
        graphs = as_graphset(X)
        codes = codes_of(y, self.classes_, len(graphs))
        if not (codes >= 0).any():
            raise DataError("A score needs labels, but y has none.")
        hits = self._outputs(graphs).argmax(axis=1) == codes
        weight = None if sample_weight is None else np.asarray(sample_weight)[codes >= 0]
        return float(np.average(hits[codes >= 0], weights=weight))

    def _num_outputs(self) -> int:
        return len(self.classes_)

    def _labels_to_json(self) -> Header:
        return {"classes": self.classes_.tolist()}

    def _labels_from_json(self, value: Header) -> None:
        self.classes_ = np.array(value["classes"])


class GraphRegressor(RegressorMixin, LabelEstimator):
    """A regressor of graphs that learns from those with targets and from those without.

    ``y``: [G] or [G, t] numbers, NaN or None if unknown; a graph may lack some of its targets.
    They are standardised over the labelled training graphs, which ``scale_`` records.
    """

    scale_: TargetScale

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        eval_set: tuple[Any, Any] | None = None,
        target_names: Sequence[str] | None = None,
    ) -> Self:
        """Train on graphs and return self.

        ``target_names``: names of the targets; by default the columns of a data frame.
        ``eval_set``: (graphs, targets) that are not trained on: their mean absolute error after
        every epoch is added to ``history_`` as ``eval_mae``, and with several targets also of each.
        """
        graphs = as_graphset(X)
        targets, is_single = read_targets(y, len(graphs))
        check_known(targets)
        names = _column_names(y, targets.shape[1]) if target_names is None else tuple(target_names)
        scale = TargetScale.fit(targets, is_single=is_single, names=names)
        watched = self._watched(eval_set, lambda y, n: _judge_targets(read_targets(y, n)[0], scale))
        self._fit(graphs, Labels(scale.standardised(targets), targets.shape[1]), watched)
        self.scale_ = scale
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted targets in their own units, [G] or [G, t] float64 like ``y``."""
        outputs = self._outputs(X)
        return self.scale_.restored(outputs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean R^2 over the targets; graphs with an unknown target are left out."""
        from sklearn.metrics import r2_score

        check_is_fitted(self, "network_")
        graphs = as_graphset(X)
        targets, _ = read_targets(y, len(graphs))
        _check_width(targets, self.scale_)
        predicted = self.predict(graphs).reshape(len(graphs), -1)
        scores = []
        for column, known in enumerate(~np.isnan(targets).T):
            if not known.any():
                continue
            weight = None if sample_weight is None else np.asarray(sample_weight)[known]
            pair = targets[known, column], predicted[known, column]
            scores.append(r2_score(*pair, sample_weight=weight))
        if not scores:
            raise DataError("A score needs targets, but y has none.")
        return float(np.mean(scores))

    def _num_outputs(self) -> int:
        return len(self.scale_.mean)

    def _labels_to_json(self) -> Header:
        return self.scale_.to_json()

    def _labels_from_json(self, value: Header) -> None:
        self.scale_ = TargetScale.from_json(value)


@settings_as_parameters(SemiConfig)
class IGSDClassifier(GraphClassifier):
    """Predicts the class of a graph by semi-supervised IGSD, from few labels and many graphs.

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


@settings_as_parameters(SemiRegressionConfig)
class IGSDRegressor(GraphRegressor):
    """Predicts numbers for a graph by semi-supervised IGSD, from few labels and many graphs.

    ``fit`` takes graphs as ``igsd.IGSD`` does, and ``y``: one or several numbers per graph, NaN or
    None if unknown. There are no classes, so neither Eq. supcon nor self-training.

    Learned: ``scale_``, ``history_``, ``pretraining_history_``, ``network_``, ``features_``,
    ``config_``.
    """

    network_class = SemiModel


def _judge(codes: np.ndarray) -> Judge:
    """Return the function that measures the accuracy on the labelled graphs."""
    labelled = codes >= 0
    if not labelled.any():
        raise DataError("eval_set needs labels, but its y has none.")

    def judge(outputs: np.ndarray) -> dict[str, float]:
        hits = outputs.argmax(axis=1) == codes
        return {"eval_accuracy": float(hits[labelled].mean())}

    return judge


def _judge_targets(targets: np.ndarray, scale: TargetScale) -> Judge:
    """Return the function that measures the mean absolute error in the targets' own units."""
    _check_width(targets, scale)

    def judge(outputs: np.ndarray) -> dict[str, float]:
        errors = np.abs(outputs.astype(np.float64) * scale.scale + scale.mean - targets)
        per_target = np.nanmean(errors, axis=0)
        figures = {"eval_mae": float(per_target.mean())}
        if len(per_target) > 1:
            figures |= {f"eval_mae_{i}": float(value) for i, value in enumerate(per_target)}
        return figures

    return judge


def _column_names(y: Any, count: int) -> tuple[str, ...]:
    """Return the names of a data frame's columns, () for anything else."""
    names = tuple(str(name) for name in getattr(y, "columns", ()))
    return names if len(names) == count else ()


def _check_width(targets: np.ndarray, scale: TargetScale) -> None:
    found, expected = targets.shape[1], len(scale.mean)
    if found != expected:
        raise DataError(f"The model predicts {expected} targets per graph. Got y with {found}.")
