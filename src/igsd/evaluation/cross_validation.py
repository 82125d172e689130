"""The protocols that score vectors or a kernel: one cross-validation, three ways to choose C.

| protocol | folds | C is chosen by |
|---|---|---|
| ``nested`` | stratified, drawn with the seed | cross-validation inside each training part |
| ``paper`` | the same | the mean accuracy on the test parts: optimistic |
| ``gckn`` | published with the data set | the fold's validation part |
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from igsd.errors import ConfigError, nearest
from igsd.evaluation import PROTOCOLS, heads, inputs, kernels, svm
from igsd.evaluation.folds import OUTER_FOLDS, Fold, outer_folds, read_gckn_folds
from igsd.evaluation.result import ProtocolResult
from igsd.processes import map_folds

Outcome = tuple[float, svm.Choice | None]
"""The test accuracy of a fold, and what was chosen for it."""


def cross_validate(
    X: Any,
    y: Any,
    *,
    protocol: str = "nested",
    seed: int = 0,
    standardise: kernels.Standardise | None = None,
    kernel: kernels.Kernel = "rbf",
    head: heads.HeadName = "svm",
    num_folds: int = OUTER_FOLDS,
    twins: Any | None = None,
    dataset: str | None = None,
    n_jobs: int = 1,
) -> ProtocolResult:
    """Return the test accuracy of an SVM on each fold of a protocol.

    X: features [n, d], or a kernel [n, n] with ``kernel="precomputed"``. Features without a column,
    [n, 0], are scored as the largest class of the set.
    y: class codes [n].
    protocol: ``nested``, ``paper`` or ``gckn``. The values of C are 1e-3 ... 1e3, for ``gckn`` the
    60 of ``gckn_grid``. ``paper`` departs from the paper in one thing: the number of epochs is the
    recipe's and is not chosen by the test parts as well.
    seed: draws ``num_folds`` folds; for ``gckn`` only the validation parts that are not published.
    standardise: standardise features inside each training part (the default), use them as they are
    (``"no"``), or choose between both as C is chosen (``"search"``).
    head: fit another model than an SVM to the features as they are, see ``heads``.
    twins: group numbers [n]; training graphs in the group of a test graph are left out.
    dataset: for ``gckn``, the data set whose published folds are used.
    n_jobs: the number of processes; it changes no result.

    Raises ``DataError`` if X, y or twins break the rules of ``inputs`` or published folds do not
    fit, ``ConfigError`` for an invalid setting, ``StorageError`` for missing published folds.
    """
    if protocol not in PROTOCOLS:
        raise ConfigError(f"There is no protocol {protocol!r}. {nearest(protocol, PROTOCOLS)}")
    knows_nothing = np.ndim(X) == 2 and np.shape(X)[1] == 0
    uses_svm = head == "svm" and not knows_nothing
    sources = kernels.kernel_sources(X, kernel, standardise) if uses_svm else ()
    codes = inputs.check_codes(y, len(X))
    if protocol != "gckn":
        folds, notes = outer_folds(codes, seed, num_folds)
    elif dataset is None:
        raise ConfigError("Protocol 'gckn' needs the name of a data set with published folds.")
    else:
        folds = read_gckn_folds(dataset, codes, seed=seed)
        notes = (f"published folds of {dataset}",)
    if twins is not None:
        groups = inputs.check_groups(twins, len(codes))
        folds = tuple(fold.without_twins(groups) for fold in folds)
        notes = (*notes, "twins of test graphs removed from training")
    outcomes: list[Outcome]
    if knows_nothing:
        # The largest class of the set, not of each training part: where classes are nearly even, a
        # fold with more test graphs of a class has fewer training graphs of it.
        guess = np.bincount(codes).argmax(axis=0, keepdims=True)
        outcomes = [(float(svm.accuracy(guess, codes[fold.test])), None) for fold in folds]
    elif not uses_svm:
        features = inputs.check_features(X)
        parts = [(features, codes, fold, head) for fold in folds]
        outcomes = [(score, None) for score in map_folds(_score_head, parts, n_jobs)]
    elif protocol == "paper":
        outcomes = _score_by_tests(sources, codes, folds, svm.C_GRID, n_jobs)
        chosen = "C and standardising" if len(sources) > 1 else "C"
        notes = (*notes, f"optimistic: {chosen} chosen by the test folds")
    else:
        is_gckn = protocol == "gckn"
        grids = [gckn_grid(len(fold.train)) if is_gckn else svm.C_GRID for fold in folds]
        work = [(sources, codes, *parts) for parts in zip(folds, grids, strict=True)]
        outcomes = map_folds(_score_fold, work, n_jobs)
    choices = [choice for _, choice in outcomes if choice is not None]
    return ProtocolResult(
        protocol=protocol,
        seed=seed,
        accuracies=tuple(score for score, _ in outcomes),
        C=tuple(choice.C for choice in choices),
        standardised=tuple(sources[choice.source].standardised for choice in choices),
        inner=tuple(choice.score for choice in choices if choice.score is not None),
        optimistic=protocol == "paper" and uses_svm,
        notes=notes,
        train_sizes=tuple(len(fold.fitted) for fold in folds),
        test_sizes=tuple(len(fold.test) for fold in folds),
    )


def inner_score(
    X: Any, y: Any, seed: int = 0, *, standardise: kernels.Standardise = "yes", n_jobs: int = 1
) -> float:
    """Return the mean over the folds of ``nested`` of the best accuracy inside training parts.

    For choosing a recipe: no SVM here sees the test part of its fold. Arguments and errors as in
    ``cross_validate``.
    """
    sources, codes = kernels.kernel_sources(X, "rbf", standardise), inputs.check_codes(y, len(X))
    folds, _ = outer_folds(codes, seed)
    work = [(sources, codes, fold.train, svm.C_GRID) for fold in folds]
    return float(np.mean([choice.score for choice in map_folds(svm.choose, work, n_jobs)]))


def gckn_grid(num_train: int) -> tuple[float, ...]:
    """Return the 60 values of C for a training part of this size, ascending."""
    return tuple(float(c) for c in np.logspace(-3, 4, 60) / num_train)


def _score_by_tests(
    sources: kernels.Sources, y: inputs.IntArray, folds: Sequence[Fold], grid: svm.Grid, n_jobs: int
) -> list[Outcome]:
    """Return the outcome of each fold with the one choice that has the best mean on all tests."""
    splits = [(sources, y, [(fold.train, fold.test)], grid) for fold in folds]
    scores = np.concatenate(map_folds(svm.grid_scores, splits, n_jobs), axis=-1)
    best, row = divmod(int(scores.mean(axis=-1).argmax()), len(grid))
    choice = svm.Choice(grid[row], best, None)
    return [(float(score), choice) for score in scores[best, row]]


def _score_fold(
    sources: kernels.Sources, y: inputs.IntArray, fold: Fold, grid: svm.Grid
) -> Outcome:
    """Return the test accuracy of one fold and the choice made without its test part."""
    if fold.validation is None:
        choice = svm.choose(sources, y, fold.train, grid)
    else:
        choice = svm.choose_by_validation(sources, y, (fold.train, fold.validation), grid)
    predicted = svm.predict_chosen(sources, y, (fold.fitted, fold.test), choice)
    return float(svm.accuracy(predicted, y[fold.test])), choice


def _score_head(
    X: inputs.FloatArray, y: inputs.IntArray, fold: Fold, head: heads.HeadName
) -> float:
    """Return the test accuracy of a head fitted to the training part of one fold."""
    model = heads.fit_classes(X[fold.fitted], y[fold.fitted], head)
    return float(svm.accuracy(model.predict(X[fold.test]), y[fold.test]))
