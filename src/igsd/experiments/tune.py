"""``Search``: settings tried by `igsd tune`, trial after trial, each a few runs of the executor.

Scores come from inside training parts, on seeds 100, 101, ...: not those of the tables. What is
tried next depends on the grid, the trials so far in Optuna's journal, and the seed only, so an
interrupted search continues as if it had not been interrupted.
"""

import math
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import ConfigError, StorageError, need
from igsd.experiments.execute import execute_runs
from igsd.experiments.records import Identity, first_of
from igsd.experiments.run import Options, Run
from igsd.files import atomic, columns
from igsd.graphs.graphset import GraphSet
from igsd.settings.igsd import Config
from igsd.settings.text import parse_settings
from igsd.workers.pools import Workers

FIRST_SEED = 100
JOURNAL, OLD_JOURNAL = "trials.journal", "tuning.json"
_STUDY = "igsd"

Grid = dict[str, tuple[Any, ...]]
"""The values to try of each setting."""

Choice = dict[str, Any]
"""One value of each setting."""

_HEADS: Grid = {"head_hidden_dim": (1024, 2048), "head_dim": (256, 512)}

PAPER_GRID: Grid = {
    "num_layers": (2, 8, 12),
    "batch_size": (16, 32, 64, 128, 256, 512),
    "epochs": (20, 40, 100),
    "learning_rate": (1e-4, 1e-3),
    **_HEADS,
}
"""What the paper tries without labels (section 5.1)."""

PAPER_LABEL_GRID: Grid = {
    "hidden_dim": (16, 32),
    "label_batch_size": (32, 128),
    "head_dropout": (0.0, 0.5),
    **_HEADS,
    "self_training_rounds": (20, 50),
    "self_training_threshold": (0.9, 0.95),
}
"""What it tries with few labels; the first three are from GIN's paper, to which it refers.

The number of epochs is not searched: the protocol fixes it in advance.
"""


def paper_grid(config: Any) -> Grid:
    """Return the paper's grid for the settings that the method has."""
    used = {entry.name for entry in config.settings()}
    if "label_batch_size" not in used:
        return dict(PAPER_GRID)
    if not getattr(config, "self_training", False):
        used -= {"self_training_rounds", "self_training_threshold"}
    return {key: values for key, values in PAPER_LABEL_GRID.items() if key in used}


def parse_grid(texts: Sequence[str]) -> Grid:
    """Parse a grid from texts ``key=a,b,c``, with values as in ``--set``."""
    grid: Grid = {}
    for text in texts:
        key, sign, values = text.partition("=")
        pieces = [piece.strip() for piece in values.split(",") if piece.strip()]
        if not sign or not pieces:
            raise ConfigError(
                f"A grid is given as key=a,b,c, for example epochs=20,40. Got {text!r} instead."
            )
        name = key.strip()
        grid[name] = tuple(parse_settings([f"{name}={piece}"])[name] for piece in pieces)
    return grid


def make_grid(config: Config, given: Mapping[str, Sequence[Any]], fixed: Collection[str]) -> Grid:
    """Return the paper's grid with those ``given``, without ``fixed`` settings.

    Raises ``ConfigError`` for an unknown or fixed setting, and a value outside its rule.
    """
    for key in given:
        if key == "seed":
            raise ConfigError(
                "seed cannot be searched: it is not a setting of the method. Leave it out of the "
                "grid."
            )
        if key in fixed:
            raise ConfigError(f"{key} is both set to a value and in the grid: give one of them.")
    grid = {key: v for key, v in paper_grid(config).items() if key not in fixed} | dict(given)
    if not grid:
        raise ConfigError(
            "There is nothing to search: every setting of the grid is set to a value."
        )
    return {  # the distinct values as the setting's own type
        key: tuple(dict.fromkeys(getattr(config.updated({key: v}), key) for v in values))
        for key, values in grid.items()
    }


def num_choices(grid: Grid) -> int:
    """Return the number of combinations in the grid."""
    return math.prod(len(values) for values in grid.values())


@dataclass(frozen=True)
class Trial:
    """One trial of a search.

    ``settings``: the values of the settings that are searched. ``score``: the accuracy inside the
    training parts, None if the training failed, as ``error`` says.
    """

    number: int
    settings: Mapping[str, Any]
    score: float | None
    seconds: float
    error: str | None = None

    def __str__(self) -> str:
        return " ".join(f"{key}={value}" for key, value in self.settings.items())


def ranked(trials: Iterable[Trial]) -> list[Trial]:
    """Return the trials with a score, the best first; of equal ones the earlier first."""
    scored = [(trial.score, trial) for trial in trials if trial.score is not None]
    return [trial for _, trial in sorted(scored, key=lambda pair: (-pair[0], pair[1].number))]


