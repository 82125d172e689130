"""Small models on fixed vectors, kept as arrays: they are stored without code and load unchanged.

A head fits one model for each value of its grid, so that the value can be chosen by held-out
predictions. Rows are expected to have a squared norm of about 1.

| head | classes | numbers | grid |
|---|---|---|---|
| ``linear`` | logistic regression | ridge regression | strength |
| ``pls`` | partial least squares on the classes | partial least squares | components |
| ``prototypes`` | nearest class mean | - | temperature |
| ``kernel`` | ridge regression on the classes, RBF kernel | the same | width, strength |
| ``forest`` | random forest | random forest | - |
"""

import itertools
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg
from scipy.linalg import LinAlgWarning
from sklearn import cross_decomposition, linear_model
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances

from igsd.evaluation.forests import Forest, fit_forest, hold_out_forest
from igsd.evaluation.heads import spanned
from igsd.evaluation.small_model_base import Head, SmallModel, hold_out_folds

_ABSENT = -5.0
"""The logit of a class without a row."""


@dataclass(frozen=True, eq=False)
class Linear(SmallModel):
    """X W + b, with W [d, o]."""

    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return X W + b."""
        return X @ self.weight + self.bias


@dataclass(frozen=True, eq=False)
class KernelModel(SmallModel):
    """sum_i exp(-gamma |x - x_i|^2) w_i + b over the rows x_i that it was fitted to."""

    rows: np.ndarray
    gamma: np.ndarray
    weight: np.ndarray
    bias: np.ndarray

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Return the sums, a block of rows at a time."""
        blocks = [X[start : start + 4096] for start in range(0, len(X), 4096)]
        outputs = [
            np.exp(-self.gamma * euclidean_distances(block, self.rows, squared=True)) @ self.weight
            for block in blocks
        ]
        return np.concatenate([*outputs, np.empty((0, self.weight.shape[1]))]) + self.bias


def _fit_linear(
    X: np.ndarray, Y: np.ndarray, values: tuple[Any, ...], is_class: bool, seed: int
) -> list[SmallModel]:
    centre = X.mean(axis=0)
    rows, axes = spanned(np.asarray(X - centre, np.float64))
    if not rows.shape[1]:  # all rows are equal: a column of zeros, so that the bias is learned
        rows, axes = np.zeros((len(X), 1)), np.zeros((X.shape[1], 1))
    models: list[SmallModel] = []
    for strength in values:
        if is_class:
            weight, bias = _logistic(rows, Y, strength)
        else:
            bias = Y.mean(axis=0)
            ridge = linear_model.Ridge(alpha=1 / strength, fit_intercept=False)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LinAlgWarning)  # held-out predictions judge it
                weight = ridge.fit(rows, Y - bias).coef_.reshape(Y.shape[1], -1).T
        weight = weight if axes is None else axes @ weight
        models.append(Linear(weight, bias - centre @ weight))
    return models


