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
from igsd.report.marked_text import replace_between
from igsd.report.paper_table import table
from igsd.report.paper_text import markdown
from igsd.storage import write_text

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"

TABLES = ("table-1", "table-2")
"""The tables that the README shows."""


def render_results(folder: str | os.PathLike[str]) -> str:
    """Return the two main tables of the paper as Markdown, filled from the records in ``folder``.

    Raises ``StorageError`` where the folder is missing or a file in a record's place is none.
    """
    if not Path(folder).is_dir():
        raise StorageError(f"There is no folder {folder}; `igsd reproduce` makes one.")
    parts = []
    for name in TABLES:
        made = table(name, folder)
        parts += [f"**{made.title}.** {made.about}", markdown(made), f"Paper: {made.source}."]
    return "\n\n".join(parts)


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
    parser.add_argument("results", metavar="RESULTS", help="folder of `igsd reproduce`")
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
