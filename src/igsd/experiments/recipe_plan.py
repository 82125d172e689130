"""``RecipePlan``: IGSD trained by a recipe and scored beside its floors, one model per seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from igsd.baselines.histogram import LabelDegreeHistogram
from igsd.baselines.untrained import untrained_twin
from igsd.config import Config
from igsd.estimators import IGSD
from igsd.experiments.identity import Identity
from igsd.experiments.plan import complete_record
from igsd.experiments.records import Record, find_finished, record_path, start_record
from igsd.experiments.scoring import ROW_ORDER, Scoring, check_scorable, num_scores, score_seed
from igsd.experiments.trained import Trained, train_model
from igsd.graphs.graphset import GraphSet
from igsd.progress import progress_bar


def has_floors(record: Record) -> bool:
    """Say whether a record of IGSD has the rows that its gain is measured against."""
    return {row["method"] for row in record["rows"]} >= set(ROW_ORDER)


def _ignore(trained: Trained) -> None:
    """Do nothing with a new model."""


@dataclass(frozen=True)
class RecipePlan:
    """A ``Plan`` of one recipe; seed s is the model's and the folds' seed.

    ``floors``: also score what a gain is measured against, the untrained encoder and the histogram.
    ``on_trained`` gets each new model, e.g. to save it.
    """

    graphs: GraphSet
    recipe: str
    config: Config
    scoring: Scoring
    num_seeds: int
    records: Path | None = None
    force: bool = False
    verbose: bool = False
    floors: bool = True
    on_trained: Callable[[Trained], None] = _ignore

    def check(self) -> None:
        """Raise for graphs that cannot be scored, or whose published folds are missing."""
        check_scorable(self.graphs, self.scoring.protocol)

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

    def finished(self, seed: int) -> Record | None:
        """Return the record of this seed if it ended well; raises for one of another run.

        One without the floors that are asked for here is none.
        """
        record = find_finished(self.path_of(seed), self.identity(seed), force=self.force)
        return None if record is None or (self.floors and not has_floors(record)) else record

    def run(self, seed: int) -> Record:
        """Return the record of a run that is made now, and write it where the plan has a place.

        A run that fails gives a record with status ``failed``; what would end every other run too
        is raised (``failure``).
        """
        record = start_record(self.identity(seed), self.graphs, seed, recipe=self.recipe)
        work = partial(self._train_and_score, seed)
        return complete_record(record, self.path_of(seed), work, name=f"seed {seed}")

    def _train_and_score(self, seed: int) -> Record:
        """Return the rest of a record."""
        trained = train_model(self.graphs, self.config_of(seed), verbose=self.verbose)
        self.on_trained(trained)
        return self._score(trained)

    def _score(self, trained: Trained) -> Record:
        """Return the rows of a model and of its floors, if any, and what making them took."""
        vectors = {"igsd": trained.vectors}
        if self.floors:
            untrained = untrained_twin(IGSD.from_config(self.config_of(trained.seed)))
            vectors["untrained"] = untrained.fit_transform(self.graphs)
            vectors["histogram"] = LabelDegreeHistogram().fit_transform(self.graphs)
        begin = time.perf_counter()
        total = num_scores(tuple(vectors), self.scoring)
        with progress_bar("scoring", total, shown=self.verbose) as advance:
            scored = score_seed(vectors, self.graphs, self.scoring, trained.seed, advance)
        seconds = {"evaluate": round(time.perf_counter() - begin, 3)}
        return {
            "seconds": trained.seconds | seconds,
            "history": trained.model.history_,
            "rows": [{"method": method} | result.to_dict() for method, result in scored],
        }
