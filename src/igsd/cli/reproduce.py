"""``igsd reproduce``: a table or figure of the paper, run as far as it is not, and printed."""

from __future__ import annotations

import argparse
import os
import shlex
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.cli.arguments import add_command, names_in, parse_time
from igsd.cli.method_options import add_limit_arguments, check_limits
from igsd.cli.open_graphs import shown_opening
from igsd.cli.planned_work import list_work, say_left, say_problems
from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.exhibit import Exhibit
    from igsd.experiments.work import Work
    from igsd.graphs.graphset import GraphSet

_DESCRIPTION = """\
Runs what a table or figure of the paper still lacks and prints it, ours beside the paper's. Each
run leaves a record, DIR/PROTOCOL/DATA/METHOD/seed-N.json. Runs with a record are skipped, so the
same command goes on after Ctrl-C or a crash, which lose no more than the runs under way; commands
that run at the same time on one machine share the work. Records that an older version of the
algorithm made are marked stale and made again.

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
  beyond            floors, WL-OA, twins removed, PROTEINS, DD, and data of your own (--data)
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
    parser = add_command(
        commands,
        "reproduce",
        "run and print a table or figure of the paper",
        _DESCRIPTION,
        _EXAMPLES,
    )
    parser.add_argument("name", metavar="NAME", help="a table or figure, or all")
    parser.add_argument(
        "--records", metavar="DIR", default="results", help="folder of records (default: results)"
    )
    parser.add_argument("--data", metavar="NAME,...", help="these data sets alone")
    parser.add_argument("--methods", metavar="NAME,...", help="these methods alone")
    parser.add_argument("--seeds", type=int, metavar="N", help="seeds 0..N-1 (default: as printed)")
    parser.add_argument(
        "--budget", metavar="TIME", help="start nothing after this, e.g. 30m, 2h or 1h30m; 0: print"
    )
    parser.add_argument("--dry-run", action="store_true", help="list what would be run, and end")
    parser.add_argument("--jobs", type=int, metavar="N", help="processes (default: all cores)")
    parser.add_argument("--backend", choices=("local", "dask"), default="local", help="who runs it")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of the Dask cluster")
    parser.add_argument(
        "--force", action="store_true", help="replace broken records and those of other settings"
    )
    parser.add_argument("--quiet", action="store_true", help="do not say how far it is")
    add_limit_arguments(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run what is missing, print the tables, and return the exit code."""
    budget = None if args.budget is None else parse_time(args.budget, "--budget")
    _check(args)
    from igsd.experiments.exhibit import find_exhibits
    from igsd.experiments.records import make_records_folder
    from igsd.experiments.work import narrowed, plan_work

    asked = _names(args.data, "--data"), _names(args.methods, "--methods")
    exhibits, records = narrowed(find_exhibits(args.name), *asked), Path(args.records)
    only_prints = budget == 0
    if not (args.dry_run or only_prints):
        make_records_folder(records)
    limits = {"memory_gib": args.limit_memory}
    limits |= {} if args.limit_seconds is None else {"seconds": args.limit_seconds}
    given: dict[str, Any] = {"num_seeds": args.seeds, "force": args.force, "limits": limits}
    opened = partial(_opened, quiet=args.quiet)
    work = plan_work(exhibits, records, **given, open_source=opened)
    say_problems(work)
    if args.dry_run:
        list_work(work, records, _num_processes(args))
        return 1 if work.is_impossible else 0
    num_failed = 0
    if only_prints:
        say_left(work, records, _num_processes(args), _without_budget(args))
    else:
        num_failed = _run(work, args, budget)
    _print(exhibits, records, work)
    return 1 if num_failed or (work.is_impossible and not only_prints) else 0


def _check(args: argparse.Namespace) -> None:
    """Raise for options that cannot be meant."""
    if args.seeds is not None and args.seeds < 1:
        raise ConfigError(f"--seeds must be at least 1. Got {args.seeds}.")
    if args.jobs is not None and args.jobs < 1:
        raise ConfigError(f"--jobs must be at least 1. Got {args.jobs}.")
    check_limits(args)
    if (args.backend == "dask") != (args.scheduler is not None):
        raise ConfigError("--backend dask and --scheduler ADDRESS go together.")
    if args.backend == "dask" and args.jobs is not None:
        raise ConfigError("--jobs is for this machine: a cluster has as many as it has workers.")
    if args.scheduler is not None:
        from igsd.experiments.workers import check_address

        check_address(args.scheduler)


def _names(text: str | None, option: str) -> list[str]:
    names = names_in(text or "")
    if text is not None and not names:
        raise ConfigError(f"{option} takes names with commas between them. Got none.")
    return names


def _opened(source: str, *, quiet: bool) -> GraphSet:
    """Return a data set and keep it open; what takes long is shown on standard error."""
    from igsd.experiments.job import cached_data

    with shown_opening(source, quiet=quiet) as progress:
        return cached_data(source, progress)


def _run(work: Work, args: argparse.Namespace, budget: float | None) -> int:
    """Run the jobs, say on standard error how far it is, and return how many runs failed.

    One that exceeded its limits has an answer, so it has not failed.
    """
    from igsd.cli.run_display import RunDisplay
    from igsd.experiments.schedule import run_jobs
    from igsd.experiments.workers import Workers, num_workers

    if not work.jobs:
        return 0
    workers = Workers(_num_processes(args), args.scheduler)
    count, records = num_workers(workers), Path(args.records)
    display = RunDisplay(work, records, count, budget, shown=not args.quiet)
    num_failed = 0
    try:
        with display:
            told = (display.may_start, display.start, display.taken)
            for job, made in run_jobs(work.jobs, workers, *told):
                display.end(job, made)
                num_failed += sum(record["status"] == "failed" for record in made)
    except KeyboardInterrupt as stop:
        again = f"Finished runs are in {args.records}; the same command goes on."
        raise KeyboardInterrupt(f"Stopped. {again}") from stop
    return num_failed


def _num_processes(args: argparse.Namespace) -> int:
    return args.jobs or os.cpu_count() or 1


def _without_budget(args: argparse.Namespace) -> str:
    """Return the command as it was given, but for its budget."""
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
    from igsd.report.filled_exhibit import fill
    from igsd.report.paper_text import exhibit_text
    from igsd.report.record_folder import RecordFolder

    folder = RecordFolder(records)
    for number, exhibit in enumerate(exhibits):
        named = tuple(work.names.get(data, data) for data in exhibit.data)
        filled = fill(replace(exhibit, data=named), folder)
        print(("\n" if number else "") + exhibit_text(filled))
