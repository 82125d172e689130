"""``IGSDRegressor``: numbers of graphs from few labels, as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from igsd.config_semi import SemiRegressionConfig
from igsd.errors import DataError
from igsd.estimators.label_estimator import LabelEstimator
from igsd.estimators.parameters import settings_as_parameters
from igsd.estimators.target_values import TargetScale, check_known, read_targets
from igsd.graphs.convert import as_graphset
from igsd.training.fit_labelled import Judge
from igsd.training.labels import Labels
from igsd.training.semi_supervised import SemiSupervisedIGSD


class GraphRegressor(RegressorMixin, LabelEstimator):
    """A regressor of graphs that learns from those with targets and from those without.

    ``y``: [G] or [G, t] numbers, NaN or None where unknown; a graph may have some targets and lack
    others. They are standardised by the labelled graphs of training. ``scale_``: how.
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

        ``target_names``: what the targets are called; by default the columns of a data frame.
        ``eval_set``: (graphs, targets) that are only watched: ``history_`` gets their mean
        absolute error after every epoch as ``eval_mae``, and of several targets also each one's.
        """
        graphs = as_graphset(X)
        targets, is_single = read_targets(y, len(graphs))
        check_known(targets)
        names = _names(y, targets.shape[1]) if target_names is None else tuple(target_names)
        scale = TargetScale.fit(targets, is_single=is_single, names=names)
        watched = self._watched(eval_set, lambda y, n: _judge(read_targets(y, n)[0], scale))
        self._fit(graphs, Labels(scale.standardised(targets), targets.shape[1]), watched)
        self.scale_ = scale
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the predicted targets in their own units, [G] or [G, t] float64 as ``y`` was."""
        outputs = self._outputs(X)
        return self.scale_.restored(outputs)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return R^2, the mean over the targets; graphs whose target is unknown are left out."""
        from sklearn.metrics import r2_score

        check_is_fitted(self, "network_")
        graphs = as_graphset(X)
        targets, _ = read_targets(y, len(graphs))
        _check_width(targets, self.scale_)
        found = self.predict(graphs).reshape(len(graphs), -1)
        values = []
        for column, known in enumerate(~np.isnan(targets).T):
            if not known.any():
                continue
            weight = None if sample_weight is None else np.asarray(sample_weight)[known]
            pair = targets[known, column], found[known, column]
            values.append(r2_score(*pair, sample_weight=weight))
        if not values:
            raise DataError("A score needs targets, and y holds none.")
        return float(np.mean(values))

    def _num_outputs(self) -> int:
        return len(self.scale_.mean)

    def _labels_to_json(self) -> dict[str, Any]:
        return self.scale_.to_json()

    def _labels_from_json(self, value: dict[str, Any]) -> None:
        self.scale_ = TargetScale.from_json(value)


@settings_as_parameters(SemiRegressionConfig)
class IGSDRegressor(GraphRegressor):
    """Predicts numbers of a graph by semi-supervised IGSD, from few labels and many graphs.

    ``fit`` takes graphs as ``igsd.IGSD`` does, and ``y``: one number per graph or several, NaN or
    None where there is none. Settings are those of ``igsd.config_semi.SemiRegressionConfig``; there
    are no classes, so neither Eq. supcon nor self-training.

    Learned: ``scale_``, ``history_``, ``pretraining_history_``, ``network_``, ``features_``,
    ``config_``.
    """

    _method = SemiSupervisedIGSD()


def _names(y: Any, count: int) -> tuple[str, ...]:
    """Return the names of a data frame's columns, nothing for what has none."""
    names = tuple(str(name) for name in getattr(y, "columns", ()))
    return names if len(names) == count else ()


def _judge(targets: np.ndarray, scale: TargetScale) -> Judge:
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


def _check_width(targets: np.ndarray, scale: TargetScale) -> None:
    if targets.shape[1] != len(scale.mean):
        raise DataError(
            f"The model predicts {len(scale.mean)} targets per graph. Got y with "
            f"{targets.shape[1]}."
        )
