"""``run_splits``: one method that learns from few labels over several splits, with records.

What a split is and what is measured on it is the plan's business; this file keeps the records.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.config_semi import SemiConfig
from igsd.experiments import ALGORITHM
from igsd.experiments.environment import peak_memory_mib
from igsd.experiments.records import (
    RUN_ERRORS,
    Identity,
    failure,
    find_finished,
    make_records_folder,
    record_path,
    start_record,
    write_record,
)
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class SplitPlan(ABC):
    """One method on one data set over splits 0..N-1; split s has the model's seed s."""

    graphs: GraphSet
    method: str
    recipe: str
    config: SemiConfig
    num_splits: int
    records: Path | None = None
    force: bool = False
    verbose: bool = False

    @abstractmethod
    def protocol(self) -> dict[str, Any]:
        """Return what decides the splits and the score, as plain values."""

    @abstractmethod
    def folder(self) -> str:
        """Return the name of the folder of this protocol's records."""

    @abstractmethod
    def check(self) -> None:
        """Raise for data that cannot be split or scored; nothing is trained."""

    @abstractmethod
    def run_split(self, seed: int, checkpoint: Path | None) -> dict[str, Any]:
        """Train and score on one split; return the rest of its record, ``rows`` among it."""

    def config_of(self, seed: int) -> SemiConfig:
        """Return the settings of the run on this split."""
        return self.config.updated({"seed": seed})

    def path_of(self, seed: int) -> Path | None:
        """Return where the record of this split stands, None without records."""
        if self.records is None:
            return None
        return record_path(self.records, self.folder(), self.graphs.name, self.method, seed)

    def identity_of(self, seed: int) -> Identity:
        """Return what makes a record one of this split's run."""
        return Identity(self.config_of(seed), self.graphs.checksum, self.protocol(), ALGORITHM)


def finished_splits(plan: SplitPlan) -> dict[int, dict[str, Any]]:
    """Return the records that are there already, by split.

    Raises ``DataError`` for data that cannot be scored, ``StorageError`` where records cannot be
    written and ``ConfigError`` for a record of another run, so that nothing is trained in vain.
    """
    plan.check()
    if plan.records is not None:
        make_records_folder(plan.records)
    found = {}
    for seed in range(plan.num_splits):
        path, identity = plan.path_of(seed), plan.identity_of(seed)
        record = None if path is None else find_finished(path, identity, force=plan.force)
        if record is not None:
            found[seed] = record
    return found


def run_splits(plan: SplitPlan, finished: dict[int, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the record of each split in turn: from ``finished``, or of a run made now."""
    for seed in range(plan.num_splits):
        yield finished[seed] if seed in finished else run_one_split(plan, seed)


def run_one_split(plan: SplitPlan, seed: int) -> dict[str, Any]:
    """Return the record of a run that is made now, and write it where the plan has a place.

    With records a run also keeps a checkpoint beside its record while it lasts, so that the same
    command goes on where it was stopped. A run that fails gives a record with status ``failed``;
    what would end every other run too is raised (``failure``).
    """
    about = {"recipe": plan.recipe, "method": plan.method}
    record = start_record(plan.identity_of(seed), plan.graphs, seed, **about)
    path = plan.path_of(seed)
    checkpoint = None if path is None else path.with_suffix(".checkpoint")
    if checkpoint is not None and plan.force:
        checkpoint.unlink(missing_ok=True)
    try:
        record |= {"status": "ok"} | plan.run_split(seed, checkpoint)
    except RUN_ERRORS as error:
        record |= failure(error)
        print(f"split {seed} failed: {record['error']}", file=sys.stderr)
    record |= {"peak_memory_mib": peak_memory_mib()}
    if path is not None:
        write_record(path, record)
        if checkpoint is not None and record["status"] == "ok":
            checkpoint.unlink(missing_ok=True)
    return record
