from __future__ import annotations

import json
import os
from functools import partial

import numpy as np
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from igsd.errors import ConfigError, DataError, StorageError
from igsd.estimators import IGSD
from igsd.evaluation import svm
from igsd.evaluation.cross_validation import cross_validate, gckn_grid, inner_score
from igsd.evaluation.folds import outer_folds, read_gckn_folds
from igsd.evaluation.kernels import kernel_sources
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.svm import C_GRID, choose
from igsd.graphs.datasets import load_dataset
from tests.reference.grid_search import graph_like_features, grid_search

paper = partial(cross_validate, protocol="paper")
gckn = partial(cross_validate, protocol="gckn")


@pytest.mark.parametrize("standardise", ["no", "yes"])
def test_equals_grid_search_fold_by_fold(standardise):
    X, y = graph_like_features(90, 8, 2, 3)
    result = cross_validate(X, y, seed=1, standardise=standardise, num_folds=3)
    for fold, split in enumerate(outer_folds(y, 1, 3)[0]):
        train, test = split.train, split.test
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
    assert abs(cross_validate(X, y).mean - 0.5) < 0.09


@pytest.mark.slow
def test_random_labels_on_real_embeddings_score_at_chance():
    graphs = load_dataset("MUTAG")
    vectors = IGSD(epochs=5, hidden_dim=16, num_layers=2, cache_views=False).fit_transform(graphs)
    random = np.random.default_rng(0)
    means = [
        cross_validate(vectors, random.permutation(graphs.classes), seed=s, standardise="yes").mean
        for s in range(3)
    ]
    # The majority class has 125 of 188 graphs; always saying it is the best that chance can do.
    assert cross_validate(vectors, graphs.classes, standardise="yes").mean > 0.8
    assert 0.55 < np.mean(means) < 125 / 188 + 0.03


@pytest.mark.parametrize("standardise", ["no", "yes", "search"])
def test_a_test_graph_never_reaches_selection(standardise):
    X, y = graph_like_features(80, 6, 2, 0)
    before = cross_validate(X, y, standardise=standardise, num_folds=2)
    test = outer_folds(y, 0, 2)[0][0].test
    spoiled, random = X.copy(), np.random.default_rng(1)
    spoiled[test] = random.normal(size=(len(test), X.shape[1])) * X.std() * 3
    after = cross_validate(spoiled, y, standardise=standardise, num_folds=2)
    assert after.C[0] == before.C[0]
    assert after.standardised[0] == before.standardised[0]
    assert after.inner[0] == before.inner[0]


def test_test_labels_never_reach_selection():
    X, y = graph_like_features(80, 6, 2, 0)
    fold = outer_folds(y, 0, 4)[0][0]
    flipped = y.copy()
    flipped[fold.test] = 1 - y[fold.test]
    sources = kernel_sources(X, standardise="search")
    assert choose(sources, flipped, fold.train, C_GRID) == choose(sources, y, fold.train, C_GRID)


def test_precomputed_kernel_on_the_same_folds(monkeypatch):
    monkeypatch.setattr(svm, "C_GRID", (0.01, 0.1))
    X, y = graph_like_features(60, 6, 2, 0)
    X = X / X.std()
    linear = cross_validate(X, y, kernel="linear", standardise="no", num_folds=3)
    given = cross_validate(X @ X.T, y, kernel="precomputed", num_folds=3)
    assert linear == given


def test_twins_of_test_graphs_leave_training(monkeypatch):
    monkeypatch.setattr(svm, "C_GRID", (1.0, 100.0))
    # Pairs of equal graphs with random labels: nothing but the copy can help.
    random = np.random.default_rng(0)
    groups = np.arange(60) // 2
    y = random.integers(0, 2, size=30)[groups]
    X = random.normal(size=(30, 4))[groups] * 5
    with_twins = cross_validate(X, y, num_folds=5)
    without = cross_validate(X, y, twins=groups, num_folds=5)
    assert with_twins.mean > 0.75
    assert without.mean < 0.7
    assert all(a < b for a, b in zip(without.train_sizes, with_twins.train_sizes, strict=True))
    assert "twins of test graphs removed from training" in without.notes


