"""``Protocol``: what every protocol offers, and its two kinds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from igsd import processes
from igsd.baselines import registry
from igsd.errors import ConfigError
from igsd.evaluation import cross_validation, folds, result
from igsd.experiments import scoring, trained
from igsd.experiments.environment import Stopwatch
from igsd.experiments.records import Record, RecordRow, fit_seconds, is_fresh, usable_record
from igsd.graphs.graphset import GraphSet
from igsd.limits import GIB, LimitError, TimeLimitError, free_memory

if TYPE_CHECKING:  # a run imports its protocol
    from igsd.experiments.run import Options, Run

DAY = 86400.0
"""The default time limit of a method in seconds: the paper's table says '> 1 day'."""

# A process that takes the last of the memory brings the machine to a halt before it is ended.
_SHARE_OF_FREE = 0.9

_SOON = 1e-3
"""The seconds left of a run whose fitting took all of them."""


class Protocol(ABC):
    """How a run is checked, executed and scored.

    ``task``: what methods learn: ``vectors``, ``classes`` or ``numbers``. ``methods``: the names
    of its methods and their names in the registry; empty: all those of the registry.
    """

    task: ClassVar[str] = "vectors"
    methods: ClassVar[Mapping[str, str]] = {}

    def __init__(self, name: str) -> None:
        self.name = name

    def learner(self, run: Run) -> tuple[str, str]:
        """Return the registered name of the run's method, and the task that it is trained for.

        A method that only gives vectors is trained for those. Raises ``ConfigError`` for a method
        that the protocol does not have.
        """
        if self.methods and run.method not in self.methods:
            raise ConfigError(
                f"Protocol {self.name} has no method {run.method!r}. The methods are: "
                f"{', '.join(self.methods)}."
            )
        name = self.methods.get(run.method, run.method)
        known = registry.find_method(name)
        is_plain = known is not None and known.does("vectors") and not known.does(self.task)
        return name, "vectors" if is_plain else self.task

    @abstractmethod
    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits and the score, as a record stores it."""

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for data that cannot be split, scored, or trained on with the run's settings."""
        from igsd.training.fit import check_trainable

        config = run.config()
        if hasattr(config, "devices"):  # small models on fixed vectors are not trained by it
            check_trainable(graphs, config)

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Train and score; return the part of the record that is known only then."""
        raise NotImplementedError

    def is_complete(self, run: Run, record: Record) -> bool:
        """Whether a successful record of this run holds everything that is requested."""
        return True

    def limits(self, options: Options) -> dict[str, float | None]:
        """Return the limits of a run, as a record stores them."""
        return {"seconds": options.seconds, "memory_gib": options.memory_gib}

    def execute(
        self, run: Run, graphs: GraphSet, options: Options, memory: dict[Run, Any]
    ) -> Record:
        """Return the rest of the record of a run, made in its own process if it has limits.

        ``memory``: results that runs of a batch share (see ``VectorProtocol``).
        """
        limits: dict[str, Any] = self.limits(options)
        if limits["seconds"] is None and limits["memory_gib"] is None:
            return self.work(run, graphs, options)
        arguments = (run, graphs, replace(options, on_trained=None))
        measured = processes.run_measured(self.work, *arguments, **limits)
        return measured.value | {"peak_memory_mib": mib(measured.peak_bytes)}


class VectorProtocol(Protocol):
    """``nested``, ``paper`` and ``gckn``: a method without labels, scored by an SVM under folds.

    The method is fitted in its own process, so that its time and memory can be measured and
    limited; this process scores the result, or another one if there is a time limit. Runs of the
    same ``Run.fit``, i.e. ``nested`` and ``paper`` of a seed, or all seeds of a deterministic
    method, score the vectors of one fit.
    """

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return name, standardisation and twins; kernels have nothing to standardise."""
        estimator = registry.build(run.method, run.config())
        kernel = registry.svm_kernel(estimator, self.name)
        head = registry.head_of(estimator)
        standardise = run.standardise if kernel != "precomputed" and head == "svm" else "no"
        found: dict[str, object] = {"name": self.name, "standardise": standardise, "twins": twins}
        found |= {} if kernel == "rbf" else {"kernel": kernel}
        return found if head == "svm" else found | {"head": head}

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for graphs without classes, or if the published folds are missing."""
        codes = scoring.class_codes(graphs)
        if self.name == "gckn":
            folds.read_gckn_folds(graphs.name, codes)

    def limits(self, options: Options) -> dict[str, float | None]:
        """Return the limits; unless another time is set, a day, which is for fitting alone."""
        return super().limits(options) | {"seconds": options.seconds or DAY}

    def execute(
        self, run: Run, graphs: GraphSet, options: Options, memory: dict[Run, Any]
    ) -> Record:
        """Return the rows, what they took, and the method's notes and losses."""
        measured = self._represented(run, graphs, options, memory)
        own: scoring.Vectors = measured.value[0]
        record: Record = measured.value[1]
        key = replace(run.fit, method="")  # of the reference rows, which are no method
        if key not in memory:
            memory[key] = self.references(run, graphs)
        vectors = {run.method: own} | memory[key]
        watch, twins = Stopwatch(), run.uses_twins(graphs)
        how = scoring.Scoring(self.name, run.standardise, twins, options.fold_jobs)
        kwargs: Any = {"only": self.name, "verbose": options.verbose}
        score = partial(scoring.score_seeds, vectors, graphs, how, [run.seed], **kwargs)
        taken = fit_seconds(record)
        (scored,) = score() if options.seconds is None else _in_time(score, taken, options)
        watch.lap("evaluate")
        return record | {
            "seconds": record["seconds"] | watch.seconds,
            "peak_memory_mib": mib(measured.peak_bytes),
            "features": int(own.values.shape[1]),
            "rows": [make_row(name, result) for name, result in scored],
            "notes": [*record.get("notes", ()), *self._repeated(run, graphs, options, record)],
        }

    def _repeated(
        self, run: Run, graphs: GraphSet, options: Options, record: Record
    ) -> Iterator[str]:
        """Yield a note if the same fit was scored before, under ``nested``, and lost otherwise.

        The same seed gives the same losses on one machine; elsewhere rounding adds up.
        """
        other = replace(run, protocol=run.fit.protocol)
        if options.records is None or other == run:
            return
        stored = usable_record(other.path(options.records))
        if stored is None or not is_fresh(stored) or not other.is_like(stored, graphs.checksum):
            return
        ours, theirs = ([e.get("total") for e in r.get("history", ())] for r in (record, stored))
        if ours and theirs and ours != theirs:
            yield (
                f"fitted again with the same seed for protocol {run.protocol}; rounding made its "
                f"last loss {ours[-1]:.5g}, in the record of {other.protocol} it is "
                f"{theirs[-1]:.5g}."
            )

    def references(self, run: Run, graphs: GraphSet) -> dict[str, scoring.Vectors]:
        """Return the vectors of the reference rows: the untrained encoder and the histogram."""
        if not run.has_references:
            return {}
        untrained = registry.build("igsd", run.config().updated({"epochs": 0}))
        estimators = {"untrained": untrained, "histogram": registry.make_method("histogram")}
        return {k: scoring.Vectors(e.fit_transform(graphs)) for k, e in estimators.items()}

    def _represented(
        self, run: Run, graphs: GraphSet, options: Options, memory: dict[Run, Any]
    ) -> processes.Measured:
        """Return what the method makes of the graphs, with its peak memory.

        Raises ``LimitError``, again for each run that would score the same vectors.
        """
        if run.fit not in memory:
            try:
                memory[run.fit] = self._fitted(run, graphs, options)
            except LimitError as error:
                memory[run.fit] = error
        found = memory[run.fit]
        if isinstance(found, LimitError):
            raise found
        return found

    def _fitted(self, run: Run, graphs: GraphSet, options: Options) -> processes.Measured:
        if options.on_trained is not None:
            kwargs: Any = {"verbose": options.verbose}
            fitted = trained.train_model(graphs, run.config(), method=run.method, **kwargs)
            options.on_trained(fitted)
            record: Record = {"seconds": fitted.seconds, "cpu_seconds": fitted.cpu_seconds}
            record |= {"notes": [], "history": list(getattr(fitted.model, "history_", []))}
            value = scoring.Vectors(fitted.vectors), record
            return processes.Measured(value, processes.peak_bytes())
        limits: dict[str, Any] = self.limits(options)
        if limits["memory_gib"] is None:
            limits["memory_gib"] = _SHARE_OF_FREE * free_memory() / GIB
        whole = run.fitted_graphs(graphs)
        arguments = (whole.without_labels(), run.method, run.config(), self.name)
        modules = registry.method(run.method).modules()
        measured = processes.run_measured(scoring.represent, *arguments, **limits, modules=modules)
        if len(whole) > len(graphs):
            vectors, record = measured.value
            rows = np.flatnonzero(np.asarray(whole.classes) >= 0)
            return measured._replace(value=(vectors.taken(rows), record))
        return measured


