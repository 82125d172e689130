"""What the commands that make runs share: their options, their execution, and its display."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import method, method_names, setting_names
from igsd.cli.options import names_in, parse_time, refuse_seed
from igsd.errors import ConfigError, counted, nearest
from igsd.settings.text import parse_settings, read_settings

if TYPE_CHECKING:
    from igsd.experiments.execute import Workers
    from igsd.experiments.records import Record
    from igsd.experiments.run import Options, Run
    from igsd.experiments.work import Batch, Work
    from igsd.graphs.graphset import GraphSet

Changes = dict[str, Any]
"""Settings by name, as they were written."""

PROTOCOLS_HELP = """\
  nested  stratified 10-fold; C is chosen inside each training part by 5-fold search (default)
  paper   the C with the best 10-fold mean; optimistic, so printed beside nested
  gckn    the published folds (gckn-folds.zip and gin-folds.zip in the folder IGSD_DATA)"""


def add_running_arguments(parser: Any, *, jobs: str) -> None:
    """Add the options of the executor; ``jobs``: what is the default of ``--jobs``."""
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help=f"processes, -1 for all cores: runs side by side, or the folds of a single run "
        f"(default: {jobs})",
    )
    parser.add_argument(
        "--budget", metavar="TIME", help="start no run after this time, e.g. 30m, 2h or 1h30m"
    )
    parser.add_argument(
        "--backend", choices=("local", "dask"), default="local", help="who makes the runs"
    )
    parser.add_argument("--scheduler", metavar="ADDRESS", help="address of the Dask scheduler")
    parser.add_argument(
        "--limit-seconds",
        type=float,
        metavar="S",
        help="time limit of a run; without labels: of fitting a method and computing its vectors "
        "or kernel, a day by default. Beyond it the table says '> limit'",
    )
    parser.add_argument(
        "--limit-memory",
        type=float,
        metavar="GIB",
        help="memory limit of a run's process, with Python and its libraries (default: nearly all "
        "that is free); beyond it the table says 'OMR'",
    )


def add_scoring_arguments(parser: argparse.ArgumentParser, protocols: Sequence[str]) -> None:
    """Add protocol, seeds, classes and how vectors are scored."""
    parser.add_argument(
        "--protocol",
        choices=protocols,
        default="nested",
        help="how methods are scored (default: nested)",
    )
    parser.add_argument(
        "--seeds", type=int, default=5, metavar="N", help="seeds 0..N-1 (default: 5)"
    )
    parser.add_argument(
        "--labels",
        metavar="COLUMN|FILE",
        help="the classes, as in `igsd train --labels` (default: those of DATA; in a table the "
        "column called label, class or y)",
    )
    parser.add_argument(
        "--standardise",
        choices=("no", "yes", "search"),
        help="scale features inside each training part; search: choose there, like C "
        "(default: yes)",
    )
    parser.add_argument(
        "--without-twins",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="also score with twins of test graphs (indistinguishable by message passing) removed "
        "from training (default: if over a tenth of the graphs are repeats)",
    )
    parser.add_argument("--json", metavar="FILE", help="also write the table as JSON; - prints it")


def parse_methods(text: str) -> list[str]:
    """Return the distinct names in ``NAME,NAME,...``; ``all`` stands for every method.

    Raises ``ConfigError`` with the nearest names for an unknown one.
    """
    names = names_in(text)
    if not names:
        raise ConfigError("--methods takes names with commas between them, or all. Got none.")
    for name in names:
        if name != "all":
            method(name)
    return method_names() if "all" in names else list(dict.fromkeys(names))


def check_running(args: argparse.Namespace) -> None:
    """Reject invalid combinations of options before any data are read."""
    if args.seeds is not None and args.seeds < 1:
        raise ConfigError(f"--seeds must be at least 1. Got {args.seeds}.")
    if args.jobs is not None and args.jobs < 1 and args.jobs != -1:
        raise ConfigError(f"--jobs must be at least 1, or -1 for all cores. Got {args.jobs}.")
    for option, value in (("seconds", args.limit_seconds), ("memory", args.limit_memory)):
        if value is not None and not value > 0:
            raise ConfigError(f"--limit-{option} must be above 0. Got {value:g}.")
    if (args.backend == "dask") != (args.scheduler is not None):
        raise ConfigError("--backend dask and --scheduler ADDRESS go together.")
    if args.backend == "dask" and args.jobs is not None:
        raise ConfigError("--jobs is for this machine: a cluster has as many as it has workers.")
    if args.scheduler is not None:
        from igsd.experiments.execute import check_address

        check_address(args.scheduler)
    if getattr(args, "json", None) not in (None, "-"):
        from igsd.files.atomic import check_writable

        check_writable(args.json)


def written_changes(args: argparse.Namespace) -> Changes:
    """Return the settings of ``--config`` and ``--set``; NAME.KEY is for one method.

    Raises ``ConfigError`` for a seed.
    """
    changes: Changes = {}
    for key, value in (read_settings(args.config) if args.config else {}).items():
        inner = {f"{key}.{k}": v for k, v in value.items()} if isinstance(value, dict) else None
        changes |= {key: value} if inner is None else inner
    changes |= parse_settings(args.settings)
    refuse_seed(changes)
    return changes


def shared_out(
    changes: Mapping[str, Any],
    names: Sequence[str],
    known: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Changes]:
    """Return the settings of each method: KEY goes to all that have it, NAME.KEY to one.

    ``known``: the settings of each method, by default those without labels. Raises ``ConfigError``
    if no requested method has such a setting.
    """
    shares: dict[str, Changes] = {name: {} for name in names}
    known = known or {name: setting_names(name) for name in names}
    for key, value in changes.items():
        owner, _, plain = key.rpartition(".")
        if owner and owner not in shares:
            method(owner)  # an unknown name is reported first
            raise ConfigError(
                f"{key} is a setting of {owner!r}, which is not run: {', '.join(names)}. Add it to "
                "the methods, or leave the setting out."
            )
        takers = [name for name in ([owner] if owner else names) if plain in known[name]]
        if not takers:
            whose = repr(owner) if owner else " or ".join(map(repr, names))
            hint = nearest(plain, {k for n in ([owner] if owner else names) for k in known[n]})
            raise ConfigError(f"There is no setting {plain!r} of {whose}. {hint}")
        for name in takers:
            shares[name][plain] = value
    return shares


def options_of(args: argparse.Namespace, **others: Any) -> Options:
    """Return where runs are recorded, and their limits."""
    from igsd.experiments.records import make_records_folder
    from igsd.experiments.run import Options

    records = None if getattr(args, "records", None) is None else Path(args.records)
    if records is not None:
        make_records_folder(records)
    limits = {"seconds": args.limit_seconds, "memory_gib": args.limit_memory}
    return Options(records, **limits, force=args.force, **others)


def spread_out(
    args: argparse.Namespace, num_runs: int, graphs: GraphSet
) -> tuple[Workers, Changes]:
    """Return who makes the runs, and the options that follow from it.

    By default runs are made one after the other, and only their folds side by side, so that the
    measured seconds are of a method alone.
    """
    from igsd.experiments.execute import Workers
    from igsd.experiments.scoring import default_jobs

    count = num_processes(args)
    if args.scheduler is not None or (args.jobs is not None and num_runs > 1):
        return Workers(count, args.scheduler), {}
    folds = default_jobs(graphs) if args.jobs is None else count
    return Workers(1), {"fold_jobs": folds, "verbose": not args.quiet}


def num_processes(args: argparse.Namespace) -> int:
    """Return the number of processes of ``--jobs``; all cores by default."""
    return (os.cpu_count() or 1) if args.jobs in (None, -1) else int(args.jobs)


def budget_of(args: argparse.Namespace) -> float | None:
    """Return the seconds of ``--budget``, None without one."""
    return None if args.budget is None else parse_time(args.budget, "--budget")


@dataclass(frozen=True)
class Made:
    """The records of runs that a command has made."""

    options: Options
    new: Mapping[Run, Record]

    @property
    def num_failed(self) -> int:
        """The number of runs that failed; one that exceeded its limits has an answer."""
        return sum(record["status"] == "failed" for record in self.new.values())

    def records(self, runs: Sequence[Run]) -> list[Record]:
        """Return the records of runs, made now or before, in order.

        Runs without one are left out: there was no time for them, or their first seed exceeded its
        limits.
        """
        found = [self.new.get(run) or run.finished(self.options) for run in runs]
        return [record for record in found if record is not None]


def make_runs(work: Work, options: Options, workers: Workers, args: argparse.Namespace) -> Made:
    """Make the runs that are left, and say on standard error how far it is."""
    from igsd.experiments.execute import execute_runs

    made: dict[Run, Record] = {}
    if not work.batches:
        return Made(options, made)
    shown = RunDisplay(work, options.records, workers.size(), shown=not args.quiet)
    try:
        with shown:
            ended = execute_runs(work.batches, options, workers, shown.hooks(), budget_of(args))
            for batch, records in ended:
                by_seed = {record["seed"]: record for record in records}
                made |= {run: by_seed[run.seed] for run in batch if run.seed in by_seed}
    except KeyboardInterrupt as stop:
        kept = "" if options.records is None else f"Finished runs are in {options.records}; "
        raise KeyboardInterrupt(f"Stopped. {kept}the same command continues.") from stop
    return Made(options, made)


class RunDisplay:
    """Follows batches of runs from start to end, on standard error.

    On a terminal a line with what runs and what is left stays below the others; elsewhere (a log
    file) there is a line at the beginning and one at each start.
    """

    def __init__(self, work: Work, records: Path | None, workers: int, *, shown: bool) -> None:
        from igsd.experiments.work import Estimates

        self._work, self._records, self._workers, self._shown = work, records, workers, shown
        self._left = dict.fromkeys(work.batches)
        self._running: dict[Batch, float] = {}
        self._estimates = Estimates.read(records)
        self._skipped: dict[str, list[Batch]] = {}
        self._status: Any = None

    def hooks(self) -> Any:
        """Return this display as the executor calls it."""
        from igsd.experiments.execute import Display

        class Hooks(Display):
            start, end, skip = self.start, self.end, self.skip

        return Hooks()

    def __enter__(self) -> RunDisplay:
        if self._shown and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True, markup=False, highlight=False).status("")
            self._status.__enter__()
        elif self._shown and self._left:
            self._say(self._rest())
        return self

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.__exit__(*error)
        if self._skipped.get("budget"):
            left = f"The budget is used up: {self._rest()}"
            print(f"{left}. The same command continues.", file=sys.stderr)
        if taken := self._skipped.get("taken"):
            runs = counted(sum(len(batch) for batch in taken), "run")
            print(f"Another command in the same folder makes {runs} of these.", file=sys.stderr)

    def start(self, batch: Batch) -> None:
        """Note that a batch starts."""
        from igsd.experiments.work import batch_title

        self._running[batch] = time.monotonic()
        if self._shown and self._status is None:
            self._say(f"{batch_title(batch)} ...")
        self._show()

    def skip(self, batch: Batch, reason: str) -> None:
        """Note that a batch is not started."""
        self._skipped.setdefault(reason, []).append(batch)
        if reason != "budget":
            self._left.pop(batch, None)

    def end(self, batch: Batch, records: Sequence[Record]) -> None:
        """Note that a batch has ended, and say how."""
        from igsd.experiments.work import batch_title

        begin = self._running.pop(batch, None)
        self._left.pop(batch, None)
        for run, record in zip(batch, records, strict=False):
            self._estimates.add(run.path(Path()), record)
        took = "" if begin is None else f", {time.monotonic() - begin:.1f} s"
        failed = any(record["status"] == "failed" for record in records)
        if self._shown or failed:
            done = len(self._work.batches) - len(self._left)
            place = f"{done}/{len(self._work.batches)}"
            tail = "" if self._status is not None or not self._shown else f"; {self._rest()}"
            self._say(f"{place} {batch_title(batch)}: {outcome(records)}{took}{tail}")
        self._show()

    def _rest(self) -> str:
        return self._estimates.left(list(self._left), self._work.sizes, self._workers)

    def _say(self, text: str) -> None:
        if self._status is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self._status.console.print(text)

    def _show(self) -> None:
        from igsd.experiments.work import batch_title

        if self._status is not None:
            running = " | ".join(batch_title(batch) for batch in self._running)
            self._status.update(f"{running}\n  {self._rest()}")


def outcome(records: Sequence[Record]) -> str:
    """Return how the runs of a batch ended: the mean accuracy, the errors, or why it failed."""
    bad = [record for record in records if record["status"] != "ok"]
    if bad:
        return str(bad[0].get("word") or bad[0]["error"])
    own = [
        next((row for row in r["rows"] if row["method"] == r.get("method", "igsd")), None)
        for r in records
    ]
    means = [row["mean"] for row in own if row is not None and "mean" in row]
    if means:
        return f"{100 * sum(means) / len(means):.1f} %"
    errors = [row["mae"] for row in own if row is not None and "mae" in row]
    if not errors:
        return "done"
    if isinstance(errors[0], dict):
        return ", ".join(f"{name} {error:.4g}" for name, error in errors[0].items())
    return f"mean absolute error {sum(errors) / len(errors):.4g}"


def say_skipped(work: Work, *, quiet: bool) -> None:
    """Say on standard error how many runs have a record already."""
    if work.done and not quiet:
        runs = counted(len(work.done), "run")
        have = "has" if len(work.done) == 1 else "have"
        print(f"{runs} {have} a record, skipped", file=sys.stderr)


def write_json_table(args: argparse.Namespace, table: Mapping[str, Any]) -> None:
    """Write a table if ``--json`` names a file."""
    from igsd.files.atomic import write_json

    if args.json not in (None, "-"):
        write_json(str(args.json), dict(table))
