"""Small models on fixed vectors: how a reference row predicts classes or numbers.

``linear`` models choose their strength by cross-validation inside X, y; where too few graphs leave
nothing to choose by, it is 1. ``forest`` is a random forest of 500 trees.
"""

from typing import Any, Literal

import numpy as np
from sklearn import ensemble, linear_model, model_selection, pipeline, preprocessing

Head = Literal["svm", "linear", "forest"]
"""What predicts from vectors; ``svm`` is for classes only."""

_STRENGTHS = np.logspace(-4, 2, 7)
_FOLDS, _TREES = 5, 500


def fit_classes(X: np.ndarray, y: np.ndarray, head: Head) -> Any:
    """Return a fitted classifier of class codes y [n]; ``linear`` is a logistic regression."""
    if head == "forest":
        return ensemble.RandomForestClassifier(_TREES, random_state=0).fit(X, y)
    model = linear_model.LogisticRegression(max_iter=1000)
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return model.fit(X, y)
    search = model_selection.GridSearchCV
    return search(model, {"C": _STRENGTHS}, cv=folds, scoring="neg_log_loss").fit(X, y)


def fit_numbers(X: np.ndarray, y: np.ndarray, head: Head) -> Any:
    """Return a fitted regressor of numbers y [n]; ``linear`` is a ridge regression."""
    if head == "forest":
        return ensemble.RandomForestRegressor(_TREES, random_state=0).fit(X, y)
    folds = min(_FOLDS, len(y))
    if folds < 2:
        return linear_model.Ridge().fit(X, y)
    scoring = "neg_mean_absolute_error"
    return linear_model.RidgeCV(alphas=1.0 / _STRENGTHS, scoring=scoring, cv=folds).fit(X, y)


def fit_targets(X: np.ndarray, targets: np.ndarray, head: Head = "linear") -> Any:
    """Return a fitted regressor of several targets [n, t].

    ``linear`` is a ridge regression on standardised vectors, the penalty of each target chosen by
    leave-one-out.
    """
    if head == "forest":
        return ensemble.RandomForestRegressor(_TREES, random_state=0).fit(X, targets.squeeze())
    alphas, is_many = np.logspace(-4, 4, 9), targets.shape[1] > 1
    ridge = linear_model.RidgeCV(alphas=alphas, alpha_per_target=is_many)
    return pipeline.make_pipeline(preprocessing.StandardScaler(), ridge).fit(X, targets)
