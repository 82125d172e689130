"""The sections that a folder of records gives a page: tables and figures, own data, all records."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

from igsd.baselines.registry import METHODS
from igsd.errors import counted
from igsd.evaluation import HOLDOUTS, PROTOCOLS
from igsd.experiments.exhibits import data_facts, exhibit_names, read_exhibit
from igsd.experiments.scoring import TWINS_REMOVED
from igsd.report import plots, render, scores
from igsd.report.holdout import exhibit_curves, holdout_table, reliability, shown_labels
from igsd.report.page.charts import inline, training_charts
from igsd.report.page.html import Html, fact_list, flat, joined, scroll_box, scroll_table, tag
from igsd.report.records import RecordFolder, RecordGroup, row_title
from igsd.report.summary import NONE, is_good, row_names, rows_of, statistics
from igsd.report.tables import Table, fill, run_part

_KEY = """\
A cell shows our mean and its deviation, below it the paper's result with ours less the paper's, \
then the other deviation, the number of seeds and, in the row of the method that was run, the time \
of a whole run. Deviations are of the population (ddof 0), standard errors of differences of the \
sample (ddof 1). Twins are indistinguishable graphs: message passing cannot tell them apart. A \
dash: there is no such result, e.g. with twins removed on a data set that has none. Results link \
to their records."""

SHARED = ("majority", "mean")
"""Reference rows that all runs on the same data have alike; a table shows them once."""

_CURVES = ("pretraining", "history", "pseudo_labels")
_APART = ("kind", "test_parts", "rows", "config", "notes", "error", "seed", "status", *_CURVES)

Entry = tuple[str, str, str]
"""A line of the contents: identifier, title, and how much of it there is."""

Part = tuple[Entry, Html]
"""A section with its line of the contents."""


def record_sections(path: Path) -> tuple[str, list[Entry], list[Html]]:
    """Return title, contents and sections: comparisons, tables and figures, and the records.

    A folder that has most of a table of the paper was made to reproduce it: the tables come first,
    after comparisons on data or with methods of the user's own. Any other folder was made to
    compare methods: these comparisons come first and give the page its title. The tables of the
    paper are left out where no record is of one of its data sets.
    """
    folder = RecordFolder(path)
    groups = list(folder.groups().values())
    paper, shown, is_paper = list[Part](), set[str](), False
    if any(group.data in data_facts() for group in groups):
        paper, shown, is_paper = _exhibits(folder)
    comparisons = _own_data(groups, shown if is_paper else set())
    first = [part for part, is_own in comparisons if is_own or not is_paper]
    later = [part for part, is_own in comparisons if not is_own and is_paper]
    title = "igsd: records"
    if is_paper:
        title = "igsd: the paper's tables and figures, run again"
    elif len(first) == 1:
        title = f"igsd: {first[0][0][1]}"
    elif first:
        title = f"igsd: comparisons on {len(first)} data sets"
    much = counted(sum(len(group.records) for group in groups), "record")
    much += f", {counted(len(folder.broken), 'file')} left out" if folder.broken else ""
    records = ("records", "Records", much), _all_records(groups, folder.broken)
    parts = [*first, *paper, *later, records]
    return title, [entry for entry, _ in parts], [section for _, section in parts]


def table_section(table: Table) -> Html:
    """Return the section of a table or figure: its plot, its numbers and their source."""
    plot, above, below = None, None, None
    if table.axis is None:
        table, missing = run_part(table)
        curves = {kind: exhibit_curves(table, kind) for kind in HOLDOUTS}
        figures = [
            tag(
                "figure",
                inline(one, f"Learning curves, {kind}", f"{table.name}-{kind}"),
                class_="wide",
            )
            for kind, one in curves.items()
            if one is not None
        ]
        plot = tag("div", *figures) if figures else None
        if missing:
            code = tag("code", f"igsd reproduce {table.name}")
            text = f"Not run: {'; '.join(missing)}. "
            below = tag("p", text, code, class_="note")
    else:
        drawn = inline(plots.figure_plot(table, render.link), table.title, f"{table.name}-plot")
        plot = tag("figure", drawn, class_="wide")
        notes = _figure_notes(table)
        above = tag("p", notes, class_="note") if notes else None
    source = tag("p", f"{table.source}.", class_="source")
    head = (tag("h2", table.title), tag("p", table.about))
    return tag("section", *head, plot, above, render.html(table), below, source, id=table.name)


def comparison_title(groups: Sequence[RecordGroup]) -> str:
    """Return the title of a comparison of runs on one data set: protocol and number of seeds."""
    protocol, good = groups[0].protocol, [r for group in groups for r in group.good]
    if protocol in HOLDOUTS:
        splits = [len(next(iter(row["metrics"].values()))) for r in good for row in r["rows"]]
        return f"{protocol} splits, {counted(max(splits, default=0), 'split')}"
    seeds = counted(max(len(group.records) for group in groups), "seed")
    return f"protocol {protocol}, {seeds}"


def own_section(data: str, groups: Sequence[RecordGroup], name: str) -> Html:
    """Return the section of a data set: for each protocol a table and the plot of `compare`."""
    parts, title = list[Html](), data
    by_protocol = [[*found] for _, found in groupby(groups, key=lambda group: group.protocol)]
    for found in by_protocol:
        protocol, about = found[0].protocol, f"{data}, {comparison_title(found)}"
        if len(by_protocol) == 1:
            title = about
        else:
            parts.append(tag("h3", comparison_title(found).capitalize()))
        if protocol in HOLDOUTS:
            parts += _holdout_sections(about, found, f"{name}-{protocol}")
            continue
        comparison = compare_groups(data, sorted(found, key=lambda group: group.order))
        parts.append(render.html(replace(comparison.table(), title=about), detailed=False))
        parts.append(tag("p", " ".join(_comparison_notes(comparison, protocol)), class_="note"))
        if comparison.metric == "accuracy" and comparison.has_scores():
            # The methods that were run, and the largest class, which a plot shows as a line.
            lines = [c for c in comparison.lines if not c.is_reference or c.method == "majority"]
            plot = plots.comparison_plot(replace(comparison, lines=tuple(lines)))
            drawn = inline(plot, f"{about} as a plot", f"{name}-{protocol}", "picture")
            box = scroll_box(drawn, f"{about}, the plot")
            parts.append(tag("figure", box, class_="picture"))
    return tag("section", tag("h2", title), *parts, id=name)


def _holdout_sections(about: str, groups: Sequence[RecordGroup], name: str) -> list[Html]:
    """Return the table of methods over splits of a data set, and the reliability diagram."""
    found = {group.title: list(group.good) for group in groups if group.good}
    if not found:
        return [tag("p", "No run has a result.", class_="missing")]
    rows: list[Any] = [row for records in found.values() for row in records[0]["rows"]]
    counts = sorted({row["labels"] for row in rows}, key=lambda count: count or 10**9)
    table = holdout_table(about, found, [next(iter(rows[0]["metrics"]))], counts)
    parts = [render.html(table, detailed=False)]
    diagram = reliability(found, counts[-1])
    if diagram is not None:
        drawn = inline(diagram, f"{about}: reliability of probabilities", f"{name}-reliability")
        parts.append(tag("figure", drawn, class_="picture"))
    return parts


def compare_groups(data: str, groups: Sequence[RecordGroup]) -> scores.Comparison:
    """Return the comparison of runs that were scored by the same protocol.

    First the methods that were run, then the reference rows inside their records, each once. One
    that differs between runs, as the untrained encoder of another recipe does, names the run.
    """
    lines, references = [], []
    for group in groups:
        found = [*group.good, *(record for record in group.records if not is_good(record))]
        lines.append(scores.Compared(group.title, group.method, found, [group.place] * len(found)))
    records = [record for group in groups for record in group.good]
    has_errors = any(isinstance(row.get("mae"), float) for row in rows_of(records))
    metric = "mae" if has_errors else "accuracy"
    own = [row for group in groups for row in rows_of(group.good, group.method)]
    protocols = sorted({row["protocol"] for row in own}) or [groups[0].protocol]
    main = [p for p in protocols if groups[0].protocol.startswith(p)]
    protocol = main[-1] if main else protocols[0]
    for group in sorted(groups, key=lambda group: (group.is_stale, -len(group.good))):
        names = [name for name in row_names(group.good) if not name.endswith(TWINS_REMOVED)]
        references += [(group, name) for name in names if name != group.method]
    for group, name in sorted(references, key=lambda pair: pair[1] in SHARED):
        places = [group.place] * len(group.good)
        title = row_title(name, group.protocol)
        line = scores.Compared(title, name, group.good, places, is_reference=True)
        alike = [one.cell(protocol, metric).folds for one in lines if one.title == title]
        if not alike:
            lines.append(line)
        elif name not in SHARED and line.cell(protocol, metric).folds not in alike:
            lines.append(replace(line, title=f"{title}, beside {group.title}"))
    twins = any(name.endswith(TWINS_REMOVED) for name in row_names(records))
    return scores.Comparison(data, tuple(lines), protocol, tuple(protocols), twins, metric)


def record_section(group: RecordGroup) -> Html:
    """Return the section of the records of one run, closed until it is opened."""
    records = group.records
    num_bad = sum(not is_good(record) for record in records)
    state = f" {counted(len(records), 'seed')}"
    state += f", {num_bad} without a result" if num_bad else ""
    state += ", stale" if group.is_stale else ""
    facts = [flat({k: v for k, v in r.items() if k not in _APART}) for r in records]
    shared, own = shared_and_own(facts)
    configs = [flat(record["config"]) for record in records]
    settings, varied = shared_and_own(configs)
    settings |= {key: ", ".join(c.get(key, "-") for c in configs) for key in varied}
    curves: Any = ({f"seed {r['seed']}": r.get(k) for r in records if r.get(k)} for k in _CURVES)
    lines = []
    for record, texts in zip(records, facts, strict=True):
        ended = ": ".join([record["status"], *([record["word"]] if record.get("word") else [])])
        lines.append([str(record["seed"]), ended, *(texts.get(key, "-") for key in own)])
    errors = [f"seed {r['seed']}: {r['error']}" for r in records if r.get("error")]
    notes = dict.fromkeys(note for record in records for note in record.get("notes") or ())
    name = render.anchor(group.place)
    return tag(
        "details",
        tag("summary", tag("span", group.place, class_="place"), state),
        scroll_table(["seed", "status", *own], lines, f"Runs of {group.place}"),
        *(tag("p", text, class_="error") for text in errors),
        *(tag("p", f"Note: {text}") for text in notes),
        _fold_table(group),
        training_charts(*curves, level="h4", name=name),
        *(tag("h4", "The same in all"), fact_list(shared)),
        *(tag("h4", "Settings"), fact_list(settings)),
        id=name,
        class_="record",
    )


def shared_and_own(records: Sequence[Mapping[str, str]]) -> tuple[dict[str, str], list[str]]:
    """Return (texts that are equal in all records, names of those that are not)."""
    names = list(dict.fromkeys(name for record in records for name in record))
    own = [name for name in names if len({record.get(name) for record in records}) > 1]
    return {name: records[0][name] for name in names if name not in own}, own


def _exhibits(folder: RecordFolder) -> tuple[list[Part], set[str], bool]:
    """Return the tables and figures, the places of their records, and whether one is half done.

    Those without any record are named together, unless none is half done.
    """
    parts, missing, shown, is_paper = list[Part](), list[Html](), set[str](), False
    for name in exhibit_names():
        table = fill(read_exhibit(name), folder)
        used = {path.rpartition("/")[0] for cell in table.results for path in cell.records}
        if used:
            done = sum(cell.mean is not None for cell in table.results)
            total = sum(cell.status != NONE for cell in table.results)
            is_paper = is_paper or 2 * done >= total
            # The key to the cells stands above the first of them.
            section = (
                table_section(table) if parts else joined(tag("p", _KEY), table_section(table))
            )
            parts.append(((name, table.title, f"{done} of {total} cells"), section))
        else:
            missing.append(tag("li", f"{table.title}: ", tag("code", f"igsd reproduce {name}")))
        shown |= used
    if missing and is_paper:
        much = counted(len(missing), "table or figure", "tables and figures")
        section = tag("section", tag("h2", "Not run yet"), tag("ul", *missing), id="not-run")
        parts.append((("not-run", "Not run yet", much), section))
    return parts, shown, is_paper


def _figure_notes(table: Table) -> str:
    """Return the notes on the line and the bars of a plot."""
    drawn = [row for row in table.rows if row.method != table.baseline]
    points = [cell for row in drawn for cell in row.results if cell.mean is not None]
    if not points:
        return ""
    notes = ["Bars: one standard deviation."]
    if any(cell.std is None for cell in points):
        notes.append("Points without a bar are of one seed, which has no deviation.")
    notes += [f"The line at 1: {row.title}." for row in table.rows if row.method == table.baseline]
    return " ".join(notes)


def _own_data(groups: Sequence[RecordGroup], shown: set[str]) -> list[tuple[Part, bool]]:
    """Return a section for each data set with runs that are not ``shown`` elsewhere.

    The others under the same protocol are there with them: methods are read side by side. Also
    returns whether the data or one of the methods is the user's own.
    """
    left = {(group.data, group.protocol) for group in groups if group.place not in shown}
    by_data: dict[str, list[RecordGroup]] = {}
    for group in groups:
        if (group.data, group.protocol) in left or group.data not in data_facts():
            by_data.setdefault(group.data, []).append(group)
    parts = []
    for number, (data, found) in enumerate(sorted(by_data.items()), start=1):
        name, is_one = f"data-{number}", len({group.protocol for group in found}) == 1
        title = f"{data}, {comparison_title(found)}" if is_one else data
        entry = (name, title, counted(len(found), "method"))
        foreign = [g for g in found if g.method == "vectors" or g.method not in METHODS]
        is_own = data not in data_facts() or bool(foreign)
        parts.append(((entry, own_section(data, found, name)), is_own))
    return parts


def _comparison_notes(comparison: scores.Comparison, folder: str) -> list[str]:
    """Return the notes on the columns."""
    title = comparison.cells[0].metric.axis.capitalize()
    notes = [f"{title}: mean over seeds, and standard deviation where there are two (ddof 0)."]
    took = "to train on a split and to score it"
    if folder in PROTOCOLS:
        took = "to fit a method and to represent all graphs, without scoring"
    notes.append(f"Seconds: the mean time {took}; CPU seconds: processor time of all cores.")
    if any(cell.peak for cell in comparison.cells):
        notes.append("Peak MiB: the most memory that a run held, Python and libraries included.")
    if any(line.is_reference for line in comparison.lines):
        inside = "inside the runs of a method, on the same folds, and link to its records."
        notes.append(f"Rows without seconds were scored {inside}")
    return [*notes, "Results link to their records."]


def _all_records(groups: Sequence[RecordGroup], broken: Sequence[str]) -> Html:
    intro = "Every number above comes from these: settings, commit, versions, folds and times."
    skipped = None
    if broken:
        out = "They are left out of all tables. Move them away, or run them again with --force:"
        named = tag("ul", *(tag("li", place) for place in broken))
        head = tag("h3", "Files that are not records")
        skipped = tag("div", head, tag("p", out), named, class_="error")
    about = tag("p", intro if groups else "There are no records yet.")
    sections = [record_section(group) for group in groups]
    return tag("section", tag("h2", "Records"), about, skipped, *sections, id="records")


def _fold_table(group: RecordGroup) -> Html | None:
    """Return mean and folds of every row, seed by seed; errors where a row has no accuracies."""
    lines: dict[str, list[list[str]]] = {}
    for record in group.records:
        for row in record["rows"]:
            other = "" if row["protocol"] == group.protocol else f", {row['protocol']}"
            name, error = row["method"] + other, row.get("mae") or {}
            texts = ["", "", ""]
            if "accuracies" in row:
                folds = " ".join(f"{100 * value:.1f}" for value in row["accuracies"])
                texts = [f"{100 * row['mean']:.2f} %", f"{100 * row['std']:.2f}", folds]
            elif "splits" in row:
                metric, values = next(iter(row["metrics"].items()))
                known = {n: [value] for n, value in enumerate(values) if value is not None}
                name += f", {shown_labels(row['labels'])}"
                texts[0] = f"{metric} {statistics(known)['mean']:.4g}" if known else ""
                texts[2] = " ".join("-" if value is None else f"{value:.4g}" for value in values)
            elif isinstance(error, float):
                texts[0] = f"error {error:.4g}"
            else:
                texts[2] = ", ".join(f"{key} {value:.4g}" for key, value in error.items())
            lines.setdefault(name, []).append([name, str(record["seed"]), *texts])
    if not lines:
        return None
    header, in_order = ["row", "seed", "mean", "std", "folds"], chain(*lines.values())
    table = scroll_table(header, [*in_order], "Results fold by fold")
    return joined(tag("h4", "Results"), table)
