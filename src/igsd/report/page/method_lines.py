"""``method_lines``: what runs on one data set say of each method, and of what they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from igsd.experiments.records import fit_seconds
from igsd.experiments.rows import Row
from igsd.experiments.scoring import TWINS_REMOVED
from igsd.report.page.record_groups import RecordGroup
from igsd.report.result_cell import mean_and_std, per_cent
from igsd.report.run_title import row_title

SHARED = ("majority", "mean")
"""Rows that every run on the same data has alike; a table shows them once."""


@dataclass(frozen=True)
class MethodLine:
    """A row of a table: its title, the place of its records, its figures and what they cost.

    ``figures``: mean and deviation over seeds, deviation over folds, number of seeds. ``costs``:
    seconds and MiB of a method, empty for a row of another method's runs.
    """

    title: str
    place: str
    figures: tuple[str, str, str]
    costs: tuple[str, str] = ("", "")


def method_lines(groups: Sequence[RecordGroup]) -> list[MethodLine]:
    """Return the lines of the methods that were run, then of their floors, each once.

    A floor that differs from one run to another, as the untrained encoder of another recipe does,
    names the run that it stands beside.
    """
    lines = [line for group in groups for line in _own(group)]
    best = sorted(groups, key=lambda group: (group.is_stale, -len(group.good)))
    floors = [(group, *floor) for group in best for floor in _floors(group)]
    for group, method, line in sorted(floors, key=lambda floor: floor[1] in SHARED):
        alike = [one for one in lines if one.title == line.title]
        if not alike:
            lines.append(line)
        elif method not in SHARED and line.figures not in [one.figures for one in alike]:
            lines.append(replace(line, title=f"{line.title}, beside {group.title}"))
    return lines


def _own(group: RecordGroup) -> Iterator[MethodLine]:
    """Yield the lines of the method that was run, those of its folder's protocol first."""
    costs, errors = _costs(group), group.errors().get(group.method)
    if errors:
        yield MethodLine(group.title, group.place, _error_figures(errors), costs)
    own = [row for row in group.rows() if _is_own(row.method, group)]
    for row in sorted(own, key=lambda row: not group.protocol.startswith(row.protocol)):
        title = group.title + row.method.removeprefix(group.method) + _protocol(row, group)
        mean, *others = _figures(row)
        word = f"{mean} ({group.word})" if group.word else mean
        yield MethodLine(title, group.place, (word, others[0], others[1]), costs)
    if not own and not errors:
        yield MethodLine(group.title, group.place, (group.word or "-", "-", "-"))


def _floors(group: RecordGroup) -> Iterator[tuple[str, MethodLine]]:
    """Yield method and line of what the runs of a group have beside their own method."""
    for method, values in group.errors().items():
        if not _is_own(method, group):
            title = row_title(method, group.protocol)
            yield method, MethodLine(title, group.place, _error_figures(values))
    for row in group.rows():
        if not _is_own(row.method, group):
            # The largest class is as good under any way to choose C.
            more = "" if row.method in SHARED else _protocol(row, group)
            title = row_title(row.method, group.protocol) + more
            yield row.method, MethodLine(title, group.place, _figures(row))


def _is_own(method: str, group: RecordGroup) -> bool:
    return method in (group.method, group.method + TWINS_REMOVED)


def _protocol(row: Row, group: RecordGroup) -> str:
    """Return the protocol of a row where the folder's name is another."""
    return "" if group.protocol.startswith(row.protocol) else f", {row.protocol}"


def _figures(row: Row) -> tuple[str, str, str]:
    std = row.std_over_seeds
    score = mean_and_std(100 * (row.mean or 0.0), None if std is None else 100 * std)
    return score, per_cent(row.std_over_folds), str(len(row.results))


def _error_figures(values: Sequence[float]) -> tuple[str, str, str]:
    std = float(np.std(values)) if len(values) > 1 else None
    return mean_and_std(float(np.mean(values)), std, 4), "-", str(len(values))


def _costs(group: RecordGroup) -> tuple[str, str]:
    if not group.good:
        return "", ""
    seconds = float(np.mean([fit_seconds(record) for record in group.good]))
    peak = max((record.get("peak_memory_mib") or 0.0) for record in group.good)
    shown = f"{seconds:.1f}" if seconds >= 1 else f"{seconds:.2g}"
    return shown, f"{peak:.0f}" if peak else "-"
