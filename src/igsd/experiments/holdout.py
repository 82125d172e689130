"""``HoldoutProtocol``: methods on a training part, scored on a test part, at random or by scaffold.

One record holds all splits and all numbers of labels of a method on a data set, and grows when more
are asked for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from igsd import processes
from igsd.baselines import registry
from igsd.errors import ConfigError, DataError, StorageError, warn_user
from igsd.evaluation import CLASS_METRICS, NUMBER_METRICS, heads, holdout, inputs, metrics
from igsd.experiments.environment import Stopwatch, versions
from igsd.experiments.protocol_base import Protocol, mib
from igsd.experiments.records import Record, RecordRow, algorithm_version, is_fresh, usable_record
from igsd.experiments.scoring import targets_of
from igsd.files.arrays import Header, read_arrays, write_arrays
from igsd.files.atomic import write_json
from igsd.files.cache import cache_dir, recall, store
from igsd.files.shapes import read_json
from igsd.graphs.graphset import GraphSet
from igsd.graphs.molecule import are_smiles
from igsd.settings.fields import Values

if TYPE_CHECKING:  # a run imports its protocol
    from igsd.experiments.run import Options, Run

TargetScores = tuple[metrics.Scores, np.ndarray | None, tuple[int, int]]
"""Scores of a target, calibration sums if it has classes, and how many were shown and tested."""

_scaffolds: dict[str, tuple[str, ...]] = {}
_DIGITS = 6


@dataclass(frozen=True, eq=False)
class HoldoutLabels:
    """What is predicted of graphs: one or several targets, classes (of two) or numbers.

    ``values`` [G, t]: class codes or numbers, NaN where unknown. ``num_classes``: 0 for numbers.
    """

    names: tuple[str, ...]
    values: np.ndarray
    num_classes: int

    @property
    def are_numbers(self) -> bool:
        """Whether numbers are predicted, not classes."""
        return self.num_classes == 0

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the scores, the main one first."""
        return NUMBER_METRICS if self.are_numbers else CLASS_METRICS

    @property
    def known(self) -> np.ndarray:
        """The positions of graphs with a label, ascending."""
        return np.flatnonzero(~np.isnan(self.values).all(axis=1))


def labels_of(graphs: GraphSet, target: str = "") -> HoldoutLabels:
    """Return what is to be predicted: the named targets, the classes, or all targets.

    Targets that only hold 0 and 1 are classes. Raises ``DataError`` if there is nothing to predict,
    for an unknown target, and for classes beside numbers.
    """
    if not target and graphs.classes is not None:
        codes = inputs.check_codes(graphs.classes, len(graphs), graphs.class_names, gaps=True)
        values = np.where(codes < 0, np.nan, codes)[:, None]
        return HoldoutLabels(("class",), values, len(graphs.class_names))
    if graphs.targets is None:
        raise DataError(
            f"{graphs.name!r} has neither classes nor targets, and a score needs labels. Name a "
            "column of the table: --labels COLUMN."
        )
    names = tuple(target.split(",")) if target else graphs.target_names
    values = targets_of(graphs, names)
    are_classes = [bool(np.isin(column[~np.isnan(column)], (0, 1)).all()) for column in values.T]
    if len(set(are_classes)) > 1:
        first, second = (names[are_classes.index(kind)] for kind in (True, False))
        raise DataError(
            f"The targets of one score must be all classes or all numbers. {first!r} holds 0 and "
            f"1, {second!r} other numbers: name the columns of one kind."
        )
    for name, column in zip(names, values.T, strict=True):
        if are_classes[0] and len(np.unique(column[~np.isnan(column)])) < 2:
            raise DataError(f"A score needs two classes; {name!r} has fewer. Leave it out.")
    return HoldoutLabels(names, values, 2 if are_classes[0] else 0)


