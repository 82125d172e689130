"""``igsd reproduce``: make the missing runs of a table or figure of the paper, and print it."""

import sys
from argparse import Namespace
from dataclasses import replace
from functools import partial
from pathlib import Path

from igsd.cli import running
from igsd.cli.options import names_in
from igsd.cli.output import say_note
from igsd.errors import ConfigError, counted
from igsd.experiments.exhibits import find_exhibits, narrowed
from igsd.experiments.records import in_words
from igsd.experiments.run import Options
from igsd.experiments.work import Batch, Estimates, Work, batch_protocols, plan_exhibits
from igsd.report.aligned import print_table
from igsd.report.records import RecordFolder
from igsd.report.render import text
from igsd.report.tables import fill
from igsd.workers.pools import Workers

_MOST_LINES = 40
"""Lines of methods that ``--dry-run`` lists; more are one line for each data set."""


def run(args: Namespace) -> int:
    """Make the runs that are missing, print the tables, and return the exit code."""
    running.check_running(args)
    asked = [_names(args.data, "--data"), _names(args.methods, "--methods")]
    exhibits = narrowed(find_exhibits(args.name), *asked)
    only_prints, records = args.budget == 0, Path(args.records)
    limits = (args.limit_seconds, args.limit_memory)
    options = Options(records, *limits, force=args.force, threads=1)
    if not (args.dry_run or only_prints):
        running.options_of(args)  # creates the folder of records
    opened = partial(running.open_graphs, args=args)
    work = plan_exhibits(exhibits, options, num_seeds=args.seeds, open_source=opened)
    _say_problems(work)
    processes, num_failed = running.num_processes(args), 0
    if args.dry_run:
        _list(work, Estimates.read(records).guess() if work.batches else Estimates(), processes)
        return 1 if work.is_impossible else 0
    if not only_prints:
        made = running.make_runs(args, work, options, Workers(processes, args.scheduler))
        num_failed = sum(record["status"] == "failed" for record in made.values())
    elif work.batches:
        left = Estimates.read(records).guess().left(work.batches, work.sizes, processes)
        print(f"{left}. The same command without --budget continues.", file=sys.stderr)
    folder = RecordFolder(records)
    for number, exhibit in enumerate(exhibits):
        named = tuple(work.names.get(data, data) for data in exhibit.data)
        print(("\n" if number else "") + text(fill(replace(exhibit, data=named), folder)))
    return 1 if num_failed or (work.is_impossible and not only_prints) else 0


def _names(names: str | None, option: str) -> list[str]:
    found = names_in(names or "")
    if names is not None and not found:
        raise ConfigError(f"{option} takes names with commas between them. Got none.")
    return found


def _say_problems(work: Work) -> None:
    """Say on standard error what cannot be run, and which records are in the way of a run."""
    for problem in work.problems:
        say_note(problem)
    if work.others:
        first, why = next(iter(work.others.items()))
        were = "was" if len(work.others) == 1 else "were"
        kept = f"{counted(len(work.others), 'record')} with other settings than these runs {were}"
        say_note(f"{kept} kept (first: {first}: {why}); --force replaces them.")
    sys.stderr.flush()


def _list(work: Work, estimates: Estimates, processes: int) -> None:
    """Print what would be run, a line for each group of runs, and how long it may take.

    A group is a method on a data set; if there are many, a data set under a protocol.
    """
    by_method: dict[tuple[str, ...], list[Batch]] = {}
    by_data: dict[tuple[str, ...], list[Batch]] = {}
    for batch in work.batches:
        data, name = batch[0].path(Path()).parts[-3:-1]
        folder = batch_protocols(batch)
        by_method.setdefault((folder, data, name), []).append(batch)
        by_data.setdefault((folder, data), []).append(batch)
    is_short = len(by_method) <= _MOST_LINES
    lines = []
    for (folder, data, *labels), batches in sorted((by_method if is_short else by_data).items()):
        found = [estimates.seconds(batch, work.sizes[batch[0].data]) for batch in batches]
        known = [seconds for seconds in found if seconds is not None]
        took = in_words(sum(known)) if len(known) == len(found) else "unknown"
        num_runs = str(sum(map(len, batches)))
        names = labels or [counted(len({batch[0].label for batch in batches}), "method")]
        lines.append([folder, data, *names, num_runs, took])
    if lines:
        header = ["protocol", "data", "method" if is_short else "methods", "runs", "about"]
        print_table(header, lines, left=(0, 1, 2))
        if not is_short:
            print("--data NAME lists the methods on one data set.")
    left = estimates.left(work.batches, work.sizes, processes)
    left = "nothing can be run" if work.is_impossible else left
    blocked = len(work.others) + len(work.broken)
    way_out = f"; {blocked} blocked by other files (--force replaces them)"
    side = f" with {counted(processes, 'process', 'processes')}" if work.batches else ""
    print(f"{left}{side}; {len(work.done)} done already{way_out if blocked else ''}")
    if work.batches:
        print(estimates.origin)
