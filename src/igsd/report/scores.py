"""The tables of ``igsd evaluate`` and ``igsd compare``: methods on one data set, from records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from igsd.errors import counted
from igsd.experiments.records import Record, data_summary, usable_record
from igsd.experiments.scoring import (
    ROW_ORDER,
    TWINS_REMOVED,
    Scoring,
    class_codes,
    majority_result,
)
from igsd.graphs.graphset import GraphSet
from igsd.report.summary import (
    FAILED,
    METRICS,
    OTHER_SETTINGS,
    STALE,
    Cell,
    is_good,
    row_names,
    row_values,
    summarise,
    unsaved_records,
)
from igsd.report.tables import Column, Row, Table

if TYPE_CHECKING:
    from pathlib import Path

    from igsd.experiments.run import Run

MAJORITY = "majority"
OPTIMISTIC = ("paper", "semi-paper")
"""Protocols whose choices have seen the test parts."""


@dataclass(frozen=True)
class Compared:
    """One method of a comparison: its title, the row that it has in its records, and those.

    ``is_reference``: whether it was scored inside the runs of another method.
    """

    title: str
    method: str
    records: Sequence[Record]
    paths: Sequence[str] = ()
    is_reference: bool = False

    def cell(self, protocol: str | None, metric: str = "accuracy", *, twins: bool = False) -> Cell:
        """Return the result under a protocol, with ``twins`` without indistinguishable graphs."""
        method = self.method + TWINS_REMOVED if twins else self.method
        return summarise(self.records, metric, method=method, protocol=protocol, paths=self.paths)


@dataclass(frozen=True)
class Comparison:
    """Methods on one data set, scored on the same folds.

    ``protocol``: the one that was asked for, ``protocols`` all that are shown. ``twins``: whether
    scores without indistinguishable graphs (twins) stand beside the others. ``facts``: what the
    JSON says of the data and the protocol.
    """

    data: str
    lines: tuple[Compared, ...]
    protocol: str
    protocols: tuple[str, ...]
    twins: bool = False
    metric: str = "accuracy"
    facts: Mapping[str, Any] | None = None

    @cached_property
    def cells(self) -> list[Cell]:
        """The result of each method under that protocol."""
        return [line.cell(self.protocol, self.metric) for line in self.lines]

    @property
    def num_seeds(self) -> int:
        """The largest number of runs that any method has."""
        return max((len(line.records) for line in self.lines), default=0)

    @property
    def title(self) -> str:
        """The data set, the protocol and the number of seeds."""
        return f"{self.data}, protocol {self.protocol}, {counted(self.num_seeds, 'seed')}"

    def has_scores(self) -> bool:
        """Say whether any method has a score; where all exceeded their limits, none has."""
        pairs = zip(self.lines, self.cells, strict=True)
        return any(c.mean is not None for line, c in pairs if line.method != MAJORITY)

    def failed(self) -> bool:
        """Say whether any run failed; one that only exceeded its limits did not."""
        return any(record["status"] == FAILED for line in self.lines for record in line.records)

    def notes(self) -> list[str]:
        """Return the notes of the methods and the limits that some exceeded, each once.

        A method that failed has reported the reason already.
        """
        titles: dict[str, list[str]] = {}
        for line, cell in zip(self.lines, self.cells, strict=True):
            is_limit = any(record["status"] == "limit" for record in line.records)
            for note in (*cell.remarks, *([cell.reason] if cell.reason and is_limit else ())):
                titles.setdefault(note, []).append(line.title)
        return [f"{', '.join(names)}: {note}" for note, names in titles.items()]

    def table(self) -> Table:
        """Return a row for each method: its results, then what they took."""
        keys = [(p, twins) for twins in (False, True)[: 1 + self.twins] for p in self.protocols]
        columns = [Column(self._heading(*key)) for key in keys]
        rows = []
        for line, main in zip(self.lines, self.cells, strict=True):
            cells = [line.cell(p, self.metric, twins=twins) for p, twins in keys]
            rows.append(Row(line.title, (*cells, *_further(main)), method=line.method))
        further = ("std over folds", "seeds", "seconds", "CPU seconds", "peak MiB")
        return Table(self.title, (*columns, *map(Column, further)), tuple(rows))

    def to_dict(self) -> dict[str, object]:
        """Return the comparison as plain values for JSON."""
        methods = []
        for line, cell in zip(self.lines, self.cells, strict=True):
            good = [record for record in line.records if is_good(record)]
            there = row_names(good)
            rows = {
                protocol + suffix: row_values(good, line.method + suffix, protocol)
                for suffix in ("", TWINS_REMOVED)
                for protocol in self.protocols
                if line.method + suffix in there
            }
            bad = [record for record in line.records if not is_good(record)]
            values: dict[str, object] = {"seconds": cell.seconds, "cpu_seconds": cell.cpu_seconds}
            values |= {"peak_memory_mib": cell.peak}
            values |= {"word": bad[0].get("word", FAILED) if bad else None}
            more = {"reason": cell.reason, "notes": [*cell.remarks]}
            methods.append({"method": line.title, "rows": rows} | values | more)
        return {**(self.facts or {}), "methods": methods}

    def _heading(self, protocol: str, twins: bool) -> str:
        title = METRICS[self.metric].title
        if len(self.protocols) > 1:
            title = f"{protocol} %" + (" (optimistic)" if protocol in OPTIMISTIC else "")
        return f"{title}, twins removed" if twins else title


def compare_records(
    graphs: GraphSet, scoring: Scoring, records: Mapping[str, Sequence[Record]]
) -> Comparison:
    """Return the comparison of methods from the records of their runs, by title.

    The largest class is scored here where it is not among the methods: it needs no run.
    """
    lines = [
        Compared(title, str(runs[0].get("method", "igsd")), runs)
        for title, runs in records.items()
        if runs
    ]
    if MAJORITY not in records:
        codes, num_seeds = class_codes(graphs), max(map(len, records.values()), default=0)
        scored = [
            [(MAJORITY, majority_result(graphs, codes, name, seed)) for name in scoring.protocols()]
            for seed in range(num_seeds)
        ]
        lines.append(Compared(MAJORITY, MAJORITY, unsaved_records(scored), is_reference=True))
    facts = {"data": data_summary(graphs), "settings": scoring.settings()}
    shown = (scoring.protocol, scoring.protocols(), scoring.twins)
    return Comparison(graphs.name, tuple(lines), *shown, facts=facts)


def row_order(records: Sequence[Record], protocol: str) -> list[str]:
    """Return the methods of a score table in order.

    Rows without indistinguishable graphs come first, then methods that are not in ``ROW_ORDER``,
    then its four, always, so that a method that could not be run shows as a row without a number.
    Only ``igsd`` is left out where another method stands in its place.
    """
    there = row_names(records, protocol)
    before = [method for method in there if method.endswith(TWINS_REMOVED)]
    others = [method for method in there if method not in (*before, *ROW_ORDER)]
    last = [name for name in ROW_ORDER if name != "igsd" or name in there or not there]
    return [*before, *others, *last]


def score_table(
    records: Sequence[Record],
    protocols: Sequence[str],
    methods: Sequence[str],
    title: str = "",
    *,
    metric: str = "accuracy",
    over: str = "seeds",
    third: str = "std over folds",
) -> Table:
    """Return mean and deviations of methods under each protocol, the optimistic ones marked.

    ``over``: what the seeds are called, e.g. splits. ``third``: the third column of a protocol,
    ``std over folds``, ``best split``, or empty for none.
    """
    columns = []
    for name in protocols:
        mark = " (optimistic)" if name in OPTIMISTIC else ""
        head = METRICS[metric].title if len(protocols) == 1 else f"{name} %{mark}"
        columns += [head, f"std over {over}", *([third] if third else [])]
    rows = []
    for method in methods:
        texts: list[str] = []
        for protocol in protocols:
            cell = summarise(records, metric, method=method, protocol=protocol)
            figures = [cell.mean, cell.std_over_seeds]
            if third:
                figures.append(cell.best if third.startswith("best") else cell.std_over_folds)
            if metric == "mae":
                texts += ["-" if value is None else f"{value:.4g}" for value in figures]
            else:
                texts += [cell.metric.text(value) for value in figures]
        rows.append(Row(method, tuple(texts)))
    return Table(title, tuple(map(Column, columns)), tuple(rows))


def scores_to_dict(
    records: Sequence[Record], protocols: Sequence[str], methods: Sequence[str]
) -> dict[str, object]:
    """Return a score table as plain values; a second protocol stands ``beside`` the first."""
    first, *others = ([row_values(records, m, p) for m in methods] for p in protocols)
    return {"protocol": protocols[0], **({"beside": others[0]} if others else {}), "rows": first}


@dataclass(frozen=True)
class QM9Cell:
    """The error of a method on one target, and its ratio to the supervised method's."""

    method: str
    target: str
    error: Cell
    ratio: Cell

    @property
    def notes(self) -> tuple[str, ...]:
        """What qualifies the result: stale records, or records of other settings."""
        return self.error.notes

    def to_dict(self) -> dict[str, object]:
        """Return the cell as plain values for JSON."""
        return {
            "method": self.method,
            "target": self.target,
            "mae": self.error.mean,
            "std_over_splits": self.error.std_over_seeds,
            "ratio": self.ratio.mean,
            "notes": [*self.notes],
        }


