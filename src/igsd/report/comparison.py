"""``Comparison``: methods side by side, from the records of their runs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from igsd.evaluation.result import ProtocolResult
from igsd.experiments.records import Record, data_summary, fit_seconds, scored_of
from igsd.experiments.rows import Row
from igsd.experiments.scoring import TWINS_REMOVED, Scoring, class_codes, majority_result
from igsd.graphs.graphset import GraphSet
from igsd.report.result_cell import mean_and_std
from igsd.report.table import print_table
from igsd.wording import counted

FAILED = "failed"


@dataclass(frozen=True)
class ComparisonLine:
    """One method over its seeds; ``method``: its name, and what is set otherwise.

    ``rows``: its results by the name of the protocol, with ``TWINS_REMOVED`` added to that where
    twins were removed. ``seconds``: the mean time to fit and to make vectors or kernel; ``peak``:
    the most memory of any seed, in MiB. ``word``: OMR, > limit or failed where a seed ended so;
    ``reason`` says it in a sentence.
    """

    method: str
    rows: Mapping[str, Row]
    seconds: float | None = None
    peak: float | None = None
    word: str | None = None
    reason: str | None = None
    notes: tuple[str, ...] = ()

    def cell(self, key: str) -> str:
        """Return mean and deviation over seeds in per cent, or the word in their place."""
        row = self.rows.get(key)
        if row is None or row.mean is None:
            return self.word or "-"
        std = row.std_over_seeds
        text = mean_and_std(100 * row.mean, None if std is None else 100 * std)
        return text if self.word is None else f"{text} ({self.word})"


@dataclass(frozen=True)
class Comparison:
    """All methods on one data set; ``majority`` are the rows of the largest class, by protocol."""

    data: str
    scoring: Scoring
    lines: tuple[ComparisonLine, ...]
    majority: ComparisonLine
    num_seeds: int
    about: Mapping[str, Any]

    def columns(self) -> dict[str, str]:
        """Return the titles of the columns with accuracies, by the key of their rows."""
        name = self.scoring.protocol
        titles = {name: "accuracy %"}
        if name == "paper":
            titles = {"nested": "nested %", "paper": "paper % (optimistic)"}
        if self.scoring.twins:
            titles |= {p + TWINS_REMOVED: f"{t}, twins removed" for p, t in titles.items()}
        return titles

    def has_scores(self) -> bool:
        """Say whether any method has a figure; where all exceeded their limits, none has."""
        return any(row.mean is not None for line in self.lines for row in line.rows.values())

    def notes(self) -> list[str]:
        """Return, each once, what the methods have to say and which limits some exceeded.

        A method that failed has said why when it did.
        """
        said: dict[str, list[str]] = {}
        for line in self.lines:
            over = [line.reason] if line.reason and line.word != FAILED else []
            for note in (*line.notes, *over):
                said.setdefault(note, []).append(line.method)
        return [f"{', '.join(methods)}: {note}" for note, methods in said.items()]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values for JSON."""
        methods = []
        for line in (*self.lines, self.majority):
            rows = {key: row.to_dict() for key, row in line.rows.items()}
            values = {"seconds": line.seconds, "peak_memory_mib": line.peak, "word": line.word}
            more = {"reason": line.reason, "notes": list(line.notes)}
            methods.append({"method": line.method, "rows": rows} | values | more)
        return {"data": dict(self.about), "settings": self.scoring.settings(), "methods": methods}


def compare_records(
    graphs: GraphSet, scoring: Scoring, records: Mapping[str, Sequence[Record]]
) -> Comparison:
    """Return the comparison of methods whose runs left these records, by what each is called."""
    lines = tuple(comparison_line(method, runs) for method, runs in records.items())
    num_seeds = max((len(runs) for runs in records.values()), default=0)
    majority = ComparisonLine("majority", _majority(graphs, scoring, num_seeds))
    return Comparison(graphs.name, scoring, lines, majority, num_seeds, data_summary(graphs))


def print_comparison(comparison: Comparison, *, as_json: bool = False) -> None:
    """Print the table, or its JSON, to standard output."""
    if as_json:
        print(json.dumps(comparison.to_dict(), indent=2, allow_nan=False))
        return
    columns, protocol = comparison.columns(), comparison.scoring.protocol
    header = ["method", *columns.values(), "std over folds", "seconds", "peak MiB"]
    lines = []
    for line in (*comparison.lines, comparison.majority):
        row = line.rows.get(protocol)
        folds = None if row is None else row.std_over_folds
        figures = [_number(None if folds is None else 100 * folds, 1)]
        figures += [_number(line.seconds, 1), _number(line.peak, 0)]
        lines.append([line.method, *(line.cell(key) for key in columns), *figures])
    title = f"{comparison.data}, protocol {protocol}, {counted(comparison.num_seeds, 'seed')}"
    print_table(header, lines, title)


def _majority(graphs: GraphSet, scoring: Scoring, num_seeds: int) -> dict[str, Row]:
    """Return the rows of the largest class by protocol; they need no method that came to an end."""
    codes, seeds = class_codes(graphs), range(num_seeds)
    return {
        name: Row("majority", name, tuple(majority_result(graphs, codes, name, s) for s in seeds))
        for name in scoring.protocols()
    }


def comparison_line(method: str, records: Sequence[Record]) -> ComparisonLine:
    """Return the line of the runs of a method, which differ in their seed alone."""
    good = [record for record in records if record["status"] == "ok"]
    bad = [record for record in records if record["status"] != "ok"]
    seconds = [fit_seconds(record) for record in good]
    return ComparisonLine(
        method,
        _rows(method, good),
        float(np.mean(seconds)) if seconds else None,
        max((r["peak_memory_mib"] for r in good if r.get("peak_memory_mib")), default=None),
        bad[0].get("word", FAILED) if bad else None,
        bad[0].get("error") if bad else None,
        tuple(dict.fromkeys(note for record in good for note in record.get("notes") or ())),
    )


def _rows(title: str, records: Sequence[Record]) -> dict[str, Row]:
    """Return the rows of a method by protocol, those without twins under a key of their own."""
    gathered: dict[str, list[ProtocolResult]] = {}
    for record in records:
        method = record.get("method", "igsd")  # a recipe is one of IGSD
        for name, result in scored_of(record):
            if name in (method, method + TWINS_REMOVED):
                key = result.protocol + name.removeprefix(method)
                gathered.setdefault(key, []).append(result)
    return {key: Row(title, r[0].protocol, tuple(r)) for key, r in gathered.items()}


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
