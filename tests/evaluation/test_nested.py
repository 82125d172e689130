from __future__ import annotations

import json

import numpy as np
import pytest

from igsd.errors import ConfigError, DataError
from igsd.estimators import IGSD
from igsd.evaluation.folds import outer_folds
from igsd.evaluation.kernels import kernel_sources
from igsd.evaluation.nested import inner_score, nested
from igsd.evaluation.svm import C_GRID, choose
from igsd.graphs.datasets import load_dataset
from tests.reference.grid_search import graph_like_features, grid_search


@pytest.mark.parametrize("standardise", ["no", "yes"])
def test_equals_grid_search_fold_by_fold(standardise):
    X, y = graph_like_features(90, 8, 2, 3)
    result = nested(X, y, seed=1, standardise=standardise, num_folds=3)
    for fold, (train, test) in enumerate(outer_folds(y, 1, 3).splits):
        C, score, predicted = grid_search(
            X[train], y[train], X[test], C_GRID, standardise=standardise == "yes"
        )
        assert result.C[fold] == C
        assert result.inner[fold] == score
        assert result.accuracies[fold] == np.mean(predicted == y[test])
        assert result.test_sizes[fold] == len(test)
        assert result.train_sizes[fold] == len(train)
    assert result.mean == np.mean(result.accuracies)
    assert result.std == np.std(result.accuracies)


def test_random_labels_score_at_chance():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 5)), random.integers(0, 2, size=300)
    # Chance over 300 graphs: 0.5 with a standard error of 0.03.
    assert abs(nested(X, y, grid=(0.1, 1.0, 10.0)).mean - 0.5) < 0.09


@pytest.mark.slow
def test_random_labels_on_real_embeddings_score_at_chance():
    graphs = load_dataset("MUTAG")
    vectors = IGSD(epochs=5, hidden_dim=16, num_layers=2, cache_views=False).fit_transform(graphs)
    random = np.random.default_rng(0)
    means = [
        nested(vectors, random.permutation(graphs.classes), seed=s, standardise="yes").mean
        for s in range(3)
    ]
    # The majority class has 125 of 188 graphs; always saying it is the best that chance can do.
    assert nested(vectors, graphs.classes, standardise="yes").mean > 0.8
    assert 0.55 < np.mean(means) < 125 / 188 + 0.03


@pytest.mark.parametrize("standardise", ["no", "yes", "search"])
def test_a_test_graph_never_reaches_selection(standardise):
    X, y = graph_like_features(80, 6, 2, 0)
    before = nested(X, y, standardise=standardise, num_folds=2)
    _, test = outer_folds(y, 0, 2).splits[0]
    spoiled, random = X.copy(), np.random.default_rng(1)
    spoiled[test] = random.normal(size=(len(test), X.shape[1])) * X.std() * 3
    after = nested(spoiled, y, standardise=standardise, num_folds=2)
    assert after.C[0] == before.C[0]
    assert after.standardised[0] == before.standardised[0]
    assert after.inner[0] == before.inner[0]


def test_test_labels_never_reach_selection():
    X, y = graph_like_features(80, 6, 2, 0)
    train, test = outer_folds(y, 0, 4).splits[0]
    flipped = y.copy()
    flipped[test] = 1 - y[test]
    sources = kernel_sources(X, standardise="search")
    assert choose(sources, flipped, train, C_GRID) == choose(sources, y, train, C_GRID)


def test_precomputed_kernel_on_the_same_folds():
    X, y = graph_like_features(60, 6, 2, 0)
    X = X / X.std()
    same = {"grid": (0.01, 0.1), "num_folds": 3}
    linear = nested(X, y, kernel="linear", standardise="no", **same)
    given = nested(X @ X.T, y, kernel="precomputed", **same)
    assert linear == given


def test_twins_of_test_graphs_leave_training():
    # Pairs of equal graphs with random labels: nothing but the copy can help.
    random = np.random.default_rng(0)
    groups = np.arange(60) // 2
    y = random.integers(0, 2, size=30)[groups]
    X = random.normal(size=(30, 4))[groups] * 5
    settings = {"grid": (1.0, 100.0), "num_folds": 5}
    with_twins, without = nested(X, y, **settings), nested(X, y, twins=groups, **settings)
    assert with_twins.mean > 0.75
    assert without.mean < 0.7
    assert all(a < b for a, b in zip(without.train_sizes, with_twins.train_sizes, strict=True))
    assert "twins of test graphs removed from training" in without.notes


@pytest.mark.slow
def test_same_result_for_any_number_of_processes():
    X, y = graph_like_features(80, 6, 3, 0)
    one = nested(X, y, standardise="search", num_folds=4)
    assert one == nested(X, y, standardise="search", num_folds=4, n_jobs=2)


def test_inner_score_is_the_mean_of_the_inner_accuracies():
    X, y = graph_like_features(80, 6, 2, 0)
    result = nested(X, y, seed=2, num_folds=4)
    assert inner_score(X, y, 2, num_folds=4) == pytest.approx(np.mean(result.inner))


def test_seed_changes_the_folds_and_same_seed_repeats():
    X, y = graph_like_features(60, 4, 2, 0)
    first = nested(X, y, seed=0, num_folds=3)
    assert first == nested(X, y, seed=0, num_folds=3)
    assert first.accuracies != nested(X, y, seed=1, num_folds=3).accuracies


def test_result_as_a_json_record():
    X, y = graph_like_features(40, 4, 2, 0)
    result = nested(X, y, num_folds=2)
    record = json.loads(json.dumps(result.to_dict()))
    assert record["protocol"] == "nested"
    assert record["mean"] == result.mean
    assert record["optimistic"] is False
    assert record["C"] == list(result.C)


def test_errors_name_what_is_wrong():
    X = np.zeros((6, 2))
    with pytest.raises(DataError, match="have none"):
        nested(X, np.array([0, 0, 1, 1, -1, 0]))
    with pytest.raises(DataError, match="Got 5 codes for 6 graphs"):
        nested(X, np.array([0, 0, 1, 1, 0]))
    with pytest.raises(ConfigError, match="n_jobs"):
        nested(X, np.array([0, 0, 1, 1, 0, 1]), n_jobs=0)


def test_constant_features_score_the_majority():
    y = np.array([0] * 20 + [1] * 10)
    result = nested(np.ones((30, 2)), y, standardise="search", num_folds=2)
    assert result.mean == pytest.approx(2 / 3)