class FewLabelsProtocol(Protocol):
    """A protocol whose methods are trained inside each split; seed s is split s.

    A subclass says how to ``split`` and how to ``score`` an estimator that learns from the labels
    of the training part, or one of vectors (``score_vectors``), such as the ``references``.
    """

    @abstractmethod
    def split(self, run: Run, graphs: GraphSet) -> Any:
        """Return the split of the run's seed; raises ``DataError`` for too few graphs."""

    @abstractmethod
    def score(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> list[RecordRow]:
        """Train the estimator inside the split and return its rows."""

    @abstractmethod
    def score_vectors(
        self, run: Run, graphs: GraphSet, split: Any, estimator: Any, name: str
    ) -> RecordRow:
        """Return the row of a small model on the vectors of an estimator fitted in the split."""

    @abstractmethod
    def references(self, run: Run, graphs: GraphSet) -> dict[str, Any]:
        """Return the unfitted estimators of the reference rows, by name."""

    @abstractmethod
    def more(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> Record:
        """Return further entries of the record of a run."""

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for data that cannot be split, or trained on with these settings."""
        self.split(run, graphs)
        if self.learner(run)[1] != "vectors":
            super().check(run, graphs)

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the rows, the seconds and the losses of a split.

        With records a checkpoint is kept beside the record while the run lasts, so that the same
        command continues an interrupted run; checkpoints of other settings are not in the way.
        """
        split, checkpoint = self.split(run, graphs), None
        if options.records is not None:
            digest = run.identity(graphs).digest
            checkpoint = run.path(options.records).with_suffix(f".{digest}.checkpoint")
            if options.force:
                _remove_checkpoints(checkpoint)
        name, task = self.learner(run)
        kwargs = {"checkpoint": checkpoint, "verbose": options.verbose}
        estimator = registry.build(name, run.config(), task, **kwargs)
        watch = Stopwatch()
        if task == "vectors":
            rows = [self.score_vectors(run, graphs, split, estimator, run.method)]
        else:
            rows = self.score(run, graphs, split, estimator)
        watch.lap("train")
        record: Record = {
            "seconds": watch.seconds,
            "cpu_seconds": watch.cpu_seconds,
            "history": getattr(estimator, "history_", []),
        }
        if before := getattr(estimator, "pretraining_history_", []):
            record["pretraining"] = before
        if task != "vectors":
            record |= self.more(run, graphs, split, estimator)
        if run.references is not False:
            rows += [
                self.score_vectors(run, graphs, split, reference, name)
                for name, reference in self.references(run, graphs).items()
                if name != run.method
            ]
        record |= {"rows": rows, "peak_memory_mib": mib(processes.peak_bytes()) or None}
        if checkpoint is not None:
            _remove_checkpoints(checkpoint)
        return record


class NestedTuning(Protocol):
    """A trial of ``igsd tune``: an SVM's accuracy inside the training parts of the outer folds."""

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the score."""
        return {"name": self.name, "standardise": "yes"}

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise ``DataError`` for graphs without classes, ``ConfigError`` for settings."""
        scoring.class_codes(graphs)
        super().check(run, graphs)

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the mean accuracy on the inner folds, for one fold seed."""
        vectors, y = trained.train_model(graphs, run.config()).vectors, scoring.class_codes(graphs)
        kwargs: Any = {"standardise": "yes", "n_jobs": options.fold_jobs}
        return {"score": cross_validation.inner_score(vectors, y, run.seed, **kwargs)}


def _in_time(score: Callable[[], Any], taken: float, options: Options) -> Any:
    """Return the scores, or raise ``TimeLimitError`` if they take longer than is left of a run.

    No clock can stop an SVM from inside: it is scored in a process that can be ended. ``taken``:
    the seconds of fitting.
    """
    allowed = options.seconds or DAY
    limits: Any = {"seconds": max(allowed - taken, _SOON)}
    limits["starts_processes"] = options.fold_jobs != 1
    try:
        return processes.run_measured(score, **limits).value
    except TimeLimitError:
        raise TimeLimitError(
            f"> limit: fitted in {taken:.3g} seconds, but not scored in the rest of the "
            f"{allowed:g} seconds. Use a larger limit, or fewer graphs; an SVM is slow on kernels "
            "and vectors with large numbers: scale them, as K_ij / sqrt(K_ii K_jj)."
        ) from None


def make_row(method: str, found: result.ProtocolResult, **scores: float | None) -> RecordRow:
    """Return the row of a method with this result."""
    return cast(RecordRow, {"method": method, **found.to_dict(), **scores})


def mib(num_bytes: int) -> float:
    """Return bytes in MiB, as records keep them."""
    return round(num_bytes / 2**20, 1)


def _remove_checkpoints(checkpoint: Path) -> None:
    """Remove the checkpoints of a record's place, those of other settings too."""
    stem = checkpoint.name.split(".")[0]
    for left in checkpoint.parent.glob(f"{stem}.*.checkpoint*"):
        left.unlink(missing_ok=True)
