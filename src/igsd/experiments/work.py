"""``Work``: the runs that are still to be made, those that are done, and how long they take."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from igsd.errors import ConfigError, IGSDError, StorageError, counted
from igsd.estimators.neural import fitting_recipe
from igsd.experiments.exhibits import Exhibit, data_facts, runs_of
from igsd.experiments.records import Record, in_words, read_record, run_seconds
from igsd.experiments.run import BROKEN, DONE, LIMIT, OTHER, STALE, Options, Run, opened
from igsd.graphs.graphset import GraphSet

Batch = tuple[Run, ...]
"""Runs that one process makes because they have the same ``Run.fit``, low seeds first: a method is
fitted once for the protocols that score its vectors, and a deterministic one also for all seeds."""


@dataclass
class Work:
    """What is to be done: batches in the order in which they start, low seeds first.

    ``done``: the runs whose record exists. ``others``: those whose place is taken by the record of
    another run, with the difference; ``broken``: by a file that is not a record. ``problems``:
    sentences on what cannot be run. ``names``: the names of data sets by what the user called them;
    ``sizes``: their numbers of graphs by name.
    """

    batches: list[Batch] = field(default_factory=list)
    done: list[Run] = field(default_factory=list)
    others: dict[Run, str] = field(default_factory=dict)
    broken: list[Run] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def is_impossible(self) -> bool:
        """Whether nothing that was requested can be run, or has been."""
        return bool(self.problems) and not (self.batches or self.done or self.others or self.broken)


def plan_runs(runs: Sequence[Run], graphs: GraphSet, options: Options) -> Work:
    """Return which of these runs on one data set are still to be made, each seed checked.

    Raises ``ConfigError`` for a record of another run, ``StorageError`` for a file that is not a
    record (unless ``options.force``), and whatever ``Protocol.check`` raises.
    """
    for run in dict.fromkeys(replace(run, seed=0) for run in runs):
        run.rules.check(run, graphs)
    records = options.records or Path()
    if options.records is not None and not options.force:
        for run in runs:
            read_record(run.path(records))
    work = Work(sizes={graphs.name: len(graphs)})
    _sort_out(runs, graphs, options, work)
    for run, why in work.others.items():
        raise ConfigError(
            f"{run.path(records)} is the record of another run: {why}. Use another folder for "
            "records, or replace it: --force, or force=True in Python."
        )
    return work


def plan_exhibits(
    exhibits: Sequence[Exhibit],
    options: Options,
    *,
    num_seeds: int | None = None,
    open_source: Callable[[str], GraphSet] = opened,
) -> Work:
    """Return what is still to be run for these exhibits, their data opened by ``open_source``.

    A data set that cannot be opened or scored is a problem, and the others are run. Records of
    another version of the algorithm are made again.
    """
    work = Work()
    for source in dict.fromkeys(d for e in exhibits for d in e.data):
        try:
            graphs = open_source(source)
            work.names[source], work.sizes[graphs.name] = graphs.name, len(graphs)
            facts = data_facts().get(source)
            recipe = fitting_recipe(graphs) if facts is None else facts.recipe
            runs = dict.fromkeys(  # several exhibits may have a run in common
                replace(run, data=graphs.name, source=source)
                for exhibit in exhibits
                if source in exhibit.data
                for run in runs_of(exhibit, {source: recipe}, num_seeds)
            )
            _sort_out(tuple(runs), graphs, options, work, remakes_stale=True)
        except IGSDError as error:
            work.problems.append(f"{source} is left out: {error}")
    work.batches.sort(key=lambda batch: batch[0].seed)
    return work


def make_batches(runs: Sequence[Run]) -> list[Batch]:
    """Return runs in batches: those that score the same vectors share one."""
    groups: dict[Run, list[Run]] = {}
    for run in runs:
        groups.setdefault(run.fit, []).append(run)
    return [tuple(sorted(group, key=lambda run: run.seed)) for group in groups.values()]


def batch_title(batch: Batch) -> str:
    """Return a batch in words: ``wl on MUTAG, seeds 0 to 4``; its protocols if ``paper`` is one."""
    first, last, protocols = batch[0], batch[-1].seed, batch_protocols(batch)
    named = f" ({protocols})" if "paper" in protocols else ""
    if first.seed == last:
        return f"{first}{named}"
    seeds = str(first).replace(f", seed {first.seed}", f", seeds {first.seed} to {last}")
    return seeds + named


def batch_protocols(batch: Batch) -> str:
    """Return the protocols of a batch in words: ``nested, paper``."""
    return ", ".join(dict.fromkeys(run.protocol for run in batch))


def _sort_out(
    runs: Sequence[Run],
    graphs: GraphSet,
    options: Options,
    work: Work,
    *,
    remakes_stale: bool = False,
) -> None:
    """Add runs to ``work``: to be made, done, or not possible."""
    found = {run: run.state(graphs, options) for run in runs}
    over = {replace(run.fit, seed=0) for run, (state, _) in found.items() if state == LIMIT}
    refused, todo = dict[Run, str](), list[Run]()
    for run, (state, why) in found.items():
        first = replace(run, seed=0)
        is_stale = state == STALE and not remakes_stale
        if state in (DONE, LIMIT) or replace(run.fit, seed=0) in over:
            work.done.append(run)
        elif not options.force and (state == OTHER or is_stale):
            work.others[run] = why
        elif not options.force and state == BROKEN:
            work.broken.append(run)  # Run.state has named the file, which is kept
        else:
            if first not in refused:
                refused[first] = ""
                try:
                    run.rules.check(first, graphs)
                except IGSDError as error:
                    refused[first] = f"{run.protocol} on {run.data} is left out: {error}"
            todo += [] if refused[first] else [run]
    work.problems += list(dict.fromkeys(text for text in refused.values() if text))
    work.batches += make_batches(todo)


@dataclass
class Estimates:
    """Seconds of finished runs by (protocol, data, label), and per graph by (protocol, method)."""

    known: dict[tuple[str, ...], list[float]] = field(default_factory=dict)

    @classmethod
    def read(cls, records: Path | None) -> Estimates:
        """Return the estimates from a folder of records; other files are skipped."""
        estimates = cls()
        for path in sorted(records.glob("*/*/*/seed-*.json")) if records is not None else ():
            with suppress(StorageError):
                if (record := read_record(path)) is not None:
                    estimates.add(path, record)
        return estimates

    def add(self, path: Path, record: Record) -> None:
        """Add a record, if its run ended well."""
        if record["status"] == "ok":
            protocol, data, label = path.parts[-4:-1]
            seconds = run_seconds(record)
            self.known.setdefault((protocol, data, label), []).append(seconds)
            share = seconds / max(record["data"]["graphs"], 1)
            self.known.setdefault((protocol, label.split("+")[0]), []).append(share)

    def seconds(self, batch: Batch, num_graphs: int) -> float | None:
        """Return the expected seconds of a batch, None if nothing similar was ever run.

        From the same run with other seeds, or from the same method on other data in proportion to
        the number of graphs, which is rough: some methods compare all pairs. Protocol ``paper``
        takes no longer than ``nested`` does.
        """
        found = [self._run_seconds(run, num_graphs) for run in batch]
        return None if None in found else sum(filter(None, found))

    def _run_seconds(self, run: Run, num_graphs: int) -> float | None:
        for one in dict.fromkeys((run, run.fit)):
            protocol, data, label = one.path(Path()).parts[-4:-1]
            places = {(protocol, data, label): 1, (protocol, label.split("+")[0]): num_graphs}
            for place, factor in places.items():
                if seen := self.known.get(place):
                    return factor * sum(seen) / len(seen)
        return None

    def left(self, batches: Sequence[Batch], sizes: Mapping[str, int], workers: int) -> str:
        """Return how much is left in words: ``12 runs left, about 20 min``."""
        if not batches:
            return "nothing left"
        runs = counted(sum(map(len, batches)), "run")
        seconds = {batch: self.seconds(batch, sizes[batch[0].data]) for batch in batches}
        known = [value for value in seconds.values() if value is not None]
        if not known:
            return f"{runs} left, duration not known yet"
        # Side by side they take at least as long as the longest of them.
        least = max(sum(known) / max(workers, 1), max(known))
        unknown = sum(len(batch) for batch in batches if seconds[batch] is None)
        more = f" and {counted(unknown, 'run')} of unknown length" if unknown else ""
        return f"{runs} left, about {in_words(least)}{more}"
