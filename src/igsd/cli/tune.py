"""``igsd tune``: searches settings by scores inside the training parts, and writes a recipe."""

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from igsd.cli import options, running
from igsd.cli.run_parsers import CLASS_METHOD
from igsd.errors import ConfigError, counted
from igsd.experiments import tune
from igsd.experiments.records import plain_name
from igsd.experiments.run import Run
from igsd.files.atomic import check_writable
from igsd.files.locks import owned
from igsd.report.aligned import print_table
from igsd.settings.text import parse_settings

_SHOWN = 10


def run(args: Namespace) -> int:
    """Search, report every trial, print the best, and return the exit code."""
    _check(args)
    search = _search(args)
    if args.dry_run:
        _list(search)
        return 0
    tune.require_optuna()
    check_writable(search.recipe)
    with owned(search.folder):
        trials = _run(args, search)
    return _report(args, search, trials)


def _check(args: Namespace) -> None:
    """Reject invalid combinations of options."""
    running.check_running(args)
    if args.trials < 1:
        raise ConfigError(f"--trials must be at least 1. Got {args.trials}.")
    if args.seed < 0:
        raise ConfigError(f"--seed must be at least 0. Got {args.seed}.")
    if args.protocol == "nested":
        few_labels = {"--method": args.method, "--label-rate": args.label_rate}
        running.refuse(few_labels, "is for --protocol semi.")


def _search(args: Namespace) -> tune.Search:
    """Return the search, everything checked that can be checked without training."""
    grid, changes = tune.parse_grid(args.grid), options.written_settings(args)
    if "seed" in changes:
        raise ConfigError("The seeds of a trial are 100 and up, so seed cannot be set.")
    graphs, is_semi = running.open_graphs(args.data, args), args.protocol == "semi"
    name = (args.method or CLASS_METHOD) if is_semi else options.OURS
    kwargs: Any = {"source": args.data, "fixed": tuple(changes.items())}
    kwargs |= {} if args.label_rate is None else {"label_rate": args.label_rate}
    recipe = options.choose_recipe(args.recipe, graphs)
    run = Run(f"tune-{args.protocol}", graphs.name, name, recipe, tune.FIRST_SEED, **kwargs)
    whole = tune.make_grid(run.config(), grid, parse_settings(args.settings))
    run.rules.check(run, graphs)
    tail = f"-{args.protocol}" if is_semi else ""
    folder = Path(args.output or Path(options.RUNS) / f"tune-{plain_name(graphs.name)}{tail}")
    seeds = args.seeds or (3 if is_semi else 1)
    return tune.Search(run, graphs, whole, seeds, args.trials, args.seed, folder, frozenset(grid))


def _list(search: tune.Search) -> None:
    """Print the grid."""
    config = search.run.config()
    for key, values in search.grid.items():
        print(f"{key}: {', '.join(map(str, values))} (the recipe has {getattr(config, key)})")
    count = counted(tune.num_choices(search.grid), "combination")
    print(f"{count}, of which {search.num_trials} trials")


def _run(args: Namespace, search: tune.Search) -> list[tune.Trial]:
    """Return all trials, old and new, and report each new one on standard error."""
    finished = search.read(force=args.force)
    trials = list(finished)
    if finished and not args.quiet:
        print(f"{counted(len(finished), 'trial')} in {search.folder}", file=sys.stderr)
    workers, more = running.spread_out(args, search.num_trials - len(trials), search.graphs)
    chosen = replace(running.options_of(args), **(more | {"verbose": False}))
    try:
        for trial in tune.run_trials(search, finished, chosen, workers, args.budget):
            trials.append(trial)
            if not args.quiet or trial.error:
                print(_outcome(search, trial), file=sys.stderr, flush=True)
    except KeyboardInterrupt as stop:
        kept = f"{counted(len(trials), 'trial')} kept in {search.folder}"
        raise KeyboardInterrupt(f"Stopped. {kept}; the same command continues.") from stop
    if args.budget is not None and len(trials) < search.num_trials:
        left = counted(search.num_trials - len(trials), "trial")
        print(f"The time is used up; {left} left. The same command continues.", file=sys.stderr)
    return trials


def _outcome(search: tune.Search, trial: tune.Trial) -> str:
    """Return the settings and the score of a trial as a line."""
    name = f"trial {trial.number}"
    if trial.number == 0:
        config = search.run.config()
        is_own = all(getattr(config, key) == v for key, v in trial.settings.items())
        name += " (the recipe as it is)" if is_own else " (the recipe, within --grid)"
    score = trial.error if trial.score is None else f"{100 * trial.score:.1f} %"
    return f"{name}: {trial}: {score}, {trial.seconds:.1f} s"


def _report(args: Namespace, search: tune.Search, trials: list[tune.Trial]) -> int:
    """Print the best trials and how to use the recipe; return the exit code."""
    best = tune.ranked(trials)
    if not best:
        print("igsd: No trial has a score, so there is no recipe.", file=sys.stderr)
        return 1
    header = ["trial", "score %", "seconds", *search.grid]
    lines = [
        [str(t.number), f"{100 * (t.score or 0):.1f}", f"{t.seconds:.1f}"]
        + [str(value) for value in t.settings.values()]
        for t in best[:_SHOWN]
    ]
    count = counted(len(trials), "trial")
    print_table(header, lines, f"{search.graphs.name}, {args.protocol}, best of {count}")
    labels = " --labels class" if args.protocol == "semi" else ""
    recipe = quote(str(search.recipe))
    print(f"recipe: igsd train {quote(args.data)}{labels} --config {recipe}")
    return 0
