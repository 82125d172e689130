"""``Work``: the runs that are still to be made, those that are done, and how long they take."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

from igsd.errors import ConfigError, IGSDError, StorageError, counted
from igsd.experiments.exhibits import Exhibit, data_facts, runs_of
from igsd.experiments.records import Record, in_words, read_record, run_seconds
from igsd.experiments.run import BROKEN, DONE, LIMIT, OTHER, STALE, Options, Run, opened
from igsd.graphs.graphset import GraphSet
from igsd.graphs.summary import fitting_recipe

Batch = tuple[Run, ...]
"""Runs that one process makes because they have the same ``Run.fit``, low seeds first: a method is
fitted once for the protocols that score its vectors, and a deterministic one also for all seeds."""

COSTS = "costs.json"
"""How long the published runs took, and the probe on the machine where the file was written.

The records do not say which processor made them, so this assumes one like it."""

Seconds = dict[tuple[str, ...], list[float]]


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
    """Seconds of finished runs by (protocol, data, label), and per graph by (protocol, method).

    ``usual``: the same of the published runs, in seconds of this machine; empty until ``guess``.
    ``speed``: how many times as long as there a run takes here.
    """

    known: Seconds = field(default_factory=dict)
    usual: Seconds = field(default_factory=dict)
    speed: float = 1.0

    @classmethod
    def read(cls, records: Path | None) -> Estimates:
        """Return the estimates from a folder of records; other files are skipped."""
        estimates = cls()
        for path in sorted(records.glob("*/*/*/seed-*.json")) if records is not None else ():
            with suppress(StorageError):
                if (record := read_record(path)) is not None:
                    estimates.add(path, record)
        return estimates

    def guess(self) -> Estimates:
        """Return these estimates, completed by the published runs and a probe of this machine."""
        costs = json.loads(resources.files("igsd.experiments").joinpath(COSTS).read_text("utf-8"))
        self.speed, self.usual = probe() / costs["probe"], {}
        for place, (seconds, graphs) in costs["runs"].items():
            _add(self.usual, tuple(place.split("/")), seconds * self.speed, graphs)
        return self

    @property
    def origin(self) -> str:
        """Where the times come from, in words."""
        return (
            "Times are estimates: from the records of similar runs in the folder, where there are "
            f"any, otherwise from the published runs, times {self.speed:.2g}, which a short probe "
            "of this machine suggests."
        )

    def add(self, path: Path, record: Record) -> None:
        """Add a record, if its run ended well."""
        if record["status"] == "ok":
            _add(self.known, path.parts[-4:-1], run_seconds(record), record["data"]["graphs"])

    def seconds(self, batch: Batch, num_graphs: int) -> float | None:
        """Return the expected seconds of a batch, None if nothing similar was ever run.

        From the same run with other seeds, or from the same method on other data in proportion to
        the number of graphs, which is rough: some methods compare all pairs. Protocol ``paper``
        takes no longer than ``nested`` does. After ``guess``, a run that is like none is expected
        to take as long as the others under its protocol.
        """
        found = [self._run_seconds(run, num_graphs) for run in batch]
        return None if None in found else sum(filter(None, found))

    def _run_seconds(self, run: Run, num_graphs: int) -> float | None:
        for one in dict.fromkeys((run, run.fit)):
            protocol, data, label = one.path(Path()).parts[-4:-1]
            own, method = (protocol, data, label), (protocol, label.split("+")[0])
            places = [(self.known, own, 1), (self.usual, own, 1), (self.known, method, num_graphs)]
            places += [(self.usual, method, num_graphs), (self.usual, (protocol,), num_graphs)]
            # Another share of labels, or another target, than any published run has.
            places.append((self.usual, (protocol.split("-")[0],), num_graphs))
            for known, place, factor in places:
                if seen := known.get(place):
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


def _add(found: Seconds, place: tuple[str, ...], seconds: float, num_graphs: int) -> None:
    """Add the seconds of a run at (protocol, data, label) to what is found."""
    protocol, _, label = place
    share = seconds / max(num_graphs, 1)
    found.setdefault(place, []).append(seconds)
    found.setdefault((protocol, label.split("+")[0]), []).append(share)
    found.setdefault((protocol,), []).append(share)


def probe() -> float:
    """Return the processor seconds that a fixed piece of work takes on one core of this machine.

    It is dense and sparse products as in training, and support vector machines as in scoring, a
    few tenths of a second in all. The fastest of eight rounds counts: others may use the machine.
    """
    import numpy as np
    import torch
    from scipy.sparse import random_array
    from sklearn.svm import SVC
    from threadpoolctl import threadpool_limits

    rng = np.random.default_rng(0)
    X, W = rng.normal(size=(4000, 128)).astype(np.float32), rng.normal(size=(128, 128))
    A = random_array((4000, 4000), density=0.001, format="csr", dtype=np.float32, rng=rng)
    W, y = W.astype(np.float32) / 12, rng.integers(0, 2, 400)
    rounds, threads = [], torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            for _ in range(8):
                begin, H = time.process_time(), X
                for _ in range(4):
                    H = torch.relu(torch.from_numpy(A @ H) @ torch.from_numpy(W)).numpy()
                for C in (0.1, 1.0, 10.0):
                    SVC(C=C).fit(X[:400, :64], y)
                rounds.append(time.process_time() - begin)
    finally:
        torch.set_num_threads(threads)
    return min(rounds)
