"""Classifiers and regressors of graphs that learn from few labels."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import torch
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from igsd.errors import ConfigError, DataError, warn_user
from igsd.estimators.neural import NeuralEstimator
from igsd.estimators.targets import (
    TargetScale,
    accuracy,
    are_binary,
    check_known,
    class_array,
    codes_of,
    encode_classes,
    read_targets,
    target_names_of,
)
from igsd.files.arrays import Header
from igsd.graphs.open import as_graphset
from igsd.training.fit import Fitted, Watched
from igsd.training.self_training import PseudoLabels, warn_if_never
from igsd.training.task import TrainingLabels

_PSEUDO = ("graphs", "codes", "confidence", "rounds")


class LabelEstimator(NeuralEstimator):
    """Fits a network on graphs of which some have a label.

    Also learned: ``pseudo_labels_`` and ``pretraining_history_`` (losses of the pretraining).
    """

    _weights_prefix: ClassVar[str] = "network."

    pretraining_history_: list[dict[str, float]]
    pseudo_labels_: PseudoLabels

    def __getstate__(self) -> Any:
        """Return the state of a copy, which pretrains again if it has to."""
        return super().__getstate__() | {"_pretrained": None}

    def _outputs(self, X: Any) -> np.ndarray:
        """Return the network's outputs [G, C] float32 of graphs."""
        check_is_fitted(self, "network_")
        return np.concatenate(list(self._chunks(X, self.network_.outputs, "predicting")))

    def _set_fitted(self, config: Any, own: Mapping[str, Any], fitted: Fitted) -> Self:
        if fitted.pseudo is not None:  # a loaded model has its own already
            self.pseudo_labels_, self.pretraining_history_ = fitted.pseudo, fitted.before
            self._pretrained = fitted.pretrained
        return super()._set_fitted(config, own, fitted)

    def _state(self) -> tuple[dict[str, torch.Tensor], Header]:
        columns = ((name, np.array(getattr(self.pseudo_labels_, name))) for name in _PSEUDO)
        tensors = {f"pseudo.{name}": torch.from_numpy(column) for name, column in columns}
        header = {"pretraining": self.pretraining_history_, "labels": self._labels_to_json()}
        return tensors, header

    def _set_state(self, tensors: Mapping[str, torch.Tensor], header: Header) -> None:
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
    ``calibration_``: what ``calibrate`` found, None without it. ``held_out_``, after ``calibrate``
    only: the graphs with a label, and the probabilities that models without it gave them.
    """

    classes_: np.ndarray
    calibration_: Header | None = None
    held_out_: Sequence[tuple[np.ndarray, np.ndarray]] = ()

    def fit(self, X: Any, y: Any = None, *, eval_set: tuple[Any, Any] | None = None) -> Self:
        """Train on graphs and return self.

        ``eval_set``: (graphs, labels) that are not trained on: their accuracy after every epoch is
        added to ``history_`` as ``eval_accuracy``, and nothing is selected by it.
        """
        graphs = as_graphset(X)
        codes, classes = encode_classes(y, len(graphs))
        config, watched = self.config(), None
        if (codes < 0).any() and getattr(config, "self_training", False):
            warn_if_never(config.epochs, config.self_training_start)
        if eval_set is not None:
            unseen = as_graphset(eval_set[0])
            known = codes_of(eval_set[1], classes, len(unseen))
            if not (known >= 0).any():
                raise DataError("eval_set needs labels, but its y has none.")
            watched = Watched(unseen, lambda outputs: _eval_accuracy(known, outputs))
        self._fit(graphs, TrainingLabels(codes, len(classes)), watched)
        self.classes_, self.calibration_, self.held_out_ = classes, None, ()
        return self

    def calibrate(self, X: Any, y: Any, folds: int = 3) -> Self:
        """Calibrate class probabilities by cross-validation and return self.

        ``X`` and ``y`` are those of ``fit``. For each of ``folds`` parts of the labels (no more
        than the rarest class has), a model with the same settings is trained without these. What
        they predict there decides to which power probabilities are raised: softmax(power *
        outputs), where 1 / power is the temperature. The predicted classes stay the same. What is
        learned without labels before the first of them is the same in all, and done once.

        ``calibration_`` then holds ``power``, ``folds``, ``graphs`` (labels held out), and the log
        loss there ``before`` and ``after``. It stays None if a class has only one label.
        """
        # Much of scikit-learn, which importing a model does not need.
        from sklearn.metrics import log_loss
        from sklearn.model_selection import StratifiedKFold

        from igsd.evaluation.ensemble import calibrating_power, powered

        check_is_fitted(self, "network_")
        graphs, seed = self._read(X), self.config_.seed
        codes = codes_of(y, self.classes_, len(graphs))
        known = np.flatnonzero(codes >= 0)
        counts = np.bincount(codes[known], minlength=len(self.classes_))
        if folds < 2:
            raise ConfigError(f"Calibration needs at least 2 folds. Got {folds}.")
        self.calibration_, self.held_out_ = None, ()
        if (num_folds := min(folds, int(counts.min()))) < 2:
            return self
        outputs = np.zeros((len(known), len(self.classes_)))
        parts = StratifiedKFold(num_folds, shuffle=True, random_state=seed)
        for _, held in parts.split(known, codes[known]):
            shown = codes.astype(object)
            shown[codes < 0] = None
            shown[known[held]] = None
            plain = {"random_state": seed, "checkpoint": None, "log_dir": None}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the fit itself has given them
                model = clone(self).set_params(**plain)
                model._pretrained = self._pretrained
                model.fit(graphs, list(shown))
                self._pretrained = model._pretrained
            outputs[held] = model._outputs(graphs.take(known[held]))
        expected, sure = np.eye(len(self.classes_))[codes[known]], softmax(outputs, axis=1)
        power = calibrating_power(sure, expected)
        self.held_out_ = [(known, powered(sure, power))]
        losses = (log_loss(expected, powered(sure, p)) for p in (1.0, power))
        found = {"power": power, "folds": num_folds, "graphs": len(known)}
        self.calibration_ = found | dict(zip(("before", "after"), map(float, losses), strict=True))
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class in the order of ``classes_``, [G, C] float64."""
        power = 1.0 if self.calibration_ is None else float(self.calibration_["power"])
        return softmax(power * self._outputs(X).astype(np.float64), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each graph, [G]."""
        codes = self._outputs(X).argmax(axis=1)
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on the graphs that have a label.

        Raises ``DataError`` for a class that the model does not know, and if there are no labels.
        """
        check_is_fitted(self, "network_")
        graphs = self._read(X)
        codes = codes_of(y, self.classes_, len(graphs))
        return accuracy(codes, self._outputs(graphs), sample_weight)

    def _num_outputs(self) -> int:
        return len(self.classes_)

    def _labels_to_json(self) -> Header:
        known = {} if self.calibration_ is None else {"calibration": self.calibration_}
        return {"classes": self.classes_.tolist()} | known

    def _labels_from_json(self, value: Header) -> None:
        self.classes_, self.calibration_ = class_array(value["classes"]), value.get("calibration")


class GraphRegressor(RegressorMixin, LabelEstimator):
    """A regressor of graphs that learns from those with targets and from those without.

    ``y``: [G] or [G, t] numbers, NaN or None if unknown; a graph may lack some of its targets.
    They are standardised over the labelled training graphs, which ``scale_`` records.
    """

    scale_: TargetScale

    def fit(self, X: Any, y: Any = None, *, eval_set: Any = None, target_names: Any = None) -> Self:
        """Train on graphs and return self.

        ``target_names``: names of the targets; by default the columns of a data frame.
        ``eval_set``: (graphs, targets) that are not trained on: their mean absolute error after
        every epoch is added to ``history_`` as ``eval_mae``, and with several targets also of each.
        """
        graphs = as_graphset(X)
        targets, is_single = read_targets(y, len(graphs))
        check_known(targets)
        names = target_names_of(y, target_names, targets.shape[1])
        scale = TargetScale.fit(targets, is_single=is_single, names=names)
        if (is_binary := are_binary(targets)).any():
            warn_user(
                f"Only 0 and 1 occur in {scale.listed(is_binary)}, and a network learns several "
                "columns as numbers: what it predicts is not a probability. For probabilities, "
                "train a model of each column alone, as classes."
            )
        watched = None
        if eval_set is not None:
            unseen = as_graphset(eval_set[0])
            known = scale.read_like(eval_set[1], len(unseen))
            watched = Watched(unseen, lambda outputs: _eval_errors(known, scale, outputs))
        self._fit(graphs, TrainingLabels(scale.standardised(targets), targets.shape[1]), watched)
        self.scale_ = scale
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted targets in their own units, [G] or [G, t] float64 like ``y``."""
        outputs = self._outputs(X)
        return self.scale_.restored(outputs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the mean R^2 over the targets; graphs with an unknown target are left out."""
        check_is_fitted(self, "network_")
        graphs = self._read(X)
        return self.scale_.score(y, self.predict(graphs), sample_weight)

    def _num_outputs(self) -> int:
        return len(self.scale_.mean)

    def _labels_to_json(self) -> Header:
        return self.scale_.to_json()

    def _labels_from_json(self, value: Header) -> None:
        self.scale_ = TargetScale.from_json(value)


def _eval_accuracy(codes: np.ndarray, outputs: np.ndarray) -> dict[str, float]:
    from igsd.evaluation.metrics import accuracy  # scikit-learn is slow to import

    return {"eval_accuracy": accuracy(outputs.argmax(axis=1), codes)}


def _eval_errors(targets: np.ndarray, scale: TargetScale, outputs: np.ndarray) -> dict[str, float]:
    """Return the mean absolute error in the targets' own units, and that of each of several."""
    from igsd.evaluation.metrics import mae  # scikit-learn is slow to import

    per_target = mae(outputs.astype(np.float64) * scale.scale + scale.mean, targets)
    each = enumerate(per_target if len(per_target) > 1 else ())
    return {"eval_mae": float(per_target.mean())} | {f"eval_mae_{i}": float(v) for i, v in each}