class HoldoutProtocol(Protocol):
    """``random`` and ``scaffold``: a fifth of the graphs is tested, the labels shown are counted.

    A method that gives vectors is fitted once, without labels, to all graphs, and a small model
    learns from the labels; any other method is trained on the training part of each split.
    """

    def learner(self, run: Run) -> tuple[str, str]:
        """Return the method and its task: vectors if it has any, else what is predicted."""
        known = registry.METHODS.get(run.method)
        if known is None or known.does("vectors"):
            return run.method, "vectors"
        return run.method, "numbers" if run.numbers else "classes"

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits; their number and that of labels may grow."""
        shown = {"target": run.target} if run.target else {}
        return {"name": self.name, "test_share": holdout.TEST_SHARE, **shown}

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for data without labels or scaffolds, and for more labels than there are."""
        labels = labels_of(graphs, run.target)
        if run.numbers != labels.are_numbers:
            raise ConfigError(f"The labels of {graphs.name!r} are not those of this run.")
        train = self.holdout(graphs, labels, 0).train
        for y in labels.values.T:
            for count in run.train_labels:
                holdout.labelled_part(train, y, count, classes=not labels.are_numbers)
        if self.learner(run)[1] != "vectors":
            super().check(run, graphs)

    def is_complete(self, run: Run, record: Record) -> bool:
        """Whether a record has all splits and numbers of labels of a run."""
        rows: list[Any] = list(record["rows"])
        found = {(row.get("labels"), split) for row in rows for split in row.get("splits", ())}
        return all((n, s) in found for n in run.train_labels for s in range(run.num_splits))

    def holdout(self, graphs: GraphSet, labels: HoldoutLabels, split: int) -> holdout.Holdout:
        """Return the training and test part of a split."""
        known = labels.known
        if self.name == "random":
            return holdout.random_holdout(known, split)
        if not are_smiles(graphs.graph_names):
            raise DataError(
                f"A scaffold split needs the SMILES of every graph as its name; the graphs of "
                f"{graphs.name!r} have none, or RDKit is not installed. Use --splits random."
            )
        if graphs.checksum not in _scaffolds:
            _scaffolds[graphs.checksum] = holdout.murcko_scaffolds(graphs.graph_names or ())
        groups = _scaffolds[graphs.checksum]
        return holdout.scaffold_holdout(known, [groups[i] for i in known], split)

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the rows, one for each number of labels, and the test parts.

        Splits that the record at this place has already, or that an interrupted run has left in a
        file beside it, are kept.
        """
        labels, (name, task) = labels_of(graphs, run.target), self.learner(run)
        kept, config = _Kept.find(run, graphs, options), run.config()
        watch = Stopwatch()
        X, seconds = _vectors(run, graphs) if task == "vectors" else (None, {})
        watch.lap("vectors")
        head = registry.head_of(registry.build(name, config, task), "linear")

        def learner(split: int) -> Any:
            return registry.build(name, config.updated({"seed": split}), task)

        subject = Subject(run.method, graphs, labels, X, head, learner)
        found, tested = self.rows(subject, run.train_labels, run.num_splits, kept)
        watch.lap("evaluate")
        kept.remove()
        return {
            "rows": found,
            "test_parts": tested,
            "seconds": seconds | {"evaluate": watch.seconds["evaluate"]},
            "cpu_seconds": watch.cpu_seconds,
            "peak_memory_mib": mib(processes.peak_bytes()),
        }

    def rows(
        self,
        subject: Subject,
        counts: Sequence[int],
        num_splits: int,
        kept: _Kept | None = None,
    ) -> tuple[list[RecordRow], dict[str, str]]:
        """Return the row of each number of labels, and the test part of each split as text."""
        kept = kept or _Kept([])
        rows: dict[int, Any] = {row["labels"]: row for row in kept.rows}
        last = max((split for row in kept.rows for split in row["splits"]), default=-1)
        tested = {}
        for split in range(max(num_splits, last + 1)):
            parts = self.holdout(subject.graphs, subject.labels, split)
            tested[str(split)] = holdout.index_text(parts.test)
            for count in counts if split < num_splits else ():
                row = rows.setdefault(count, _empty_row(subject, self.name, count))
                if split not in row["splits"]:
                    _add(row, split, subject.scores(parts, count, split))
            kept.write([*rows.values()])
        return [rows[count] for count in sorted(rows, key=lambda n: n or np.inf)], tested


@dataclass(frozen=True, eq=False)
class Subject:
    """A method on labelled graphs, as it is scored.

    ``X`` [G, d]: its vectors, on which a small model (``head``) learns; None if it learns from
    labels itself: then ``learner`` returns an unfitted estimator for a split.
    """

    name: str
    graphs: GraphSet
    labels: HoldoutLabels
    X: np.ndarray | None
    head: heads.HeadName = "linear"
    learner: Callable[[int], Any] | None = None

    def scores(self, parts: holdout.Holdout, count: int, split: int) -> list[TargetScores]:
        """Return what each target scores in a split, with ``count`` labels shown."""
        found: list[TargetScores] = []
        for y in self.labels.values.T:
            are_classes = not self.labels.are_numbers
            shown = holdout.labelled_part(parts.train, y, count, classes=are_classes)
            test = parts.test[~np.isnan(y[parts.test])]
            sizes = len(shown), len(test)
            if not len(test):
                found.append((dict.fromkeys(self.labels.metrics), None, sizes))
                continue
            predicted = self._predicted(y, np.sort(parts.train), shown, test, split)
            if are_classes:
                true = y[test].astype(np.int64)
                sums = metrics.calibration_sums(true, predicted)
                found.append((metrics.class_scores(true, predicted), sums, sizes))
            else:
                found.append((metrics.number_scores(y[test], predicted), None, sizes))
        return found

    def _predicted(
        self, y: np.ndarray, train: np.ndarray, shown: np.ndarray, test: np.ndarray, split: int
    ) -> np.ndarray:
        """Return probabilities [n, C] or numbers [n] for the test graphs."""
        num_classes = self.labels.num_classes
        if self.X is not None or self.learner is None:
            return predict(np.asarray(self.X), y, shown, test, num_classes, self.head)
        estimator = self.learner(split)
        is_shown, tested = np.isin(train, shown), self.graphs.take(test)
        if not num_classes:
            estimator.fit(self.graphs.take(train), np.where(is_shown, y[train], np.nan))
            return np.asarray(estimator.predict(tested), np.float64)
        known = np.full(len(train), None, dtype=object)
        known[is_shown] = y[train][is_shown].astype(np.int64).tolist()
        estimator.fit(self.graphs.take(train), known)
        return _spread(estimator.predict_proba(tested), estimator.classes_, num_classes)


def predict(
    X: np.ndarray,
    y: np.ndarray,
    shown: np.ndarray,
    test: np.ndarray,
    num_classes: int,
    head: heads.HeadName,
) -> np.ndarray:
    """Return what a small model on vectors X [G, d] predicts for the test graphs.

    It learns from the labels y of ``shown``. Probabilities [n, C], or numbers [n] if there are no
    classes.
    """
    features, known = X[shown].astype(np.float32), y[shown]
    tested = X[test].astype(np.float32)
    if not num_classes:
        predicted: np.ndarray = heads.fit_numbers(features, known, head).predict(tested)
        # Do not extrapolate far beyond the training range.
        margin = np.ptp(known)
        return np.clip(predicted, known.min() - margin, known.max() + margin)
    model = heads.fit_classes(features, known.astype(np.int64), head)
    return _spread(model.predict_proba(tested), model.classes_, num_classes)


def _spread(given: np.ndarray, classes: np.ndarray, num_classes: int) -> np.ndarray:
    """Return probabilities in a column for each class, 0 for those that were not learned."""
    spread = np.zeros((len(given), num_classes))
    spread[:, np.asarray(classes, np.int64)] = given
    return spread


def _empty_row(subject: Subject, protocol: str, count: int) -> Values:
    labels = subject.labels
    row: Values = {"method": subject.name, "protocol": protocol, "labels": count}
    row |= {"splits": [], "metrics": {name: [] for name in labels.metrics}}
    row |= {"train_sizes": [], "test_sizes": []}
    if len(labels.names) > 1:
        row["by_target"] = {name: [] for name in labels.names}
    if not labels.are_numbers:
        row["calibration"] = np.zeros((3, metrics.BINS)).tolist()
    return row


def _add(row: Values, split: int, found: Sequence[TargetScores]) -> None:
    """Add the scores of the targets in one split to a row; ``by_target`` has the main one."""
    row["splits"].append(split)
    for name, value in metrics.mean_scores([scores for scores, *_ in found]).items():
        row["metrics"][name].append(_rounded(value))
    for (scores, *_), values in zip(found, row.get("by_target", {}).values(), strict=False):
        values.append(_rounded(next(iter(scores.values()))))
    for place, key in enumerate(("train_sizes", "test_sizes")):
        row[key].append(round(float(np.mean([sizes[place] for *_, sizes in found]))))
    sums = [one for _, one, *_ in found if one is not None]
    if sums:
        row["calibration"] = np.round(row["calibration"] + np.sum(sums, axis=0), 4).tolist()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


@dataclass(frozen=True)
class _Kept:
    """Rows that were made before, and the file in which an interrupted run leaves its own."""

    rows: list[Any]
    path: Path | None = None

    @classmethod
    def find(cls, run: Run, graphs: GraphSet, options: Options) -> _Kept:
        """Return what is at the place of a run, unless it is of another run or replaced."""
        if options.records is None:
            return cls([])
        place, identity = run.path(options.records), run.identity(graphs)
        path = place.with_suffix(f".{identity.digest}.checkpoint")
        if options.force:
            return cls([], path)
        try:
            stored = read_json(path, "what an interrupted run left") if path.exists() else None
        except StorageError as error:
            warn_user(f"{error} It is left out, and its splits are made again.")
            stored = None
        if stored is not None:
            return cls(stored["rows"], path)
        record = usable_record(place) if place.exists() else None
        if record is None or not is_fresh(record) or identity.differences(record):
            return cls([], path)
        return cls([*record["rows"]] if record["status"] == "ok" else [], path)

    def write(self, rows: Sequence[Any]) -> None:
        """Keep rows until the record is written."""
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_json(self.path, {"rows": [*rows]})

    def remove(self) -> None:
        """Remove the file; the rows are in the record now."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _vectors(run: Run, graphs: GraphSet) -> tuple[np.ndarray, dict[str, float]]:
    """Return the vectors of all graphs, and the seconds that they took, from the cache if there.

    They do not depend on labels, so all splits and numbers of labels share them.
    """
    plain, config = graphs.without_labels(), run.config()
    key: Header = {
        "method": registry.method(run.method).vectors,
        "algorithm": algorithm_version(run.method),
        "settings": {k: v for k, v in config.learned().items() if k != "head"},
        "checksum": plain.checksum,
        "versions": {k: v for k, v in versions().items() if k in ("rdkit", "torch", "igsd")},
    }
    digest = hashlib.sha256(json.dumps(key, sort_keys=True).encode()).hexdigest()
    path = cache_dir() / "vectors" / f"{digest[:40]}.safetensors"

    def read(file: Path) -> tuple[np.ndarray, dict[str, float]] | None:
        arrays, header = read_arrays(file, "vectors", needs_checksum=True)
        found = np.asarray(arrays["vectors"]), dict(header["seconds"])
        return found if header["key"] == key and len(found[0]) == len(graphs) else None

    words = f"The vectors of {graphs.name!r} by {run.method}"
    if (found := recall(path, f"A cached file of {words[0].lower()}{words[1:]}", read)) is not None:
        return found
    watch = Stopwatch()
    estimator = registry.build(run.method, config).fit(plain)
    watch.lap("train")
    X = estimator.transform(plain)
    watch.lap("embed")
    if X.size:
        inputs.check_features(X, f"vectors of {run.method} for {graphs.name!r}")
    if X.size and X.min() >= 0 and X.max() < 256 and (np.rint(X) == X).all():
        X = X.astype(np.uint8)  # counts, nearly all of them zero
    header: Header = {"kind": "vectors", "key": key, "seconds": watch.seconds}
    store(path, words, lambda file: write_arrays(file, {"vectors": X}, header))
    return X, watch.seconds
