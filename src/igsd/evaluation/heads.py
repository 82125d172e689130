"""Small models on fixed vectors: how a reference row predicts classes or numbers.

``linear``: a logistic or ridge regression. ``forest``: a random forest of 200 trees. ``svm``: a
support vector machine with an RBF kernel; its probabilities come from a sigmoid on the decision
values of a cross-validation (Platt). ``auto`` leaves the choice to the protocol.

The strength of a linear model and of an SVM is chosen by cross-validation inside X, y, from 2,000
rows on by a single validation part; where too few graphs leave nothing to choose by, it is 1.
Counts (whole numbers, none negative) are used as they are. Other columns are standardised inside X
and cut off at ``CUT`` deviations.
"""

from typing import Any, Literal, Self

import numpy as np
from scipy import sparse
from sklearn import base, calibration, compose, ensemble, linear_model, model_selection, pipeline
from sklearn import preprocessing as scaling
from sklearn import svm as machines

Head = Literal["auto", "svm", "linear", "forest"]
"""What predicts from vectors."""

HEADS: tuple[Head, ...] = ("auto", "svm", "linear", "forest")
CUT = 6.0

_STRENGTHS = np.logspace(-4, 2, 7)
_PENALTIES = np.logspace(-1, 2, 4)
_FOLDS, _TREES, _MANY = 5, 200, 2000


class Columns(base.TransformerMixin, base.BaseEstimator):
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


def _piped(model: Any, *, is_sparse: bool = False) -> Any:
    return pipeline.make_pipeline(Columns(is_sparse), model)


def fit_classes(X: np.ndarray, y: np.ndarray, head: Head) -> Any:
    """Return a fitted classifier of class codes y [n], with ``predict_proba``."""
    if head == "forest":
        return _piped(ensemble.RandomForestClassifier(_TREES, random_state=0)).fit(X, y)
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if head == "svm":
        return _fit_machine(X, y, folds)
    if folds < 2:
        return _piped(linear_model.LogisticRegression(max_iter=1000), is_sparse=True).fit(X, y)
    parts: Any = model_selection.StratifiedKFold(folds)
    if len(y) >= _MANY:
        parts = model_selection.StratifiedShuffleSplit(1, test_size=1 / _FOLDS, random_state=0)
    search = model_selection.GridSearchCV(
        linear_model.LogisticRegression(max_iter=1000),
        {"C": _STRENGTHS},
        cv=parts,
        scoring="neg_log_loss",
    )
    return _piped(search, is_sparse=True).fit(X, y)


def _fit_machine(X: np.ndarray, y: np.ndarray, folds: int) -> Any:
    """Return an SVM with probabilities."""
    machine = _piped(machines.SVC())
    if folds < 2:  # a class of one member cannot be left out to calibrate by
        X, y, folds = np.concatenate([X, X]), np.concatenate([y, y]), 2
    else:
        search = model_selection.GridSearchCV(machine, {"svc__C": _PENALTIES}, cv=folds)
        machine = search.fit(X, y).best_estimator_
    return calibration.CalibratedClassifierCV(machine, cv=folds, ensemble=False).fit(X, y)


def fit_numbers(X: np.ndarray, y: np.ndarray, head: Head) -> Any:
    """Return a fitted regressor of numbers y [n]; ``linear`` is a ridge regression."""
    if head == "forest":
        return _piped(ensemble.RandomForestRegressor(_TREES, random_state=0)).fit(X, y)
    model: Any = linear_model.Ridge()
    grid = {"alpha": 1.0 / _STRENGTHS}
    if head == "svm":
        # The penalty is relative to the numbers, so these are brought to one scale.
        model = compose.TransformedTargetRegressor(
            machines.SVR(), transformer=scaling.StandardScaler()
        )
        grid = {"regressor__C": _PENALTIES}
    folds = min(_FOLDS, len(y))
    if folds < 2:
        return _piped(model).fit(X, y)
    parts: Any = model_selection.KFold(folds)
    if len(y) >= _MANY:
        parts = model_selection.ShuffleSplit(1, test_size=1 / _FOLDS, random_state=0)
    scoring = "neg_mean_absolute_error"
    search = model_selection.GridSearchCV(model, grid, cv=parts, scoring=scoring)
    return _piped(search).fit(X, y)


def fit_targets(X: np.ndarray, targets: np.ndarray, head: Head = "linear") -> Any:
    """Return a fitted regressor of several targets [n, t].

    ``linear`` is a ridge regression on standardised vectors, the penalty of each target chosen by
    leave-one-out.
    """
    if head == "forest":
        return ensemble.RandomForestRegressor(_TREES, random_state=0).fit(X, targets.squeeze())
    alphas, is_many = np.logspace(-4, 4, 9), targets.shape[1] > 1
    ridge = linear_model.RidgeCV(alphas=alphas, alpha_per_target=is_many)
    return pipeline.make_pipeline(scaling.StandardScaler(), ridge).fit(X, targets)
