"""``run_splits``: one method that learns from few labels over several splits, with records."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.baselines.gin_supervised import GINClassifier, SupervisedConfig
from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.semi_methods import find_semi_method
from igsd.config_semi import SemiConfig
from igsd.errors import IGSDError
from igsd.estimators.classifier import GraphClassifier
from igsd.evaluation.semi import (
    LABEL_RATE,
    TEST_SHARE,
    SemiSplit,
    score_majority,
    score_split,
    score_vectors,
    semi_split,
)
from igsd.experiments import ALGORITHM
from igsd.experiments.environment import commit, now, peak_memory_mib, versions
from igsd.experiments.records import KIND, Identity, find_finished, record_path, write_record
from igsd.experiments.runner import data_summary
from igsd.experiments.scoring import Scored, class_codes
from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class SemiPlan:
    """One method on one data set over splits 0..N-1; split s has the model's seed s."""

    graphs: GraphSet
    method: str
    recipe: str
    config: SemiConfig
    num_splits: int
    label_rate: float = LABEL_RATE
    records: Path | None = None
    force: bool = False
    verbose: bool = False

    def config_of(self, seed: int) -> SemiConfig:
        """Return the settings of the run on this split."""
        return self.config.updated({"seed": seed})

    def path_of(self, seed: int) -> Path | None:
        """Return where the record of this split stands, None without records."""
        if self.records is None:
            return None
        share = "" if self.label_rate == LABEL_RATE else f"-{self.label_rate:g}"
        return record_path(self.records, f"semi{share}", self.graphs.name, self.method, seed)

    def protocol(self) -> dict[str, Any]:
        """Return what decides the splits, as plain values."""
        return {"name": "semi", "label_rate": self.label_rate, "test_share": TEST_SHARE}


def finished_splits(plan: SemiPlan) -> dict[int, dict[str, Any]]:
    """Return the records that are there already, by split.

    Raises ``DataError`` for data that cannot be scored and ``ConfigError`` for a record of another
    run, so that nothing is trained in vain.
    """
    semi_split(class_codes(plan.graphs), 0, label_rate=plan.label_rate)
    found = {}
    for seed in range(plan.num_splits):
        path = plan.path_of(seed)
        identity = Identity(plan.config_of(seed), plan.graphs.checksum, plan.protocol(), ALGORITHM)
        record = None if path is None else find_finished(path, identity, force=plan.force)
        if record is not None:
            found[seed] = record
    return found


def run_splits(plan: SemiPlan, finished: dict[int, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the record of each split in turn: from ``finished``, or of a run made now.

    With records a run also keeps a checkpoint beside its record while it lasts, so that the same
    command goes on where it was stopped. A run that fails gives a record with status ``failed``.
    """
    for seed in range(plan.num_splits):
        if seed in finished:
            yield finished[seed]
            continue
        record, path = _start_record(plan, seed), plan.path_of(seed)
        checkpoint = None if path is None else path.with_suffix(".checkpoint")
        if checkpoint is not None and plan.force:
            checkpoint.unlink(missing_ok=True)
        try:
            record |= _run_split(plan, seed, checkpoint)
        except (IGSDError, ArithmeticError, RuntimeError, MemoryError, OSError) as error:
            record |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
            print(f"split {seed} failed: {record['error']}", file=sys.stderr)
        record |= {"peak_memory_mib": peak_memory_mib()}
        if path is not None:
            write_record(path, record)
            if checkpoint is not None and record["status"] == "ok":
                checkpoint.unlink(missing_ok=True)
        yield record


def _run_split(plan: SemiPlan, seed: int, checkpoint: Path | None) -> dict[str, Any]:
    """Return the rest of a record: the rows, the seconds, the history and the pseudo-labels."""
    codes = class_codes(plan.graphs)
    split = semi_split(codes, seed, label_rate=plan.label_rate)
    estimator = find_semi_method(plan.method).classifier.from_config(
        plan.config_of(seed), checkpoint=checkpoint, verbose=plan.verbose
    )
    begin = time.perf_counter()
    results = score_split(estimator, plan.graphs, codes, split, seed)
    seconds = {"train": round(time.perf_counter() - begin, 3)}
    scored: list[Scored] = [(plan.method, result) for result in results]
    scored += _floors(plan, codes, split, seed)
    return {
        "status": "ok",
        "seconds": seconds,
        "history": estimator.history_,
        "pseudo_labels": _pseudo_labels(estimator, codes, split),
        "rows": [{"method": method} | result.to_dict() for method, result in scored],
    }


def _floors(plan: SemiPlan, codes: Any, split: SemiSplit, seed: int) -> list[Scored]:
    """Return the rows that a gain is measured against, on the same split."""
    settings = plan.config_of(seed).to_json()
    known = {entry.name for entry in SupervisedConfig.settings()}
    config = SupervisedConfig().updated({k: v for k, v in settings.items() if k in known})
    untrained = GINClassifier.from_config(config.updated({"epochs": 0, "self_training": False}))
    untrained.fit(plan.graphs.take(split.train), split.training_labels(codes))
    vectors = {
        "untrained": untrained.transform(plan.graphs),
        "histogram": LabelDegreeHistogram()
        .fit(plan.graphs.take(split.train))
        .transform(plan.graphs),
    }
    rows = [(name, score_vectors(X, codes, split, seed)) for name, X in vectors.items()]
    return [*rows, ("majority", score_majority(codes, split, seed))]


def _pseudo_labels(estimator: GraphClassifier, codes: Any, split: SemiSplit) -> dict[str, Any]:
    """Return, for each round, how many pseudo-labels were given and how many of them are right."""
    found = estimator.pseudo_labels_
    truth = codes[split.train][found.graphs]
    given = estimator.classes_[found.codes] if len(found) else truth
    rounds = sorted(set(found.rounds.tolist()))
    return {
        "rounds": rounds,
        "given": [int((found.rounds == number).sum()) for number in rounds],
        "right": [int(((given == truth) & (found.rounds == number)).sum()) for number in rounds],
    }


def _start_record(plan: SemiPlan, seed: int) -> dict[str, Any]:
    """Return all that is known of a run before it begins."""
    import torch

    return {
        "kind": KIND,
        "algorithm": ALGORITHM,
        "status": "running",
        "error": None,
        "recipe": plan.recipe,
        "method": plan.method,
        "seed": seed,
        "data": data_summary(plan.graphs),
        "protocol": plan.protocol(),
        "config": plan.config_of(seed).to_json(),
        "commit": commit(),
        "versions": versions(),
        "threads": torch.get_num_threads(),
        "started": now(),
        "rows": [],
    }