def _logistic(X: np.ndarray, Y: np.ndarray, strength: float) -> tuple[np.ndarray, np.ndarray]:
    """Return weight [d, C] and bias [C] of the logits of a logistic regression."""
    codes, num_classes = Y.argmax(axis=1), Y.shape[1]
    present = np.unique(codes)
    weight, bias = np.zeros((X.shape[1], num_classes)), np.full(num_classes, _ABSENT)
    if len(present) < 2:
        bias[present] = 0.0
        return weight, bias
    model = linear_model.LogisticRegression(C=strength, max_iter=300, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # held-out predictions judge it
        model.fit(X, codes)
    coefficients, intercept = model.coef_, model.intercept_
    if len(present) == 2:
        coefficients = np.concatenate([-coefficients, coefficients]) / 2
        intercept = np.concatenate([-intercept, intercept]) / 2
    weight[:, present], bias[present] = coefficients.T, intercept
    return weight, bias


def _fit_pls(
    X: np.ndarray, Y: np.ndarray, values: tuple[Any, ...], is_class: bool, seed: int
) -> list[SmallModel]:
    targets = Y[:, 1:] if Y.shape[1] == 2 else Y
    models: list[SmallModel] = []
    for components in values:
        most = min(components, len(X) - 1, X.shape[1])
        if most < 1 or not np.ptp(X, axis=0).any():  # nothing to project: what is most frequent
            models.append(Linear(np.zeros((X.shape[1], Y.shape[1])), Y.mean(axis=0)))
            continue
        pls = cross_decomposition.PLSRegression(most, scale=False, max_iter=200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a residual of zero: fewer components are enough
            pls.fit(X, targets)
        weight = np.nan_to_num(pls.coef_).T
        bias = targets.mean(axis=0) - X.mean(axis=0) @ weight
        if Y.shape[1] == 2:
            weight, bias = np.concatenate([-weight, weight], 1), np.concatenate([1 - bias, bias])
        models.append(Linear(weight, bias))
    return models


def _fit_prototypes(
    X: np.ndarray, Y: np.ndarray, values: tuple[Any, ...], is_class: bool, seed: int
) -> list[SmallModel]:
    counts = Y.sum(axis=0)
    means = (Y.T @ X) / np.maximum(counts, 1)[:, None]
    offset = np.where(counts > 0, -0.5 * (means**2).sum(axis=1), _ABSENT)
    return [Linear(value * means.T, value * offset) for value in values]


def _kernels(X: np.ndarray, widths: Iterable[float]) -> Iterator[tuple[float, np.ndarray]]:
    """Return gamma and exp(-gamma |x_i - x_j|^2) [n, n] for each width, in units of the median."""
    squares = euclidean_distances(X, squared=True)
    typical = np.median(squares[np.triu_indices(len(X), 1)]) if len(X) > 1 else 1.0
    for width in widths:
        gamma = width / max(typical, 1e-12)
        yield gamma, np.exp(-gamma * squares)


def _fit_kernel(
    X: np.ndarray, Y: np.ndarray, values: tuple[Any, ...], is_class: bool, seed: int
) -> list[SmallModel]:
    bias = Y.mean(axis=0)
    models: list[SmallModel] = []
    kernels = _kernels(X, (width for width, _ in values))
    for (gamma, table), (_, strength) in zip(kernels, values, strict=True):
        table[np.diag_indices_from(table)] += strength
        weight = linalg.solve(table, Y - bias, assume_a="pos", overwrite_a=True)
        models.append(KernelModel(X.astype(np.float32), np.array(gamma), weight, bias))
    return models


def _hold_out_kernel(
    X: np.ndarray,
    Y: np.ndarray,
    folds: list[np.ndarray],
    groups: np.ndarray,
    values: tuple[Any, ...],
    is_class: bool,
    seed: int,
) -> tuple[np.ndarray, list[SmallModel]]:
    """Return what the fits without each fold would give, from one inverse for each value.

    With G = (K + strength I)^-1 and targets t, the fit to all rows but those of fold f predicts
    t_f - (G_ff)^-1 (G t)_f there. Its bias is the mean of the rows that it sees.
    """
    found, place = np.empty((len(values), *Y.shape)), 0
    biases = [(Y.sum(axis=0) - Y[fold].sum(axis=0)) / (len(Y) - len(fold)) for fold in folds]
    both = np.column_stack([Y, np.ones(len(Y))])
    widths = [(width, len([*group])) for width, group in itertools.groupby(v[0] for v in values)]
    for (_, table), (_, count) in zip(
        _kernels(X, (width for width, _ in widths)), widths, strict=True
    ):
        for _, strength in values[place : place + count]:
            shifted = table.copy(order="F")
            shifted[np.diag_indices_from(shifted)] += strength
            factor, _ = linalg.lapack.dpotrf(shifted, lower=1, overwrite_a=1)
            inverse, _ = linalg.lapack.dpotri(factor, lower=1, overwrite_c=1)
            solved = linalg.blas.dsymm(1.0, inverse, both, lower=1)
            for fold, bias in zip(folds, biases, strict=True):
                block = np.tril(inverse[np.ix_(fold, fold)])  # ascending, so this is its triangle
                missed = solved[fold, :-1] - bias * solved[fold, -1:]
                found[place, fold] = Y[fold] - linalg.solve(
                    block, missed, assume_a="pos", lower=True, overwrite_a=True
                )
            place += 1
    return found, []


_STRENGTHS = tuple(float(value) for value in np.logspace(-2, 4, 7))
_WIDTHS, _PENALTIES = (0.25, 0.5, 1.0, 2.0), (0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
HEADS: dict[str, Head] = {
    "linear": Head(Linear, _fit_linear, _STRENGTHS),
    "pls": Head(Linear, _fit_pls, (1, 2, 4, 8), is_probability=True),
    "prototypes": Head(Linear, _fit_prototypes, (1.0, 3.0, 10.0, 30.0), classes_only=True),
    "kernel": Head(
        KernelModel,
        _fit_kernel,
        tuple(itertools.product(_WIDTHS, _PENALTIES)),
        is_probability=True,
        hold_out=_hold_out_kernel,
    ),
    "forest": Head(
        Forest,
        fit_forest,
        (200,),
        is_probability=True,
        hold_out=hold_out_forest,
    ),
}


class HeldOut(NamedTuple):
    """What a head predicts of labels that it has not seen.

    ``outputs`` [n, o]: for each row those of a model that has not seen it; probabilities for
    classes. ``value``: the best of the grid. ``model``: fitted with it to all rows, None unless it
    has come with the outputs.
    """

    outputs: np.ndarray
    value: Any
    model: SmallModel | None


def held_out(
    head: Head,
    X: np.ndarray,
    Y: np.ndarray,
    folds: list[np.ndarray],
    is_class: bool,
    seed: int,
    *,
    groups: np.ndarray | None = None,
) -> HeldOut:
    """Return what a head predicts of labels that it has not seen.

    ``folds``: the rows held out together, ascending; of a forest each of the ``groups`` [n], rows
    of one molecule (by default each row is one). The value of the grid is the one with the lowest
    log loss or squared error over all held-out rows.
    """
    hold_out = head.hold_out or partial(hold_out_folds, head.fit)
    groups = np.arange(len(X)) if groups is None else groups
    predicted, models = hold_out(X, Y, folds, groups, head.grid, is_class, seed)
    if is_class:
        predicted = np.stack([head.probabilities(outputs) for outputs in predicted])
    losses = [loss(outputs, Y, is_class) for outputs in predicted]
    best = int(np.argmin(losses))
    return HeldOut(predicted[best], head.grid[best], models[best] if models else None)


def loss(outputs: np.ndarray, Y: np.ndarray, is_class: bool) -> float:
    """Return the log loss of probabilities, or the mean squared error of numbers."""
    if is_class:
        return float(-np.log(np.clip((outputs * Y).sum(axis=1), 1e-12, None)).mean())
    return float(np.square(outputs - Y).mean())
