"""``render_results``: the README's tables, made from the records of runs.

``make readme`` brings the README up to date. It runs ``python -m igsd.report.results_table results
README.md``, which rewrites what stands between the markers ``<!-- results: begin -->`` and
``<!-- results: end -->`` and leaves the rest alone; with ``--check`` it writes nothing and exits
with 1 where the README and the records differ.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from igsd.errors import IGSDError, StorageError
from igsd.evaluation.protocols import PROTOCOLS
from igsd.experiments.published import published_rows
from igsd.experiments.records import read_record
from igsd.report.marked_text import replace_between
from igsd.report.result_cell import Record
from igsd.report.score_tables import group_runs, main_table, twins_table
from igsd.storage import write_text

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"

_HEADINGS = {
    "paper": "Protocol `paper`, optimistic: C was chosen on the test folds.",
    "gckn": "Protocol `gckn`: the published folds.",
}


def render_results(folder: str | os.PathLike[str]) -> str:
    """Return the Markdown tables of all records under ``folder``, one for each protocol.

    ``nested`` comes first and is always there, the others follow where they were run. A table of
    scores with twins removed follows where records have them.
    Raises ``StorageError`` as ``read_records`` does.
    """
    records = read_records(Path(folder))
    if not records:
        return "There are no records yet."
    published = published_rows()
    parts = []
    for protocol in PROTOCOLS:
        runs = group_runs([r for r in records if r["protocol"]["name"] == protocol])
        if protocol == "nested":
            parts += [main_table(runs, protocol, published), twins_table(runs, protocol)]
            parts += [f"{row.method}: {row.source}." for row in published]
        elif runs:
            # The published figures were not made with the folds of gckn.
            beside = published if protocol == "paper" else []
            parts += [_HEADINGS[protocol], main_table(runs, protocol, beside)]
            parts += [twins_table(runs, protocol)]
    return "\n\n".join(part for part in parts if part)


def read_records(folder: Path) -> list[Record]:
    """Return the records in ``folder/PROTOCOL/DATA/RECIPE/seed-N.json``, by seed.

    Raises ``StorageError`` where the folder is missing or a file in a record's place is none.
    """
    if not folder.is_dir():
        raise StorageError(f"There is no folder {folder}; `igsd evaluate --records` makes one.")
    records = [read_record(path) for path in sorted(folder.glob("*/*/*/seed-*.json"))]
    return sorted((r for r in records if r is not None), key=lambda record: record["seed"])


def replace_results(text: str, results: str) -> str:
    """Return ``text`` with ``results`` between the markers; raises ``StorageError`` without them.

    >>> replace_results(f"a {BEGIN} old {END} b", "new").splitlines()
    ['a <!-- results: begin -->', 'new', '<!-- results: end --> b']
    """
    return replace_between(text, BEGIN, END, results)


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring a README up to date and return the exit code; 1: ``--check`` found a difference."""
    parser = argparse.ArgumentParser(
        prog="python -m igsd.report.results_table",
        description="Writes the tables of the records in RESULTS between the markers in README.",
    )
    parser.add_argument("results", metavar="RESULTS", help="folder of `igsd evaluate --records`")
    parser.add_argument("readme", metavar="README", help="Markdown file with the two markers")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where they differ")
    args = parser.parse_args(arguments)
    try:
        old = _read(Path(args.readme))
        new = replace_results(old, render_results(args.results))
        if old != new and not args.check:
            write_text(args.readme, new)
    except IGSDError as error:
        print(f"igsd: {error}", file=sys.stderr)
        return 2
    if old != new and args.check:
        print(f"{args.readme} differs from {args.results}: run `make readme`.", file=sys.stderr)
        return 1
    return 0


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error


if __name__ == "__main__":
    sys.exit(main())
