"""Protocols ``semi`` and ``semi-paper``: few labels, a test part that nobody looks at, and a score.

10 % of the graphs are for the test; of the rest, the training part, 5 % keep their label. Graphs of
an unknown class (code -1) are in the training part, without a label, and count for neither share.
``semi`` is the accuracy after the last epoch, the number of epochs being fixed in advance.
``semi-paper`` is the best accuracy on the test part over the epochs, which is what the paper
reports: optimistic, since the test part chooses the epoch. One run of a method gives both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from igsd.errors import ConfigError, DataError
from igsd.evaluation.fingerprints import fit_logistic
from igsd.evaluation.inputs import IntArray, check_codes
from igsd.evaluation.kernels import Standardise, kernel_sources
from igsd.evaluation.result import ProtocolResult
from igsd.evaluation.svm import C_GRID, accuracy, choose, predict_grid
from igsd.graphs.graphset import GraphSet

TEST_SHARE = 0.1
LABEL_RATE = 0.05
EPOCH_NOTE = "the epoch was chosen on the test part"


@dataclass(frozen=True, eq=False)
class SemiSplit:
    """Positions of the graphs with a label, without one, and for the test; ascending."""

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


class FewLabelEstimator(Protocol):
    """What the protocols ask of a method."""

    history_: list[dict[str, float]]

    def fit(self, X: Any, y: Any, *, eval_set: tuple[Any, Any]) -> Any:
        """Train on graphs with gaps in ``y``, and note ``eval_accuracy`` after every epoch."""


def semi_split(
    y: Any, seed: int, *, label_rate: float = LABEL_RATE, test_share: float = TEST_SHARE
) -> SemiSplit:
    """Return the split of class codes y [n], -1 where unknown, for one seed, stratified by class.

    ``test_share`` of the graphs with a class are for the test; ``label_rate`` of the others keep
    their label, at least one of each class. With ``label_rate=1`` all of them do.

    Raises DataError where a class is too small to be in both parts, ConfigError for a share that
    is none.
    """
    check_shares(label_rate=label_rate, test_share=test_share)
    codes = check_codes(y, gaps=True)
    rng = np.random.default_rng([seed, 5])
    known = np.flatnonzero(codes >= 0)
    test = stratified_sample(known, codes[known], test_share, rng)
    others = np.setdiff1d(known, test)
    if len(np.unique(codes[others])) < len(np.unique(codes[known])):
        raise DataError("Every class needs a graph in the training part; one has too few graphs.")
    labelled = stratified_sample(others, codes[others], label_rate, rng)
    rest = np.setdiff1d(np.arange(len(codes)), np.concatenate([test, labelled]))
    return SemiSplit(labelled, rest, test)


def check_shares(*, label_rate: float, test_share: float) -> None:
    """Raise ``ConfigError`` for a share that is none; all labels may be shown, not all tested."""
    for name, value in (("label_rate", label_rate), ("test_share", test_share)):
        if not 0 < value <= 1 or (name == "test_share" and value == 1):
            raise ConfigError(f"{name} must be a share between 0 and 1. Got {value}.")


def stratified_sample(
    positions: IntArray, codes: np.ndarray, share: float, rng: np.random.Generator
) -> IntArray:
    """Return a random share of ``positions`` [n], of each class alike, ascending.

    Of a class with n_c members n_c * share are taken, rounded so that the sum is n * share rounded
    (the largest fractions first), and at least one.
    """
    classes, counts = np.unique(codes, return_counts=True)
    exact = counts * share
    taken = np.floor(exact).astype(np.int64)
    missing = int(np.floor(len(codes) * share + 0.5)) - int(taken.sum())
    taken[np.argsort(taken - exact, kind="stable")[:missing]] += 1
    taken = np.maximum(taken, 1)
    chosen = [
        rng.permutation(positions[codes == code])[:count]
        for code, count in zip(classes, taken, strict=True)
    ]
    return np.sort(np.concatenate(chosen))


def score_split(
    estimator: FewLabelEstimator, graphs: GraphSet, y: Any, split: SemiSplit, seed: int
) -> tuple[ProtocolResult, ProtocolResult]:
    """Train a method inside a split and return its results under ``semi`` and ``semi-paper``.

    The test graphs are watched, never learned from: they are not among the unlabelled ones.
    """
    codes = check_codes(y, len(graphs), gaps=True)
    watched = (graphs.take(split.test), codes[split.test])
    estimator.fit(graphs.take(split.train), split.training_labels(codes), eval_set=watched)
    curve = [entry["eval_accuracy"] for entry in estimator.history_]
    if not curve:
        raise ConfigError("A score over epochs needs at least one. Set epochs to 1 or more.")
    best = int(np.argmax(curve))
    chosen = f"{EPOCH_NOTE}: {best + 1} of {len(curve)}"
    return (
        _result("semi", seed, curve[-1], split),
        _result("semi-paper", seed, curve[best], split, chosen),
    )


def score_svm(
    X: Any, y: Any, split: SemiSplit, seed: int, *, standardise: Standardise = "yes"
) -> ProtocolResult:
    """Return the accuracy of an SVM that knows the labelled graphs alone, under ``semi``.

    For vectors that no label has touched, such as a histogram's. C is chosen by cross-validation
    among the labelled graphs.
    """
    codes = check_codes(y, len(X), gaps=True)
    sources = kernel_sources(X, "rbf", standardise)
    choice = choose(sources, codes, split.labelled, C_GRID)
    K_train, K_test = sources[choice.source].split(split.labelled, split.test)
    predicted = predict_grid(K_train, codes[split.labelled], K_test, (choice.C,))[0]
    return _result("semi", seed, float(accuracy(predicted, codes[split.test])), split)


def score_fingerprints(X: Any, y: Any, split: SemiSplit, seed: int) -> tuple[ProtocolResult, Any]:
    """Return the accuracy of logistic regression on fingerprints X [n, d], and probabilities.

    It knows the labelled graphs alone. Probabilities [test, C] are those of the test part.
    """
    codes = check_codes(y, len(X), gaps=True)
    model = fit_logistic(X[split.labelled], codes[split.labelled])
    probabilities = model.predict_proba(X[split.test])
    predicted = model.classes_[probabilities.argmax(axis=1)]
    score = float((predicted == codes[split.test]).mean())
    return _result("semi", seed, score, split), probabilities


def roc_auc(y: Any, probabilities: np.ndarray, split: SemiSplit) -> float | None:
    """Return the area under the ROC curve of the test part, None unless there are two classes.

    ``probabilities`` [test, 2]: of the classes in order.
    """
    from sklearn.metrics import roc_auc_score

    true = check_codes(y, gaps=True)[split.test]
    if probabilities.shape[1] != 2 or len(np.unique(true)) != 2:
        return None
    return float(roc_auc_score(true, probabilities[:, 1]))


def score_majority(y: Any, split: SemiSplit, seed: int) -> ProtocolResult:
    """Return the accuracy of the most frequent class among the labelled graphs, under ``semi``."""
    codes = check_codes(y, gaps=True)
    guess = np.bincount(codes[split.labelled]).argmax()
    return _result("semi", seed, float((codes[split.test] == guess).mean()), split)


def _result(
    protocol: str, seed: int, score: float, split: SemiSplit, *notes: str
) -> ProtocolResult:
    return ProtocolResult(
        protocol=protocol,
        seed=seed,
        accuracies=(float(score),),
        train_sizes=(len(split.train),),
        test_sizes=(len(split.test),),
        optimistic=protocol == "semi-paper",
        notes=(f"{len(split.labelled)} labelled graphs", *notes),
    )
