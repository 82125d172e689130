"""Protocol ``semi``: few labels, a test part that training never sees, and a score.

Classes: 10 % of the graphs are the test part; of the rest, the training part, 5 % keep their label.
Graphs of unknown class (code -1) are in the training part, without a label, and count for neither
share. ``semi`` is the accuracy after the last epoch, the number of epochs being fixed in advance.
``semi-paper`` is the best accuracy on the test part over the epochs, which is what the paper
reports: optimistic, since the test part chooses the epoch. One run of a method gives both.

Numbers: 10 % of the graphs with a known value are the test part; 5 % of the others keep theirs. All
other graphs are in the training part, also those of unknown value.
"""

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.errors import ConfigError, DataError, counted
from igsd.evaluation import heads, kernels, metrics, svm
from igsd.evaluation.inputs import IntArray, check_codes
from igsd.evaluation.result import ProtocolResult
from igsd.graphs.graphset import GraphSet

TEST_SHARE = 0.1
LABEL_RATE = 0.05


@dataclass(frozen=True, eq=False)
class SemiSplit:
    """Positions of the labelled, unlabelled and test graphs, ascending."""

    labelled: IntArray
    unlabelled: IntArray
    test: IntArray

    @property
    def train(self) -> IntArray:
        """The training part: labelled and unlabelled graphs, ascending."""
        return np.sort(np.concatenate([self.labelled, self.unlabelled]))

    def training_labels(self, codes: IntArray) -> np.ndarray:
        """Return the class of each graph of ``train``, None where it is hidden."""
        hidden = codes[self.train].astype(object)
        hidden[np.isin(self.train, self.unlabelled)] = None
        return hidden

    def training_targets(self, targets: np.ndarray) -> np.ndarray:
        """Return the numbers [n] or [n, t] of ``train``, NaN where they are hidden."""
        hidden = np.array(targets[self.train], np.float64)
        hidden[np.isin(self.train, self.unlabelled)] = np.nan
        return hidden


def semi_split(y: Any, seed: int, *, label_rate: float = LABEL_RATE) -> SemiSplit:
    """Return the split of class codes y [n], -1 where unknown, for one seed, stratified by class.

    A tenth of the graphs with a class is for the test; ``label_rate`` of the others keep their
    label, at least one of each class. Raises ``DataError`` if a class is too small to be in both
    parts, ``ConfigError`` for an invalid share.
    """
    _check_share(label_rate)
    codes = check_codes(y, gaps=True)
    rng = np.random.default_rng([seed, 5])
    known = np.flatnonzero(codes >= 0)
    test = stratified_sample(known, codes[known], TEST_SHARE, rng)
    others = np.setdiff1d(known, test)
    if len(np.unique(codes[others])) < len(np.unique(codes[known])):
        raise DataError("Every class needs a graph in the training part; one has too few graphs.")
    labelled = stratified_sample(others, codes[others], label_rate, rng)
    rest = np.setdiff1d(np.arange(len(codes)), np.concatenate([test, labelled]))
    return SemiSplit(labelled, rest, test)


def _check_share(label_rate: float) -> None:
    if not 0 < label_rate <= 1:
        raise ConfigError(f"label_rate must be a share between 0 and 1. Got {label_rate}.")


def stratified_sample(
    positions: IntArray, codes: np.ndarray, share: float, rng: np.random.Generator
) -> IntArray:
    """Return a random share of ``positions`` [n], stratified by class, ascending.

    A class with n_c members gives n_c * share of them, at least one, rounded so that the total is
    n * share rounded (the largest fractions first).
    """
    classes, counts = np.unique(codes, return_counts=True)
    exact = counts * share
    taken = np.floor(exact).astype(np.int64)
    missing = int(np.floor(len(codes) * share + 0.5)) - int(taken.sum())
    taken[np.argsort(taken - exact, kind="stable")[:missing]] += 1
    taken = np.maximum(taken, 1)
    pairs = zip(classes, taken, strict=True)
    chosen = [rng.permutation(positions[codes == code])[:count] for code, count in pairs]
    return np.sort(np.concatenate(chosen))


