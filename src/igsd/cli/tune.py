"""``igsd tune``: searches settings by scores inside the training parts, and writes a recipe."""

from __future__ import annotations

import argparse
import sys
import time
from shlex import quote
from typing import TYPE_CHECKING, Any

from igsd.cli.arguments import add_command, add_data_argument, parse_time
from igsd.cli.evaluate_semi import DEFAULT_METHOD
from igsd.cli.settings import add_settings_arguments
from igsd.cli.tune_search import make_search
from igsd.errors import ConfigError
from igsd.wording import counted

if TYPE_CHECKING:
    from igsd.experiments.tuning import Search
    from igsd.experiments.tuning_trial import Trial

_SHOWN = 10

_DESCRIPTION = """\
Searches the paper's grids for settings that suit DATA, by Optuna's TPE sampler, and writes the best
as a recipe: RUN/recipe.toml, for --config of train, evaluate and compare. The first trial is the
recipe as it is, also where the paper's grid lacks a value of it, so that the best is never worse by
the score that is searched by; only a --grid that leaves out the recipe's value is kept to.

That score comes from inside training parts, on seeds (100, 101, ...) that no table uses:
  nested  without labels: the SVM's accuracy on the inner folds, mean over the outer folds (default)
  semi    few labels: accuracy after the last epoch on splits of one split's training part
It chose the recipe, so it is a little too good, and so is any later score of the recipe on the same
graphs: their classes took part in the choice. Graphs that are kept out of DATA tell the rest.

RUN also holds trials.csv and tuning.json. Every trial is written when it ends; the same command
goes on after Ctrl-C, to the same trials as if nothing had happened, and more --trials add to it."""

