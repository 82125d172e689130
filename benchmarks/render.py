"""``python -m benchmarks.render``: the tables of three pages from their records.

``docs/performance.md`` shows each row of the benchmarks as last measured, whether in a run of all
or of some; ``docs/reliability.md`` the last whole run of ``make torture-all``, or of ``make
torture`` if there is none; ``docs/scaling.md`` the last plan for a billion molecules. Rewrites what
stands between the markers and leaves the rest alone; with ``--check`` it writes nothing and exits
with 1 where a page and the records differ.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.billion import render_plan
from benchmarks.record import SCALING, TORTURE, read_all
from benchmarks.row import Row
from benchmarks.table import markdown_table
from igsd.errors import StorageError, counted
from scripts.readme import read_page, update_pages

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
TORTURE_BEGIN, TORTURE_END = (
    BEGIN.replace("benchmarks", TORTURE),
    END.replace("benchmarks", TORTURE),
)


def render(records: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown of records, oldest first: each row as last measured, and the runs."""
    newest: dict[tuple[str, str], tuple[Row, int]] = {}
    for number, record in enumerate(records):
        for row in map(Row.from_json, record["rows"]):
            newest[row.name, row.data] = (row, number)
    used = sorted({number for _, number in newest.values()}, reverse=True)
    names = {number: f"run {place}" for place, number in enumerate(used, 1)}
    rows = [
        replace(row, note=f"{row.note}; {names[number]}" if len(used) > 1 else row.note)
        for row, number in newest.values()
    ]
    runs = [_run(records[number], names[number] if len(used) > 1 else "") for number in used]
    return "\n\n".join([markdown_table(rows), *runs])


def _run(record: dict[str, Any], name: str) -> str:
    """Return what a run was measured on."""
    machine, versions = record["machine"], record["versions"]
    loads = " and ".join(f"{load:.1f}" for load in machine["load"])
    packages = ", ".join(f"{name} {version}" for name, version in versions.items() if version)
    source = (record["commit"]["id"] or "unknown")[:12]
    changed = " with changes" if record["commit"]["dirty"] else ""
    return (
        f"{name.capitalize() + ', measured' if name else 'Measured'} on {record['date'][:10]}, "
        f"commit {source}{changed}: {machine['processor']}, {machine['cores']} cores, load {loads} "
        f"before and after, {counted(round(record['seconds'] / 60), 'minute')}. {packages}."
    )


def render_torture(records: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown of the newest of the largest runs of ``make torture``."""
    record = next((r for r in reversed(records) if r["size"] == "all"), records[-1])
    lines = ["| attack | tried | failed |", "|:---|---:|---:|"]
    for row in record["rows"]:
        failed = f"skipped: {row['skipped']}" if row["skipped"] else row["failed"]
        lines.append(f"| {row['name']} | {row['tried']} | {failed} |")
    tried, failed = (sum(row[key] for row in record["rows"]) for key in ("tried", "failed"))
    lines.append(f"| **together** | **{tried}** | **{failed}** |")
    command = "make torture-all" if record["size"] == "all" else "make torture"
    versions = ", ".join(f"{name} {value}" for name, value in record["versions"].items() if value)
    source = (record["commit"]["id"] or "unknown")[:12]
    changed = " with changes" if record["commit"]["dirty"] else ""
    about = f"`{command}` on {record['date'][:10]}, commit {source}{changed}. {versions}."
    return "\n".join([*lines, "", about])


def replace_between(text: str, begin: str, end: str, body: str) -> str:
    """Return ``text`` with ``body`` between the markers; raises ``StorageError`` without them.

    >>> replace_between(f"a {BEGIN} old {END} b", BEGIN, END, "new").splitlines()
    ['a <!-- benchmarks: begin -->', 'new', '<!-- benchmarks: end --> b']
    """
    before, found_begin, rest = text.partition(begin)
    _, found_end, after = rest.partition(end)
    if not found_begin or not found_end or begin in rest or end in before + after:
        raise StorageError(f"The text must have the lines {begin} and {end}, in this order, once.")
    return f"{before}{begin}\n{body}\n{end}{after}"


def render_page(page: Path, records: Path) -> dict[Path, str]:
    """Return a page with its table, which the name of the folder of records tells."""
    text = read_page(page)
    if records.name == SCALING:
        plan = render_plan(read_all(records, f"igsd {SCALING}")[-1])
        begin, end = (mark.replace("benchmarks", SCALING) for mark in (BEGIN, END))
        return {page: replace_between(text, begin, end, plan)}
    if records.name != TORTURE:
        return {page: replace_between(text, BEGIN, END, render(read_all(records)))}
    table = render_torture(read_all(records, f"igsd {TORTURE}"))
    return {page: replace_between(text, TORTURE_BEGIN, TORTURE_END, table)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the page up to date and return the exit code; 1: ``--check`` found a difference."""
    return update_pages(
        arguments,
        render_page,
        module="benchmarks.render",
        about="Writes the table of the records in RECORDS into PAGE.",
        command="make performance",
    )


if __name__ == "__main__":
    sys.exit(main())
