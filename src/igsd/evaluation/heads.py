"""Small models on fixed vectors: how a reference row predicts classes or numbers."""

from typing import Any, Literal

import numpy as np

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
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    if head == "forest":
        return RandomForestClassifier(_TREES, random_state=0).fit(X, y)
    model = LogisticRegression(max_iter=1000)
    folds = min(_FOLDS, int(np.unique(y, return_counts=True)[1].min()))
    if folds < 2:
        return model.fit(X, y)
    grid = {"C": _STRENGTHS}
    return GridSearchCV(model, grid, cv=folds, scoring="neg_log_loss").fit(X, y)


def fit_numbers(X: np.ndarray, y: np.ndarray, head: Head) -> Any:
    """Return a fitted regressor of numbers y [n].

    ``linear`` is a ridge regression whose penalty is chosen by cross-validation inside X, y; a
    single number leaves nothing to choose by, and then the penalty is 1. ``forest`` is a random
    forest of 500 trees.
    """
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import Ridge, RidgeCV

    if head == "forest":
        return RandomForestRegressor(_TREES, random_state=0).fit(X, y)
    folds = min(_FOLDS, len(y))
    if folds < 2:
        return Ridge().fit(X, y)
    scoring = "neg_mean_absolute_error"
    return RidgeCV(alphas=1.0 / _STRENGTHS, scoring=scoring, cv=folds).fit(X, y)


def fit_targets(X: np.ndarray, targets: np.ndarray, head: Head = "linear") -> Any:
    """Return a fitted regressor of several targets [n, t].

    ``linear`` is a ridge regression on standardised vectors, the penalty of each target chosen by
    leave-one-out.
    """
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    if head == "forest":
        return RandomForestRegressor(_TREES, random_state=0).fit(X, targets.squeeze())
    ridge = RidgeCV(alphas=np.logspace(-4, 4, 9), alpha_per_target=targets.shape[1] > 1)
    return make_pipeline(StandardScaler(), ridge).fit(X, targets)
