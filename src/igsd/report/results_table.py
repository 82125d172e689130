"""``render_results``: the README's tables and plots, made from the records of runs.

``make readme`` brings the README up to date. It runs ``python -m igsd.report.results_table results
README.md``, which rewrites what stands between the markers ``<!-- results: begin -->`` and
``<!-- results: end -->``, leaves the rest alone, and writes the plots to ``docs/figures`` beside
it; with ``--check`` it writes nothing and exits with 1 where one of them differs from the records.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from igsd.errors import StorageError
from igsd.experiments.records import read_record
from igsd.report.marked_page import read_page, update_page
from igsd.report.marked_text import replace_between
from igsd.report.paper_table import PaperTable, run_part, table
from igsd.report.paper_text import markdown
from igsd.report.results_plot import result_plots

BEGIN, END = "<!-- results: begin -->", "<!-- results: end -->"

TABLES = ("table-1", "table-2")
"""The tables that the README shows, each with a plot."""

FIGURES = "docs/figures"
"""Where the plots stand, beside the README."""


def render_results(folder: str | os.PathLike[str]) -> str:
    """Return the paper's two main tables and their plots as Markdown, from records in ``folder``.

    Rows and columns of which nothing is run are left out and named.

    Raises ``StorageError`` where the folder is missing or a file in a record's place is none.
    """
    if not Path(folder).is_dir():
        raise StorageError(f"There is no folder {folder}; `igsd reproduce` makes one.")
    for path in sorted(Path(folder).glob("*/*/*/seed-*.json")):
        read_record(path)
    parts = []
    for name, plot in zip(TABLES, result_plots(folder), strict=True):
        made = table(name, folder)
        parts += [f"**{made.title}.** {made.about}", *_rows_run(made), f"{made.source}."]
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
    return update_page(
        arguments,
        _render,
        module="igsd.report.results_table",
        about="Writes the tables and plots of the records in RECORDS into PAGE, the README.",
        command="make readme",
    )


def _render(readme: Path, results: Path) -> dict[Path, str]:
    """Return the README and the plots beside it as the records make them."""
    text = replace_results(read_page(readme), render_results(results))
    plots = {readme.parent / FIGURES / plot.name: plot.svg for plot in result_plots(results)}
    return {readme: text} | plots


def _rows_run(made: PaperTable) -> list[str]:
    """Return the table of the rows and columns of which anything is run, and name the others."""
    part, left = run_part(made)
    parts = [markdown(part)] if part.columns else []
    if left:
        parts.append(f"Of these nothing is run: {'; '.join(left)}.")
    return parts


if __name__ == "__main__":
    sys.exit(main())
