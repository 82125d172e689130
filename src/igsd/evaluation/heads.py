"""Small models on fixed vectors: how a reference row predicts classes or numbers.

``linear``: a logistic or ridge regression. ``forest``: a random forest of 200 trees. ``svm``: a
support vector machine with an RBF kernel; its probabilities come from a sigmoid on the decision
values of a cross-validation (Platt). ``auto`` leaves the choice to the protocol.

The strength of a linear model and of an SVM is chosen inside X, y: of a logistic regression and an
SVM by cross-validation (a logistic regression of 1,000 rows or more by one validation part), of a
ridge regression by leave-one-out. Where too few graphs leave nothing to choose by, it is 1.
Counts (whole numbers, none negative) are used as they are. Other columns are standardised inside X
and cut off at ``CUT`` deviations. Vectors without a column, [n, 0], are scored as the mean, or as
the frequencies of the classes, whatever the head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from scipy import optimize, sparse, special
from sklearn import (
    base,
    calibration,
    compose,
    dummy,
    ensemble,
    linear_model,
    model_selection,
    pipeline,
)
from sklearn import preprocessing as scaling
from sklearn import svm as machines

HeadName = Literal["auto", "svm", "linear", "forest"]
"""What predicts from vectors."""

HEAD_NAMES: tuple[HeadName, ...] = ("auto", "svm", "linear", "forest")
CUT = 6.0

_STRENGTHS = np.logspace(-4, 2, 7)
_PENALTIES = np.logspace(-1, 2, 4)
_FOLDS, _TREES, _MANY = 5, 200, 1000
_SMALLEST = 1e-10


class ColumnScaler(base.TransformerMixin, base.BaseEstimator):
    """Brings columns to the scale that small models expect; counts stay as they are.

    Counts become a sparse matrix if ``is_sparse``: nearly all of a fingerprint is zero. Learned:
    ``scaler_``, None for counts.
    """

    def __init__(self, is_sparse: bool = False) -> None:
        self.is_sparse = is_sparse

    def fit(self, X: np.ndarray, y: Any = None) -> Self:
        """Learn whether X [n, d] holds counts, otherwise mean and deviation of its columns."""
        is_counts = bool((X >= 0).all() and (np.rint(X) == X).all())
        self.scaler_ = None if is_counts else scaling.StandardScaler().fit(X)
        return self

    def transform(self, X: np.ndarray) -> Any:
        """Return the columns, scaled and cut off unless they are counts."""
        if self.scaler_ is not None:
            return np.clip(self.scaler_.transform(X), -CUT, CUT)
        return sparse.csr_matrix(X, dtype=np.float64) if self.is_sparse else X


def _piped(model: Any) -> Any:
    return pipeline.make_pipeline(ColumnScaler(), model)


def fit_classes(X: np.ndarray, y: np.ndarray, head: HeadName) -> Any:
    """Return a fitted classifier of class codes y [n], with ``predict_proba``."""
    if not X.shape[1] or len(np.unique(y)) < 2:
        return dummy.DummyClassifier().fit(X, y)
    if head == "forest":  # the same trees of a sparse matrix, in a fraction of the time
        forest = ensemble.RandomForestClassifier(_TREES, random_state=0)
        return pipeline.make_pipeline(ColumnScaler(is_sparse=True), forest).fit(X, y)
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if head == "svm":
        return _fit_machine(X, y, folds)
    columns = ColumnScaler(is_sparse=True).fit(X)
    if len(np.unique(y)) > 2:
        model = linear_model.LogisticRegression(max_iter=1000)
        if folds > 1:
            model = model_selection.GridSearchCV(
                model, {"C": _STRENGTHS}, cv=_parts(y, folds), scoring="neg_log_loss"
            )
        return pipeline.Pipeline([("columns", columns), ("model", model)]).fit(X, y)
    rows, axes = spanned(columns.transform(X))
    parts = list(_parts(y, folds).split(y, y)) if folds > 1 else []
    return _Fitted(columns, axes, fit_logistic(rows, y, _STRENGTHS.tolist(), parts))


@dataclass(frozen=True, eq=False)
class _Fitted:
    """A model on columns that were brought to scale and projected."""

    columns: ColumnScaler
    axes: np.ndarray | None
    model: Logistic

    @property
    def classes_(self) -> np.ndarray:
        return self.model.classes_

    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes, [n, 2]."""
        rows = self.columns.transform(X)
        return self.model.predict_proba(rows if self.axes is None else rows @ self.axes)

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the more probable class of each row, [n]."""
        predicted: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return predicted


def spanned(rows: Any) -> tuple[Any, np.ndarray | None]:
    """Return rows [n, d] in the space that they span, and its axes [d, r]; d < n: as they are.

    Weights with the least norm lie in that space, so a linear model loses nothing there.
    """
    if rows.shape[0] >= min(rows.shape[1], _MANY):
        return rows, None
    products = rows @ rows.T
    values, vectors = np.linalg.eigh(products.toarray() if sparse.issparse(products) else products)
    kept = values > _SMALLEST * max(float(values[-1]), _SMALLEST)
    lengths = np.sqrt(values[kept])
    axes = np.asarray(rows.T @ (vectors[:, kept] / lengths))
    return vectors[:, kept] * lengths, axes


def _parts(y: np.ndarray, folds: int) -> Any:
    if len(y) < _MANY:
        return model_selection.StratifiedKFold(folds)
    return model_selection.StratifiedShuffleSplit(1, test_size=1 / _FOLDS, random_state=0)


def _fit_machine(X: np.ndarray, y: np.ndarray, folds: int) -> Any:
    """Return an SVM with probabilities."""
    machine = _piped(machines.SVC())
    if folds < 2:  # a class of one member cannot be left out to calibrate by
        X, y, folds = np.concatenate([X, X]), np.concatenate([y, y]), 2
    else:
        search = model_selection.GridSearchCV(machine, {"svc__C": _PENALTIES}, cv=folds)
        machine = search.fit(X, y).best_estimator_
    return calibration.CalibratedClassifierCV(machine, cv=folds, ensemble=False).fit(X, y)


def fit_numbers(X: np.ndarray, y: np.ndarray, head: HeadName) -> Any:
    """Return a fitted regressor of numbers y [n].

    ``linear`` is a ridge regression whose penalty is chosen by leave-one-out.
    """
    if not X.shape[1]:
        return dummy.DummyRegressor().fit(X, y)
    if head == "forest":
        return _piped(ensemble.RandomForestRegressor(_TREES, random_state=0)).fit(X, y)
    if head == "linear":
        scorer = "neg_mean_absolute_error"
        ridge = linear_model.RidgeCV(alphas=1.0 / _STRENGTHS, scoring=scorer)
        return _piped(ridge if len(y) > 1 else linear_model.Ridge()).fit(X, y)
    # The penalty is relative to the numbers, so these are brought to one scale.
    machine = compose.TransformedTargetRegressor(
        machines.SVR(), transformer=scaling.StandardScaler()
    )
    if len(y) < 2:
        return _piped(machine).fit(X, y)
    grid = {"regressor__C": _PENALTIES}
    folds = model_selection.KFold(min(_FOLDS, len(y)))
    search = model_selection.GridSearchCV(
        machine, grid, cv=folds, scoring="neg_mean_absolute_error"
    )
    return _piped(search).fit(X, y)


def fit_targets(X: np.ndarray, targets: np.ndarray, head: HeadName = "linear") -> Any:
    """Return a fitted regressor of several targets [n, t].

    ``linear`` is a ridge regression on standardised vectors, the penalty of each target chosen by
    leave-one-out.
    """
    if not X.shape[1]:
        return dummy.DummyRegressor().fit(X, targets)
    if head == "forest":
        return ensemble.RandomForestRegressor(_TREES, random_state=0).fit(X, targets.squeeze())
    alphas, is_many = np.logspace(-4, 4, 9), targets.shape[1] > 1
    ridge = linear_model.RidgeCV(alphas=alphas, alpha_per_target=is_many)
    return pipeline.make_pipeline(scaling.StandardScaler(), ridge).fit(X, targets)


_STEPS = {"maxiter": 300, "ftol": 1e-7, "gtol": 1e-5}

Fold = tuple[np.ndarray, np.ndarray]
"""Positions to fit on, and positions to choose by."""


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fitted logistic regression: P(second class) = sigmoid(x w + b)."""

    classes_: np.ndarray
    weights: np.ndarray
    bias: float
    strength: float

    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of both classes, [n, 2]."""
        p = special.expit(np.asarray(X @ self.weights).reshape(-1) + self.bias)
        return np.stack([1 - p, p], axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the more probable class of each row, [n]."""
        found: np.ndarray = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return found