@pytest.mark.slow
def test_same_result_for_any_number_of_processes():
    X, y = graph_like_features(80, 6, 3, 0)
    one = cross_validate(X, y, standardise="search", num_folds=4)
    assert one == cross_validate(X, y, standardise="search", num_folds=4, n_jobs=2)


def test_inner_score_is_the_mean_of_the_inner_accuracies():
    X, y = graph_like_features(80, 6, 2, 0)
    result = cross_validate(X, y, seed=2)
    assert inner_score(X, y, 2) == pytest.approx(np.mean(result.inner))


def test_seed_changes_the_folds_and_same_seed_repeats():
    X, y = graph_like_features(60, 4, 2, 0)
    first = cross_validate(X, y, seed=0, num_folds=3)
    assert first == cross_validate(X, y, seed=0, num_folds=3)
    assert first.accuracies != cross_validate(X, y, seed=1, num_folds=3).accuracies


def test_result_as_a_json_record():
    X, y = graph_like_features(40, 4, 2, 0)
    result = cross_validate(X, y, num_folds=2)
    record = json.loads(json.dumps(result.to_dict()))
    assert record["protocol"] == "nested"
    assert record["mean"] == result.mean
    assert record["optimistic"] is False
    assert record["C"] == list(result.C)


def test_errors_name_what_is_wrong():
    X = np.zeros((6, 2))
    with pytest.raises(DataError, match="have none"):
        cross_validate(X, np.array([0, 0, 1, 1, -1, 0]))
    with pytest.raises(DataError, match="Got 5 codes for 6 graphs"):
        cross_validate(X, np.array([0, 0, 1, 1, 0]))
    with pytest.raises(ConfigError, match="n_jobs"):
        cross_validate(X, np.array([0, 0, 1, 1, 0, 1]), n_jobs=0)


def test_constant_features_score_the_majority():
    y = np.array([0] * 20 + [1] * 10)
    result = cross_validate(np.ones((30, 2)), y, standardise="search", num_folds=2)
    assert result.mean == pytest.approx(2 / 3)


def test_reports_the_c_with_the_best_mean(monkeypatch):
    X, y = graph_like_features(80, 6, 2, 0)
    grid = (0.1, 1.0, 10.0)
    monkeypatch.setattr(svm, "C_GRID", grid)
    folds = [(fold.train, fold.test) for fold in outer_folds(y, 4, 5)[0]]
    means = [cross_val_score(SVC(C=C), X, y, cv=folds).mean() for C in grid]
    result = paper(X, y, seed=4, num_folds=5, standardise="no")
    assert result.mean == pytest.approx(max(means))
    assert set(result.C) == {grid[int(np.argmax(means))]}
    assert result.optimistic
    assert any("optimistic" in note for note in result.notes)


def test_search_under_paper_is_the_better_of_both():
    X, y = graph_like_features(60, 6, 2, 1)
    both = [paper(X, y, standardise=s, num_folds=3).mean for s in ("no", "yes")]
    assert paper(X, y, standardise="search", num_folds=3).mean == max(both)


def test_twins_are_removed_under_paper():
    X, y = graph_like_features(60, 6, 2, 1)
    groups = np.arange(60) // 2
    sizes = paper(X, y, twins=groups, num_folds=3).train_sizes
    for size, fold in zip(sizes, outer_folds(y, 0, 3)[0], strict=True):
        assert size == len(fold.without_twins(groups).train)


