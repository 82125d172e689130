"""SVMs over a grid of C, much faster than ``GridSearchCV`` and with the same predictions.

The kernel matrix of a training part is computed once and serves every C; predictions are one matrix
product. Only savings that cannot change a prediction are used. Large problems are solved by ``smo``
if numba is installed, with LIBSVM's own steps; else, and for small ones, by LIBSVM.
"""

import platform
from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from sklearn import config_context
from sklearn.svm import SVC

from igsd.evaluation.folds import Split, inner_folds
from igsd.evaluation.inputs import FloatArray, IntArray
from igsd.evaluation.kernels import Sources

Grid = Sequence[float]

# Sums of products taken in another order differ by less than this share of their absolute sum.
_ROUNDING = 1e-11

# Training rows from which compiled loops pay for loading them, half a second.
_LARGE = 500


class Machines(NamedTuple):
    """One SVM for every pair of classes, in the order of ``combinations(classes, 2)``.

    A positive decision ``K_test @ weights.T + intercepts`` is a vote for the first class.
    """

    classes: IntArray
    weights: FloatArray  # [pairs, t]
    intercepts: FloatArray  # [pairs]
    libsvm: Callable[[FloatArray], Any]
    """LIBSVM's own predictions [m] from K_test [m, t]."""


def predict(machines: Machines, K_test: FloatArray) -> IntArray:
    """Return the codes [m] that LIBSVM predicts from K_test [m, t].

    LIBSVM lets each pair of classes vote, and the first class with most votes wins. If a vote is so
    close that rounding could change it, LIBSVM itself predicts.
    """
    classes, weights, intercepts, libsvm = machines
    decisions = K_test @ weights.T + intercepts
    margin = np.abs(K_test).max() * np.abs(weights).sum(axis=1) + np.abs(intercepts)
    if (np.abs(decisions) <= _ROUNDING * margin).any():
        return np.asarray(libsvm(K_test), dtype=np.int64)
    votes = np.zeros((len(K_test), len(classes)), dtype=np.int64)
    pairs = combinations(range(len(classes)), 2)
    for won, (first, second) in zip((decisions > 0).T, pairs, strict=True):
        votes[:, first] += won
        votes[:, second] += ~won
    return np.asarray(classes[votes.argmax(axis=1)], dtype=np.int64)


def machines_of(model: Any, num_train: int) -> Machines:
    """Return the machines of an SVC that was fitted to ``num_train`` rows.

    scikit-learn keeps their weights as [classes - 1, support vectors], sorted by class: class i
    meets class j > i in row j - 1, and j < i in row j. With two classes the sign is flipped.
    """
    pairs = list(combinations(range(len(model.classes_)), 2))
    weights = np.zeros((len(pairs), num_train))
    ends = np.cumsum(model.n_support_)
    rows = [slice(end - size, end) for end, size in zip(ends, model.n_support_, strict=True)]
    for pair, (first, second) in enumerate(pairs):
        for own, row in ((first, second - 1), (second, first)):
            weights[pair, model.support_[rows[own]]] = model.dual_coef_[row, rows[own]]
    sign = 1.0 if len(pairs) > 1 else -1.0
    return Machines(model.classes_, sign * weights, sign * model.intercept_, model.predict)


@cache
def _compiled() -> Any:
    """Return the module ``smo``; None without numba, or a folder for its compiled code.

    On other processors than x86-64, LIBSVM rounds a product and a sum only once, ``smo`` twice.
    """
    if platform.machine() not in ("x86_64", "AMD64"):
        return None
    try:
        from igsd.evaluation import smo
    except (ImportError, RuntimeError):
        return None
    return smo


def _solver(K: FloatArray, y: IntArray) -> Callable[[float], Machines]:
    """Return a function that fits the machines of all pairs of classes for a C."""
    smo = _compiled() if len(K) >= _LARGE else None
    if smo is None:
        return lambda C: machines_of(_fit(K, y, C), len(K))
    classes = np.unique(y)
    problems = []
    for first, second in combinations(classes, 2):
        rows = np.concatenate([np.flatnonzero(y == first), np.flatnonzero(y == second)])
        num_first = int(np.count_nonzero(y == first))
        problems.append((rows, smo.pair_kernel(K, rows), K[rows, rows], num_first))
    buffer = np.empty(max(kernel.size for _, kernel, *_ in problems), dtype=np.float32)

    def solve(C: float) -> Machines:
        weights, intercepts = np.zeros((len(problems), len(K))), np.empty(len(problems))
        for pair, (rows, kernel, diagonal, num_first) in enumerate(problems):
            work = buffer[: kernel.size].reshape(kernel.shape)
            found = smo.solve(kernel, diagonal, num_first, C, work)
            weights[pair, rows], intercepts[pair] = found[:2]
        return Machines(classes, weights, intercepts, lambda K_test: _fit(K, y, C).predict(K_test))

    return solve


