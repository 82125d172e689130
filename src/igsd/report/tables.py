"""``Table``: results in rows and columns; the tables and figures of the paper, from records."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from igsd.evaluation import PROTOCOLS
from igsd.experiments import exhibits
from igsd.experiments.records import Record
from igsd.experiments.run import Run
from igsd.experiments.scoring import TWINS_REMOVED
from igsd.report.records import RecordFolder
from igsd.report.summary import NONE, NOT_RUN, Cell, difference, summarise


@dataclass(frozen=True)
class Column:
    """A column; in a table of the paper one data set under one protocol. ``left``: flush left."""

    title: str
    data: str = ""
    protocol: str = ""
    left: bool = False


@dataclass(frozen=True)
class Row:
    """A row of results, or of texts where a table says more than one number of a result.

    ``group``: the heading above it. ``is_difference``: whether it compares two other rows.
    """

    title: str
    cells: tuple[Cell | str, ...]
    group: str = ""
    method: str = ""
    is_difference: bool = False

    @property
    def results(self) -> list[Cell]:
        """The cells that are results."""
        return [cell for cell in self.cells if isinstance(cell, Cell)]


@dataclass(frozen=True)
class Table:
    """Results in rows and columns.

    ``about`` says what the numbers are, ``source`` where those of others come from. ``corner``: the
    title of the first column. ``axis``: what a figure varies: its columns are the values, its rows
    the lines that are drawn. ``baseline``: the method to which the numbers are ratios, if any.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    name: str = ""
    about: str = ""
    source: str = ""
    corner: str = "method"
    axis: exhibits.Axis | None = None
    baseline: str | None = None

    @property
    def results(self) -> list[Cell]:
        """All cells that are results; differences of rows are not."""
        return [cell for row in self.rows if not row.is_difference for cell in row.results]


def fill(exhibit: exhibits.Exhibit, folder: RecordFolder) -> Table:
    """Return the table or figure of an exhibit from a folder of records."""

    def titled(title: str, protocol: str) -> str:
        return title if len(exhibit.shown) == 1 else f"{title}, {protocol}"

    others = exhibits.unknown_data(exhibit, folder.path) if exhibit.other_data else ()
    data = [*exhibit.data, *others]
    fields = {key: getattr(exhibit, key) for key in ("title", "name", "about", "source", "axis")}
    rows = []
    if exhibit.axis is not None:
        for protocol in exhibit.shown:
            for line in exhibit.lines:
                cells = _cells(exhibit, line, data[0], protocol, folder)
                rows.append(Row(titled(line.title, protocol), tuple(cells), method=line.method))
        columns = tuple(Column(str(value)) for value in exhibit.axis.values)
        fields |= {"corner": exhibit.axis.title, "baseline": exhibit.baseline}
        return Table(columns=columns, rows=tuple(rows), **fields)
    columns = tuple(
        Column(titled(exhibits.short_name(name), protocol), name, protocol)
        for name in data
        for protocol in exhibit.shown
    )
    if exhibit.splits:
        return Table(
            rows=_split_rows(exhibit, data, folder), columns=_split_columns(exhibit, data), **fields
        )
    for line in exhibit.lines:
        cells = [_cells(exhibit, line, c.data, c.protocol, folder)[0] for c in columns]
        rows.append(Row(line.title, tuple(cells), line.group, line.method))
    statistics = []
    for key in ("graphs", "classes", "nodes") if exhibit.statistics else ():
        # Once for each data set, in the column of its first protocol.
        own = [c.data if c.protocol == exhibit.shown[0] else "" for c in columns]
        facts = [exhibits.data_facts().get(name) for name in own]
        texts = ("" if fact is None else str(getattr(fact, key)) for fact in facts)
        statistics.append(Row("mean nodes per graph" if key == "nodes" else key, tuple(texts)))
    pairs = _paired_rows(exhibit, rows, columns)
    return Table(columns=columns, rows=(*statistics, *rows, *pairs), **fields)


