"""The results in ``README.md`` and ``docs/results.md``, rendered from records (``make readme``).

``python -m scripts.readme results README.md docs/results.md`` rewrites what stands between
``<!-- results: begin NAME -->`` and ``<!-- results: end -->``, any number of times in a page. NAME
is a table or figure as ``igsd reproduce`` names it, ``summary``, a small part of Table 1,
``standing``, what IGSD beats, ties with and loses to (``losses``: only the last by name), or
``shipped``, what table ``molecules`` says about the encoder in the package. Plots go to
``docs/figures/NAME.svg``. With ``--check`` nothing is written; the exit code is 1 where a page or a
plot differs from the records.
"""

import argparse
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from igsd.errors import IGSDError, StorageError, counted
from igsd.experiments.exhibits import (
    data_facts,
    exhibit_names,
    points,
    read_exhibit,
)
from igsd.experiments.records import read_record
from igsd.experiments.scoring import TWINS_REMOVED
from igsd.files.atomic import write_text
from igsd.report.holdout import exhibit_curves, reliability
from igsd.report.plots import Plot, figure_plot, table_plot
from igsd.report.records import RecordFolder
from igsd.report.render import markdown
from igsd.report.summary import Cell, paired_by_folds, signed
from igsd.report.tables import Row, Table, fill, run_part, under

END = "<!-- results: end -->"
SUMMARY, SHIPPED, STANDING, LOSSES = "summary", "shipped", "standing", "losses"

_BEGIN = re.compile(r"<!-- results: begin ?([\w-]*) -->")
_RELIABILITY = ("B3DB", 128)
_ON_THE_CARD = ("Morgan counts, linear", "descriptors, linear", "IGSD pre-trained, linear")
_FEWEST_COUNTS = 3
"""Numbers of labels from which on a table of splits has learning curves and a diagram."""
_OWN = "IGSD"
_SUMMARISED = ("untrained encoder", "WL subtree", "graph2vec", "InfoGraph")

Render = Callable[[Path, Path], Mapping[Path, str]]
"""From (page, folder of records) to the text of every file that is made from the records."""


def render_page(page: Path, records: Path) -> dict[Path, str]:
    """Return the text of a page and of the plots that it shows, as the records make them.

    Raises ``StorageError`` for a missing folder, a broken record, and markers that do not match.
    """
    if not records.is_dir():
        raise StorageError(f"There is no folder {records}; `igsd reproduce` makes one.")
    for path in sorted(records.glob("*/*/*/seed-*.json")):
        read_record(path)
    text, folder = read_page(page), RecordFolder(records)
    figures = page.parent / ("figures" if page.parent.name == "docs" else "docs/figures")
    rendered: dict[Path, str] = {}
    parts = _BEGIN.split(text)
    if len(parts) == 1 or any(rest.count(END) != 1 for rest in parts[2::2]) or END in parts[0]:
        raise StorageError(
            f"{page} must have the lines <!-- results: begin NAME --> and {END} in turn, at least "
            "once."
        )
    written = [parts[0]]
    for name, rest in zip(parts[1::2], parts[2::2], strict=True):
        body, plot = render_results(name, folder)
        drawn = {"": ("as a plot", plot)} if plot is not None else {}
        for suffix, (words, one) in (drawn | split_plots(name, folder)).items():
            place = figures / f"{name}{suffix}.svg"
            rendered[place] = one.svg()
            about = fill(read_exhibit(name), folder).title
            body += f"\n\n![{about}, {words}]({place.relative_to(page.parent).as_posix()})"
        written.append(f"<!-- results: begin {name} -->\n{body}\n{END}{rest.partition(END)[2]}")
    return {page: "".join(written)} | rendered


