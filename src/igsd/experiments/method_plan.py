"""``MethodPlan``: any method without labels, run within limits in a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.baselines.limits import GIB, LimitError, MemoryLimitError, free_memory
from igsd.baselines.measured import Measured, run_measured
from igsd.baselines.registry import configure, method, svm_kernel, takes_recipe
from igsd.errors import IGSDError, StorageError
from igsd.experiments.identity import Identity
from igsd.experiments.records import (
    Record,
    find_record,
    fit_seconds,
    make_records_folder,
    record_path,
    start_record,
    variant_label,
    write_record,
)
from igsd.experiments.represent import represent
from igsd.experiments.runs import fitting_recipe
from igsd.experiments.scoring import Scoring, check_scorable, score_seed
from igsd.graphs.graphset import GraphSet

DAY = 86400.0
"""The seconds that a method may take unless told otherwise: the paper's table says '> 1 day'."""

# A process that takes the last of the memory brings the machine to a halt before it is ended.
_SHARE_OF_FREE = 0.9

Measure = Callable[["MethodPlan", int], Measured]


@dataclass(frozen=True)
class MethodPlan:
    """A ``Plan`` of one method; seed s is the method's and the folds' seed.

    ``seconds`` and ``memory_gib`` limit what fitting and representing may take in a process of its
    own; ``memory_gib`` None: nearly all that is free when the run begins. ``label``: what a variant
    of the method is called. ``folder``: what that of its records is called where it is not the
    same: a run of IGSD has the place of its recipe, as in ``RecipePlan``.
    """

    graphs: GraphSet
    method: str
    recipe: str
    config: Any
    scoring: Scoring
    num_seeds: int = 1
    seconds: float | None = DAY
    memory_gib: float | None = None
    records: Path | None = None
    force: bool = False
    label: str = ""
    folder: str = ""

    @property
    def name(self) -> str:
        """What its row in a table is called."""
        return self.label or self.method

    def check(self) -> None:
        """Raise for graphs that cannot be scored, or whose published folds are missing."""
        check_scorable(self.graphs, self.scoring.protocol)

    def path_of(self, seed: int) -> Path | None:
        """Return where the record of this seed stands, None without records."""
        if self.records is None:
            return None
        folder = self.folder or self.name
        return record_path(self.records, self.scoring.protocol, self.graphs.name, folder, seed)

    def identity(self, seed: int) -> Identity:
        """Return what makes another run the same as that of this seed."""
        protocol = scored_by(self.method, self.scoring)
        return Identity(self.config.updated({"seed": seed}), self.graphs.checksum, protocol)

    def limits(self) -> dict[str, float | None]:
        """Return the limits as a record keeps them."""
        return {"seconds": self.seconds, "memory_gib": self.memory_gib}

    def finished(self, seed: int) -> Record | None:
        """Return the record of a run that need not be made again, None where there is none.

        That is one that ended well, with a note where it took more than the limits of now, or one
        that exceeded limits which were at least as wide as now. Raises ``ConfigError`` for a
        record of another run, unless the plan forces.
        """
        record = find_record(self.path_of(seed), self.identity(seed), force=self.force)
        if record is None:
            return None
        if record["status"] == "ok":
            return record | {"notes": [*record.get("notes", ()), *self._took_more(record)]}
        is_over = record["status"] == "limit" and not self.force
        return record if is_over and self._was_as_wide(record) else None

    def run(self, seed: int, measured: Measure | None = None) -> Record:
        """Return the record of a run that is made now, and write it where the plan has a place.

        The method runs in a process of its own; the parent scores what comes back. Status ``ok``;
        ``limit`` with the paper's ``word`` for a limit exceeded; ``failed`` for any other end,
        whose sentence is in ``error``. ``measured`` gives what is scored (``measure``). Raises
        ``StorageError`` where something cannot be written, since every other run would end so too.
        """
        about = {"method": self.method, "recipe": self.recipe, "limits": self.limits()}
        record = start_record(self.identity(seed), self.graphs, seed, **about)
        try:
            record |= self._score(seed, (measured or measure)(self, seed))
        except LimitError as error:
            record |= {"status": "limit", "word": error.word, "error": str(error)}
        except MemoryError:
            text = "OMR: there was not enough memory to score the method."
            record |= {"status": "limit", "word": MemoryLimitError.word, "error": text}
        except StorageError:
            raise  # a full disk is no result of the method
        except IGSDError as error:
            record |= {"status": "failed", "error": str(error)}
        path = self.path_of(seed)
        if path is not None:
            write_record(path, record)
        return record

    def _score(self, seed: int, measured: Measured) -> Record:
        """Return the rest of a record: the rows, what they took, and what is to be said of them."""
        made = measured.value
        begin = time.perf_counter()
        scored = score_seed({self.method: made.vectors()}, self.graphs, self.scoring, seed)
        seconds = made.seconds | {"evaluate": round(time.perf_counter() - begin, 3)}
        return {
            "status": "ok",
            "seconds": seconds,
            "peak_memory_mib": round(measured.peak_bytes / 2**20, 1),
            "features": int(made.values.shape[1]),
            "notes": list(made.notes),
            "history": made.history,
            "rows": [{"method": name} | result.to_dict() for name, result in scored],
        }

    def _took_more(self, record: Record) -> list[str]:
        """Return a sentence for each limit that a run which ended well would exceed now."""
        seconds = fit_seconds(record)
        gib = record["peak_memory_mib"] * 2**20 / GIB
        limits = ((seconds, self.seconds, "seconds"), (gib, self.memory_gib, "GiB"))
        beyond = [(most, of) for took, most, of in limits if most is not None and took > most]
        end = "the limit of now; its score stands."
        return [
            f"when it was made, a run took more than {most:g} {of}, {end}" for most, of in beyond
        ]

    def _was_as_wide(self, record: Record) -> bool:
        """Say whether the limit that a run exceeded was at least as wide as the plan's."""
        key = "memory_gib" if record["word"] == MemoryLimitError.word else "seconds"
        before, now = record["limits"][key], self.limits()[key]
        return before == now or (None not in (before, now) and before > now)


