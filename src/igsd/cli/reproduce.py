"""``igsd reproduce``: a table or figure of the paper, run as far as it is not, and printed."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.cli.options import add_command, names_in
from igsd.cli.output import say_note, shown_opening
from igsd.cli.running import (
    add_running_arguments,
    budget_of,
    check_running,
    make_runs,
    num_processes,
    options_of,
)
from igsd.errors import ConfigError, counted

if TYPE_CHECKING:
    from igsd.experiments.exhibits import Exhibit
    from igsd.experiments.run import Options
    from igsd.experiments.work import Work
    from igsd.graphs.graphset import GraphSet

_DESCRIPTION = """\
Makes the runs that a table or figure of the paper still lacks, and prints it, our results beside
the paper's. Each run leaves a record, DIR/PROTOCOL/DATA/METHOD/seed-N.json. Runs with a record are
skipped, so the same command continues after Ctrl-C or a crash, which lose no more than the runs
under way; commands that run at the same time in one folder share the work. Records made by an older
version of the algorithm are marked stale and made again.

NAME is one of:
  table-1           self-supervised methods and kernels, six data sets
  table-2           5 % of the labels, four data sets, honest and as the paper did
  table-3           with and without the projector
  gckn              the nested setting of GCKN
  figure-qm9        molecules: error ratio of each target
  figure-qm9-alone  the same with a network for each of three targets
  figure-labels     IMDB-B: accuracy against the share of labels
  figure-negatives  IMDB-B: accuracy against the batch size
  figure-projector  IMDB-B: accuracy against the projector's hidden size
  b3db              molecules that pass the blood-brain barrier, 5 % of the labels
  b3db-logbb        how much of them passes, 5 % of the values
  beyond            reference rows, WL-OA, twins removed, PROTEINS, DD, and your own data (--data)
  all               everything

On a cluster, start `dask scheduler`, then on each machine `dask worker ADDRESS --nthreads 1
--nworkers N`, all with the same folder for records and the same IGSD_DATA."""

_EXAMPLES = """\
examples:
  igsd reproduce table-1 --dry-run
  igsd reproduce table-1 --data MUTAG,PTC --methods igsd,wl --seeds 3
  igsd reproduce all --budget 2h
  igsd reproduce beyond --data molecules.csv
  igsd reproduce table-1 --backend dask --scheduler tcp://10.0.0.1:8786"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "reproduce", _DESCRIPTION, _EXAMPLES)
    parser.add_argument("name", metavar="NAME", help="a table or figure, or all")
    parser.add_argument(
        "--records", metavar="DIR", default="results", help="folder of records (default: results)"
    )
    parser.add_argument("--data", metavar="NAME,...", help="only these data sets")
    parser.add_argument("--methods", metavar="NAME,...", help="only these methods")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0..N-1 (default: as printed)")
    add_running_arguments(parser, jobs="all cores")
    parser.add_argument("--dry-run", action="store_true", help="list the runs to make, and exit")
    parser.add_argument(
        "--force", action="store_true", help="replace broken records and those of other settings"
    )
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Make the runs that are missing, print the tables, and return the exit code."""
    budget = budget_of(args)
    check_running(args)
    from igsd.experiments.execute import Workers
    from igsd.experiments.exhibits import find_exhibits, narrowed
    from igsd.experiments.run import Options
    from igsd.experiments.work import plan_exhibits

    asked = _names(args.data, "--data"), _names(args.methods, "--methods")
    exhibits = narrowed(find_exhibits(args.name), *asked)
    only_prints = budget == 0
    limits = {"seconds": args.limit_seconds, "memory_gib": args.limit_memory}
    options = Options(Path(args.records), **limits, force=args.force, threads=1)
    if not (args.dry_run or only_prints):
        options_of(args)  # creates the folder of records
    opened = partial(_opened, quiet=args.quiet)
    work = plan_exhibits(exhibits, options, num_seeds=args.seeds, open_source=opened)
    _say_problems(work)
    if args.dry_run:
        _list(work, options, num_processes(args))
        return 1 if work.is_impossible else 0
    if only_prints:
        _say_left(work, options, args)
        num_failed = 0
    else:
        workers = Workers(num_processes(args), args.scheduler)
        num_failed = make_runs(work, options, workers, args).num_failed
    _print(exhibits, Path(args.records), work)
    return 1 if num_failed or (work.is_impossible and not only_prints) else 0


def _names(text: str | None, option: str) -> list[str]:
    names = names_in(text or "")
    if text is not None and not names:
        raise ConfigError(f"{option} takes names with commas between them. Got none.")
    return names


def _opened(source: str, *, quiet: bool) -> GraphSet:
    """Return a data set, which stays open; what takes long is shown on standard error."""
    from igsd.experiments.run import opened

    with shown_opening(source, quiet=quiet) as progress:
        return opened(source, progress=progress)


def _say_problems(work: Work) -> None:
    """Say on standard error what cannot be run, and which records are in the way of a run."""
    for problem in work.problems:
        say_note(problem)
    if work.others:
        first, why = next(iter(work.others.items()))
        kept = f"{counted(len(work.others), 'record')} of other settings than these runs"
        which = f"the first: {first}: {why}"
        say_note(f"kept: {kept} ({which}); --force makes such runs again.")
    sys.stderr.flush()


def _list(work: Work, options: Options, processes: int) -> None:
    """Print what would be run and how long it may take."""
    from igsd.experiments.records import in_words
    from igsd.experiments.work import Estimates, batch_title
    from igsd.report.render import plain_table

    estimates, lines = Estimates.read(options.records), []
    for batch in work.batches:
        seconds = estimates.seconds(batch, work.sizes[batch[0].data])
        took = "unknown" if seconds is None else in_words(seconds)
        lines.append([batch[0].protocol, took, batch_title(batch)])
    if lines:
        print(plain_table(["protocol", "time", "to run"], lines, left=(0, 1, 2)))
    left = estimates.left(work.batches, work.sizes, processes)
    left = "nothing can be run" if work.is_impossible else left
    blocked = len(work.others) + len(work.broken)
    way_out = f"; {blocked} blocked by what is in their place (--force)"
    print(f"{left}; {len(work.done)} done already{way_out if blocked else ''}")


def _say_left(work: Work, options: Options, args: argparse.Namespace) -> None:
    """Say on standard error what is left to run, and by which command."""
    from igsd.experiments.work import Estimates

    if work.batches:
        estimates = Estimates.read(options.records)
        left = estimates.left(work.batches, work.sizes, num_processes(args))
        print(f"{left}. To run: {_without_budget(args)}", file=sys.stderr)


def _without_budget(args: argparse.Namespace) -> str:
    """Return the command as it was given, except for its budget."""
    usual = {"records": "results", "backend": "local"}
    keys = ("data", "methods", "seeds", "records", "jobs", "backend", "scheduler")
    parts = ["igsd", "reproduce", args.name]
    for key in (*keys, "limit_seconds", "limit_memory", "force", "quiet"):
        value, option = getattr(args, key), f"--{key.replace('_', '-')}"
        if value not in (None, False, usual.get(key)):
            parts += [option] if value is True else [option, str(value)]
    return shlex.join(parts)


def _print(exhibits: list[Exhibit], records: Path, work: Work) -> None:
    """Print the tables and figures as far as there are records."""
    from igsd.report.records import RecordFolder
    from igsd.report.render import text
    from igsd.report.tables import fill

    folder = RecordFolder(records)
    for number, exhibit in enumerate(exhibits):
        named = tuple(work.names.get(data, data) for data in exhibit.data)
        print(("\n" if number else "") + text(fill(replace(exhibit, data=named), folder)))
