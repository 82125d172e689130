"""scikit-learn's own search, which the fast one must agree with."""

from __future__ import annotations

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC


def grid_search(X_train, y_train, X_test, grid, *, standardise=False, kernel="rbf"):
    """Return the C chosen, its cross-validated accuracy and the predictions of GridSearchCV."""
    model = (
        make_pipeline(StandardScaler(), SVC(kernel=kernel)) if standardise else SVC(kernel=kernel)
    )
    name = "svc__C" if standardise else "C"
    search = GridSearchCV(model, {name: list(grid)}, cv=5).fit(X_train, y_train)
    return search.best_params_[name], float(search.best_score_), search.predict(X_test)


def graph_like_features(num, width, num_classes, seed):
    """Return correlated non-negative features [num, width], some twice, and noisy codes."""
    random = np.random.default_rng(seed)
    hidden = random.normal(size=(num, 6))
    X = np.maximum(hidden @ random.normal(size=(6, width)) + random.normal(size=width), 0)
    X *= np.exp(random.normal(size=width))
    X[num - num // 10 :] = X[: num // 10]
    score = hidden[:, 0] + hidden[:, 1] * hidden[:, 2] + 0.7 * random.normal(size=num)
    edges = np.quantile(score, np.arange(1, num_classes) / num_classes)
    return X, np.digitize(score, edges)
