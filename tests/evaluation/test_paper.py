from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

from igsd.evaluation.folds import outer_folds
from igsd.evaluation.paper import paper
from tests.reference.grid_search import graph_like_features


def test_reports_the_c_with_the_best_mean():
    X, y = graph_like_features(80, 6, 2, 0)
    grid = (0.1, 1.0, 10.0)
    folds = list(outer_folds(y, 4, 5).splits)
    means = [cross_val_score(SVC(C=C), X, y, cv=folds).mean() for C in grid]
    result = paper(X, y, seed=4, grid=grid, num_folds=5, standardise="no")
    assert result.mean == pytest.approx(max(means))
    assert set(result.C) == {grid[int(np.argmax(means))]}
    assert result.optimistic
    assert any("optimistic" in note for note in result.notes)


def test_search_is_the_better_of_both():
    X, y = graph_like_features(60, 6, 2, 1)
    both = [paper(X, y, standardise=s, num_folds=3).mean for s in ("no", "yes")]
    assert paper(X, y, standardise="search", num_folds=3).mean == max(both)


def test_twins_are_removed():
    X, y = graph_like_features(60, 6, 2, 1)
    groups = np.arange(60) // 2
    sizes = paper(X, y, twins=groups, num_folds=3).train_sizes
    for size, (train, test) in zip(sizes, outer_folds(y, 0, 3).splits, strict=True):
        assert size == len(
            set(train) - {2 * (g // 2) for g in test} - {g // 2 * 2 + 1 for g in test}
        )