def render_results(name: str, folder: RecordFolder) -> tuple[str, Plot | None]:
    """Return a table or figure, or the summary, as Markdown, and its plot if it has one.

    Rows and columns of which nothing was run are left out and named.
    """
    if name == SUMMARY:
        return markdown(summary_table(fill(read_exhibit("table-1"), folder))), None
    if name in (STANDING, LOSSES):
        tables = [fill(read_exhibit(each), folder) for each in ("table-1", "beyond")]
        return standing(*tables, is_short=name == LOSSES), None
    if name == SHIPPED:
        table = fill(read_exhibit("molecules"), folder)
        groups = [f"random split, {count} labels" for count in (128, 400)]
        rows = (row for row in table.rows if row.title in _ON_THE_CARD and row.group in groups)
        return markdown(run_part(replace(table, rows=tuple(rows)))[0]), None
    if name not in exhibit_names():
        raise StorageError(
            f"There is no table or figure {name!r} to render; use {SUMMARY}, {STANDING}, "
            f"{LOSSES}, {SHIPPED} or one of {', '.join(exhibit_names())}."
        )
    table = fill(read_exhibit(name), folder)
    parts = [f"**{table.title}.** {table.about}"]
    shown, missing = run_part(table) if table.axis is None else (table, [])
    if shown.columns:
        parts.append(markdown(shown))
    if missing:
        parts.append(f"Not run: {'; '.join(missing)}.")
    return "\n\n".join([*parts, f"{table.source}."]), plot_of(table)


def split_plots(name: str, folder: RecordFolder) -> dict[str, tuple[str, Plot]]:
    """Return the plots of a table of splits by the end of their file's name, with their titles.

    That is the learning curves for each kind of split, and a reliability diagram.
    """
    exhibit = None if name in (SUMMARY, SHIPPED, STANDING, LOSSES) else read_exhibit(name)
    if exhibit is None or len(exhibit.labels) < _FEWEST_COUNTS:
        return {}
    table, found = fill(exhibit, folder), dict[str, tuple[str, Plot | None]]()
    for kind in exhibit.splits:
        words = f"learning curves on {kind} splits"
        found[f"-{kind}"] = (words, exhibit_curves(table, kind))
    data, labels = _RELIABILITY
    records = {
        line.title: [record for _, record in folder.of(run)]
        for line in exhibit.lines
        for run in points(exhibit, line, data, data_facts()[data].recipe)
        if run.protocol == exhibit.splits[0]
    }
    diagram = reliability({k: v for k, v in records.items() if v}, labels)
    words = f"reliability of probabilities on {data} with {labels} labels"
    found["-reliability"] = (words, diagram)
    return {key: (words, plot) for key, (words, plot) in found.items() if plot is not None}


def plot_of(table: Table) -> Plot | None:
    """Return the plot of a figure, of Table 1 or of Table 2; None for other tables."""
    if table.axis is not None:
        return figure_plot(table)
    if table.name == "table-1":
        return _plot_of_table_1(table)
    if table.name != "table-2":
        return None
    # The protocol that chooses no epoch on the test part, and the methods of the paper.
    own = [row.title for row in table.rows if any(cell.printed for cell in row.results)]
    return table_plot(under(table, "semi"), own)


def _plot_of_table_1(table: Table) -> Plot | None:
    """Return the rows that rank, and IGSD as the paper scored it beside what it printed."""
    ranked, (own,) = under(table, "nested"), [row for row in table.rows if row.title == _OWN]
    like = replace(own, title="IGSD, protocol paper")
    (like,) = under(replace(table, rows=(like,)), "paper").rows
    titles = [_OWN, "untrained encoder", "histogram", like.title]
    return table_plot(replace(ranked, rows=(*ranked.rows, like)), titles, printed=like.title)


def summary_table(table: Table) -> Table:
    """Return a small part of Table 1: IGSD, the best other method on each data set, baselines."""
    table = under(table, "nested")
    rows = {row.title: row for row in table.rows}
    others = [row for row in table.rows if row.group in ("kernels", "self-supervised")]
    best = []
    for place in range(len(table.columns)):
        cells = {row.title: row.results[place] for row in others}
        scored = {title: cell.mean for title, cell in cells.items() if cell.mean is not None}
        title = max(scored, key=lambda title: scored[title], default="")
        best.append(f"{cells[title].figure} ({title})" if title else "not run")
    # Without notes and without the paper's results.
    small = [
        Row(title, tuple(cell.figure for cell in rows[title].results))
        for title in (_OWN, *_SUMMARISED)
        if title in rows
    ]
    small.insert(1, Row("best other method of Table 1", tuple(best)))
    return Table("Accuracy %", table.columns, tuple(small), corner="accuracy %")