def score_split(
    estimator: Any, graphs: GraphSet, y: Any, split: SemiSplit, seed: int
) -> tuple[ProtocolResult, ProtocolResult]:
    """Train a method inside a split and return its results under ``semi`` and ``semi-paper``.

    ``estimator``: an unfitted classifier. The test graphs are only scored: they are not among the
    unlabelled graphs of training. Estimators without epochs score the same under both.
    """
    codes = check_codes(y, len(graphs), gaps=True)
    test, true = graphs.take(split.test), codes[split.test]
    train, labels = graphs.take(split.train), split.training_labels(codes)
    if "eval_set" not in inspect.signature(estimator.fit).parameters:
        accuracy = float(estimator.fit(train, labels).score(test, true))
        return _result("semi", seed, accuracy, split), _result("semi-paper", seed, accuracy, split)
    estimator.fit(train, labels, eval_set=(test, true))
    curve = [entry["eval_accuracy"] for entry in estimator.history_]
    if not curve:
        raise ConfigError("Protocol 'semi' needs at least one epoch. Got 0: set epochs to 1.")
    best = int(np.argmax(curve))
    note = f"the epoch was chosen on the test part: {best + 1} of {len(curve)}"
    last = _result("semi", seed, curve[-1], split)
    return last, _result("semi-paper", seed, curve[best], split, note)


def score_vectors(
    X: np.ndarray, y: Any, split: SemiSplit, seed: int, *, head: heads.HeadName = "svm"
) -> tuple[ProtocolResult, float | None]:
    """Return the result under ``semi`` of vectors X [n, d] with a head, and the area under ROC.

    The head is fitted to the labelled graphs alone, and its settings are chosen by cross-validation
    among them. The area is None for more than two classes, and for ``head="svm"``.
    """
    codes = check_codes(y, len(X), gaps=True)
    known, true = codes[split.labelled], codes[split.test]
    area = None
    if head == "svm" and X.shape[1]:
        sources = kernels.kernel_sources(X, "rbf", "yes")
        choice = svm.choose(sources, codes, split.labelled, svm.C_GRID)
        predicted = svm.predict_chosen(sources, codes, (split.labelled, split.test), choice)
    else:
        model = heads.fit_classes(X[split.labelled], known, head)
        probabilities = model.predict_proba(X[split.test])
        predicted = model.classes_[probabilities.argmax(axis=1)]
        area = roc_auc(codes, probabilities, split)
    return _result("semi", seed, svm.accuracy(predicted, true), split), area


def roc_auc(codes: IntArray, probabilities: np.ndarray, split: SemiSplit) -> float | None:
    """Return the area under the ROC curve of probabilities [test, C], None unless C is 2."""
    is_binary = probabilities.shape[1] == 2
    return metrics.roc_auc(codes[split.test], probabilities[:, 1]) if is_binary else None


def _result(
    protocol: str, seed: int, score: float, split: SemiSplit, *notes: str
) -> ProtocolResult:
    return ProtocolResult(
        protocol,
        seed,
        accuracies=(float(score),),
        train_sizes=(len(split.train),),
        test_sizes=(len(split.test),),
        optimistic=protocol == "semi-paper",
        notes=(f"{len(split.labelled)} labelled graphs", *notes),
    )


def value_split(values: np.ndarray, seed: int, label_rate: float = LABEL_RATE) -> SemiSplit:
    """Return the split of graphs with values [G], NaN where unknown, for one seed.

    Raises ``DataError`` for too few values, ``ConfigError`` for an invalid share.
    """
    _check_share(label_rate)
    known = np.flatnonzero(~np.isnan(values))
    shuffled = np.random.default_rng([seed, 6]).permutation(known)
    num_test = round(len(known) * TEST_SHARE)
    num_labelled = round((len(known) - num_test) * label_rate)
    if num_test < 1 or num_labelled < 2:
        raise DataError(
            f"Of {counted(len(known), 'known value')}, {num_test} would be test values and "
            f"{num_labelled} would be learned from; at least 1 and 2 are needed. Use larger shares."
        )
    test = np.sort(shuffled[:num_test])
    labelled = np.sort(shuffled[num_test : num_test + num_labelled])
    rest = np.setdiff1d(np.arange(len(values)), np.concatenate([test, labelled]))
    return SemiSplit(labelled, rest, test)


def score_values(regressor: Any, graphs: GraphSet, values: np.ndarray, split: SemiSplit) -> float:
    """Train a regressor inside a split and return its mean absolute error on the test part."""
    regressor.fit(graphs.take(split.train), split.training_targets(values))
    return _error(regressor.predict(graphs.take(split.test)), values, split)


def score_value_vectors(
    X: np.ndarray, values: np.ndarray, split: SemiSplit, *, head: heads.HeadName = "linear"
) -> float:
    """Return the mean absolute error of a head on X [G, d], fitted to the labelled."""
    model = heads.fit_numbers(X[split.labelled], values[split.labelled], head)
    return _error(model.predict(X[split.test]), values, split)


def _error(predicted: np.ndarray, values: np.ndarray, split: SemiSplit) -> float:
    return float(metrics.mae(predicted, values[split.test]))
