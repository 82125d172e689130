"""``Run``: one method on one data set under one protocol with one seed, and its record."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines.references.vectors import covered
from igsd.baselines.registry import configure, method
from igsd.errors import ConfigError, warn_user
from igsd.evaluation import HOLDOUTS, shown_with
from igsd.evaluation.semi import LABEL_RATE
from igsd.experiments import protocol_base, protocols, records, scoring
from igsd.experiments.trained import Trained
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import with_classes, with_labels
from igsd.graphs.open import open_data
from igsd.graphs.summary import RECIPES
from igsd.limits import GIB, LimitError, MemoryLimitError, library_errors

DONE, LIMIT, MISSING, STALE, FAILED = "done", "limit", "missing", "stale", "failed"
OTHER, BROKEN = "other settings", "broken"
"""The state of a run, by the file in the place of its record. ``limit``: it exceeded limits at
least as wide as the current ones. ``stale``: the record is of another version of the algorithm;
``other settings``: of another run; ``broken``: the file is not a record."""

Pairs = tuple[tuple[str, Any], ...]

_MOST_OPEN = 2
_opened: dict[tuple[str, str, str], GraphSet] = {}


@dataclass(frozen=True)
class Options:
    """Where runs are recorded and how they are executed; none of these affects a result.

    ``seconds`` and ``memory_gib``: limits of a run in its own process (see ``Protocol.execute``);
    the time includes scoring.
    ``force``: replace records of other runs. ``fold_jobs``: processes that score the folds.
    ``threads``: of a run, None for as many as there are. ``on_trained`` receives each model, which
    is then trained in this process.
    """

    records: Path | None = None
    seconds: float | None = None
    memory_gib: float | None = None
    force: bool = False
    verbose: bool = False
    fold_jobs: int = 1
    threads: int | None = None
    on_trained: Callable[[Trained], None] | None = None


@dataclass(frozen=True)
class Run:
    """One method on one data set under one protocol with one seed, with its settings.

    ``data``: the name of the data set. ``changes``: settings that make a variant, which is part of
    the record's place; a key ``recipe`` names an unusual one. ``fixed``: settings that are not.
    ``label_rate`` and ``target`` belong to protocols with few labels: ``target`` is the number to
    predict (several separated by commas), empty for classes and for all properties of QM9.
    ``standardise`` and ``twins`` belong to protocols that score vectors; ``twins`` None: scored if
    there are many. ``num_splits``, ``train_labels`` (0: all) and ``numbers``, whether numbers are
    predicted, belong to the protocols ``random`` and ``scaffold``.
    ``references``: whether reference rows are scored too, None for the default.
    ``source`` and ``labels``: what is opened, if it is not the data set of that name.
    """

    protocol: str
    data: str
    method: str
    recipe: str
    seed: int
    changes: Pairs = ()
    fixed: Pairs = ()
    label_rate: float = LABEL_RATE
    target: str = ""
    standardise: str = "yes"
    twins: bool | None = None
    references: bool | None = None
    num_splits: int = 10
    train_labels: tuple[int, ...] = (0,)
    numbers: bool = False
    source: str = field(default="", compare=False)
    labels: str = field(default="", compare=False)

    def __str__(self) -> str:
        share = "" if self.protocol != "semi" else f", {self.label_rate:.0%} labels"
        target = f", {self.target}" if self.target else ""
        if self.protocol in HOLDOUTS:
            return f"{self.label} on {self.data}{target}, {self.protocol} splits"
        return f"{self.label} on {self.data}{target}{share}, seed {self.seed}"

    @property
    def rules(self) -> protocol_base.Protocol:
        """The protocol as an object; ``semi`` with a target is the one for numbers."""
        is_number = self.protocol == "semi" and self.target
        return protocols.SEMI_NUMBER if is_number else protocols.PROTOCOLS[self.protocol]

    @property
    def scores_vectors(self) -> bool:
        """Whether the protocol scores vectors of a method without labels."""
        return isinstance(self.rules, protocol_base.VectorProtocol)

    @property
    def is_recipe(self) -> bool:
        """Whether this is IGSD without labels, whose records are named after the recipe."""
        return self.method == "igsd" and self.scores_vectors

    @property
    def is_deterministic(self) -> bool:
        """Whether runs with other seeds differ only in their folds."""
        return self.scores_vectors and not method(self.method).stochastic

    @property
    def fit(self) -> Run:
        """The run whose vectors this one scores: runs of the same ``fit`` are fitted once.

        Protocol ``paper`` scores the vectors of ``nested``, and a deterministic method has the
        same for all seeds. Training inside splits is never shared.
        """
        run = replace(self, protocol=shown_with(self.protocol)[0])
        return replace(run, seed=0) if self.is_deterministic else run

    @property
    def has_references(self) -> bool:
        """Whether reference rows are scored too: by default beside a data set's own recipe."""
        if self.references is not None:
            return self.references
        return self.is_recipe and self.recipe in RECIPES and not self.changes

    @property
    def label(self) -> str:
        """The name of the folder of its records: recipe or method, and changed settings."""
        if not self.is_recipe:
            return records.variant_label(self.method, self.changes)
        changes = [pair for pair in self.changes if pair[0] != "recipe"]
        return records.variant_label(self.recipe, changes)

    @property
    def title(self) -> str:
        """The name of its row in a table: method and changed settings, or a file of vectors."""
        if self.method == "vectors":
            return str(dict(self.changes).get("file", self.method))
        return records.variant_label(self.method, self.changes)

    def config(self) -> Any:
        """Return the settings of this run; raises ``ConfigError`` for one that does not exist."""
        changes = dict(self.fixed) | dict(self.changes) | {"seed": self.seed}
        changes.pop("recipe", None)
        name, task = self.rules.learner(self)
        return configure(name, self.recipe, changes, task)

    def with_known(self, settings: Mapping[str, Any]) -> Run:
        """Return the run with those of the settings fixed that its method has."""
        plain = replace(self, fixed=())
        return replace(plain, fixed=tuple(plain.config().known(settings).items()))

    def path(self, folder: Path) -> Path:
        """Return the path of this run's record: the protocol's folder names an unusual target."""
        target = f"-{self.target.replace(',', '+')}" if self.target else ""
        rate = "" if self.label_rate == LABEL_RATE else f"-{self.label_rate:g}"
        protocol = f"{self.protocol}{target}{rate}"
        return records.record_path(folder, protocol, self.data, self.label, self.seed)

    def graphs(self) -> GraphSet:
        """Return the graphs, which stay open for the next runs of this process."""
        return opened(self.source or self.data, self.labels, protocol=self.protocol)

    def fitted_graphs(self, graphs: GraphSet) -> GraphSet:
        """Return the graphs that the method is fitted on, if those with a label are ``graphs``.

        A file may have vectors of the whole set, which the graphs without a label belong to.
        """
        if self.method != "vectors":
            return graphs
        whole = opened(self.source or self.data, self.labels)
        return covered(self.config().vectors_path, whole, graphs)

    def uses_twins(self, graphs: GraphSet) -> bool:
        """Whether graphs are also scored with twins removed from training."""
        return scoring.has_many_twins(graphs) if self.twins is None else self.twins

    def identity(self, graphs: GraphSet) -> records.Identity:
        """Return what a record must match to count as this run's."""
        settings = self.rules.settings(self, twins=self.scores_vectors and self.uses_twins(graphs))
        version = records.algorithm_version(self.method)
        return records.Identity(self.config(), graphs.checksum, settings, version)

    def is_like(self, record: records.Record, checksum: str) -> bool:
        """Whether a record is of this run as it is defined now, without opening the graphs.

        Whether twins were scored too does not matter: those rows stand beside the others. Nor does
        the version of the algorithm (see ``is_fresh``).
        """
        run = replace(self, seed=record["seed"])
        try:
            config = run.config()
        except ConfigError:
            return False
        settings = run.rules.settings(run, twins=bool(record["protocol"].get("twins")))
        return not records.Identity(config, checksum, settings, record["algorithm"]).differences(
            record
        )

    def state(self, graphs: GraphSet, options: Options) -> tuple[str, str]:
        """Return (state, first difference of a record of another run); warns of broken files."""
        path = None if options.records is None else self.path(options.records)
        if path is None or not path.exists():
            return MISSING, ""
        record = records.usable_record(path)
        if record is None:
            return BROKEN, ""
        if not records.is_fresh(record):
            version = records.algorithm_version(self.method)
            return STALE, f"algorithm is {record['algorithm']} there and {version} here"
        if differences := self.identity(graphs).differences(record):
            return OTHER, records.first_of(differences)
        if record["status"] == "ok":
            rows = {row["method"] for row in record["rows"]}
            # `igsd compare` makes runs of IGSD without reference rows.
            if not self.rules.is_complete(self, record):
                return MISSING, ""
            is_part = self.has_references and self.is_recipe and not rows >= set(scoring.ROW_ORDER)
            return (MISSING if is_part else DONE), ""
        if record["status"] != "limit":
            return FAILED, ""
        key = "memory_gib" if record["word"] == MemoryLimitError.word else "seconds"
        before, now = record.get("limits", {}).get(key), self.rules.limits(options)[key]
        was_as_wide = before == now or (before is not None and now is not None and before > now)
        return (LIMIT if was_as_wide else FAILED), ""

    def finished(self, options: Options) -> records.Record | None:
        """Return the record that exists, with a note if it took more than the current limits."""
        path = None if options.records is None else self.path(options.records)
        record = None if path is None else records.read_record(path)
        if record is None or record["status"] != "ok" or not self.scores_vectors:
            return record
        # Records of ``paper`` once had the rows of ``nested`` too, which has records of its own.
        rows = [row for row in record["rows"] if row["protocol"] == self.protocol]
        gib = (record.get("peak_memory_mib") or 0.0) * 2**20 / GIB
        limits, notes = self.rules.limits(options), list(record.get("notes", ()))
        seconds = records.fit_seconds if options.seconds is None else records.run_seconds
        for most, unit, taken in (
            (limits["seconds"], "seconds", seconds(record)),
            (limits["memory_gib"], "GiB", gib),
        ):
            if most is not None and taken > most:
                text = f"when it was made, a run took more than {most:g} {unit}, the current limit"
                notes.append(f"{text}; its score stands.")
        return record | {"notes": notes, "rows": rows}

    def execute(
        self, graphs: GraphSet, options: Options, memory: dict[Run, Any] | None = None
    ) -> records.Record:
        """Return the record of this run, executed now, and write it to its place.

        Status ``ok``, ``limit`` for a limit exceeded, or ``failed`` for any other end: an
        unexpected error must not abort the remaining runs. Raises ``StorageError`` if
        something cannot be written, since every other run would end so too.
        """
        record = self._start(graphs, options)
        try:
            with library_errors():
                found = self.rules.execute(self, graphs, options, {} if memory is None else memory)
            record |= {**found, "status": "ok"}
        except LimitError as error:
            record |= {"status": "limit", "word": error.word, "error": str(error)}
        except Exception as error:
            record |= {"status": "failed", "error": records.failure(error)}
        return self._written(record, options)

    def failed(self, graphs: GraphSet, options: Options, error: str) -> records.Record:
        """Return the record of a run that ended without one, and write it."""
        record = self._start(graphs, options)
        return self._written(record | {"status": "failed", "error": error}, options)

    def _start(self, graphs: GraphSet, options: Options) -> records.Record:
        names: Any = {"method": self.method, "recipe": self.recipe, "seed": self.seed}
        record = records.start_record(self.identity(graphs), graphs, **names)
        return record | {"limits": self.rules.limits(options)}

    def _written(self, record: records.Record, options: Options) -> records.Record:
        if options.records is not None:
            records.write_record(self.path(options.records), record)
        return record


