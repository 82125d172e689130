"""``python -m benchmarks.render``: the table of ``docs/performance.md``, from the records.

Each row is the newest that was measured, whether in a run of all benchmarks or of some. Rewrites
what stands between the markers and leaves the rest alone; with ``--check`` it writes nothing and
exits with 1 where the page and the records differ.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.record import read_all
from benchmarks.row import Row
from benchmarks.table import markdown_table
from igsd.report.readme import read_page, replace_between, update_pages

BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


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
        f"before and after, {record['seconds'] / 60:.0f} minutes. {packages}."
    )


def replace_table(text: str, table: str) -> str:
    """Return ``text`` with ``table`` between the markers; raises ``StorageError`` without them.

    >>> replace_table(f"a {BEGIN} old {END} b", "new").splitlines()
    ['a <!-- benchmarks: begin -->', 'new', '<!-- benchmarks: end --> b']
    """
    return replace_between(text, BEGIN, END, table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring the page up to date and return the exit code; 1: ``--check`` found a difference."""
    return update_pages(
        arguments,
        lambda page, records: {page: replace_table(read_page(page), render(read_all(records)))},
        module="benchmarks.render",
        about="Writes the table of the records in RECORDS into PAGE.",
        command="make performance",
    )


if __name__ == "__main__":
    sys.exit(main())
