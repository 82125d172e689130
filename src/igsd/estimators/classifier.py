"""``IGSDClassifier``: classes of graphs from few labels, as a scikit-learn classifier."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin

from igsd.config_semi import SemiConfig
from igsd.errors import DataError
from igsd.estimators.class_labels import codes_of, encode_classes
from igsd.estimators.label_estimator import LabelEstimator
from igsd.estimators.parameters import settings_as_parameters
from igsd.graphs.convert import as_graphset
from igsd.training.fit_labelled import Judge
from igsd.training.labels import Labels
from igsd.training.semi_supervised import SemiSupervisedIGSD


class GraphClassifier(ClassifierMixin, LabelEstimator):
    """A classifier of graphs that learns from those with a label and from those without.

    ``y``: one class per graph, text or whole numbers; None, NaN or -1 where there is none, by the
    rule of ``igsd.estimators.class_labels.read_classes``. ``classes_``: the classes in order.
    """

    classes_: np.ndarray

    def fit(self, X: Any, y: Any = None, *, eval_set: tuple[Any, Any] | None = None) -> Self:
        """Train on graphs and return self.

        ``eval_set``: (graphs, labels) that are only watched: ``history_`` gets their accuracy
        after every epoch as ``eval_accuracy``, and nothing is chosen by it.
        """
        graphs = as_graphset(X)
        codes, classes = encode_classes(y, len(graphs))
        watched = self._watched(eval_set, lambda y, count: _judge(codes_of(y, classes, count)))
        self._fit(graphs, Labels(codes, len(classes)), watched)
        self.classes_ = classes
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probability of each class in the order of ``classes_``, [G, C] float64."""
        logits = self._outputs(X).astype(np.float64)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable class of each graph, [G]."""
        codes = self._outputs(X).argmax(axis=1)
        return self.classes_[codes]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of graphs whose class is predicted; those without a label are left out.

        Raises ``DataError`` for a class that the model does not know, and without any label.
        """
        graphs = as_graphset(X)
        codes = codes_of(y, self._known_classes(), len(graphs))
        if not (codes >= 0).any():
            raise DataError("A score needs labels, and y holds none.")
        hits = self._outputs(graphs).argmax(axis=1) == codes
        weight = None if sample_weight is None else np.asarray(sample_weight)[codes >= 0]
        return float(np.average(hits[codes >= 0], weights=weight))

    def _known_classes(self) -> np.ndarray:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "network_")
        return self.classes_

    def _num_outputs(self) -> int:
        return len(self.classes_)

    def _labels_to_json(self) -> dict[str, Any]:
        return {"classes": self.classes_.tolist()}

    def _labels_from_json(self, value: dict[str, Any]) -> None:
        self.classes_ = np.array(value["classes"])


@settings_as_parameters(SemiConfig)
class IGSDClassifier(GraphClassifier):
    """Predicts the class of a graph by semi-supervised IGSD, from few labels and many graphs.

    ``fit`` takes a ``GraphSet``, or a list of NetworkX graphs, PyTorch Geometric ``Data`` objects
    or SMILES strings, and ``y``: one class per graph, text or whole numbers, None or NaN where
    there is none. (-1 also means none where all other labels are whole numbers >= 0.) It can then
    ``predict`` graphs that it has never seen.

    The settings are those of ``igsd.config_semi.SemiConfig``, explained there and by ``igsd train
    --help``; ``random_state`` is its ``seed``. Besides them ``encoder`` (a name or an ``nn.Module``
    of your own), ``checkpoint``, ``log_dir`` and ``verbose``, as for ``igsd.IGSD``.

    Learned: ``classes_``, ``pseudo_labels_`` (which graphs got which class, when, and how sure),
    ``history_``, ``pretraining_history_``, ``network_``, ``features_``, ``config_``.

    >>> from igsd import IGSDClassifier, load_dataset
    >>> graphs = load_dataset("MUTAG")
    >>> y = [c if i % 10 == 0 else None for i, c in enumerate(graphs.classes)]
    >>> model = IGSDClassifier(epochs=5, self_training=False).fit(graphs, y)
    >>> model.predict(graphs).shape
    (188,)
    """

    _method = SemiSupervisedIGSD()


def _judge(codes: np.ndarray) -> Judge:
    """Return the function that counts how many labelled graphs are predicted rightly."""
    if not (codes >= 0).any():
        raise DataError("eval_set needs labels, and its y holds none.")
    labelled = codes >= 0

    def judge(outputs: np.ndarray) -> dict[str, float]:
        hits = outputs.argmax(axis=1) == codes
        return {"eval_accuracy": float(hits[labelled].mean())}

    return judge
