"""``Plan``: what every plan of runs offers; ``run_seeds``: its runs, one after the other."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from igsd.experiments.environment import peak_memory_mib
from igsd.experiments.identity import Identity
from igsd.experiments.records import RUN_ERRORS, Record, failure, make_records_folder, write_record
from igsd.graphs.graphset import GraphSet


class Plan(Protocol):
    """One method on one data set under one protocol, over seeds 0..N-1.

    There is one for each way to train and score: ``RecipePlan`` (IGSD by a recipe), ``MethodPlan``
    (any method without labels, within limits) and the kinds of ``SplitPlan`` (few labels).
    """

    @property
    def graphs(self) -> GraphSet:
        """The graphs that are learned from and scored on."""

    @property
    def num_seeds(self) -> int:
        """How many seeds are run."""

    @property
    def records(self) -> Path | None:
        """The folder of all records, None where none are kept."""

    def check(self) -> None:
        """Raise for what would end the run of every seed; nothing is trained."""

    def identity(self, seed: int) -> Identity:
        """Return what makes another run the same as that of this seed."""

    def path_of(self, seed: int) -> Path | None:
        """Return where the record of this seed stands, None without records."""

    def finished(self, seed: int) -> Record | None:
        """Return the record of a run that need not be made again, None where there is none."""

    def run(self, seed: int) -> Record:
        """Return the record of a run that is made now, and write it where it has a place."""


def finished_runs(plan: Plan) -> dict[int, Record]:
    """Return the records that are there already, by seed.

    Raises ``DataError`` for data that cannot be scored, ``StorageError`` where published folds are
    missing or records cannot be written and ``ConfigError`` for a record of another run, so that
    nothing is trained in vain.
    """
    plan.check()
    if plan.records is not None:
        make_records_folder(plan.records)
    found = {seed: plan.finished(seed) for seed in range(plan.num_seeds)}
    return {seed: record for seed, record in found.items() if record is not None}


def run_seeds(plan: Plan, finished: dict[int, Record]) -> Iterator[Record]:
    """Yield the record of each seed in turn: from ``finished``, or of a run made now.

    A run that fails does not stop the others.
    """
    for seed in range(plan.num_seeds):
        yield finished[seed] if seed in finished else plan.run(seed)


def complete_record(
    record: Record, path: Path | None, work: Callable[[], Record], *, name: str
) -> Record:
    """Return a record that was begun, with what ``work`` adds to it, written where it has a place.

    A run that fails gives a record with status ``failed``, and a line that calls it ``name``; what
    would end every other run too is raised (``failure``).
    """
    try:
        record = record | {"status": "ok"} | work()
    except RUN_ERRORS as error:
        record = record | failure(error)
        print(f"{name} failed: {record['error']}", file=sys.stderr)
    record["peak_memory_mib"] = peak_memory_mib()
    if path is not None:
        write_record(path, record)
    return record