def opened(
    source: str, labels: str = "", progress: Progress | None = None, *, protocol: str = ""
) -> GraphSet:
    """Return the graphs of a data set or file, kept for the next runs of this process.

    ``labels``: the column or file whose values become the classes, under the protocols ``random``
    and ``scaffold`` also numbers or several columns. Protocols that score vectors under folds leave
    graphs without a class out, with a warning. ``progress`` is called while they are downloaded or
    read, as by ``load_dataset``.
    """
    rules = protocols.PROTOCOLS.get(protocol)
    kind = "folds" if isinstance(rules, protocol_base.VectorProtocol) else ""
    kind = "any" if protocol in HOLDOUTS else kind
    key = (source, labels, kind)
    if key not in _opened:
        graphs = open_data(source, progress=progress)
        if labels:
            graphs = (with_labels if kind == "any" else with_classes)(graphs, source, labels)
        if kind == "folds":
            graphs = known_part(graphs)
        for oldest in list(_opened)[: 1 - _MOST_OPEN]:
            del _opened[oldest]
        _opened[key] = graphs
    return _opened[key]


def known_part(graphs: GraphSet) -> GraphSet:
    """Return the graphs whose class is known, with a warning that says how many are left out."""
    if graphs.classes is None:
        return graphs
    known = np.flatnonzero(np.asarray(graphs.classes) >= 0)
    if len(known) in (0, len(graphs)):
        return graphs
    warn_user(
        f"{len(graphs) - len(known)} of {len(graphs)} graphs of {graphs.name!r} have no label: the "
        f"score is of the other {len(known)}."
    )
    return graphs.take(known)


def changed_settings(config: Any, usual: Any) -> dict[str, Any]:
    """Return the settings of ``config`` that decide the numbers and differ from the usual ones."""
    base = usual.learned()
    return {key: value for key, value in config.learned().items() if base[key] != value}
