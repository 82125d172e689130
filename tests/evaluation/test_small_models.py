from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn import ensemble, linear_model

from igsd.evaluation.ensemble import Ensemble, conformal_width, fit_ensemble
from igsd.evaluation.forests import Forest
from igsd.evaluation.small_model_base import SmallModel
from igsd.evaluation.small_models import HEADS, KernelModel, held_out, loss


def blobs(num: int = 60, classes: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Rows [n, 8] around one centre per class, and their classes one-hot [n, C]."""
    rng = np.random.default_rng(seed)
    codes = np.arange(num) % classes
    X = rng.normal(size=(classes, 8))[codes] + 0.4 * rng.normal(size=(num, 8))
    return X / np.sqrt(np.square(X).sum(axis=1).mean()), np.eye(classes)[codes]


def line(num: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(num, 5)) / np.sqrt(5)
    y = X @ np.array([2.0, -1.0, 0.5, 0.0, 0.0]) + 0.05 * rng.normal(size=num)
    return X, (y[:, None] - y.mean()) / y.std()


def fitted(name: str, X: np.ndarray, Y: np.ndarray, *, is_class: bool) -> list[SmallModel]:
    return HEADS[name].fit(X, Y, HEADS[name].grid, is_class, 0)


@pytest.mark.parametrize("name", HEADS)
def test_classes_are_learned(name: str) -> None:
    X, Y = blobs()
    new, truth = blobs(30)
    models = fitted(name, X, Y, is_class=True)
    found = [HEADS[name].probabilities(model(new)) for model in models]
    assert all(np.allclose(p.sum(axis=1), 1) and (p >= 0).all() for p in found)
    assert max((p.argmax(axis=1) == truth.argmax(axis=1)).mean() for p in found) > 0.9


@pytest.mark.parametrize("name", [name for name, head in HEADS.items() if not head.classes_only])
def test_numbers_are_learned(name: str) -> None:
    X, y = line()
    new, truth = line(40, seed=1)
    errors = [np.abs(model(new) - truth).mean() for model in fitted(name, X, y, is_class=False)]
    assert min(errors) < 0.5


@pytest.mark.parametrize("name", HEADS)
@pytest.mark.parametrize("rows", [[0, 3, 6], [0, 1, 3, 4, 6]])
def test_a_class_may_be_absent(name: str, rows: list[int]) -> None:
    X, Y = blobs()
    for model in fitted(name, X[rows], Y[rows], is_class=True):
        p = HEADS[name].probabilities(model(X))
        assert np.isfinite(p).all()
        assert p[:, 2].max() < 0.4


@pytest.mark.parametrize("name", HEADS)
def test_arrays_give_the_same_model(name: str) -> None:
    X, Y = blobs()
    for model in fitted(name, X, Y, is_class=True):
        again = type(model).from_arrays(model.arrays("a."), "a.")
        assert np.array_equal(again(X), model(X))


def test_a_forest_is_that_of_scikit_learn() -> None:
    X, Y = blobs()
    rows, codes = X.astype(np.float32), Y.argmax(axis=1)
    classes = ensemble.RandomForestClassifier(20, random_state=0).fit(rows, codes)
    assert np.allclose(Forest.of(classes.estimators_)(X), classes.predict_proba(rows), atol=1e-6)
    numbers = ensemble.RandomForestRegressor(20, random_state=0).fit(rows, X[:, 0])
    assert np.allclose(Forest.of(numbers.estimators_)(X)[:, 0], numbers.predict(rows), atol=1e-5)


def test_a_linear_model_is_that_of_scikit_learn() -> None:
    X, Y = blobs(40, 2)
    (model,) = HEADS["linear"].fit(X, Y, (10.0,), True, 0)
    theirs = linear_model.LogisticRegression(C=10.0, max_iter=1000, tol=1e-8).fit(X, Y[:, 1])
    ours = HEADS["linear"].probabilities(model(X))
    assert np.allclose(ours, theirs.predict_proba(X), atol=5e-3)


def test_a_held_out_label_is_not_seen() -> None:
    X, Y = blobs()
    folds = [np.arange(i, len(X), 5) for i in range(5)]
    first = held_out(HEADS["linear"], X, Y, folds, True, 0).outputs
    changed = Y.copy()
    changed[folds[0]] = np.roll(Y[folds[0]], 1, axis=1)
    grid = HEADS["linear"].grid
    for value in (grid[0], grid[-1]):
        (model,) = HEADS["linear"].fit(X[5:], Y[5:], (value,), True, 0)
        (other,) = HEADS["linear"].fit(X[5:], changed[5:], (value,), True, 0)
        assert not np.allclose(model(X), other(X))
    assert loss(first, Y, True) < np.log(3)


def test_a_kernel_is_held_out_as_if_it_were_fitted_without_the_fold() -> None:
    """One inverse serves all folds; the width is that of all rows."""
    X, Y = blobs(50, 2)
    folds, head = [np.arange(i, len(X), 5) for i in range(5)], HEADS["kernel"]
    assert head.hold_out is not None
    found, _ = head.hold_out(X, Y, folds, np.arange(len(X)), head.grid, True, 0)
    models = fitted("kernel", X, Y, is_class=True)
    for outputs, model, (_, strength) in zip(found, models, head.grid, strict=True):
        assert isinstance(model, KernelModel)
        table = np.exp(-model.gamma * np.square(X[:, None] - X[None]).sum(axis=2))
        for fold in folds:
            rest = np.setdiff1d(np.arange(len(X)), fold)
            bias = Y[rest].mean(axis=0)
            inner = table[np.ix_(rest, rest)] + strength * np.eye(len(rest))
            weight = np.linalg.solve(inner, Y[rest] - bias)
            wanted = table[np.ix_(fold, rest)] @ weight + bias
            np.testing.assert_allclose(outputs[fold], wanted, atol=1e-7)


def test_a_forest_is_held_out_by_the_trees_that_have_not_drawn_a_row() -> None:
    X, Y = blobs(240, 2)
    shuffled = np.eye(2)[np.random.default_rng(1).integers(2, size=240)]
    head = HEADS["forest"]
    assert head.hold_out is not None
    own, noise = (
        head.hold_out(X, T, [], np.arange(len(X)), head.grid, True, 0)[0][0] for T in (Y, shuffled)
    )
    forest = ensemble.RandomForestClassifier(200, random_state=0, oob_score=True)
    forest.fit(X.astype(np.float32), Y.argmax(axis=1))
    np.testing.assert_allclose(own, forest.oob_decision_function_)
    hits = [(p.argmax(1) == T.argmax(1)).mean() for p, T in ((own, Y), (noise, shuffled))]
    assert hits[0] > 0.9
    assert hits[1] < 0.7  # a fitted value would always be right
    numbers = head.hold_out(X, X[:, :1], [], np.arange(len(X)), head.grid, False, 0)[0][0]
    assert 0 < np.abs(numbers - X[:, :1]).mean() < X[:, 0].std()


def test_a_forest_with_few_rows_is_held_out_by_folds() -> None:
    """As the other models are: more rows for the forest alone would raise its weight."""
    X, Y = blobs(60, 2)
    folds, head = [np.arange(i, len(X), 5) for i in range(5)], HEADS["forest"]
    assert head.hold_out is not None
    (found,), _ = head.hold_out(X, Y, folds, np.arange(len(X)), head.grid, True, 0)
    for fold in folds:
        rest = np.setdiff1d(np.arange(len(X)), fold)
        (model,) = head.fit(X[rest], Y[rest], head.grid, True, 0)
        np.testing.assert_allclose(found[fold], model(X[fold]))


def test_a_forest_holds_out_all_rows_of_a_molecule() -> None:
    """Copies are predicted by trees that have drawn none of them: random labels by chance."""
    rng, head = np.random.default_rng(0), HEADS["forest"]
    X, codes = rng.normal(size=(250, 8)), rng.integers(0, 2, 250)
    X, Y, groups = np.tile(X, (3, 1)), np.tile(np.eye(2)[codes], (3, 1)), np.tile(np.arange(250), 3)
    own, every = (
        held_out(head, X, Y, [], is_class=True, seed=0, groups=each).outputs
        for each in (groups, None)
    )
    right = [(each.argmax(axis=1) == Y.argmax(axis=1)).mean() for each in (own, every)]
    assert right[0] < 0.6 < 0.9 < right[1]


def test_a_forest_is_held_out_as_by_scikit_learn() -> None:
    X, Y = blobs(240, 2)
    forest = ensemble.RandomForestClassifier(200, random_state=0, max_samples=240, oob_score=True)
    theirs = forest.fit(X.astype(np.float32), Y.argmax(axis=1)).oob_decision_function_
    ours = held_out(HEADS["forest"], X, Y, [], is_class=True, seed=0).outputs
    np.testing.assert_allclose(ours, np.clip(theirs, 0.01, 0.99), atol=1e-6)


@pytest.mark.parametrize("is_class", [True, False])
def test_a_forest_held_out_by_its_own_trees_is_kept(is_class: bool) -> None:
    X, Y = blobs(240, 2)
    targets = Y if is_class else X[:, :1]
    fold = np.arange(0, 240, 5)
    found = held_out(HEADS["forest"], X, targets, [fold], is_class, 0)
    (model,) = fitted("forest", X, targets, is_class=is_class)
    assert found.model is not None
    np.testing.assert_array_equal(found.model(X), model(X))


def test_a_forest_of_counts_is_grown_from_a_sparse_matrix() -> None:
    """The trees are those of the dense matrix, also where counts have been centred and scaled."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.1, size=(300, 40)).astype(np.float32)
    Y = np.eye(2)[(counts[:, 0] > 0).astype(int)]
    X = (counts - counts.mean(axis=0)) / np.float32(3.7)
    (model,) = fitted("forest", X, Y, is_class=True)
    dense = ensemble.RandomForestClassifier(200, random_state=0, max_samples=300)
    theirs = dense.fit(X, Y.argmax(axis=1)).predict_proba(X)
    np.testing.assert_allclose(model(X), theirs, atol=1e-6)


def ensemble_of(X: np.ndarray, Y: np.ndarray, *, is_class: bool) -> Ensemble:
    names = [("x", head) for head in HEADS if is_class or not HEADS[head].classes_only]
    names += [("noise", "linear")]
    noise = np.random.default_rng(5).normal(size=X.shape)
    return fit_ensemble({"x": X, "noise": noise}, Y, names, is_class=is_class)


def test_random_inputs_get_no_weight() -> None:
    found = ensemble_of(*blobs(), is_class=True)
    assert found.candidates[-1].inputs == "noise"
    assert found.candidates[-1].weight == 0
    assert sum(each.weight for each in found.candidates) == pytest.approx(1)
    assert found.metric == "accuracy"
    assert found.score > 0.9


def test_random_labels_score_at_chance() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(100, 8)) / np.sqrt(8), np.eye(2)[rng.integers(2, size=100)]
    found = ensemble_of(X, Y, is_class=True)
    assert 0.2 < found.score < 0.7  # held-out rows are a little below chance
    p = found.outputs({"x": rng.normal(size=(200, 8)), "noise": rng.normal(size=(200, 8))})
    assert p.max() < 0.9


