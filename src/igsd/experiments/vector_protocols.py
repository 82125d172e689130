"""``Protocol``: what every protocol offers, and its two kinds.

``VectorProtocol`` scores vectors by an SVM; ``SplitProtocol`` is the base of those that train
methods inside splits.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    import numpy as np

    from igsd.experiments.records import Record, RecordRow
    from igsd.experiments.run import Options, Run
    from igsd.experiments.scoring import Represented, Vectors
    from igsd.graphs.graphset import GraphSet
    from igsd.processes import Measured

DAY = 86400.0
"""The default time limit of a method in seconds: the paper's table says '> 1 day'."""

# A process that takes the last of the memory brings the machine to a halt before it is ended.
_SHARE_OF_FREE = 0.9


class Protocol(ABC):
    """How a run is checked, configured, executed and scored.

    ``help``: the text in ``igsd evaluate --help``; protocols without one are not offered there.
    ``task``: what methods learn: ``vectors``, ``classes`` or ``numbers``.
    """

    help: ClassVar[str] = ""
    task: ClassVar[str] = "vectors"

    def __init__(self, name: str) -> None:
        self.name = name

    def folder(self, run: Run) -> str:
        """Return the folder of the protocol's records."""
        return self.name

    def config(self, run: Run, changes: Mapping[str, object]) -> Any:
        """Return the settings of a run; raises ``ConfigError`` for one that does not exist."""
        from igsd.baselines.registry import configure

        return configure(run.method, run.recipe, changes, self.task)

    @abstractmethod
    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return what decides the splits and the score, as a record stores it."""

    @abstractmethod
    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for data that cannot be split or scored; nothing is trained."""

    @abstractmethod
    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Train and score; return the part of the record that is known only then."""

    def limits(self, options: Options) -> dict[str, float | None]:
        """Return the limits of a run, as a record stores them."""
        return {"seconds": options.seconds, "memory_gib": options.memory_gib}

    def execute(
        self, run: Run, graphs: GraphSet, options: Options, memory: dict[Run, Measured]
    ) -> Record:
        """Return the rest of the record of a run, made in its own process if it has limits.

        ``memory``: results that runs with other seeds share (see ``VectorProtocol``).
        """
        from igsd.processes import run_measured

        limits: dict[str, Any] = self.limits(options)
        if limits["seconds"] is None and limits["memory_gib"] is None:
            return self.work(run, graphs, options)
        measured = run_measured(work_of, run, graphs, replace(options, on_trained=None), **limits)
        made: Record = measured.value
        made["peak_memory_mib"] = round(measured.peak_bytes / 2**20, 1)
        return made


def work_of(run: Run, graphs: GraphSet, options: Options) -> Record:
    """Return what the run's protocol makes of it: a plain function, for another process."""
    return run.rules.work(run, graphs, options)


class VectorProtocol(Protocol):
    """``nested``, ``paper`` and ``gckn``: a method without labels, scored by an SVM under folds.

    The method is fitted in its own process, so that its time and memory can be measured and
    limited; this process scores the result. A deterministic method is fitted once for all seeds.
    """

    def settings(self, run: Run, *, twins: bool = False) -> dict[str, object]:
        """Return name, standardisation and twins; kernels have nothing to standardise."""
        from igsd.baselines.registry import method, svm_kernel

        found: dict[str, object] = {"name": self.name, "standardise": run.standardise}
        found["twins"] = twins
        estimator = method(run.method).estimator()
        kernel, head = svm_kernel(estimator, self.name), getattr(estimator, "head", "svm")
        if kernel == "precomputed" or head != "svm":
            found["standardise"] = "no"
        found |= {} if kernel == "rbf" else {"kernel": kernel}
        return found if head == "svm" else found | {"head": head}

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for graphs without classes, or if the published folds are missing."""
        from igsd.experiments.scoring import check_scorable

        check_scorable(graphs, self.name)

    def limits(self, options: Options) -> dict[str, float | None]:
        """Return the limits; a day unless another time is set."""
        return super().limits(options) | {"seconds": options.seconds or DAY}

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the record of a run whose method is fitted in this process."""
        return self.execute(run, graphs, options, {})

    def execute(
        self, run: Run, graphs: GraphSet, options: Options, memory: dict[Run, Measured]
    ) -> Record:
        """Return the rows, what they took, and the method's notes and losses."""
        from igsd.experiments.scoring import Scoring, score_seeds

        measured = self._represented(run, graphs, options, memory)
        made: Represented = measured.value
        vectors = {run.method: made.vectors} | self.references(run, graphs)
        begin = time.perf_counter()
        scoring = Scoring(self.name, run.standardise, run.uses_twins(graphs), options.fold_jobs)
        (scored,) = score_seeds(vectors, graphs, scoring, [run.seed], verbose=options.verbose)
        return {
            "seconds": made.seconds | {"evaluate": round(time.perf_counter() - begin, 3)},
            "cpu_seconds": made.cpu_seconds,
            "peak_memory_mib": round(measured.peak_bytes / 2**20, 1),
            "features": int(made.vectors.values.shape[1]),
            "notes": list(made.notes),
            "history": made.history,
            "rows": [make_row(name, result.to_dict()) for name, result in scored],
        }

    def references(self, run: Run, graphs: GraphSet) -> dict[str, Vectors]:
        """Return the vectors of the reference rows: the untrained encoder and the histogram."""
        if not run.has_references:
            return {}
        from igsd.baselines.references.histogram import LabelDegreeHistogram, untrained_twin
        from igsd.estimators import IGSD
        from igsd.experiments.scoring import Vectors

        untrained = untrained_twin(IGSD.from_config(run.config()))
        return {
            "untrained": Vectors(untrained.fit_transform(graphs)),
            "histogram": Vectors(LabelDegreeHistogram().fit_transform(graphs)),
        }

    def _represented(
        self, run: Run, graphs: GraphSet, options: Options, memory: dict[Run, Measured]
    ) -> Measured:
        """Return what the method makes of the graphs, with its peak memory."""
        from igsd.baselines.registry import method
        from igsd.experiments.scoring import represent
        from igsd.limits import GIB, free_memory
        from igsd.processes import run_measured

        if options.on_trained is not None:
            return _trained_here(run, graphs, options)
        key = replace(run, seed=0)
        if key in memory:
            return memory[key]
        limits: dict[str, Any] = self.limits(options)
        if limits["memory_gib"] is None:
            limits["memory_gib"] = _SHARE_OF_FREE * free_memory() / GIB
        arguments = (graphs.without_labels(), run.method, run.config(), self.name)
        modules = method(run.method).modules()
        measured = run_measured(represent, *arguments, **limits, modules=modules)
        if run.is_deterministic:
            memory[key] = measured
        return measured


