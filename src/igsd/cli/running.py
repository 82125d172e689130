"""What the commands that make runs share: their options, their execution, and its display."""

import json
import os
import sys
import time
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from igsd.baselines.registry import METHODS, method, method_names, setting_names
from igsd.cli import options
from igsd.cli.output import say_note, shown_opening
from igsd.errors import ConfigError, counted, nearest
from igsd.evaluation import shown_with
from igsd.experiments.execute import Display, execute_runs, lock_path
from igsd.experiments.records import Record, make_records_folder, plain_name
from igsd.experiments.run import Options, Run, opened
from igsd.experiments.scoring import Scoring, default_jobs, has_many_twins
from igsd.experiments.work import Batch, Estimates, Work, batch_title, plan_runs
from igsd.files.atomic import STANDARD_OUTPUT, known_suffix, write_json
from igsd.files.bounded import STANDARD_INPUT
from igsd.graphs.datasets import check_is_here
from igsd.graphs.graphset import GraphSet
from igsd.progress import printable, raw
from igsd.report.render import show
from igsd.report.summary import METRICS, own_method, rows_of, summarise
from igsd.report.tables import Table
from igsd.settings import own
from igsd.settings.text import parse_settings
from igsd.workers.pools import Workers, num_cores

Changes = dict[str, Any]
"""Settings by name, as they were written."""


def parse_methods(text: str, *, holdout: bool = False) -> list[str]:
    """Return the distinct names in ``NAME,NAME,...``; an error suggests similar names.

    ``all`` stands for every method with ``in_all``. With ``holdout`` methods that only learn from
    labels are valid too, and ``all`` is not.
    """
    known = METHODS if holdout else ("all",)
    names = options.names_in(text)
    if not names:
        raise ConfigError("--methods takes names with commas between them, or all. Got none.")
    for name in names:
        if name == "vectors":
            raise ConfigError("Give vectors with --vectors FILE of igsd compare, not by that name.")
        if name not in known:
            method(name)
    return method_names() if "all" in names else list(dict.fromkeys(names))


def refuse(options: Mapping[str, Any], reason: str) -> None:
    """Raise ``ConfigError``, "OPTION REASON", for the first of these options that was given."""
    for option, value in options.items():
        if value is not None and value != []:
            raise ConfigError(f"{option} {reason}")


def check_running(args: Namespace) -> None:
    """Reject invalid combinations of options before any data are read."""
    if args.seeds is not None and args.seeds < 1:
        raise ConfigError(f"--seeds must be at least 1. Got {args.seeds}.")
    options.check_workers(args)
    for option, value in (("seconds", args.limit_seconds), ("memory", args.limit_memory)):
        if value is not None and not value > 0:
            raise ConfigError(f"--limit-{option} must be above 0. Got {value:g}.")
    for option in ("json", "plot"):
        if path := vars(args).get(option):
            options.prepare_output(path, *options.input_paths(args), option=f"--{option}")
            if option == "json" and path != STANDARD_OUTPUT:
                known_suffix(path, (".json",), "the table as JSON")


def written_changes(args: Namespace) -> Changes:
    """Return the settings that were written, NAME.KEY for one method; rejects a seed."""
    changes: Changes = {}
    typed = parse_settings(args.settings)
    if names := own.allow(typed):
        listed = " and ".join(names)
        say_note(
            f"records do not notice when the code of {listed} changes; --force makes new ones."
        )
    for key, value in options.written_settings(args).items():
        is_section = isinstance(value, dict)
        changes |= {f"{key}.{k}": v for k, v in value.items()} if is_section else {key: value}
    if any(key.rpartition(".")[2] == "seed" for key in changes):
        raise ConfigError("The seeds are 0..N-1 of --seeds N, so seed cannot be set.")
    return changes


