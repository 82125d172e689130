"""``run_trials``: a search for settings, trial after trial, that can be stopped at any time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from igsd.config import Config
from igsd.experiments.identity import Identity
from igsd.experiments.records import RUN_ERRORS, failure
from igsd.experiments.tuning_folder import TuningFolder, recipe_toml
from igsd.experiments.tuning_grid import Grid
from igsd.experiments.tuning_sampler import suggest
from igsd.experiments.tuning_score import TuningTask
from igsd.experiments.tuning_trial import Trial, ranked


@dataclass(frozen=True)
class Search:
    """What is searched: the settings of ``grid`` over those of ``config``, in ``num_trials``.

    ``given``: those whose values the user listed, so that no other value of them is tried.
    """

    task: TuningTask
    config: Config
    grid: Grid
    num_trials: int
    seed: int
    folder: TuningFolder
    given: frozenset[str] = frozenset()

    def first(self) -> dict[str, Any]:
        """Return the settings of the first trial: the recipe's own, or the first value given."""
        settings = {key: getattr(self.config, key) for key in self.grid}
        outside = {key for key in self.given if settings[key] not in self.grid[key]}
        return settings | {key: self.grid[key][0] for key in outside}

    def identity(self) -> Identity:
        """Return what makes another search the same; the number of trials may grow."""
        grid = {f"grid {key}": list(values) for key, values in self.grid.items()}
        protocol = self.task.protocol() | {"search seed": self.seed} | grid
        return Identity(self.config, self.task.graphs.checksum, protocol)

    def recipe(self, trials: list[Trial]) -> str | None:
        """Return the best settings so far as TOML, None where no trial has a score."""
        for best in ranked(trials)[:1]:
            about = f"Found by igsd tune on {self.task.graphs.name!r}: the best of {len(trials)} "
            about += f"trials, {100 * (best.score or 0):.1f} % right inside the training parts."
            return recipe_toml(self.config.updated(best.settings), about)
        return None


def run_trials(
    search: Search, finished: list[Trial], may_start: Callable[[int], bool]
) -> Iterator[Trial]:
    """Yield the trials that are still to be made, each once it is written to the folder.

    The first of all is the recipe as it is (``Search.first``). ``may_start`` is asked before each,
    with its number. A training that fails gives a trial without a score; a folder that cannot be
    written stops the search (``StorageError``). Ends early where everything in the grid has been
    tried.
    """
    trials = list(finished)
    if not trials:
        search.folder.begin(search.identity())
    while len(trials) < search.num_trials and may_start(len(trials)):
        settings = _next_settings(search, trials)
        if settings is None:
            return
        trials.append(_run(search, len(trials), settings))
        search.folder.write(search.identity(), trials, search.recipe(trials))
        yield trials[-1]


def _next_settings(search: Search, trials: list[Trial]) -> dict[str, Any] | None:
    if not trials:
        return search.first()
    return suggest(search.grid, trials, search.seed)


def _run(search: Search, number: int, settings: dict[str, Any]) -> Trial:
    """Return a trial made now."""
    begin, score, error = time.perf_counter(), None, None
    try:
        score = search.task.score(search.config.updated(settings))
    except RUN_ERRORS as reason:
        error = failure(reason)["error"]
    return Trial(number, settings, score, round(time.perf_counter() - begin, 3), error)
