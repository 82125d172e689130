"""``Plan``: what every plan of runs offers; ``run_seeds``: its runs, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Protocol

from igsd.experiments.records import Identity, make_records_folder
from igsd.graphs.graphset import GraphSet

Record = dict[str, Any]


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