def shared_out(
    changes: Changes, names: Sequence[str], known: Mapping[str, Sequence[str]] | None = None
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
        asked = [owner] if owner else names
        takers = [name for name in asked if plain in known[name]]
        if not takers:
            hint = nearest(plain, {k for name in asked for k in known[name]})
            whose = " or ".join(map(repr, asked))
            raise ConfigError(f"There is no setting {plain!r} of {whose}. {hint}")
        for name in takers:
            shares[name][plain] = value
    return shares


def open_graphs(source: str, args: Namespace, *, gaps: bool = False) -> GraphSet:
    """Open a data set, with the labels of ``--labels``; it stays open for the runs on it.

    ``gaps``: keep graphs without a label, whatever the protocol.
    """
    if source == STANDARD_INPUT:
        raise ConfigError(
            "Runs are made in several processes, and standard input can be read only once. Save "
            "it to a file first."
        )
    if getattr(args, "dry_run", False) and not os.path.exists(source):
        check_is_here(source)
    named = getattr(args, "splits", None) or getattr(args, "protocol", "")
    protocol = "" if gaps else str(named)
    with shown_opening(source, quiet=args.quiet) as progress:
        return opened(source, getattr(args, "labels", None) or "", progress, protocol=protocol)


def first_run(args: Namespace, graphs: GraphSet, name: str, recipe: str, **kwargs: Any) -> Run:
    """Return the run of a method on DATA that the options describe, with seed 0."""
    kwargs |= {"source": args.data, "labels": args.labels or "", "twins": args.without_twins}
    protocol = getattr(args, "splits", None) or args.protocol.removesuffix("-paper")
    standardise = args.standardise or "yes"
    return Run(protocol, graphs.name, name, recipe, 0, standardise=standardise, **kwargs)


def first_runs(
    args: Namespace,
    graphs: GraphSet,
    names: Sequence[str],
    recipe: str,
    changes: Changes,
    **kwargs: Any,
) -> list[Run]:
    """Return the first run of each method, in which its share of the changes is fixed."""
    runs = {name: first_run(args, graphs, name, recipe, **kwargs) for name in names}
    known = {name: list(run.config().to_json()) for name, run in runs.items()}
    shares = shared_out(changes, names, known)
    return [replace(run, fixed=tuple(shares[name].items())) for name, run in runs.items()]


def vector_runs(args: Namespace, graphs: GraphSet, **kwargs: Any) -> list[Run]:
    """Return the runs that score the files of ``--vectors``; checks that they fit the graphs."""
    from igsd.baselines.references.vectors import checksum_of, covered, vectors_for

    found: dict[str, Run] = {}
    for path in getattr(args, "vectors", ()):
        stem, full = plain_name(Path(path).stem), plain_name(Path(path).name)
        name = full if stem in found or stem in METHODS else stem
        if name in found:
            raise ConfigError(f"Two files of --vectors are called {name}: rename one of them.")
        # Under --splits graphs without a label are among the graphs.
        whole = graphs if args.splits is not None else open_graphs(args.data, args, gaps=True)
        vectors_for(path, covered(path, whole, graphs))
        place, recipe = str(Path(path).expanduser()), options.choose_recipe(args.recipe, graphs)
        fixed = (("vectors_path", place), ("vectors_checksum", checksum_of(path)))
        more: Any = {"changes": (("file", name),), "fixed": fixed, **kwargs}
        found[name] = first_run(args, graphs, "vectors", recipe, **more)
    return list(found.values())


def all_seeds(args: Namespace, runs: Iterable[Run]) -> list[Run]:
    """Return each of these runs with every seed of ``--seeds``; ``paper`` comes with ``nested``."""
    return [
        replace(run, seed=seed, protocol=protocol)
        for run in runs
        for seed in range(args.seeds)
        for protocol in shown_with(run.protocol)
    ]


def scoring_of(args: Namespace, graphs: GraphSet) -> Scoring:
    """Return how the vectors of graphs are scored."""
    twins = has_many_twins(graphs) if args.without_twins is None else args.without_twins
    return Scoring(args.protocol, args.standardise or "yes", twins)


def options_of(args: Namespace) -> Options:
    """Return where runs are recorded, and their limits; creates the folder of records."""
    records = None if getattr(args, "records", None) is None else Path(args.records)
    if records is not None:
        make_records_folder(records)
    return Options(records, args.limit_seconds, args.limit_memory, force=args.force)


def plan(args: Namespace, runs: Sequence[Run], graphs: GraphSet) -> tuple[Work, Options]:
    """Return which runs are still to be made, and how; says how many have a record already."""
    options = options_of(args)
    work = plan_runs(runs, graphs, options)
    if work.done and not args.quiet:
        have = "has" if len(work.done) == 1 else "have"
        print(f"{counted(len(work.done), 'run')} {have} a record, skipped", file=sys.stderr)
    return work, options


def spread_out(args: Namespace, num_runs: int, graphs: GraphSet) -> tuple[Workers, Changes]:
    """Choose the workers; return them with the options that depend on the choice.

    By default runs are made one after the other, and only their folds side by side, so that the
    measured seconds are of a method alone.
    """
    count = num_processes(args)
    if args.scheduler is not None or (args.jobs is not None and num_runs > 1):
        return Workers(count, args.scheduler), {}
    folds = default_jobs(graphs) if args.jobs is None else count
    return Workers(1), {"fold_jobs": folds, "verbose": not args.quiet}


def num_processes(args: Namespace) -> int:
    """Return the number of processes of ``--jobs``; all cores by default."""
    return num_cores() if args.jobs in (None, -1) else int(args.jobs)


def records_of(
    args: Namespace, runs: Sequence[Run], graphs: GraphSet, work: Work, options: Options
) -> dict[Run, Record]:
    """Make the runs that are left, and return the records of all runs, made now or before.

    Runs without one are left out: there was no time for them, or their first seed exceeded its
    limits. Models that ``options.on_trained`` receives are trained one after the other.
    """
    num_runs = 1 if options.on_trained else len(work.batches)
    workers, more = spread_out(args, num_runs, graphs)
    new = make_runs(args, work, replace(options, **more), workers)
    found = {run: new.get(run) or run.finished(options) for run in runs}
    marks = {run: lock_path((run,), options) for run, record in found.items() if record is None}
    taken = [run for run, mark in marks.items() if mark is not None and mark.exists()]
    if taken:
        say_note(
            f"another command is making {counted(len(taken), 'run')} (first: {taken[0]}), which "
            "the table lacks. Give this command again when it has ended."
        )
    return {run: record for run, record in found.items() if record is not None}


def make_runs(args: Namespace, work: Work, options: Options, workers: Workers) -> dict[Run, Record]:
    """Make the runs that are left, saying on standard error how far it is; return their records."""
    made: dict[Run, Record] = {}
    if not work.batches:
        return made
    size, shown = workers.size(), not args.quiet
    try:
        with RunDisplay(work, options.records, size, shown=shown) as display:
            ended = execute_runs(work.batches, options, workers, display, args.budget)
            for batch, records in ended:
                made |= dict(zip(batch, records, strict=False))  # none after a limit
    except KeyboardInterrupt as stop:
        kept = "" if options.records is None else f"Finished runs are in {options.records}; "
        raise KeyboardInterrupt(f"Stopped. {kept}the same command continues.") from stop
    return made


class RunDisplay(Display):
    """Follows batches of runs from start to end, on standard error.

    On a terminal a line with what runs and what is left stays below the others; elsewhere (a log
    file) there is a line at the beginning and one at each start.
    """

    def __init__(self, work: Work, records: Path | None, workers: int, *, shown: bool) -> None:
        self._work, self._workers, self._shown = work, workers, shown
        self._left = dict.fromkeys(work.batches)
        self._running: dict[Batch, float] = {}
        self._estimates = Estimates.read(records)
        self._skipped: dict[str, list[Batch]] = {}
        self._status: Any = None

    def __enter__(self) -> Self:
        if self._shown and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(file=raw(sys.stderr), markup=False, highlight=False).status("")
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
        begin = self._running.pop(batch, None)
        self._left.pop(batch, None)
        for run, record in zip(batch, records, strict=False):
            self._estimates.add(run.path(Path()), record)
        took = "" if begin is None else f", {time.monotonic() - begin:.1f} s"
        if self._shown or any(record["status"] == "failed" for record in records):
            count = len(self._work.batches)
            tail = f"; {self._rest()}" if self._shown and self._status is None else ""
            place = f"{count - len(self._left)}/{count} {batch_title(batch)}"
            said = outcome(records)
            self._say(f"{place}: {said.removesuffix('.') if took else said}{took}{tail}")
        self._show()

    def _rest(self) -> str:
        return self._estimates.left(list(self._left), self._work.sizes, self._workers)

    def _say(self, text: str) -> None:
        if self._status is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self._status.console.print(printable(text))

    def _show(self) -> None:
        if self._status is not None:
            running = " | ".join(batch_title(batch) for batch in self._running)
            self._status.update(f"{printable(running)}\n  {self._rest()}")


def outcome(records: Sequence[Record]) -> str:
    """Return how the runs of a batch ended: the mean accuracy, the errors, or why it failed."""
    bad = [record for record in records if record["status"] != "ok"]
    if bad:
        return str(bad[0].get("word") or bad[0]["error"])
    if any("splits" in row for row in records[0]["rows"]):
        return _outcome_of_holdout(records[0])
    own = [row for record in records for row in rows_of([record], own_method(record))[:1]]
    if names := [*dict.fromkeys(row.get("protocol") for row in own if "mean" in row)]:
        cells = [summarise(records, protocol=name) for name in names]
        texts = [f"{cell.metric.text(cell.mean)} %" for cell in cells]
        named = [f"{text} {name}" for text, name in zip(texts, names, strict=True)]
        return ", ".join(named if len(names) > 1 else texts)
    errors = next((row["mae"] for row in own if "mae" in row), None)
    if isinstance(errors, Mapping):
        means = {name: summarise(records, "mae", target=name).mean for name in errors}
        return ", ".join(f"{name} {mean:.4g}" for name, mean in means.items())
    if errors is None:
        return "done"
    return f"mean absolute error {summarise(records, 'mae').mean:.4g}"


def _outcome_of_holdout(record: Record) -> str:
    """Return the main score for each number of labels."""
    texts = []
    for row in record["rows"]:
        metric = next(iter(row["metrics"]))
        cell = summarise([record], metric, method=row["method"], labels=row["labels"])
        shown = "all labels" if not row["labels"] else counted(row["labels"], "label")
        texts.append(f"{cell.metric.text(cell.mean)} ({shown})")
    return f"{METRICS[metric].title} {', '.join(texts)}"


def report(
    args: Namespace, values: Mapping[str, Any], table: Table, notes: Iterable[str] = ()
) -> None:
    """Print a table with notes, or its values as JSON; write those if ``--json`` names a file."""
    if args.json == "-":
        print(json.dumps(values, indent=2, allow_nan=False))
        return
    if args.json is not None:
        write_json(args.json, dict(values))
    show(table)
    for note in notes:
        print(note)