def standing(table: Table, beyond: Table, *, is_short: bool = False) -> str:
    """Return in words which rows of two tables IGSD beats, ties with and loses to.

    Under protocol nested, paired by folds; a list with an entry for each data set of the first.
    ``is_short``: only those that it loses to are named, the others counted.
    """
    by_data: dict[str, dict[str, Cell]] = {}
    for part in (under(table, "nested"), under(beyond, "nested")):
        for row in (row for row in part.rows if not row.title.endswith(TWINS_REMOVED)):
            for column, cell in zip(part.columns, row.results, strict=bool(row.results)):
                by_data.setdefault(column.title, {}).setdefault(row.title, cell)
    titles = [column.title for column in under(table, "nested").columns]
    return "\n".join(f"- **{title}** {_standing_on(by_data[title], is_short)}" for title in titles)


def _standing_on(cells: Mapping[str, Cell], is_short: bool) -> str:
    """Return how IGSD stands among the rows of one data set, best differences first."""
    own = cells[_OWN]
    found: dict[str, list[tuple[float, str]]] = {"beats": [], "ties with": [], "loses to": []}
    for title, cell in cells.items():
        result = None if title == _OWN else paired_by_folds(own, cell)
        if result is None:
            continue
        apart, error = result
        verb = "ties with" if abs(apart) <= error else "beats" if apart > 0 else "loses to"
        seeds = len(own.folds.keys() & cell.folds.keys())
        alone = ", 1 seed" if seeds == 1 < own.num_seeds else ""
        found[verb].append((apart, f"{title} ({signed(apart, 1)}{alone})"))
    texts = []
    for verb, rows in found.items():
        names = [text for _, text in sorted(rows, reverse=verb != "loses to")]
        if is_short and verb != "loses to":
            names = [counted(len(names), "row")] if names else []
        texts.append(f"{verb} {', '.join(names) if names else 'none'}")
    return f"({own.figure}): {'; '.join(texts)}."


def update_pages(
    arguments: Sequence[str] | None, render: Render, *, module: str, about: str, command: str
) -> int:
    """Return the exit code of ``python -m MODULE RECORDS PAGE... [--check]``.

    Writes the files that ``render`` changes; with ``--check`` none, and the code is 1 where one
    would change. 2: the input is wrong. ``command``: what to run.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=about)
    parser.add_argument("records", metavar="RECORDS", help="folder of the records")
    parser.add_argument("pages", metavar="PAGE", nargs="+", help="Markdown file with markers")
    parser.add_argument("--check", action="store_true", help="write nothing; 1 where they differ")
    args = parser.parse_args(arguments)
    changed: dict[Path, str] = {}
    try:
        for page in map(Path, args.pages):
            rendered = render(page, Path(args.records))
            for path, text in rendered.items():
                if not path.exists() or not _is_same(path, read_page(path), text):
                    changed[path] = text
        for path, text in () if args.check else changed.items():
            write_text(path, text)
    except IGSDError as error:
        print(f"{module.partition('.')[0]}: {error}", file=sys.stderr)
        return 2
    for path in changed if args.check else ():
        print(f"{path} differs from {args.records}: run `{command}`.", file=sys.stderr)
    return 1 if changed and args.check else 0


def _is_same(path: Path, stored: str, text: str) -> bool:
    """Return whether a file holds a text; of pictures, up to the rounding of coordinates."""
    if stored == text or path.suffix != ".svg":
        return stored == text
    old, new = (re.split(r"(-?\d+\.\d+)", one) for one in (stored, text))
    words = old[::2] == new[::2]
    return words and all(
        abs(float(a) - float(b)) < 1e-3 for a, b in zip(old[1::2], new[1::2], strict=True)
    )


def read_page(path: Path) -> str:
    """Return the text of a page; raises ``StorageError`` where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error


def main(arguments: Sequence[str] | None = None) -> int:
    """Bring pages up to date and return the exit code; 1: ``--check`` found a difference."""
    about = "Writes the results in RECORDS into the marked parts of each PAGE."
    names = {"module": "scripts.readme", "command": "make readme"}
    return update_pages(arguments, render_page, about=about, **names)


if __name__ == "__main__":
    sys.exit(main())
