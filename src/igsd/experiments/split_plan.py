"""``SplitPlan``: a method that learns from few labels, trained inside splits of a data set.

What a split is and what is measured on it is for its kinds to say: ``SemiPlan`` (classes),
``ValuePlan`` (a number) and ``QM9Plan`` (properties of molecules). This file keeps the records.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from igsd.config_semi import SemiConfig
from igsd.estimators.label_estimator import LabelEstimator
from igsd.evaluation.semi import LABEL_RATE
from igsd.experiments import ALGORITHM
from igsd.experiments.identity import Identity
from igsd.experiments.plan import complete_record
from igsd.experiments.records import Record, find_finished, record_path, start_record
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class SplitPlan(ABC):
    """A ``Plan`` of one method over splits 0..N-1; split s has the model's seed s.

    ``label``: what the folder of its records is called where that is not the method's name.
    """

    graphs: GraphSet
    method: str
    recipe: str
    config: SemiConfig
    num_seeds: int
    records: Path | None = None
    force: bool = False
    verbose: bool = False
    label: str = ""

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
        name = self.label or self.method
        return record_path(self.records, self.folder(), self.graphs.name, name, seed)

    def identity(self, seed: int) -> Identity:
        """Return what makes another run the same as that of this split."""
        return Identity(self.config_of(seed), self.graphs.checksum, self.protocol(), ALGORITHM)

    def finished(self, seed: int) -> Record | None:
        """Return the record of this split if it ended well; raises for one of another run."""
        return find_finished(self.path_of(seed), self.identity(seed), force=self.force)

    def run(self, seed: int) -> Record:
        """Return the record of a run that is made now, and write it where the plan has a place.

        With records a run also keeps a checkpoint beside its record while it lasts, so that the
        same command goes on where it was stopped; one of other settings is not in its way. A run
        that fails gives a record with status ``failed``; what would end every other run too is
        raised (``failure``).
        """
        about = {"recipe": self.recipe, "method": self.method}
        record = start_record(self.identity(seed), self.graphs, seed, **about)
        path = self.path_of(seed)
        checkpoint = None
        if path is not None:
            checkpoint = path.with_suffix(f".{self.identity(seed).digest}.checkpoint")
            if self.force:
                _forget_checkpoints(path)
        work = partial(self.run_split, seed, checkpoint)
        record = complete_record(record, path, work, name=f"split {seed}")
        if path is not None and record["status"] == "ok":
            _forget_checkpoints(path)
        return record


def split_folder(protocol: str, target: str = "", label_rate: float = LABEL_RATE) -> str:
    """Return the folder of a protocol's records: with the target, and an unusual share of labels.

    >>> split_folder("semi"), split_folder("semi", "logBB", 0.1)
    ('semi', 'semi-logBB-0.1')
    """
    named = f"{protocol}-{target}" if target else protocol
    return named if label_rate == LABEL_RATE else f"{named}-{label_rate:g}"


def losses_of(estimator: LabelEstimator) -> dict[str, Any]:
    """Return the losses by epoch as a record has them, those before the labels where there are any.

    ``history``: the epochs with labels; ``pretraining``: the self-distillation before them.
    """
    before = estimator.pretraining_history_
    return {"history": estimator.history_} | ({"pretraining": before} if before else {})


def _forget_checkpoints(path: Path) -> None:
    """Remove what runs with this record's place have left, also those of other settings."""
    for left in path.parent.glob(f"{path.stem}.*.checkpoint*"):
        left.unlink(missing_ok=True)
