"""Small models on fixed vectors: how a reference row predicts classes or numbers."""

from typing import Any, Literal

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Head = Literal["svm", "linear", "forest"]
"""What predicts from vectors; ``svm`` is for classes only."""

_STRENGTHS = np.logspace(-4, 2, 7)
_FOLDS = 5
_TREES = 500


def fit_classes(X: np.ndarray, y: np.ndarray, head: Head) -> Any:
    """Return a fitted classifier with ``predict_proba`` of class codes y [n].

    ``linear`` is a logistic regression whose strength is chosen by cross-validation inside X, y; a
    class with a single graph leaves nothing to choose by, and then the strength is 1. ``forest`` is
    a random forest of 500 trees.
    """
    if head == "forest":
        return RandomForestClassifier(_TREES, random_state=0).fit(X, y)
    model = LogisticRegression(max_iter=1000)
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return model.fit(X, y)
    return GridSearchCV(model, {"C": _STRENGTHS}, cv=folds, scoring="neg_log_loss").fit(X, y)


def fit_numbers(X: np.ndarray, y: np.ndarray, head: Head) -> Any:
    """Return a fitted regressor of numbers y [n]; ``forest`` as in ``fit_classes``.

    ``linear`` is a ridge regression whose penalty is chosen by cross-validation inside X, y; a
    single number leaves nothing to choose by, and then the penalty is 1.
    """
    if head == "forest":
        return RandomForestRegressor(_TREES, random_state=0).fit(X, y)
    folds = min(_FOLDS, len(y))
    if folds < 2:
        return Ridge().fit(X, y)
    scoring = "neg_mean_absolute_error"
    return RidgeCV(alphas=1.0 / _STRENGTHS, scoring=scoring, cv=folds).fit(X, y)


def fit_targets(X: np.ndarray, targets: np.ndarray, head: Head = "linear") -> Any:
    """Return a fitted regressor of several targets [n, t]; ``forest`` as in ``fit_classes``.

    ``linear`` is a ridge regression on standardised vectors, the penalty of each target chosen by
    leave-one-out.
    """
    if head == "forest":
        return RandomForestRegressor(_TREES, random_state=0).fit(X, targets.squeeze())
    ridge = RidgeCV(alphas=np.logspace(-4, 4, 9), alpha_per_target=targets.shape[1] > 1)
    return make_pipeline(StandardScaler(), ridge).fit(X, targets)
