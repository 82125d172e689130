"""``render_results``: the README's tables and plots, made from the records of runs.

``make readme`` brings the README up to date. It runs ``python -m igsd.report.results_table results
README.md``, which rewrites what stands between the markers ``<!-- results: begin -->`` and
``<!-- results: end -->``, leaves the rest alone, and writes the plots to ``docs/figures`` beside
it; with ``--check`` it writes nothing and exits with 1 where one of them differs from the records.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from igsd.errors import IGSDError, StorageError
from igsd.report.marked_text import replace_between
from igsd.report.paper_cell import NOT_RUN
from igsd.report.paper_table import PaperTable, table
from igsd.report.paper_text import markdown
from igsd.report.results_plot import result_plots
from igsd.storage import write_text
from igsd.wording import counted

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"

TABLES = ("table-1", "table-2")
"""The tables that the README shows, each with a plot."""

FIGURES = "docs/figures"
"""Where the plots stand, beside the README."""


def render_results(folder: str | os.PathLike[str]) -> str:
    """Return the paper's two main tables and their plots as Markdown, from records in ``folder``.

    Rows of which nothing is run are left out and counted.

    Raises ``StorageError`` where the folder is missing or a file in a record's place is none.
    """
    if not Path(folder).is_dir():
        raise StorageError(f"There is no folder {folder}; `igsd reproduce` makes one.")
    parts = []
    for name, plot in zip(TABLES, result_plots(folder), strict=True):
        made = table(name, folder)
        parts += [f"**{made.title}.** {made.about}", *_rows_run(made), f"Paper: {made.source}."]
        parts.append(f"![{plot.about}]({FIGURES}/{plot.name})")
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
        description="Writes the tables and plots of the records in RESULTS into README.",
    )
    parser.add_argument("results", metavar="RESULTS", help="folder of `igsd reproduce`")
    parser.add_argument("readme", metavar="README", help="Markdown file with the two markers")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where they differ")
    args = parser.parse_args(arguments)
    try:
        changed = _changed(Path(args.readme), args.results)
        for path, text in {} if args.check else changed.items():
            write_text(path, text)
    except IGSDError as error:
        print(f"igsd: {error}", file=sys.stderr)
        return 2
    for path in changed if args.check else ():
        print(f"{path} differs from {args.results}: run `make readme`.", file=sys.stderr)
    return 1 if changed and args.check else 0


def _changed(readme: Path, results: str) -> dict[Path, str]:
    """Return the files that the records make different from what they are, and their new text."""
    old = {readme: _read(readme)}
    new = {readme: replace_results(old[readme], render_results(results))}
    for plot in result_plots(results):
        path = readme.parent / FIGURES / plot.name
        new[path] = plot.svg
        old[path] = _read(path) if path.exists() else ""
    return {path: text for path, text in new.items() if text != old[path]}


def _rows_run(made: PaperTable) -> list[str]:
    """Return the table of the rows of which anything is run, and a word on the others."""
    run = tuple(row for row in made.rows if any(cell.status != NOT_RUN for cell in row.cells))
    parts = [markdown(replace(made, rows=run))] if run else []
    left = len(made.rows) - len(run)
    if left:
        are, them = ("is", "it") if left == 1 else ("are", "them")
        more = f"{counted(left, 'row')} of which nothing is run {are} left out"
        parts.append(f"{more}; `igsd report` shows {them}.")
    return parts


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error


if __name__ == "__main__":
    sys.exit(main())
