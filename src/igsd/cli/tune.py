"""``igsd tune``: searches settings by scores inside the training parts, and writes a recipe."""

import sys
from argparse import Namespace
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Any

from igsd.cli import options, running
from igsd.cli.evaluate_splits import CLASS_METHOD
from igsd.errors import ConfigError, counted
from igsd.experiments import tune
from igsd.experiments.records import plain_name
from igsd.experiments.run import Run
from igsd.files.atomic import check_writable
from igsd.files.locks import owned
from igsd.report.aligned import print_table
from igsd.settings.text import parse_settings

_SHOWN = 10

_DESCRIPTION = """\
Searches the paper's grids for settings that suit DATA, by Optuna's TPE sampler, and writes the best
as a recipe: RUN/recipe.toml, for --config of train, evaluate and compare. The first trial is the
recipe itself, even if the paper's grid lacks one of its values, so the best trial never scores
below it. If your own --grid lacks the recipe's value, the first trial uses the first value listed.

The score comes from inside training parts, on seeds (100, 101, ...) that no table uses:
  nested  without labels: the SVM's accuracy on the inner folds, mean over the outer folds (default)
  semi    few labels: accuracy after the last epoch on splits of one split's training part
The score selects the recipe, so it is optimistic, and so is any later score on the same graphs.
Test on graphs that are not in DATA.

RUN also holds trials.csv and Optuna's trials.journal. Every trial is written when it ends; the same
command continues after Ctrl-C, with the same trials as if nothing had happened, and more --trials
add to it. With --jobs N several trials are chosen at a time, so that N trainings run side by
side."""

_EXAMPLES = """\
examples:
  igsd tune MUTAG --dry-run
  igsd tune MUTAG --trials 50 --timeout 2h -o runs/tuned
  igsd tune MUTAG --grid epochs=10,20 --grid temperature=0.1,0.2,1 --set num_layers=4
  igsd tune IMDB-BINARY --protocol semi --seeds 5
  igsd train MUTAG --config runs/tuned/recipe.toml"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = options.add_command(commands, "tune", run, _DESCRIPTION, _EXAMPLES)
    options.add_data_argument(parser)
    text = "folder of the search (default: runs/tune-DATA)"
    parser.add_argument("-o", "--output", metavar="RUN", help=text)
    options.add_settings_arguments(parser)
    text = "values of a setting to try, instead of or in addition to the paper's; can be repeated. "
    text += "No other value is tried: if the recipe's is not among them, the first trial has the "
    text += "first of them. Settings given by --set are not searched"
    parser.add_argument("--grid", metavar="KEY=A,B,C", help=text, **options.REPEATED)
    text = "trials in all (default: 30)"
    parser.add_argument("--trials", type=int, default=30, metavar="N", help=text)
    text = "the same as --budget"
    parser.add_argument("--timeout", metavar="TIME", action=options.Time, dest="budget", help=text)
    parser.add_argument("--seed", type=int, default=0, help="seed of the search (default: 0)")
    group = parser.add_argument_group("how a trial is scored")
    group.add_argument("--protocol", choices=("nested", "semi"), default="nested", help="see above")
    text = "trainings of a trial, each with its own folds or split (default: 1; 3 for semi)"
    group.add_argument("--seeds", type=int, metavar="N", help=text)
    text = f"method of semi (default: {CLASS_METHOD})"
    group.add_argument("--method", metavar="NAME", help=text)
    text = "labelled share of semi (default: 0.05)"
    group.add_argument("--label-rate", type=float, metavar="SHARE", help=text)
    running.add_running_arguments(parser, jobs="one training at a time, its folds on all cores")
    parser.add_argument("--dry-run", action="store_true", help="list the grid, and exit")
    parser.add_argument("--force", action="store_true", help="replace the search that is in RUN")
    parser.add_argument("--quiet", action="store_true", help="do not report trials")


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