def fit_logistic(
    X: Any, y: np.ndarray, strengths: Sequence[float], folds: Sequence[Fold]
) -> Logistic:
    """Return the model of X [n, d] (dense or sparse) and two classes y [n].

    scikit-learn's grid search gives the same model. It spends most of its time on checks where rows
    are few; here the strengths are one path, each fit starts from the one before, and the path ends
    when the held-out loss has risen twice.

    It minimises C sum_i log(1 + exp(-s_i (x_i w + b))) + |w|^2 / 2 with s_i = -1 or 1. C is the one
    of the ascending ``strengths`` with the least mean log loss on the held-out parts; without folds
    it is 1.
    """
    classes, codes = np.unique(y, return_inverse=True)
    signs = 2.0 * codes - 1.0
    start = np.zeros(X.shape[1] + 1)
    best, chosen, rises, starts = np.inf, 1.0, 0, [start] * len(folds)
    for strength in strengths if folds else ():
        losses = []
        for place, (train, held_out) in enumerate(folds):
            starts[place] = _solved(X[train], signs[train], strength, starts[place])
            margins = signs[held_out] * _scores(X[held_out], starts[place])
            losses.append(np.logaddexp(0.0, -margins).mean())
        loss = float(np.mean(losses))
        rises = 0 if loss < best else rises + 1
        best, chosen = (loss, float(strength)) if loss < best else (best, chosen)
        if rises == 2:
            break
    solution = _solved(X, signs, chosen, start)
    return Logistic(classes, solution[:-1], float(solution[-1]), chosen)


def _scores(X: Any, solution: np.ndarray) -> np.ndarray:
    return np.asarray(X @ solution[:-1]).reshape(-1) + solution[-1]


def _solved(X: Any, signs: np.ndarray, strength: float, start: np.ndarray) -> np.ndarray:
    """Return weights and bias [d + 1] that minimise the penalised loss, from ``start`` on."""

    def loss(solution: np.ndarray) -> tuple[float, np.ndarray]:
        margins = signs * _scores(X, solution)
        pull = -strength * signs * special.expit(-margins)
        slope = np.append(np.asarray(X.T @ pull).reshape(-1) + solution[:-1], pull.sum())
        weights = solution[:-1]
        return strength * np.logaddexp(0.0, -margins).sum() + 0.5 * weights @ weights, slope

    return np.asarray(optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options=_STEPS).x)
