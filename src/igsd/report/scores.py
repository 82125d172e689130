"""The tables of ``igsd evaluate`` and ``igsd compare``: methods on one data set, from records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from igsd.errors import counted
from igsd.experiments.protocols import SUPERVISED, QM9Protocol
from igsd.experiments.records import Record, data_summary
from igsd.experiments.run import Run
from igsd.experiments.scoring import ROW_ORDER, TWINS_REMOVED, Scoring, class_codes, majority_result
from igsd.graphs.graphset import GraphSet
from igsd.report import summary
from igsd.report.records import RecordFolder
from igsd.report.summary import METRICS, Cell, is_good, summarise
from igsd.report.tables import Column, Row, Table, belongs_to

MAJORITY = "majority"
OPTIMISTIC = ("paper", "semi-paper")
"""Protocols whose choices have seen the test parts."""


@dataclass(frozen=True)
class Compared:
    """One method of a comparison: its title, its row in the records, and these with their paths.

    ``is_reference``: whether it was scored inside the runs of another method.
    """

    title: str
    method: str
    records: Sequence[Record]
    paths: Sequence[str] = ()
    is_reference: bool = False

    def cell(self, protocol: str | None, metric: str = "accuracy", *, twins: bool = False) -> Cell:
        """Return the result under a protocol, with ``twins`` without indistinguishable graphs."""
        method = self.method + (TWINS_REMOVED if twins else "")
        pairs = [*zip(self.records, self.paths or [""] * len(self.records), strict=True)]
        # Protocols that score vectors have records of their own, ``semi-paper`` has not.
        own = [p for p in pairs if p[0].get("protocol", {}).get("name") == protocol] or pairs
        records, paths = [record for record, _ in own], [path for _, path in own]
        return summarise(records, metric, method=method, protocol=protocol, paths=paths)

    @property
    def num_seeds(self) -> int:
        """The number of seeds that have a record."""
        return len({record["seed"] for record in self.records})


@dataclass(frozen=True)
class Comparison:
    """Methods on one data set, scored on the same folds.

    ``protocol``: the one asked for, of the ``protocols`` shown. ``twins``: whether scores without
    indistinguishable graphs (twins) stand beside the others. ``facts``: what the JSON says first.
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
    def title(self) -> str:
        """The data set, the protocol and the largest number of seeds that any method has."""
        num_seeds = max((line.num_seeds for line in self.lines), default=0)
        return f"{self.data}, protocol {self.protocol}, {counted(num_seeds, 'seed')}"

    def has_scores(self) -> bool:
        """Return whether any method has a score; where all exceeded their limits, none has."""
        pairs = zip(self.lines, self.cells, strict=True)
        return any(c.mean is not None for line, c in pairs if line.method != MAJORITY)

    def failed(self) -> bool:
        """Return whether any run failed; one that only exceeded its limits did not."""
        statuses = {record["status"] for line in self.lines for record in line.records}
        return summary.FAILED in statuses

    def notes(self) -> list[str]:
        """Return the notes of the methods and the limits that some exceeded, each once."""
        titles: dict[str, list[str]] = {}
        for line, cell in zip(self.lines, self.cells, strict=True):
            is_limit = any(record["status"] == "limit" for record in line.records)
            for note in (*cell.remarks, *([cell.reason] if cell.reason and is_limit else ())):
                titles.setdefault(note, []).append(line.title)
        return [f"{', '.join(names)}: {note}" for note, names in titles.items()]

    def table(self) -> Table:
        """Return a row for each method: its results, then what they took."""
        keys = [(p, twins) for twins in (False, True)[: 1 + self.twins] for p in self.protocols]
        titles = [_heading(p, self.protocols, self.metric) + TWINS_REMOVED * t for p, t in keys]
        rows = []
        for line, main in zip(self.lines, self.cells, strict=True):
            cells = [line.cell(p, self.metric, twins=twins) for p, twins in keys]
            further = [main.metric.text(main.std_over_folds), str(main.num_seeds or "-")]
            for value in (main.seconds, main.cpu_seconds):
                further.append(summary.number(value, ".1f" if (value or 0) >= 1 else ".2g"))
            further.append(summary.number(main.peak, ".0f"))
            rows.append(Row(line.title, (*cells, *further), method=line.method))
        titles += ["std over folds", "seeds", "seconds", "CPU seconds", "peak MiB"]
        return Table(self.title, tuple(map(Column, titles)), tuple(rows))

    def to_dict(self) -> dict[str, object]:
        """Return the comparison as plain values for JSON."""
        methods = []
        for line, cell in zip(self.lines, self.cells, strict=True):
            good = [record for record in line.records if is_good(record)]
            bad = [record for record in line.records if not is_good(record)]
            there = summary.row_names(good)
            rows = {
                protocol + suffix: summary.row_values(good, line.method + suffix, protocol)
                for suffix in ("", TWINS_REMOVED)
                for protocol in self.protocols
                if line.method + suffix in there
            }
            values = {"method": line.title, "rows": rows, "seconds": cell.seconds}
            values |= {"cpu_seconds": cell.cpu_seconds, "peak_memory_mib": cell.peak}
            values |= {"word": bad[0].get("word", summary.FAILED) if bad else None}
            methods.append(values | {"reason": cell.reason, "notes": [*cell.remarks]})
        return {**(self.facts or {}), "methods": methods}