def test_an_ensemble_is_kept_as_arrays() -> None:
    for is_class, (X, Y) in ((True, blobs()), (False, line())):
        found = ensemble_of(X, Y, is_class=is_class)
        again = Ensemble.from_json(found.to_json(), found.arrays("t."), "t.")
        inputs = {"x": X, "noise": X}
        assert np.array_equal(again.outputs(inputs), found.outputs(inputs))
        assert again.summary() == found.summary()


def test_intervals_cover_what_they_say() -> None:
    X, y = line(400)
    noisy = y + 0.3 * np.random.default_rng(2).standard_t(4, size=y.shape)
    found = ensemble_of(X[:100], noisy[:100], is_class=False)
    width = conformal_width(found.residuals, 0.9)
    errors = np.abs(found.outputs({"x": X[100:], "noise": X[100:]}) - noisy[100:])
    assert 0.83 < (errors <= width).mean() < 0.97
    assert conformal_width(np.arange(9.0), 0.9) == 8.0
    assert conformal_width(np.arange(8.0), 0.9) == np.inf


def test_an_ill_conditioned_table_is_no_warning() -> None:
    """SciPy's own words on it were a note of `igsd train`; cross-validation judges the model."""
    X = np.repeat(np.random.default_rng(0).normal(size=(900, 1)).astype(np.float32), 4, axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HEADS["linear"].fit(X, X[:, :1], (2e3, 5e3, 1e4), False, 0)


@pytest.mark.parametrize("name", sorted(HEADS))
@pytest.mark.parametrize("count", [1, 4])
def test_rows_without_a_difference_give_what_is_frequent(name: str, count: int) -> None:
    """Equal molecules, and a fold of one row, ended in an error of scikit-learn."""
    X, Y = np.zeros((count, 5)), np.eye(2)[np.arange(count) % 2]
    head = HEADS[name]
    for model in head.fit(X, Y, head.grid, True, 0):
        found = head.probabilities(model(X))
        assert found.shape == (count, 2)
        np.testing.assert_allclose(found.sum(axis=1), 1)