def run_part(table: Table) -> tuple[Table, list[str]]:
    """Return the rows and columns of which anything was run, and the titles of the others.

    A data set that was run under one protocol keeps its other columns, with what was printed.
    """
    own = [row for row in table.rows if row.results and not row.is_difference]
    rows = [row for row in table.rows if row not in own or any(map(_was_run, row.cells))]
    kept = [i for i in range(len(table.columns)) if any(_was_run(row.cells[i]) for row in own)]
    data = {table.columns[i].data for i in kept} - {""}
    kept = [i for i, column in enumerate(table.columns) if i in kept or column.data in data]
    # Means over data sets are texts: they are there or not, but they are not run.
    is_text = [all(isinstance(row.cells[i], str) for row in own) for i in range(len(table.columns))]
    missing = [
        column.title
        for i, column in enumerate(table.columns)
        if i not in kept and not (own and is_text[i])
    ]
    missing += dict.fromkeys(row.title for row in own if row not in rows)
    columns = tuple(table.columns[i] for i in kept)
    parts = tuple(replace(row, cells=tuple(row.cells[i] for i in kept)) for row in rows)
    return replace(table, columns=columns, rows=parts), missing


def under(table: Table, protocol: str) -> Table:
    """Return the columns of one protocol, titled by their data sets."""
    kept = [i for i, column in enumerate(table.columns) if column.protocol == protocol]
    columns = (table.columns[i] for i in kept)
    titled = tuple(replace(c, title=exhibits.short_name(c.data)) for c in columns)
    rows = tuple(replace(row, cells=tuple(row.cells[i] for i in kept)) for row in table.rows)
    return replace(table, columns=titled, rows=rows)


def belongs_to(run: Run, record: Record, first: Record) -> bool:
    """Return whether a record is of the run as it is defined now, and of the data of ``first``."""
    return run.is_like(record, first["data"]["checksum"])


def _was_run(cell: Cell | str) -> bool:
    if isinstance(cell, str):
        return bool(cell)
    return cell.status not in (NOT_RUN, NONE)


def _cells(
    exhibit: exhibits.Exhibit, line: exhibits.Line, data: str, protocol: str, folder: RecordFolder
) -> list[Cell]:
    """Return the cells of a line on one data set: one in a table, one for each value of an axis."""
    if protocol not in PROTOCOLS and protocol != exhibit.protocol and line.shows != line.method:
        # A reference row has no epochs of which one could be the best.
        return [Cell(NONE, "-")] * (len(exhibit.axis.values) if exhibit.axis else 1)
    summary = partial(
        summarise,
        wanted=exhibit.num_seeds(data),
        spread=exhibit.spread,
        shows_best=protocol == exhibit.best_under,
        printed=line.printed.get(data) if protocol == exhibit.printed_under else None,
        printed_by=exhibit.printed_by,
    )
    cells = []
    recipe = exhibits.recipe_of(data, folder.path, exhibit.protocol)
    for run in exhibits.points(exhibit, line, data, recipe):
        run = exhibits.recorded_under(run, protocol)
        paths, records = [*zip(*folder.of(run), strict=True)] or ((), ())
        found = partial(summary, records, same=partial(belongs_to, run), paths=paths)
        if exhibit.baseline is None:
            cell = found(exhibit.metric, method=line.shows, protocol=protocol)
            # Where other runs on the data set were scored without indistinguishable graphs, a run
            # without such a row is still to be made again, with ``--force``.
            is_twins = cell.status == NONE and line.shows.endswith(TWINS_REMOVED)
            if is_twins and folder.has_twins(run):
                cell = replace(cell, status=NOT_RUN, word=NOT_RUN, records=())
            cells.append(cell)
            continue
        base = [
            record for _, record in folder.of(replace(run, method=exhibit.baseline, changes=()))
        ]
        ratio = partial(found, "mae", method=run.method, relative_to=base)
        targets = exhibit.axis.values if exhibit.axis and not run.target else (run.target,)
        cells += [ratio(target=target) for target in targets]
    return cells