def compare_records(
    graphs: GraphSet, scoring: Scoring, records: Mapping[str, Sequence[Record]]
) -> Comparison:
    """Return the comparison of methods from the records of their runs, by title.

    The largest class is scored here where it is not among the methods: it needs no run.
    """
    there = {title: runs for title, runs in records.items() if runs}
    lines = [Compared(title, summary.own_method(r[0]), r) for title, r in there.items()]
    if MAJORITY not in records:
        codes = class_codes(graphs)
        scored = [
            [(MAJORITY, majority_result(graphs, codes, name, seed)) for name in scoring.protocols()]
            for seed in range(max((line.num_seeds for line in lines), default=0))
        ]
        unsaved = summary.unsaved_records(scored)
        lines.append(Compared(MAJORITY, MAJORITY, unsaved, is_reference=True))
    facts = {"data": data_summary(graphs), "settings": scoring.settings()}
    shown = (scoring.protocol, scoring.protocols(), scoring.twins)
    return Comparison(graphs.name, tuple(lines), *shown, facts=facts)


def row_order(records: Sequence[Record], protocol: str) -> list[str]:
    """Return the methods of a score table in order.

    Rows without indistinguishable graphs come first, then methods that are not in ``ROW_ORDER``,
    then its four, whether they could be run or not. Another method replaces ``igsd``.
    """
    there = summary.row_names(records, protocol)
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

    ``over``: what the seeds are called. ``third``: the third column of a protocol, if any: ``std
    over folds`` or ``best split``.
    """
    columns: list[str] = []
    for protocol in protocols:
        further = [f"std over {over}", third] if third else [f"std over {over}"]
        columns += [_heading(protocol, protocols, metric), *further]
    rows = []
    for method in methods:
        texts: list[str] = []
        for protocol in protocols:
            cell = summarise(records, metric, method=method, protocol=protocol)
            last = cell.best if third.startswith("best") else cell.std_over_folds
            figures = [cell.mean, cell.std_over_seeds, last][: 3 if third else 2]
            spec = ".4g" if metric == "mae" else f".{cell.metric.digits}f"
            texts += [summary.number(value, spec) for value in figures]
        rows.append(Row(method, tuple(texts)))
    return Table(title, tuple(map(Column, columns)), tuple(rows))


def _heading(protocol: str, protocols: Sequence[str], metric: str) -> str:
    """Return the title of a column: the metric, or which of several protocols it is of."""
    mark = " (optimistic)" if protocol in OPTIMISTIC else ""
    return f"{METRICS[metric].title if len(protocols) == 1 else f'{protocol} %'}{mark}"


def scores_to_dict(
    records: Sequence[Record], protocols: Sequence[str], methods: Sequence[str]
) -> dict[str, object]:
    """Return a score table as plain values; a second protocol stands ``beside`` the first."""
    first, *others = ([summary.row_values(records, m, p) for m in methods] for p in protocols)
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

    Uses the run's ``own`` records, which have the reference rows, and those of other methods in a
    ``folder`` on the same data, targets and sizes. Ratios are to supervised records that are
    neither stale nor of other settings.
    """
    rules = run.rules
    if not isinstance(rules, QM9Protocol):
        raise TypeError(f"{run} is not of protocol qm9.")

    def error(method: str, records: Sequence[Record], target: str) -> Cell:
        same = partial(belongs_to, _like(run, method) if method in rules.methods else run)
        return summarise(records, "mae", method=method, target=target, same=same)

    def stored(method: str) -> list[Record]:
        if method == run.method or folder is None:
            return [*own] if method == run.method else []
        first, found = own[0], RecordFolder(folder).of(_like(run, method))
        return [
            record
            for _, record in found
            if record["seed"] < num_seeds and is_good(record)
            if record["protocol"] == first["protocol"]
            if record["data"]["checksum"] == first["data"]["checksum"]
        ]

    found: dict[str, Sequence[Record]] = {name: stored(name) for name in rules.methods}
    targets = rules.targets(run)
    notes = error(SUPERVISED, found[SUPERVISED], targets[0]).notes
    base = [] if {summary.STALE, summary.OTHER_SETTINGS} & {*notes} else found[SUPERVISED]
    found |= dict.fromkeys(("untrained", "histogram", "mean"), own)
    ratio = partial(summarise, metric="mae", relative_to=base)
    return [
        QM9Cell(name, t, error(name, records, t), ratio(records, method=name, target=t))
        for name, records in found.items()
        for t in targets
        if records
    ]


def _like(run: Run, method: str) -> Run:
    """Return the run of another method, with those of the changed settings that it has."""
    if method == run.method:
        return run
    return replace(run, method=method).with_known(dict(run.fixed))