C_GRID: tuple[float, ...] = tuple((10.0 ** np.arange(-3, 4)).tolist())


class Choice(NamedTuple):
    """The C and the kernel that a search chose, and the validation accuracy if there was any."""

    C: float
    source: int
    score: float | None


def predict_grid(
    K_train: FloatArray, y_train: IntArray, K_test: FloatArray, grid: Grid
) -> IntArray:
    """Return the predicted codes [len(grid), m] of one SVM for each C of an ascending grid.

    K_train [t, t] and K_test [m, t] are kernels. A training part of one class predicts that class.
    """
    predictions = np.empty((len(grid), len(K_test)), dtype=np.int64)
    if (y_train == y_train[0]).all():
        predictions[:] = y_train[0]
        return predictions
    solve = _solver(K_train, y_train)
    for row, C in enumerate(grid):
        machines = solve(C)
        predictions[row] = predict(machines, K_test)
        if np.abs(machines.weights).max() < C:
            # No multiplier is at its bound, so a larger bound changes nothing.
            predictions[row + 1 :] = predictions[row]
            break
    return predictions


def grid_scores(sources: Sources, y: IntArray, splits: Sequence[Split], grid: Grid) -> FloatArray:
    """Return the accuracy of every kernel and C on every split, [kernels, len(grid), splits]."""
    scores = np.empty((len(sources), len(grid), len(splits)))
    for number, (train, test) in enumerate(splits):
        for position, source in enumerate(sources):
            K_train, K_test = source.split(train, test)
            predicted = predict_grid(K_train, y[train], K_test, grid)
            scores[position, :, number] = accuracy(predicted, y[test])
    return scores


def choose(sources: Sources, y: IntArray, train: IntArray, grid: Grid) -> Choice:
    """Return the kernel and C with the best mean accuracy over the inner folds of a training part.

    Ties go to the first kernel, then to the smaller C. Only rows and codes of ``train`` are read.
    """
    folds = inner_folds(y[train])
    if not folds:
        # One class is always right; of classes with one graph each, the one left out never is.
        return Choice(grid[0], 0, float((y[train] == y[train[0]]).all()))
    splits = [(train[fit], train[validation]) for fit, validation in folds]
    means = np.average(grid_scores(sources, y, splits, grid), axis=-1)
    best, row = divmod(int(means.argmax()), len(grid))
    return Choice(grid[row], best, float(means[best, row]))


def choose_by_validation(sources: Sources, y: IntArray, split: Split, grid: Grid) -> Choice:
    """Return the kernel and C with the best accuracy on the validation part of a split.

    Ties go to the first kernel, then to the middle C: the smallest one hardly fits anything.
    """
    scores = grid_scores(sources, y, [split], grid)[..., 0]
    best = int(scores.max(axis=1).argmax())
    row = middle_of_best(scores[best])
    return Choice(grid[row], best, float(scores[best, row]))


def predict_chosen(sources: Sources, y: IntArray, split: Split, choice: Choice) -> IntArray:
    """Return the codes [m] of the test part, from the chosen kernel and C on the training part."""
    K_train, K_test = sources[choice.source].split(*split)
    return predict_grid(K_train, y[split[0]], K_test, (choice.C,))[0]


def middle_of_best(scores: FloatArray) -> int:
    """Return the position of the best score; of several, the middle one, or the upper of two.

    >>> middle_of_best(np.array([0.1, 0.8, 0.8, 0.5, 0.8, 0.2]))
    2
    """
    equal = np.flatnonzero(scores == scores.max())
    return int(equal[len(equal) // 2])


def accuracy(predicted: IntArray, y: IntArray) -> Any:
    """Return the share of correct predictions over the last axis: [..., m] and [m] -> [...]."""
    return np.average(predicted == y, axis=-1)


def _fit(K: FloatArray, y: IntArray, C: float) -> Any:
    """Return a fitted SVC on a precomputed kernel, with a cache that holds all of it."""
    megabytes = max(200.0, 1.1 * 4 * len(K) ** 2 / 2**20)
    # The kernel was checked already: checking it again for every C costs a tenth.
    with config_context(assume_finite=True, skip_parameter_validation=True):
        return SVC(C=C, kernel="precomputed", cache_size=megabytes).fit(K, y)
