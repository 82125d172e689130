"""``execute``: a run of an exhibit becomes a record, whatever protocol it belongs to."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from igsd.errors import ConfigError
from igsd.experiments.job import Job, cached_data, is_shared
from igsd.experiments.method_plan import MethodPlan
from igsd.experiments.method_runs import measure_once
from igsd.experiments.plan import Plan
from igsd.experiments.qm9_plan import QM9Plan
from igsd.experiments.recipe_plan import RecipePlan, has_floors
from igsd.experiments.records import (
    Record,
    failure,
    is_fresh,
    read_record,
    start_record,
    usable_record,
    write_record,
)
from igsd.experiments.runs import Run
from igsd.experiments.scoring import Scoring, has_many_twins
from igsd.experiments.semi_plan import SemiPlan
from igsd.experiments.value_plan import ValuePlan
from igsd.graphs.graphset import GraphSet
from igsd.graphs.qm9 import QM9_TARGETS

DONE, LIMIT, MISSING, STALE, FAILED = "done", "limit", "missing", "stale", "failed"
OTHER, BROKEN = "other settings", "broken"
"""How a run stands. ``limit``: it exceeded limits at least as wide as those of now. ``stale``: its
record is of another version of the algorithm, ``other settings``: of another run; ``broken``: the
file in its place is no record."""


def execute(job: Job) -> list[Record]:
    """Return the records of a job's runs, which are made now and written to their places.

    A run that fails in whatever way gives a record with status ``failed``. Raises
    ``StorageError`` where records cannot be written, since every other run would end so too, and
    ``ConfigError`` for a record of another run.
    """
    graphs = cached_data(job.source)
    if is_shared(job.runs[0]):
        return _execute_shared(job, graphs)
    return [_recorded(job, run, graphs, plan_of(job, run, graphs).run) for run in job.runs]


def state_of(job: Job, run: Run, graphs: GraphSet) -> str:
    """Return how a run stands, by its record; warns of another file in its place."""
    path = run.path(job.records)
    if not path.exists():
        return MISSING
    record = usable_record(path)
    if record is None:
        return BROKEN
    if not is_fresh(record):
        return STALE
    plan = plan_of(job, run, graphs)
    if plan.identity(run.seed).differences(record):
        return OTHER
    if record["status"] == "ok":
        # `igsd compare` leaves the floors of IGSD to methods of their own.
        is_part = run.is_recipe and run.has_floors and not has_floors(record)
        return MISSING if is_part else DONE
    is_over = plan.finished(run.seed) is not None
    return LIMIT if is_over else FAILED


def why_other(job: Job, run: Run, graphs: GraphSet) -> str:
    """Return what the record in a run's place has otherwise, the first of it."""
    record = read_record(run.path(job.records))
    if record is None:
        return "it has gone meanwhile"
    return plan_of(job, run, graphs).identity(run.seed).differences(record)[0]


def plan_of(job: Job, run: Run, graphs: GraphSet) -> Plan:
    """Return the plan of a run; raises ``ConfigError`` for a setting that does not exist."""
    config, records, count = run.config(), job.records, run.seed + 1
    about = (graphs, run.method, run.recipe, config, count, records)
    if run.protocol == "semi":
        rate = run.label_rate
        if run.target:
            return ValuePlan(*about, label=run.label, target=run.target, label_rate=rate)
        return SemiPlan(*about, label=run.label, label_rate=rate)
    if run.protocol == "qm9":
        targets = (run.target,) if run.target else QM9_TARGETS
        return QM9Plan(*about, label=run.label, targets=targets)
    scoring = usual_scoring(run.protocol, graphs)
    if run.is_recipe:
        floors = run.has_floors
        return RecipePlan(graphs, run.label, config, scoring, count, records, floors=floors)
    return MethodPlan(
        graphs,
        run.method,
        run.recipe,
        config,
        scoring,
        count,
        seconds=job.seconds,
        memory_gib=job.memory_gib,
        records=records,
        label=run.label,
    )


def check_run(job: Job, run: Run, graphs: GraphSet) -> None:
    """Raise for what would end every seed of a run: data without classes, or missing folds."""
    plan_of(job, run, graphs).check()


def usual_scoring(protocol: str, graphs: GraphSet) -> Scoring:
    """Return how an exhibit scores these graphs, one fold after the other: runs are parallel."""
    twins = _many_twins(graphs.checksum, graphs)
    return Scoring(protocol, twins=twins, jobs=1)


def failed_record(job: Job, run: Run, graphs: GraphSet, error: str) -> Record:
    """Return the record of a run that ended without one, and write it."""
    identity = plan_of(job, run, graphs).identity(run.seed)
    about = {"recipe": run.label if run.is_recipe else run.recipe, "method": run.method}
    record = start_record(identity, graphs, run.seed, **about)
    record |= {"status": "failed", "error": error}
    write_record(run.path(job.records), record)
    return record


def _execute_shared(job: Job, graphs: GraphSet) -> list[Record]:
    """Return the records of a method that is run once and scored under the folds of each seed."""
    plan = plan_of(job, job.runs[0], graphs)
    if not isinstance(plan, MethodPlan):
        raise TypeError(f"{job} has no plan of a method.")
    work, made = partial(plan.run, measured=measure_once()), list[Record]()
    for run in job.runs:
        made.append(_recorded(job, run, graphs, work))
        # What exceeds its limits with one seed is not tried with the next.
        if made[-1]["status"] == "limit":
            break
    return made


def _recorded(job: Job, run: Run, graphs: GraphSet, work: Callable[[int], Record]) -> Record:
    """Return the record that ``work`` gives for the seed of a run, or one of its failure."""
    try:
        return work(run.seed)
    except ConfigError:
        raise
    except Exception as error:
        # Hours of other runs must not end with an error that nobody thought of.
        return failed_record(job, run, graphs, failure(error)["error"])


_TWINS: dict[str, bool] = {}


def _many_twins(checksum: str, graphs: GraphSet) -> bool:
    """Return ``has_many_twins``, which refines the colours of all graphs, once for each set."""
    if checksum not in _TWINS:
        _TWINS[checksum] = has_many_twins(graphs)
    return _TWINS[checksum]
