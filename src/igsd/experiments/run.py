"""``Run``: one method on one data set under one protocol with one seed.

A run knows its settings, the place of its record, whether a record is its own, and how to execute
itself into a ``Record``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import method
from igsd.errors import ConfigError
from igsd.evaluation import PROTOCOLS as VECTOR_PROTOCOLS
from igsd.evaluation.semi import LABEL_RATE
from igsd.experiments.protocols import Protocol, find_protocol
from igsd.experiments.records import (
    Identity,
    Record,
    algorithm_version,
    failure,
    fit_seconds,
    is_fresh,
    read_record,
    record_path,
    start_record,
    usable_record,
    variant_label,
    write_record,
)
from igsd.experiments.scoring import ROW_ORDER, has_many_twins
from igsd.experiments.trained import RECIPES, Trained
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import with_classes
from igsd.graphs.open import open_data
from igsd.limits import GIB, LimitError, MemoryLimitError

if TYPE_CHECKING:
    from igsd.processes import Measured

DONE, LIMIT, MISSING, STALE, FAILED = "done", "limit", "missing", "stale", "failed"
OTHER, BROKEN = "other settings", "broken"
"""The state of a run, by the file in the place of its record. ``limit``: it exceeded limits at
least as wide as the current ones. ``stale``: the record is of another version of the algorithm;
``other settings``: of another run; ``broken``: the file is not a record."""

Pairs = tuple[tuple[str, Any], ...]

_MOST_OPEN = 2
_opened: dict[tuple[str, str], GraphSet] = {}


@dataclass(frozen=True)
class Options:
    """Where runs are recorded and how they are executed; nothing here changes a number.

    ``seconds`` and ``memory_gib``: limits of a run in its own process (see ``Protocol.execute``).
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
    """What makes a run this one.

    ``data``: the name of the data set. ``changes``: settings that make a variant, which is part of
    the record's place; a key ``recipe`` names an unusual one. ``fixed``: settings that are not.
    ``label_rate`` and ``target`` belong to protocols with few labels: ``target`` is the number to
    predict (several separated by commas), empty for classes and for all properties of QM9.
    ``standardise`` and ``twins`` belong to protocols that score vectors; ``twins`` None: scored if
    there are many. ``references``: whether reference rows are scored too, None for the default.
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
    source: str = field(default="", compare=False)
    labels: str = field(default="", compare=False)

    def __str__(self) -> str:
        share = "" if self.protocol != "semi" else f", {self.label_rate:.0%} labels"
        target = f", {self.target}" if self.target else ""
        return f"{self.label} on {self.data}{target}{share}, seed {self.seed}"

    @property
    def rules(self) -> Protocol:
        """The protocol as an object."""
        return find_protocol(self)

    @property
    def scores_vectors(self) -> bool:
        """Whether the protocol scores vectors of a method without labels."""
        return self.protocol in VECTOR_PROTOCOLS

    @property
    def is_recipe(self) -> bool:
        """Whether this is IGSD without labels, whose records are named after the recipe."""
        return self.method == "igsd" and self.scores_vectors

    @property
    def is_deterministic(self) -> bool:
        """Whether runs with other seeds differ only in their folds."""
        return self.scores_vectors and not method(self.method).stochastic

    @property
    def has_references(self) -> bool:
        """Whether reference rows are scored too: by default beside a data set's own recipe.

        Other recipes and settings are compared with the references there, on the same folds.
        """
        if self.references is not None:
            return self.references
        return self.is_recipe and self.recipe in RECIPES and not self.changes

    @property
    def label(self) -> str:
        """The name of the folder of its records: recipe or method, and changed settings."""
        if not self.is_recipe:
            return self.title
        return variant_label(self.recipe, [pair for pair in self.changes if pair[0] != "recipe"])

    @property
    def title(self) -> str:
        """The name of its row in a table: method and changed settings."""
        return variant_label(self.method, self.changes)

    def config(self) -> Any:
        """Return the settings of this run; raises ``ConfigError`` for one that does not exist."""
        changes = dict(self.fixed) | dict(self.changes) | {"seed": self.seed}
        changes.pop("recipe", None)
        return self.rules.config(self, changes)

    def path(self, records: Path) -> Path:
        """Return the path of this run's record."""
        return record_path(records, self.rules.folder(self), self.data, self.label, self.seed)

    def graphs(self, progress: Progress | None = None) -> GraphSet:
        """Return the graphs, which stay open for the next runs of this process."""
        return opened(self.source or self.data, self.labels, progress)

    def uses_twins(self, graphs: GraphSet) -> bool:
        """Whether graphs are also scored with twins removed from training."""
        return has_many_twins(graphs) if self.twins is None else self.twins

    def identity(self, graphs: GraphSet) -> Identity:
        """Return what makes another run the same as this one."""
        twins = self.scores_vectors and self.uses_twins(graphs)
        settings = self.rules.settings(self, twins=twins)
        version = algorithm_version(self.method)
        return Identity(self.config(), graphs.checksum, settings, version)

    def is_like(self, record: Record, checksum: str) -> bool:
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
        identity = Identity(config, checksum, settings, record["algorithm"])
        return not identity.differences(record)

    def checkpoint(self, graphs: GraphSet, options: Options) -> Path | None:
        """Return where an unfinished training is kept, None without records."""
        if options.records is None:
            return None
        digest = self.identity(graphs).digest
        return self.path(options.records).with_suffix(f".{digest}.checkpoint")

    def state(self, graphs: GraphSet, options: Options) -> tuple[str, str]:
        """Return (state, first difference of a record of another run); warns of broken files."""
        path = None if options.records is None else self.path(options.records)
        if path is None or not path.exists():
            return MISSING, ""
        record = usable_record(path)
        if record is None:
            return BROKEN, ""
        if not is_fresh(record):
            version = algorithm_version(self.method)
            return STALE, f"algorithm is {record['algorithm']} there and {version} here"
        if differences := self.identity(graphs).differences(record):
            more = f", and {len(differences) - 1} more" if len(differences) > 1 else ""
            return OTHER, differences[0] + more
        if record["status"] == "ok":
            rows = {row["method"] for row in record["rows"]}
            # `igsd compare` makes runs of IGSD without reference rows.
            is_part = self.has_references and self.is_recipe and not rows >= set(ROW_ORDER)
            return (MISSING if is_part else DONE), ""
        is_over = record["status"] == "limit" and self._was_as_wide(record, options)
        return (LIMIT if is_over else FAILED), ""

    def finished(self, options: Options) -> Record | None:
        """Return the record of a run that need not be made again.

        A note is added if it took more than the current limits.
        """
        record = None if options.records is None else read_record(self.path(options.records))
        if record is None or record["status"] != "ok" or not self.scores_vectors:
            return record
        gib = (record.get("peak_memory_mib") or 0.0) * 2**20 / GIB
        limits = self.rules.limits(options)
        taken = {"seconds": fit_seconds(record), "memory_gib": gib}
        notes = [
            f"when it was made, a run took more than {most:g} {unit}, the current limit; its "
            "score stands."
            for key, unit in (("seconds", "seconds"), ("memory_gib", "GiB"))
            if (most := limits[key]) is not None and taken[key] > most
        ]
        return record | {"notes": [*record.get("notes", ()), *notes]}

    def execute(
        self, graphs: GraphSet, options: Options, memory: dict[Run, Measured] | None = None
    ) -> Record:
        """Return the record of this run, executed now, and write it to its place.

        Status ``ok``, ``limit`` for a limit exceeded, or ``failed`` for any other end: hours of
        other runs must not end with an error nobody thought of. Raises ``StorageError`` if
        something cannot be written, since every other run would end so too.
        """
        record = self._start(graphs, options)
        try:
            record |= self.rules.execute(self, graphs, options, {} if memory is None else memory)
            record["status"] = "ok"
        except LimitError as error:
            record |= {"status": "limit", "word": error.word, "error": str(error)}
        except MemoryError:
            text = "OMR: there was not enough memory to score the method."
            record |= {"status": "limit", "word": MemoryLimitError.word, "error": text}
        except Exception as error:
            record |= {"status": "failed", "error": failure(error)}
        return self._written(record, options)

    def failed(self, graphs: GraphSet, options: Options, error: str) -> Record:
        """Return the record of a run that ended without one, and write it."""
        record = self._start(graphs, options)
        return self._written(record | {"status": "failed", "error": error}, options)

    def _start(self, graphs: GraphSet, options: Options) -> Record:
        record = start_record(
            self.identity(graphs), graphs, method=self.method, recipe=self.recipe, seed=self.seed
        )
        return record | {"limits": self.rules.limits(options)}

    def _written(self, record: Record, options: Options) -> Record:
        if options.records is not None:
            write_record(self.path(options.records), record)
        return record

    def _was_as_wide(self, record: Record, options: Options) -> bool:
        """Whether the limit that a run exceeded was at least as wide as the current one."""
        key = "memory_gib" if record["word"] == MemoryLimitError.word else "seconds"
        before, now = record.get("limits", {}).get(key), self.rules.limits(options)[key]
        return before == now or (before is not None and now is not None and before > now)


def opened(source: str, labels: str = "", progress: Progress | None = None) -> GraphSet:
    """Return the graphs of a data set or file, kept for the next runs of this process.

    ``labels``: the column or file whose values become the classes. ``progress`` is called while
    they are downloaded or read, as by ``load_dataset``.
    """
    key = (source, labels)
    if key not in _opened:
        graphs = open_data(source, progress=progress)
        if labels:
            graphs = with_classes(graphs, source, labels)
        for oldest in list(_opened)[: 1 - _MOST_OPEN]:
            del _opened[oldest]
        _opened[key] = graphs
    return _opened[key]


def changed_settings(config: Any, usual: Any) -> dict[str, Any]:
    """Return the settings of ``config`` that decide the numbers and differ from the usual ones."""
    base: Mapping[str, Any] = usual.learned()
    return {key: value for key, value in config.learned().items() if base[key] != value}
