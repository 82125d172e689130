"""``record_sections``: what a folder of records gives a page: exhibits, own data, every record."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from igsd.experiments.exhibit import data_facts, exhibit_names, read_exhibit
from igsd.report.filled_exhibit import fill
from igsd.report.page.figure import figure_section
from igsd.report.page.html import Html, tag
from igsd.report.page.own import own_section
from igsd.report.page.record_groups import RecordGroup, read_groups
from igsd.report.page.record_section import record_section
from igsd.report.page.table import table_section
from igsd.report.paper_cell import NONE, PaperCell
from igsd.report.paper_table import PaperTable
from igsd.report.record_folder import RecordFolder
from igsd.wording import counted

_KEY = """\
A cell shows our mean and its deviation, below it the paper's figure with ours less the paper's, \
then the other deviation, the number of seeds and, in the row of the method that was run, the time \
of a whole run. Deviations are of the population (ddof 0), standard errors of differences of the \
sample (ddof 1). A dash: there is no such figure, e.g. without twins on a set that has none. \
Figures lead to their records."""

Entry = tuple[str, str, str]
"""A line of the contents: identifier, title, and how much of it there is."""


def record_sections(folder: Path) -> tuple[str, list[Entry], list[Html]]:
    """Return title, contents and sections: the exhibits, other runs, and the records.

    A folder that holds nothing of the paper's data sets is somebody's own: no exhibits then.
    """
    groups, broken = read_groups(folder)
    title, shown = "igsd: records", set[str]()
    entries, sections = list[Entry](), list[Html]()
    if any(group.data in data_facts() for group in groups.values()):
        title = "igsd: the paper's tables and figures, run again"
        entries, sections, shown = _exhibits(folder)
    own_entries, own_sections = _own(groups.values(), shown)
    much = counted(_num_records(groups.values()), "record")
    much += f", {counted(len(broken), 'file')} left out" if broken else ""
    entries += [*own_entries, ("records", "Records", much)]
    return title, entries, [*sections, *own_sections, _records(list(groups.values()), broken)]


def _exhibits(folder: Path) -> tuple[list[Entry], list[Html], set[str]]:
    """Return contents and sections of tables and figures, and the places of the records they show.

    Those without a record are named together, with the command that runs them.
    """
    entries, sections, shown = list[Entry](), [tag("p", _KEY)], set[str]()
    missing: list[Html] = []
    read_once = RecordFolder(folder)
    for name in exhibit_names():
        title, section, cells = _exhibit(name, read_once)
        used = {path.rpartition("/")[0] for cell in cells for path in cell.records}
        if used:
            entries.append((name, title, _progress(cells)))
            sections.append(section)
        else:
            missing.append(tag("li", f"{title}: ", tag("code", f"igsd reproduce {name}")))
        shown |= used
    if missing:
        much = counted(len(missing), "table or figure", "tables and figures")
        entries.append(("not-run", "Not run yet", much))
        sections.append(tag("section", tag("h2", "Not run yet"), tag("ul", *missing), id="not-run"))
    return entries, sections, shown


def _own(groups: Iterable[RecordGroup], shown: set[str]) -> tuple[list[Entry], list[Html]]:
    """Return contents and a section for each data set with runs that are not ``shown`` elsewhere.

    The others under the same protocol are there with them: methods are read side by side.
    """
    groups = list(groups)
    left = {(g.data, g.protocol) for g in groups if g.place not in shown}
    by_data: dict[str, list[RecordGroup]] = {}
    for group in groups:
        if (group.data, group.protocol) in left or group.data not in data_facts():
            by_data.setdefault(group.data, []).append(group)
    entries, sections = list[Entry](), list[Html]()
    for number, (data, found) in enumerate(sorted(by_data.items()), start=1):
        name = f"data-{number}"
        entries.append((name, data, counted(len(found), "run")))
        sections.append(own_section(data, found, name))
    return entries, sections


def _exhibit(name: str, folder: RecordFolder) -> tuple[str, Html, list[PaperCell]]:
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
