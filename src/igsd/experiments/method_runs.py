"""``run_method``: one method on one data set under one protocol with one seed, to a record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.baselines.limits import GIB, LimitError, MemoryLimitError, free_memory
from igsd.baselines.measured import Measured, run_measured
from igsd.baselines.registry import configure, has_kernel, method
from igsd.errors import IGSDError
from igsd.evaluation.gckn_folds import read_gckn_folds
from igsd.experiments.records import (
    Identity,
    find_record,
    make_records_folder,
    record_path,
    start_record,
    write_record,
)
from igsd.experiments.represent import represent
from igsd.experiments.scoring import Scoring, class_codes, score_seed
from igsd.graphs.graphset import GraphSet

Record = dict[str, Any]

DAY = 86400.0
"""The seconds that a method may take unless told otherwise: the paper's table says '> 1 day'."""

# A process that takes the last of the memory brings the machine to a halt before it is ended.
_SHARE_OF_FREE = 0.9


@dataclass(frozen=True)
class MethodPlan:
    """One method on one data set under one protocol; seed s is the method's and the folds' seed.

    ``seconds`` and ``memory_gib`` limit what fitting and representing may take in a process of its
    own; ``memory_gib`` None: nearly all that is free when the run begins. ``label``: what the
    folder of its records is called where that is not the method, but one of its variants.
    """

    graphs: GraphSet
    method: str
    recipe: str
    config: Any
    scoring: Scoring
    seconds: float | None = DAY
    memory_gib: float | None = None
    records: Path | None = None
    force: bool = False
    label: str = ""

    def path_of(self, seed: int) -> Path | None:
        """Return where the record of this seed stands, None without records."""
        if self.records is None:
            return None
        label = self.label or self.method
        return record_path(self.records, self.scoring.protocol, self.graphs.name, label, seed)

    def identity(self, seed: int) -> Identity:
        """Return what makes another run the same as that of this seed."""
        protocol = self.scoring.settings()
        if has_kernel(method(self.method).estimator()):
            protocol |= {"standardise": "no", "kernel": "precomputed"}
        return Identity(self.config.updated({"seed": seed}), self.graphs.checksum, protocol)

    def limits(self) -> dict[str, float | None]:
        """Return the limits as a record keeps them."""
        return {"seconds": self.seconds, "memory_gib": self.memory_gib}


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

    ``recipe`` and ``changes`` as in ``registry.configure``; ``others``: the rest of ``MethodPlan``.
    Raises ``ConfigError`` for an unknown name or setting, ``DataError`` for graphs that cannot be
    scored, ``StorageError`` where published folds are missing or records cannot be written.
    """
    config = configure(name, recipe, changes)
    codes = class_codes(graphs)
    if scoring.protocol == "gckn":
        read_gckn_folds(graphs.name, codes)
    plan = MethodPlan(graphs, name, recipe, config, scoring, **others)
    if plan.records is not None:
        make_records_folder(plan.records)
    return plan


def finished_run(plan: MethodPlan, seed: int) -> Record | None:
    """Return the record of a run that need not be made again, None where there is none.

    That is one that ended well, or one that exceeded limits which were at least as wide as now.
    Raises ``ConfigError`` for a record of another run, unless the plan forces.
    """
    path = plan.path_of(seed)
    record = None if path is None else find_record(path, plan.identity(seed), force=plan.force)
    if record is None or record["status"] == "ok":
        return record
    is_over = record["status"] == "limit" and not plan.force
    return record if is_over and _was_as_wide(record, plan) else None


def measure(plan: MethodPlan, seed: int) -> Measured:
    """Return what the method makes of the graphs (``represent``), in a process of its own.

    Raises ``LimitError`` for a limit exceeded, and whatever else ``run_measured`` does.
    """
    memory = plan.memory_gib
    if memory is None:
        memory = _SHARE_OF_FREE * free_memory() / GIB
    graphs, config = plan.graphs.without_labels(), plan.config.updated({"seed": seed})
    return run_measured(
        represent, graphs, plan.method, config, memory_gib=memory, seconds=plan.seconds
    )


def run_method(
    plan: MethodPlan, seed: int, measured: Callable[[MethodPlan, int], Measured] = measure
) -> Record:
    """Return the record of a run that is made now, and write it where the plan has a place for it.

    The method runs in a process of its own; the parent scores what comes back. Status ``ok``;
    ``limit`` with the paper's ``word`` for a limit exceeded; ``failed`` for any other end, whose
    sentence is in ``error``. ``measured`` gives what is scored. Raises ``StorageError`` where the
    record cannot be written.
    """
    about = {"method": plan.method, "recipe": plan.recipe, "limits": plan.limits()}
    record = start_record(plan.identity(seed), plan.graphs, seed, **about)
    try:
        record |= _score(plan, seed, measured(plan, seed))
    except LimitError as error:
        record |= {"status": "limit", "word": error.word, "error": str(error)}
    except MemoryError:
        text = "OMR: there was not enough memory to score the method."
        record |= {"status": "limit", "word": MemoryLimitError.word, "error": text}
    except IGSDError as error:
        record |= {"status": "failed", "error": str(error)}
    path = plan.path_of(seed)
    if path is not None:
        write_record(path, record)
    return record


def run_methods(
    plans: list[MethodPlan],
    num_seeds: int,
    on_start: Callable[[MethodPlan, int], None] = lambda plan, seed: None,
) -> Iterator[tuple[MethodPlan, Record, bool]]:
    """Yield (plan, record, whether it was there already) for each method and seed 0..N-1.

    A method that exceeds its limits with one seed is not tried with the next; one that draws
    nothing is run once and scored under the folds of every seed. ``on_start`` is called before each
    run that is made. Raises ``ConfigError`` for a record of another run before anything is run.
    """
    found = {(p.method, s): finished_run(p, s) for p in plans for s in range(num_seeds)}
    for plan in plans:
        measured = measure if method(plan.method).draws else _once()
        for seed in range(num_seeds):
            record = found[plan.method, seed]
            if record is None:
                on_start(plan, seed)
                record = run_method(plan, seed, measured)
                yield plan, record, False
            else:
                yield plan, record, True
            if record["status"] == "limit":
                break


def _once() -> Callable[[MethodPlan, int], Measured]:
    """Return a ``measure`` that runs once and remembers."""
    kept: list[Measured] = []

    def remembered(plan: MethodPlan, seed: int) -> Measured:
        if not kept:
            kept.append(measure(plan, seed))
        return kept[0]

    return remembered


def _score(plan: MethodPlan, seed: int, measured: Measured) -> Record:
    """Return the rest of a record: the rows, what they took, and what is to be said of them."""
    made = measured.value
    begin = time.perf_counter()
    scored = score_seed({plan.method: made.vectors()}, plan.graphs, plan.scoring, seed)
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


def _was_as_wide(record: Record, plan: MethodPlan) -> bool:
    """Say whether the limit that a run exceeded was at least as wide as the plan's."""
    key = "memory_gib" if record["word"] == MemoryLimitError.word else "seconds"
    before, now = record["limits"][key], plan.limits()[key]
    return before == now or (None not in (before, now) and before > now)