def _split_columns(exhibit: exhibits.Exhibit, data: Sequence[str]) -> tuple[Column, ...]:
    """Return a column for each data set, and the means over those of classes and of numbers."""
    columns = [Column(exhibits.short_name(name), name) for name in data]
    return (*columns, Column("mean ROC-AUC"), Column("mean error"))


def _split_rows(
    exhibit: exhibits.Exhibit, data: Sequence[str], folder: RecordFolder
) -> tuple[Row, ...]:
    """Return the rows of a table of splits, in a group for each kind and number of labels."""
    rows = []
    for kind in exhibit.splits:
        for labels in exhibit.labels:
            group = f"{kind} split, {f'{labels} labels' if labels else 'all labels'}"
            found = [
                [_holdout_cell(exhibit, line, name, kind, labels, folder) for name in data]
                for line in exhibit.lines
            ]
            base = dict(zip((line.method for line in exhibit.lines), found, strict=True)).get(
                exhibit.compared
            )
            for line, cells in zip(exhibit.lines, found, strict=True):
                if base is not None and line.method != exhibit.compared:
                    cells = [_compared(*pair) for pair in zip(cells, base, strict=True)]
                means = _means(exhibit, data, cells)
                rows.append(Row(line.title, (*cells, *means), group, line.method))
    return tuple(rows)


def _compared(cell: Cell, other: Cell) -> Cell:
    """Return a cell with its difference from another one, if they have splits in common."""
    has_both = cell.by_seed.keys() & other.by_seed.keys()
    return replace(cell, versus=difference(cell, other).word) if has_both else cell


def _means(exhibit: exhibits.Exhibit, data: Sequence[str], cells: Sequence[Cell]) -> list[str]:
    """Return the means over the data sets of classes and of numbers, empty if one is missing."""
    texts = []
    for are_numbers in (False, True):
        pairs = zip(data, cells, strict=True)
        own = [cell for name, cell in pairs if (name in exhibit.numbers) == are_numbers]
        means = [cell.mean for cell in own if cell.mean is not None]
        texts.append(
            own[0].metric.text(sum(means) / len(own)) if own and len(means) == len(own) else ""
        )
    return texts


def _holdout_cell(
    exhibit: exhibits.Exhibit,
    line: exhibits.Line,
    data: str,
    kind: str,
    labels: int,
    folder: RecordFolder,
) -> Cell:
    """Return the result of a line on a data set with a number of labels, over its splits."""
    recipe = exhibits.recipe_of(data, folder.path, kind)
    (run,) = [r for r in exhibits.points(exhibit, line, data, recipe) if r.protocol == kind]
    paths, records = [*zip(*folder.of(run), strict=True)] or ((), ())
    return summarise(
        records,
        "mae" if data in exhibit.numbers else "roc_auc",
        method=line.shows,
        protocol=kind,
        labels=labels,
        wanted=exhibit.num_seeds(data),
        same=partial(belongs_to, run),
        paths=paths,
    )


def _paired_rows(
    exhibit: exhibits.Exhibit, rows: Sequence[Row], columns: Sequence[Column]
) -> Iterator[Row]:
    """Yield the rows in which one method is compared with others, seed by seed.

    Only under the protocol that is run: the best epoch of a split is not a measurement.
    """
    pairs = zip(exhibit.lines, rows, strict=True)
    own = {line.method: row for line, row in pairs if line.shows == line.method}
    for other in exhibit.compared_with:
        ours, theirs = own[exhibit.compared], own[other]
        cells = tuple(
            difference(*pair) if column.protocol == exhibit.protocol else Cell(NONE)
            for column, *pair in zip(columns, ours.results, theirs.results, strict=True)
        )
        group, title = f"{ours.title} less", f"... {theirs.title}"
        yield Row(title, cells, group, exhibit.compared, is_difference=True)