@dataclass(frozen=True)
class Search:
    """What is searched: the settings of ``grid``, for the ``run`` of the first seed.

    ``given``: the settings whose values the user listed, so that no other value is tried.
    """

    run: Run
    graphs: GraphSet
    grid: Grid
    num_seeds: int
    num_trials: int
    seed: int
    folder: Path
    given: frozenset[str] = frozenset()

    def first(self) -> Choice:
        """Return the settings of the first trial: the recipe's own, or the first value given."""
        config = self.run.config()
        settings = {key: getattr(config, key) for key in self.grid}
        outside = {key for key in self.given if settings[key] not in self.grid[key]}
        return settings | {key: self.grid[key][0] for key in outside}

    def identity(self) -> Identity:
        """Return what two searches must share to be the same; the number of trials may grow."""
        protocol = self.run.rules.settings(self.run)
        protocol |= {"method": self.run.method, "seeds": self.num_seeds, "search seed": self.seed}
        protocol |= {f"grid {key}": list(values) for key, values in self.grid.items()}
        return Identity(self.run.config(), self.graphs.checksum, protocol)

    @property
    def recipe(self) -> Path:
        """The file with the best settings so far."""
        return self.folder / "recipe.toml"

    def read(self, *, force: bool = False) -> list[Trial]:
        """Return the trials of this search so far.

        Raises ``StorageError`` for a folder of something else, ``ConfigError`` for one of another
        search, unless ``force`` says that it may be replaced.
        """
        journal, is_old = self.folder / JOURNAL, (self.folder / OLD_JOURNAL).exists()
        # Hidden files are the lock of this search, and what a killed process left.
        is_empty = all(path.name.startswith(".") for path in self.folder.glob("*"))
        if is_empty and not self.folder.is_file():
            return []
        if is_old and not force:
            raise StorageError(
                f"{self.folder} holds a search of an older version of igsd, which cannot be "
                "continued. Its trials are in trials.csv and its best settings in recipe.toml. "
                "Give another folder, or start again: --force."
            )
        if not is_old and not journal.exists():
            raise StorageError(
                f"{self.folder} exists and holds no search of `igsd tune`, so it is left as it is. "
                "Give another folder."
            )
        if force:
            for name in (JOURNAL, OLD_JOURNAL, "recipe.toml", "trials.csv"):
                (self.folder / name).unlink(missing_ok=True)
            return []
        with _study(journal) as study:
            stored = study.user_attrs.get(_STUDY)
            trials = [Trial(t.number, score=t.value, **t.user_attrs) for t in study.trials]
        if trials and (differences := self.identity().differences(stored)):
            raise ConfigError(
                f"{self.folder} holds another search: {first_of(differences)}. Give another "
                "folder, or start again: --force, or force=True in Python."
            )
        return trials

    def write(self, trials: Sequence[Trial], new: Sequence[Trial]) -> None:
        """Write the best settings, the table of all trials, and the journal last."""
        for best in ranked(trials)[:1]:
            about = f"Found by igsd tune on {self.graphs.name!r}: the best of {len(trials)} "
            about += f"trials, {100 * (best.score or 0):.1f} % right inside the training parts."
            config = replace(self.run, changes=tuple(best.settings.items())).config()
            atomic.write_text(self.recipe, recipe_toml(config, about))
        if trials:
            table: dict[str, list[Any]] = {"trial": [trial.number for trial in trials]}
            table |= {key: [getattr(t, key) for t in trials] for key in ("score", "seconds")}
            table |= {key: [t.settings[key] for t in trials] for key in trials[0].settings}
            table["error"] = [trial.error for trial in trials]
            columns.write_columns(self.folder / "trials.csv", table)
        self.folder.mkdir(parents=True, exist_ok=True)
        with _study(self.folder / JOURNAL) as study:
            if _STUDY not in study.user_attrs:
                identity = self.identity()
                stored: dict[str, object] = {"data": {"checksum": identity.checksum}}
                stored |= {"algorithm": identity.algorithm, "protocol": identity.protocol}
                study.set_user_attr(_STUDY, stored | {"config": identity.config.to_json()})
            for trial in new:
                # The recipe's own values may be outside the grid, so they are no parameters.
                values = {key: getattr(trial, key) for key in ("seconds", "error")}
                values["settings"], made = dict(trial.settings), require_optuna().trial
                state = made.TrialState.FAIL if trial.score is None else made.TrialState.COMPLETE
                kwargs = {"state": state, "value": trial.score, "user_attrs": values}
                study.add_trial(made.create_trial(**kwargs))