_EXAMPLES = """\
examples:
  igsd tune MUTAG --dry-run
  igsd tune MUTAG --trials 50 --timeout 2h -o runs/tuned
  igsd tune MUTAG --grid epochs=10,20 --grid temperature=0.1,0.2,1 --set num_layers=4
  igsd tune IMDB-BINARY --protocol semi --seeds 5
  igsd train MUTAG --config runs/tuned/recipe.toml"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands,
        "tune",
        "search settings for a data set and write them as a recipe",
        _DESCRIPTION,
        _EXAMPLES,
    )
    add_data_argument(parser)
    parser.add_argument(
        "-o", "--output", metavar="RUN", help="folder of the search (default: runs/tune-DATA)"
    )
    add_settings_arguments(parser)
    parser.add_argument(
        "--grid",
        metavar="KEY=A,B,C",
        action="append",
        default=[],
        help="values to try of a setting, instead of the paper's or besides; may be given many "
        "times. No other value of it is tried: where the recipe's is not among them, the first "
        "trial has the first of them. What --set gives is not searched",
    )
    parser.add_argument(
        "--trials", type=int, default=30, metavar="N", help="trials in all (default: 30)"
    )
    parser.add_argument(
        "--timeout", metavar="TIME", help="start no trial after this, e.g. 30m, 2h or 1h30m"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the search (default: 0)")
    _add_score_arguments(parser)
    parser.add_argument("--dry-run", action="store_true", help="list the grid, and end")
    parser.add_argument("--force", action="store_true", help="replace the search that is in RUN")
    parser.add_argument("--quiet", action="store_true", help="do not say how a trial went")
    parser.set_defaults(run=run)


def _add_score_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how a trial is scored")
    group.add_argument("--protocol", choices=("nested", "semi"), default="nested", help="see above")
    group.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help="trainings of a trial, each with its own folds or split (default: 1; 3 for semi)",
    )
    group.add_argument(
        "--jobs", type=int, metavar="N", help="processes for the folds of nested (default: auto)"
    )
    group.add_argument(
        "--method", metavar="NAME", help=f"method of semi (default: {DEFAULT_METHOD})"
    )
    group.add_argument(
        "--label-rate", type=float, metavar="SHARE", help="labelled share of semi (default: 0.05)"
    )


def run(args: argparse.Namespace) -> int:
    """Search, say how every trial went, print the best, and return the exit code."""
    timeout = _check(args)
    search = make_search(args)
    if args.dry_run:
        _list(search)
        return 0
    from igsd.experiments.tuning_sampler import require_optuna

    require_optuna()
    from igsd.atomic_file import check_writable

    check_writable(search.folder.recipe)
    finished = search.folder.read(search.identity(), force=args.force)
    trials = _run(search, finished, timeout, quiet=args.quiet)
    return _report(args, search, trials)


def _check(args: argparse.Namespace) -> float | None:
    """Return the seconds of ``--timeout``; raises for options that cannot be meant."""
    for name, value in (("trials", args.trials), ("seeds", args.seeds)):
        if value is not None and value < 1:
            raise ConfigError(f"--{name} must be at least 1. Got {value}.")
    if args.seed < 0:
        raise ConfigError(f"--seed must be at least 0. Got {args.seed}.")
    if args.protocol == "nested":
        for name, value in (("method", args.method), ("label-rate", args.label_rate)):
            if value is not None:
                raise ConfigError(f"--{name} is for --protocol semi.")
    elif args.jobs is not None:
        raise ConfigError("--jobs is for --protocol nested.")
    return None if args.timeout is None else parse_time(args.timeout, "--timeout")


def _list(search: Search) -> None:
    """Print the grid."""
    from igsd.experiments.tuning_grid import num_choices

    for key, values in search.grid.items():
        own = getattr(search.config, key)
        print(f"{key}: {', '.join(map(str, values))} (the recipe has {own})")
    print(
        f"{counted(num_choices(search.grid), 'combination')}, of which {search.num_trials} trials"
    )


def _run(
    search: Search, finished: list[Trial], timeout: float | None, *, quiet: bool
) -> list[Trial]:
    """Return all trials, old and new, and say on standard error how each new one went."""
    from igsd.experiments.tuning import run_trials

    trials, begin = list(finished), time.monotonic()
    if finished and not quiet:
        print(f"{counted(len(finished), 'trial')} in {search.folder.path}", file=sys.stderr)

    def may_start(number: int) -> bool:
        if timeout is not None and time.monotonic() - begin >= timeout:
            left = counted(search.num_trials - number, "trial")
            print(f"The time is used up; {left} left for another time.", file=sys.stderr)
            return False
        if not quiet and sys.stderr.isatty():
            print(f"trial {number} of {search.num_trials} ...", end="\r", file=sys.stderr)
        return True

    try:
        for trial in run_trials(search, finished, may_start):
            trials.append(trial)
            if not quiet or trial.error:
                print(_outcome(search, trial), file=sys.stderr, flush=True)
    except KeyboardInterrupt as stop:
        kept = f"{counted(len(trials), 'trial')} kept in {search.folder.path}"
        raise KeyboardInterrupt(f"Stopped. {kept}; the same command goes on.") from stop
    return trials


def _outcome(search: Search, trial: Trial) -> str:
    """Return the settings and the score of a trial as a line."""
    name = f"trial {trial.number}"
    if trial.number == 0:
        is_own = all(getattr(search.config, key) == v for key, v in trial.settings.items())
        name += " (the recipe as it is)" if is_own else " (the recipe, within --grid)"
    score = trial.error if trial.score is None else f"{100 * trial.score:.1f} %"
    return f"{name}: {trial.in_words()}: {score}, {trial.seconds:.1f} s"


def _report(args: argparse.Namespace, search: Search, trials: list[Trial]) -> int:
    """Print the best trials and what to do with the recipe; return the exit code."""
    from igsd.experiments.tuning_trial import ranked
    from igsd.report.table import print_table

    best = ranked(trials)
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
    print_table(header, lines, f"{search.task.graphs.name}, {args.protocol}, best of {count}")
    recipe = quote(str(search.folder.recipe))
    labels = " --labels class" if args.protocol == "semi" else ""
    print(f"recipe: igsd train {quote(args.data)}{labels} --config {recipe}")
    return 0
