"""``make_page``: the whole page from a folder of records and run folders."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from igsd.experiments.exhibit import data_facts, exhibit_names, read_exhibit
from igsd.report.filled_exhibit import fill
from igsd.report.page.assets import asset
from igsd.report.page.figure import figure_section
from igsd.report.page.html import Html, tag
from igsd.report.page.other import other_section
from igsd.report.page.own import own_section
from igsd.report.page.record_groups import RecordGroup, read_groups
from igsd.report.page.record_section import record_section
from igsd.report.page.run import run_section
from igsd.report.page.run_data import read_run
from igsd.report.page.table import table_section
from igsd.report.paper_cell import NONE, PaperCell
from igsd.report.paper_table import PaperTable
from igsd.wording import counted

_KEY = """\
A cell shows our mean and its deviation, below it the paper's figure with ours less the paper's, \
then the other deviation, the number of seeds and, in the row of the method that was run, the time \
of a whole run. Deviations are of the population (ddof 0), standard errors of differences of the \
sample (ddof 1). A dash: there is no such figure, e.g. without twins on a set that has none. \
Figures lead to their records."""

Entry = tuple[str, str, str]
"""A line of the contents: identifier, title, and how much of it there is."""


def make_page(
    records: str | os.PathLike[str] | None,
    runs: Sequence[str | os.PathLike[str]] = (),
    map_method: str = "pca",
) -> str:
    """Return one self-contained HTML page: the same for the same records and runs.

    ``records``: a folder of records, None for a page of runs alone. ``runs``: run folders.
    Raises ``StorageError`` for a folder that is none of these, ``ConfigError`` for a map that
    cannot be made.
    """
    entries: list[Entry] = []
    sections: list[Html] = []
    for number, path in enumerate(runs, start=1):
        run, name = read_run(Path(path)), f"run-{number}"
        entries.append((name, f"Run {run.path.name}", run.data))
        sections.append(run_section(run, name, map_method))
    title = "igsd: runs"
    if records is not None:
        title, found_entries, found_sections = _from_records(Path(records))
        entries += found_entries
        sections += found_sections
    return _document(title, entries, sections)


def _from_records(folder: Path) -> tuple[str, list[Entry], list[Html]]:
    """Return title, contents and sections: the exhibits, other data, and the records.

    A folder that holds nothing of the paper's data sets is somebody's own: no exhibits then.
    """
    groups, broken = read_groups(folder)
    page_title = "igsd: records"
    if any(group.data in data_facts() for group in groups.values()):
        page_title = "igsd: the paper's tables and figures, run again"
        exhibits = {name: _exhibit(name, folder) for name in exhibit_names()}
        entries = [(name, title, _progress(cells)) for name, (title, _, cells) in exhibits.items()]
        sections = [tag("p", _KEY), *(section for _, section, _ in exhibits.values())]
        cells = [cell for _, _, cells in exhibits.values() for cell in cells]
        shown = {path.rpartition("/")[0] for cell in cells for path in cell.records}
        other = other_section(groups.values(), shown)
        if other is not None:
            entries.append(("other", "Other data", ""))
            sections.append(other)
    else:
        entries, sections = _own(groups.values())
    much = counted(_num_records(groups.values()), "record")
    much += f", {counted(len(broken), 'file')} left out" if broken else ""
    entries.append(("records", "Records", much))
    return page_title, entries, [*sections, _records(list(groups.values()), broken)]


def _own(groups: Iterable[RecordGroup]) -> tuple[list[Entry], list[Html]]:
    """Return contents and a section for each data set."""
    by_data: dict[str, list[RecordGroup]] = {}
    for group in groups:
        by_data.setdefault(group.data, []).append(group)
    entries, sections = list[Entry](), list[Html]()
    for number, (data, found) in enumerate(sorted(by_data.items()), start=1):
        name = f"data-{number}"
        entries.append((name, data, counted(len(found), "run")))
        sections.append(own_section(data, found, name))
    return entries, sections


def _exhibit(name: str, folder: Path) -> tuple[str, Html, list[PaperCell]]:
    """Return title, section and cells of a table or figure; differences are no cells to fill."""
    made = fill(read_exhibit(name), folder)
    if isinstance(made, PaperTable):
        rows = [row for row in made.rows if not row.is_difference]
        return made.title, table_section(made), [c for row in rows for c in row.cells]
    return made.title, figure_section(made), [c for one in made.series for c in one.cells]


def _progress(cells: Sequence[PaperCell]) -> str:
    """Return how many cells are filled, of those that can be."""
    done = sum(cell.mean is not None for cell in cells)
    return f"{done} of {sum(cell.status != NONE for cell in cells)} cells"


def _num_records(groups: Iterable[RecordGroup]) -> int:
    return sum(len(group.records) for group in groups)


def _records(groups: Sequence[RecordGroup], broken: Sequence[str]) -> Html:
    intro = "Every figure above comes from these: settings, commit, versions, folds and times."
    return tag(
        "section",
        tag("h2", "Records"),
        tag("p", intro if groups else "There are no records yet."),
        _no_records(broken) if broken else None,
        *(record_section(group) for group in groups),
        id="records",
    )


def _no_records(broken: Sequence[str]) -> Html:
    """Return what is said of files in the places of records."""
    out = "They are left out of all tables. Move them away, or run them again with --force:"
    named = [tag("li", place) for place in broken]
    title = tag("h3", "Files that are no records")
    return tag("div", title, tag("p", out), tag("ul", *named), class_="error")


def _document(title: str, entries: Sequence[Entry], sections: Sequence[Html]) -> str:
    style = asset("colours.css", "series.css", "style.css")
    script = asset("script.js")
    # Nothing can be loaded, and no script runs but this one, whatever a label holds.
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", style),
    )
    body = tag(
        "body",
        tag("a", "Skip to the content", href="#content", class_="skip"),
        tag("header", tag("h1", title), _contents(entries)),
        tag("main", *sections, id="content"),
        tag("script", script),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def _contents(entries: Sequence[Entry]) -> Html:
    items = [
        tag("li", tag("a", title, href=f"#{name}"), tag("span", f" {much}", class_="much"))
        for name, title, much in entries
    ]
    return tag("nav", tag("ol", *items), aria_label="Contents")


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