def run_trials(
    search: Search,
    finished: Sequence[Trial],
    options: Options,
    workers: Workers,
    budget: float | None = None,
) -> Iterator[Trial]:
    """Yield the trials that are still to be made, each after it is written to the folder.

    The first of all is the recipe as it is (``Search.first``). With several ``workers`` as many
    trials are chosen at a time as keep them busy. No trial starts after ``budget`` seconds. A
    training that fails gives a trial without a score. Ends early if the whole grid has been tried.
    """
    trials, end = list(finished), math.inf if budget is None else time.monotonic() + budget
    at_a_time = -(-workers.size() // search.num_seeds)
    while len(trials) < search.num_trials and time.monotonic() < end:
        chosen: list[Choice] = []
        while len(chosen) < min(at_a_time, search.num_trials - len(trials)):
            known = [*trials, *(Trial(len(trials) + i, s, None, 0) for i, s in enumerate(chosen))]
            settings = suggest(search.grid, known, search.seed) if known else search.first()
            if settings is None:
                break
            chosen.append(settings)
        if not chosen:
            return
        if not trials:  # however the first trial ends, the folder is then known as ours
            search.write((), ())
        for trial in _run(search, len(trials), chosen, options, workers):
            trials.append(trial)
            search.write(trials, [trial])
            yield trial


def _run(
    search: Search,
    first: int,
    chosen: Sequence[Mapping[str, Any]],
    options: Options,
    workers: Workers,
) -> Iterator[Trial]:
    """Yield the trials of some settings, in their order."""
    begin = time.perf_counter()
    runs = {
        replace(search.run, changes=tuple(settings.items()), seed=FIRST_SEED + number): place
        for place, settings in enumerate(chosen)
        for number in range(search.num_seeds)
    }
    records: list[list[Any]] = [[] for _ in chosen]
    seconds, waiting = [0.0] * len(chosen), 0
    for (run,), made in execute_runs([(run,) for run in runs], options, workers):
        place = runs[run]
        records[place] += made
        seconds[place] = round(time.perf_counter() - begin, 3)
        while waiting < len(chosen) and len(records[waiting]) == search.num_seeds:
            errors = [r["error"] for r in records[waiting] if r["status"] != "ok"]
            score = None if errors else float(np.mean([r["score"] for r in records[waiting]]))
            of_trial = (chosen[waiting], score, seconds[waiting], errors[0] if errors else None)
            yield Trial(first + waiting, *of_trial)
            waiting += 1
            begin = begin if len(chosen) > 1 else time.perf_counter()


# Optuna is asked so often for something new before chance decides.
_ASKED = 20


def require_optuna() -> Any:
    """Return the module ``optuna``; raises ``ConfigError`` if it is not installed."""
    return need("tune", "optuna", "`igsd tune`")


def suggest(grid: Grid, trials: Sequence[Trial], seed: int) -> Choice | None:
    """Return untried settings of the grid by Optuna's TPE, or None if all have been tried.

    The first ten are random, the others near the best so far. Failed trials, and trials outside the
    grid such as the recipe's own, do not guide the choice.
    """
    inside = [t for t in trials if all(t.settings[key] in grid[key] for key in grid)]
    tried = {tuple(trial.settings[key] for key in grid) for trial in inside}
    if len(tried) == num_choices(grid):
        return None
    rng = np.random.default_rng([seed, len(trials)])
    with _quiet() as optuna:
        categorical = optuna.distributions.CategoricalDistribution
        space = {key: categorical(values) for key, values in grid.items()}
        sampler = optuna.samplers.TPESampler(seed=int(rng.integers(2**32)))
        study = optuna.create_study(direction="maximize", sampler=sampler)
        for trial in inside:
            if trial.score is not None:
                known = {"params": trial.settings, "distributions": space, "value": trial.score}
                study.add_trial(optuna.trial.create_trial(**known))
        for _ in range(_ASKED):
            params = study.ask(space).params
            if tuple(params[key] for key in grid) not in tried:
                return {key: params[key] for key in grid}
    while True:
        found = tuple(values[rng.integers(len(values))] for values in grid.values())
        if found not in tried:
            return dict(zip(grid, found, strict=True))


@contextmanager
def _quiet() -> Iterator[Any]:
    """Yield Optuna without its own log lines."""
    optuna = require_optuna()
    before = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield optuna
    finally:
        optuna.logging.set_verbosity(before)


@contextmanager
def _study(journal: Path) -> Iterator[Any]:
    """Yield the study in a journal, which is created if there is none."""
    with _quiet() as optuna:
        try:
            backend = optuna.storages.journal.JournalFileBackend(str(journal))
            where = {"storage": optuna.storages.JournalStorage(backend), "study_name": _STUDY}
            study = optuna.create_study(direction="maximize", load_if_exists=True, **where)
        except (ValueError, KeyError) as error:
            raise StorageError(
                f"{journal} is damaged, so the search cannot continue. Its trials are still in "
                "trials.csv, its best settings in recipe.toml. Give another folder."
            ) from error
        yield study


def recipe_toml(config: Config, about: str) -> str:
    """Return settings as TOML for ``--config``, without the seed and the device of a run."""
    runtime = f"# {config.groups['runtime']}\n"
    blocks = [b for b in config.to_toml().split("\n\n") if not f"{b}\n".startswith(runtime)]
    lines = [line for line in "\n\n".join(blocks).splitlines() if not line.startswith("seed = ")]
    return f"# {' '.join(about.split())}\n\n" + "\n".join(lines).rstrip() + "\n"
