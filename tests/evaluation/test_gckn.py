from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd.evaluation.gckn import gckn, gckn_grid, middle_of_best
from igsd.evaluation.gckn_folds import read_gckn_folds
from igsd.evaluation.protocols import run_protocol
from tests.reference.grid_search import graph_like_features

needs_data = pytest.mark.skipif(
    "IGSD_DATA" not in os.environ, reason="IGSD_DATA names no folder with the fold files"
)


@pytest.mark.usefixtures("two_folds")
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("standardise", ["no", "yes"])
def test_equals_the_plain_loop(folder, kernel, standardise):
    X, y = graph_like_features(60, 5, 2, 0)
    X = X / X.std()  # else LIBSVM takes minutes for the products
    scale = StandardScaler() if standardise == "yes" else None
    result = gckn(X, y, dataset="PTC", folder=folder, kernel=kernel, standardise=standardise)
    for number, fold in enumerate(read_gckn_folds("PTC", y, folder=folder)):
        scores = []
        for C in np.logspace(-3, 4, 60) / len(fold.train):
            model = make_pipeline(scale, SVC(C=C, kernel=kernel)).fit(X[fold.train], y[fold.train])
            scores.append(model.score(X[fold.validation], y[fold.validation]))
        equal = [place for place, score in enumerate(scores) if score == max(scores)]
        best = np.logspace(-3, 4, 60)[equal[len(equal) // 2]] / len(fold.train)
        both = np.concatenate([fold.train, fold.validation])
        model = make_pipeline(scale, SVC(C=best, kernel=kernel)).fit(X[both], y[both])
        assert result.C[number] == best
        assert result.inner[number] == max(scores)
        assert result.accuracies[number] == model.score(X[fold.test], y[fold.test])


@pytest.mark.usefixtures("two_folds")
def test_linear_and_precomputed_agree(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    X = X / X.std()
    linear = gckn(X, y, dataset="PTC", folder=folder, kernel="linear", standardise="no")
    assert linear == gckn(X @ X.T, y, dataset="PTC", folder=folder, kernel="precomputed")


@pytest.mark.usefixtures("two_folds")
def test_twins_are_removed(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    result = gckn(X, y, dataset="PTC", folder=folder, twins=np.arange(60) // 2)
    for number, fold in enumerate(read_gckn_folds("PTC", y, folder=folder)):
        pairs = {g // 2 for g in fold.test}
        assert result.train_sizes[number] == sum(g // 2 not in pairs for g in fold.fitted)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [([0.5], 0), ([0.2, 0.9, 0.1], 1), ([0.9, 0.9], 1), ([0.9, 0.1, 0.9, 0.9, 0.3], 2)],
)
def test_of_equal_scores_the_middle_one_is_taken(scores, expected):
    assert middle_of_best(np.array(scores)) == expected


def test_grid():
    grid = gckn_grid(100)
    assert (len(grid), grid[0], grid[-1]) == (60, 1e-5, 100.0)


@needs_data
@pytest.mark.slow
def test_real_mutag_scores_above_the_majority():
    from igsd.graphs.datasets import load_dataset

    graphs = load_dataset("MUTAG")
    labels = np.zeros((len(graphs), len(graphs.node_label_names)))
    np.add.at(labels, (graphs.graph_of_node(), graphs.node_labels), 1)
    result = gckn(labels, graphs.classes, dataset="MUTAG")
    assert result.mean > 0.75


@pytest.mark.usefixtures("two_folds")
def test_by_name(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    found = run_protocol("gckn", X, y, dataset="PTC", folder=folder)
    assert found == gckn(X, y, dataset="PTC", folder=folder)