def plan_method(
    graphs: GraphSet,
    name: str,
    scoring: Scoring,
    *,
    recipe: str,
    changes: Mapping[str, Any] | None = None,
    **others: Any,
) -> MethodPlan:
    """Return the plan of a method, with everything checked that can be checked without a run.

    ``recipe`` and ``changes`` as in ``registry.configure``; what they change is part of the plan's
    name, and so is a recipe that is not the one that fits the graphs. ``others``: the
    rest of ``MethodPlan``.
    Raises ``ConfigError`` for an unknown name or setting, ``DataError`` for graphs that cannot be
    scored, ``StorageError`` where published folds are missing or records cannot be written.
    """
    config = configure(name, recipe, changes)
    usual = configure(name, recipe).learned()
    changed = [(key, v) for key, v in config.learned().items() if usual[key] != v]
    folder = variant_label(recipe, changed) if name == "igsd" else ""
    if takes_recipe(name) and recipe != fitting_recipe(graphs):
        changed.insert(0, ("recipe", recipe))
    label = variant_label(name, changed)
    named: dict[str, Any] = {"label": label, "folder": folder}
    plan = MethodPlan(graphs, name, recipe, config, scoring, **named, **others)
    plan.check()
    if plan.records is not None:
        make_records_folder(plan.records)
    return plan


def scored_by(name: str, scoring: Scoring) -> dict[str, Any]:
    """Return how a method is scored, as its records say it: a kernel has nothing to standardise."""
    protocol = scoring.settings()
    kernel = svm_kernel(method(name).estimator(), scoring.protocol)
    if kernel == "precomputed":
        protocol |= {"standardise": "no"}
    return protocol if kernel == "rbf" else protocol | {"kernel": kernel}


def measure(plan: MethodPlan, seed: int) -> Measured:
    """Return what the method makes of the graphs (``represent``), in a process of its own.

    Raises ``LimitError`` for a limit exceeded, and whatever else ``run_measured`` does.
    """
    memory = plan.memory_gib
    if memory is None:
        memory = _SHARE_OF_FREE * free_memory() / GIB
    graphs, config = plan.graphs.without_labels(), plan.config.updated({"seed": seed})
    about = (graphs, plan.method, config, plan.scoring.protocol)
    limits = {"memory_gib": memory, "seconds": plan.seconds}
    return run_measured(represent, *about, **limits, modules=method(plan.method).modules)
