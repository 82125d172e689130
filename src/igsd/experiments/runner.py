"""``run_seed``: train a model, score it, and keep a record of the run; ``run_seeds``: several."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.registry import build
from igsd.baselines.untrained import untrained_encoder
from igsd.config import Config
from igsd.evaluation.gckn_folds import read_gckn_folds
from igsd.experiments.environment import now, peak_memory_mib
from igsd.experiments.records import (
    RUN_ERRORS,
    Identity,
    Settings,
    failure,
    find_finished,
    make_records_folder,
    record_path,
    start_record,
    write_record,
)
from igsd.experiments.scoring import Scoring, class_codes, num_scores, score_seed
from igsd.graphs.graphset import GraphSet
from igsd.progress import progress_bar


@dataclass(frozen=True)
class Plan:
    """One recipe on one data set over seeds 0..N-1; seed s is the model's and the folds' seed."""

    graphs: GraphSet
    recipe: str
    config: Config
    scoring: Scoring
    num_seeds: int
    records: Path | None = None
    force: bool = False
    verbose: bool = False

    def config_of(self, seed: int) -> Config:
        """Return the settings of the run with this seed."""
        return self.config.updated({"seed": seed})

    def identity(self, seed: int) -> Identity:
        """Return what makes another run the same as that of this seed."""
        return Identity(self.config_of(seed), self.graphs.checksum, self.scoring.settings())

    def path_of(self, seed: int) -> Path | None:
        """Return where the record of the run with this seed stands, None without records."""
        if self.records is None:
            return None
        return record_path(self.records, self.scoring.protocol, self.graphs.name, self.recipe, seed)


@dataclass(frozen=True)
class Trained:
    """A model of one seed, the vectors it gives to its own graphs, and the seconds both took."""

    seed: int
    model: Any
    vectors: np.ndarray
    seconds: dict[str, float]
    started: str


def finished_records(plan: Plan) -> dict[int, dict[str, Any]]:
    """Return the records that are there already, by seed.

    Raises ``DataError`` for data that cannot be scored, ``StorageError`` where published folds are
    missing and ``ConfigError`` for a record of another run, so that nothing is trained in vain.
    """
    codes = class_codes(plan.graphs)
    if plan.scoring.protocol == "gckn":
        read_gckn_folds(plan.graphs.name, codes)
    if plan.records is not None:
        make_records_folder(plan.records)
    found = {}
    for seed in range(plan.num_seeds):
        path = plan.path_of(seed)
        if path is None:
            continue
        record = find_finished(path, plan.identity(seed), force=plan.force)
        if record is not None:
            found[seed] = record
    return found


def run_seeds(
    plan: Plan,
    finished: dict[int, dict[str, Any]],
    on_trained: Callable[[Trained], None] = lambda trained: None,
) -> Iterator[dict[str, Any]]:
    """Yield the record of each seed in turn: from ``finished``, or of a run made now.

    A run that fails does not stop the others. ``on_trained`` and errors as in ``run_seed``.
    """
    for seed in range(plan.num_seeds):
        yield finished[seed] if seed in finished else run_seed(plan, seed, on_trained)


def run_seed(
    plan: Plan, seed: int, on_trained: Callable[[Trained], None] = lambda trained: None
) -> dict[str, Any]:
    """Return the record of one run that is made now, and write it where the plan has a place.

    ``on_trained`` gets the new model, e.g. to save it. A run that fails gives a record with status
    ``failed``; what would end every other run too is raised (``failure``).
    """
    record = start_record(plan.identity(seed), plan.graphs, seed, recipe=plan.recipe)
    try:
        trained = train_model(plan.graphs, plan.config_of(seed), verbose=plan.verbose)
        on_trained(trained)
        record |= _score(plan, trained)
    except RUN_ERRORS as error:
        record |= failure(error)
        print(f"seed {seed} failed: {record['error']}", file=sys.stderr)
    record |= {"peak_memory_mib": peak_memory_mib()}
    path = plan.path_of(seed)
    if path is not None:
        write_record(path, record)
    return record


def train_model(
    graphs: GraphSet,
    config: Settings,
    *,
    method: str = "igsd",
    checkpoint: Path | None = None,
    log_dir: str | None = None,
    verbose: bool = False,
) -> Trained:
    """Return a method fitted on ``graphs``, which go on being embedded by it at once."""
    started, begin = now(), time.perf_counter()
    model = build(method, config, checkpoint=checkpoint, log_dir=log_dir, verbose=verbose)
    model.fit(graphs)
    middle = time.perf_counter()
    vectors = model.transform(graphs)
    seconds = {"train": round(middle - begin, 3), "embed": round(time.perf_counter() - middle, 3)}
    return Trained(config.seed, model, vectors, seconds, started)


def _score(plan: Plan, trained: Trained) -> dict[str, Any]:
    """Return the rest of a record: the rows, the seconds and the last loss."""
    config = plan.config_of(trained.seed)
    vectors = {
        "igsd": trained.vectors,
        "untrained": untrained_encoder(config).fit_transform(plan.graphs),
        "histogram": LabelDegreeHistogram().fit_transform(plan.graphs),
    }
    begin = time.perf_counter()
    total = num_scores(tuple(vectors), plan.scoring)
    with progress_bar("scoring", total, shown=plan.verbose) as advance:
        scored = score_seed(vectors, plan.graphs, plan.scoring, trained.seed, advance)
    seconds = {"evaluate": round(time.perf_counter() - begin, 3)}
    return {
        "status": "ok",
        "seconds": trained.seconds | seconds,
        "history": trained.model.history_,
        "rows": [{"method": method} | result.to_dict() for method, result in scored],
    }