@pytest.mark.usefixtures("two_folds")
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("standardise", ["no", "yes"])
def test_gckn_equals_the_plain_loop(folder, kernel, standardise):
    X, y = graph_like_features(60, 5, 2, 0)
    X = X / X.std()  # else LIBSVM takes minutes for the products
    scale = StandardScaler() if standardise == "yes" else None
    result = gckn(X, y, dataset="PTC", kernel=kernel, standardise=standardise)
    for number, fold in enumerate(read_gckn_folds("PTC", y)):
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
    linear = gckn(X, y, dataset="PTC", kernel="linear", standardise="no")
    assert linear == gckn(X @ X.T, y, dataset="PTC", kernel="precomputed")


@pytest.mark.usefixtures("two_folds")
def test_twins_are_removed_under_gckn(folder):
    X, y = graph_like_features(60, 5, 2, 0)
    result = gckn(X, y, dataset="PTC", twins=np.arange(60) // 2)
    for number, fold in enumerate(read_gckn_folds("PTC", y)):
        pairs = {g // 2 for g in fold.test}
        assert result.train_sizes[number] == sum(g // 2 not in pairs for g in fold.fitted)


def test_grid_of_gckn():
    grid = gckn_grid(100)
    assert (len(grid), grid[0], grid[-1]) == (60, 1e-5, 100.0)


@pytest.mark.skipif(
    "IGSD_DATA" not in os.environ, reason="IGSD_DATA names no folder with the fold files"
)
@pytest.mark.slow
def test_real_mutag_scores_above_the_majority():
    graphs = load_dataset("MUTAG")
    labels = np.zeros((len(graphs), len(graphs.node_label_names)))
    np.add.at(labels, (graphs.graph_of_node(), graphs.node_labels), 1)
    result = gckn(labels, graphs.classes, dataset="MUTAG")
    assert result.mean > 0.75


def majority(y, **settings):
    return cross_validate(np.zeros((len(y), 0)), y, **settings)


def test_vectors_without_columns_score_the_largest_class():
    y = np.array([0] * 10 + [1] * 30)
    result = majority(y, seed=1)
    assert result.mean == pytest.approx(0.75)
    assert (result.C, result.inner, result.optimistic) == ((), (), False)
    other = cross_validate(np.zeros((40, 1)), y, seed=1)
    assert result.test_sizes == other.test_sizes
    assert majority(y, seed=1, protocol="paper").accuracies == result.accuracies


def test_even_classes_are_not_guessed_wrong_fold_by_fold():
    # 15 and 15 in ten folds: the class with fewer training graphs has more test graphs.
    assert majority(np.repeat([0, 1], 15)).mean == pytest.approx(0.5, abs=0.01)


def test_majority_of_published_folds(folder):
    y = (np.arange(60) % 3 > 0).astype(int)
    result = majority(y, protocol="gckn", dataset="PTC")
    folds = read_gckn_folds("PTC", y)
    assert result.accuracies == tuple(np.average(y[fold.test]) for fold in folds)


@pytest.mark.parametrize("head", ["linear", "forest"])
def test_other_heads(head):
    y = np.arange(40) % 2
    X = np.random.default_rng(0).normal(size=(40, 2)) + 3 * y[:, None]
    result = cross_validate(X, y, head=head, num_folds=2)
    assert result.mean > 0.9
    assert result.C == ()


def test_gckn_needs_to_know_the_data_set(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("IGSD_DATA", str(tmp_path))
    X, y = graph_like_features(40, 4, 2, 0)
    with pytest.raises(ConfigError, match="name of a data set"):
        gckn(X, y)
    with pytest.raises(StorageError, match="no fold file"):
        gckn(X, y, dataset="PTC")


def test_an_unknown_name() -> None:
    with pytest.raises(ConfigError, match="Did you mean 'nested'"):
        cross_validate(np.eye(3), np.zeros(3), protocol="nestd")


def test_figures_over_the_folds() -> None:
    result = ProtocolResult("nested", 3, (0.5, 0.7))
    assert result.mean == pytest.approx(0.6)
    assert result.std == pytest.approx(0.1)
