"""``Estimates``: how long runs will take, by the seconds of those that have ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import StorageError
from igsd.experiments.job import Job
from igsd.experiments.records import read_record


@dataclass
class Estimates:
    """Seconds of runs that ended well: by kind of run and data set, and a graph by kind alone."""

    on_data: dict[tuple[str, str, str], list[float]] = field(default_factory=dict)
    per_graph: dict[tuple[str, str], list[float]] = field(default_factory=dict)

    @classmethod
    def read(cls, records: Path) -> Estimates:
        """Return the estimates that a folder of records gives; other files are passed over."""
        estimates = cls()
        for path in sorted(records.glob("*/*/*/seed-*.json")):
            try:
                record = read_record(path)
            except StorageError:
                continue
            if record is not None:
                estimates.add(path, record)
        return estimates

    def add(self, path: Path, record: dict[str, Any]) -> None:
        """Count a record in; one that did not end well says nothing of the others."""
        if record["status"] != "ok":
            return
        protocol, data, label = path.parts[-4:-1]
        seconds = run_seconds(record)
        self.on_data.setdefault((protocol, data, label), []).append(seconds)
        share = seconds / max(record["data"]["graphs"], 1)
        self.per_graph.setdefault((protocol, label.split("+")[0]), []).append(share)

    def seconds(self, job: Job, num_graphs: int) -> float | None:
        """Return the seconds that a job may take, None where nothing like it was ever run.

        By the same run with other seeds, or by the same method on other data and the number of
        graphs, which is rough: some methods look at every pair.
        """
        path = job.runs[0].path(job.records)
        protocol, data, label = path.parts[-4:-1]
        same = self.on_data.get((protocol, data, label))
        if same:
            return len(job.runs) * float(np.mean(same))
        alike = self.per_graph.get((protocol, label.split("+")[0]))
        return len(job.runs) * float(np.mean(alike)) * num_graphs if alike else None


def run_seconds(record: dict[str, Any]) -> float:
    """Return how long the parts of a run took together; processor time is no part."""
    return float(sum(v for k, v in record.get("seconds", {}).items() if k != "processor"))


def in_words(seconds: float) -> str:
    """Return a time as people say it: ``40 s``, ``12 min``, ``3 h 20 min``.

    >>> in_words(12003)
    '3 h 20 min'
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