def qm9_cells(
    run: Run, own: Sequence[Record], *, num_seeds: int, folder: Path | None
) -> list[QM9Cell]:
    """Return a cell for each method and target, methods in the order of the paper's figure.

    Uses the run's ``own`` records and those of other methods in a ``folder`` on the same data,
    targets and sizes. Ratios are to supervised records that are neither stale nor of other
    settings. The reference rows come from the run's own records, which all have them.
    """
    from igsd.experiments.protocols import SUPERVISED, QM9Protocol

    rules = run.rules
    if not isinstance(rules, QM9Protocol):
        raise TypeError(f"{run} is not of protocol qm9.")

    def error(method: str, records: Sequence[Record], target: str) -> Cell:
        other = _like(run, method) if method in rules.methods else run

        def same(record: Record, first: Record) -> bool:
            return other.is_like(record, first["data"]["checksum"])

        return summarise(records, "mae", method=method, target=target, same=same)

    def stored(method: str) -> list[Record]:
        if method == run.method or folder is None:
            return [*own] if method == run.method else []
        return [*_stored(_like(run, method), own[0], num_seeds, folder)]

    found: dict[str, Sequence[Record]] = {name: stored(name) for name in rules.methods}
    targets = rules.targets(run)
    faults = {STALE, OTHER_SETTINGS} & {*error(SUPERVISED, found[SUPERVISED], targets[0]).notes}
    base = [] if faults else found[SUPERVISED]
    found |= dict.fromkeys(("untrained", "histogram", "mean"), own)
    return [
        QM9Cell(
            name,
            target,
            error(name, records, target),
            summarise(records, "mae", method=name, target=target, relative_to=base),
        )
        for name, records in found.items()
        for target in targets
        if records
    ]


def _like(run: Run, method: str) -> Run:
    """Return the run of another method, with those of the changed settings that it has."""
    if method == run.method:
        return run
    other = replace(run, method=method, fixed=())
    return replace(other, fixed=tuple(other.config().known(dict(run.fixed)).items()))


def _stored(run: Run, first: Record, num_seeds: int, folder: Path) -> Iterator[Record]:
    """Yield the records of a run on the same data and splits as ``first`` that have a result."""
    for seed in range(num_seeds):
        record = usable_record(replace(run, seed=seed).path(folder))
        if record is None or not is_good(record) or record["protocol"] != first["protocol"]:
            continue
        if record["data"]["checksum"] == first["data"]["checksum"]:
            yield record


def _further(cell: Cell) -> list[str]:
    """Return the deviation over folds, the number of seeds, the times and the memory."""
    seeds = str(cell.num_seeds) if cell.num_seeds else "-"
    texts = [cell.metric.text(cell.std_over_folds), seeds]
    texts += [
        "-" if value is None else _seconds(value) for value in (cell.seconds, cell.cpu_seconds)
    ]
    return [*texts, "-" if cell.peak is None else f"{cell.peak:.0f}"]


def _seconds(seconds: float) -> str:
    return f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2g}"