def _trained_here(run: Run, graphs: GraphSet, options: Options) -> Measured:
    """Return the vectors of a model trained in this process, which ``on_trained`` receives."""
    from igsd.experiments.scoring import Represented, Vectors, cpu_seconds
    from igsd.experiments.trained import train_model
    from igsd.processes import Measured, peak_bytes

    used = cpu_seconds()
    trained = train_model(graphs, run.config(), method=run.method, verbose=options.verbose)
    used = round(cpu_seconds() - used, 3)
    if options.on_trained is not None:
        options.on_trained(trained)
    history = list(getattr(trained.model, "history_", []))
    made = Represented(Vectors(trained.vectors), trained.seconds, used, (), history)
    return Measured(made, sum(trained.seconds.values()), peak_bytes())


class SplitProtocol(Protocol):
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

    def more(self, run: Run, graphs: GraphSet, split: Any, estimator: Any) -> Record:
        """Return what else a record keeps of a run."""
        return {}

    def method(self, run: Run) -> str:
        """Return the registered name of the run's method."""
        return run.method

    def config(self, run: Run, changes: Mapping[str, object]) -> Any:
        """Return the settings of a run; raises ``ConfigError`` for one that does not exist."""
        from igsd.baselines.registry import configure

        name = self.method(run)
        return configure(name, run.recipe, changes, task_of(name, self.task))

    def check(self, run: Run, graphs: GraphSet) -> None:
        """Raise for data that cannot be split, or trained on with these settings."""
        from igsd.training.fit import check_trainable

        self.split(run, graphs)
        if task_of(self.method(run), self.task) != "vectors":
            check_trainable(graphs, run.config())

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the rows, the seconds and the losses of a split.

        With records a checkpoint is kept beside the record while the run lasts, so that the same
        command continues an interrupted run; checkpoints of other settings are not in the way.
        """
        from igsd.baselines.registry import build
        from igsd.experiments.environment import peak_memory_mib
        from igsd.experiments.scoring import cpu_seconds

        split, checkpoint = self.split(run, graphs), run.checkpoint(graphs, options)
        if checkpoint is not None and options.force:
            _remove_checkpoints(checkpoint)
        name = self.method(run)
        task = task_of(name, self.task)
        others = {"checkpoint": checkpoint, "verbose": options.verbose}
        estimator = build(name, run.config(), task, **others)
        begin, used = time.perf_counter(), cpu_seconds()
        if task == "vectors":
            rows = [self.score_vectors(run, graphs, split, estimator, run.method)]
        else:
            rows = self.score(run, graphs, split, estimator)
        record: Record = {
            "seconds": {"train": round(time.perf_counter() - begin, 3)},
            "cpu_seconds": round(cpu_seconds() - used, 3),
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
        record |= {"rows": rows, "peak_memory_mib": peak_memory_mib()}
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
        from igsd.experiments.scoring import class_codes
        from igsd.training.fit import check_trainable

        class_codes(graphs)
        check_trainable(graphs, run.config())

    def work(self, run: Run, graphs: GraphSet, options: Options) -> Record:
        """Return the mean accuracy on the inner folds, for one fold seed."""
        from igsd.evaluation.protocols import inner_score
        from igsd.experiments.trained import train_model

        vectors, codes = train_model(graphs, run.config()).vectors, codes_of(graphs)
        jobs = options.fold_jobs
        return {"score": inner_score(vectors, codes, run.seed, standardise="yes", n_jobs=jobs)}


def task_of(name: str, task: str) -> str:
    """Return the task that a method is trained for: ``task`` if it can, otherwise vectors."""
    from igsd.baselines.registry import METHODS

    known = METHODS.get(name)
    is_plain = known is not None and known.does("vectors") and not known.does(task)
    return "vectors" if is_plain else task


def codes_of(graphs: GraphSet) -> np.ndarray:
    """Return the class of every graph, -1 if unknown."""
    from igsd.experiments.scoring import class_codes

    return class_codes(graphs, gaps=True)


def make_row(method: str, values: Mapping[str, Any]) -> RecordRow:
    """Return the row of a method with these values."""
    row: RecordRow = {"method": method}
    row.update(values)  # type: ignore[typeddict-item]
    return row


def _remove_checkpoints(checkpoint: Path) -> None:
    """Remove the checkpoints of a record's place, those of other settings too."""
    stem = checkpoint.name.split(".")[0]
    for left in checkpoint.parent.glob(f"{stem}.*.checkpoint*"):
        left.unlink(missing_ok=True)
