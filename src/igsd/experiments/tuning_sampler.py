"""What to try next: Optuna's tree-structured Parzen estimator over a grid.

The answer depends on the grid, the trials so far and the seed alone. So a search that was stopped
goes on as if it had not been, and nothing of Optuna needs to be stored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from igsd.errors import ConfigError
from igsd.experiments.tuning_grid import Grid, num_choices
from igsd.experiments.tuning_trial import Trial

# So often Optuna is asked for something new before chance decides.
_ASKED = 20


def require_optuna() -> Any:
    """Return the module ``optuna``; raises ``ConfigError`` where it is not installed."""
    try:
        import optuna
    except ImportError as error:
        raise ConfigError('`igsd tune` needs Optuna: pip install "igsd[tune]".') from error
    return optuna


def suggest(grid: Grid, trials: Sequence[Trial], seed: int) -> dict[str, Any] | None:
    """Return settings of the grid that no trial has had, None where all have been tried.

    The first ten are random, the others near the good ones so far. A failed trial counts as tried
    and teaches nothing else. Trials with values outside the grid, such as the recipe's own, do not
    teach either.
    """
    inside = [trial for trial in trials if _is_inside(grid, trial.settings)]
    tried = {tuple(trial.settings[key] for key in grid) for trial in inside}
    if len(tried) == num_choices(grid):
        return None
    rng = np.random.default_rng([seed, len(trials)])
    with _quiet(require_optuna()) as optuna:
        study, space = _study(optuna, grid, inside, int(rng.integers(2**32)))
        for _ in range(_ASKED):
            found = study.ask(space).params
            if tuple(found[key] for key in grid) not in tried:
                return {key: found[key] for key in grid}
    return _by_chance(grid, tried, rng)


def _study(optuna: Any, grid: Grid, trials: Sequence[Trial], seed: int) -> tuple[Any, Any]:
    """Return a study in memory that knows the trials with a score, and what can be asked of it."""
    categorical = optuna.distributions.CategoricalDistribution
    space = {key: categorical(values) for key, values in grid.items()}
    sampler = optuna.samplers.TPESampler(seed=seed)
    study = optuna.create_study(direction="maximize", sampler=sampler)
    for trial in trials:
        if trial.score is not None:
            known = {"params": trial.settings, "distributions": space, "value": trial.score}
            study.add_trial(optuna.trial.create_trial(**known))
    return study, space


def _by_chance(grid: Grid, tried: set[tuple[Any, ...]], rng: np.random.Generator) -> dict[str, Any]:
    """Return random settings of the grid that are new; there must be some."""
    while True:
        found = tuple(values[rng.integers(len(values))] for values in grid.values())
        if found not in tried:
            return dict(zip(grid, found, strict=True))


def _is_inside(grid: Grid, settings: dict[str, Any]) -> bool:
    return all(settings[key] in values for key, values in grid.items())


@contextmanager
def _quiet(optuna: Any) -> Iterator[Any]:
    """Yield Optuna without its lines on standard error, which would say what igsd says."""
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield optuna
    finally:
        optuna.logging.set_verbosity(before)
