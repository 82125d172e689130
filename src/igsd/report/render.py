"""A ``Table`` as plain text, as Markdown and as HTML."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from igsd.errors import counted
from igsd.experiments.records import in_words
from igsd.report.aligned import plain_table, print_table
from igsd.report.page.html import Html, scroll_box, tag
from igsd.report.summary import NONE, Cell
from igsd.report.tables import Row, Table

_UNBROKEN = 16


def text(table: Table) -> str:
    """Return a table as aligned text, the results of a paper in columns of their own."""
    header, lines = _paired_lines(table) if table.axis is None else _figure_lines(table)
    parts = [plain_table(header, lines, table.title), table.about]
    return "\n".join([*filter(None, parts), *[f"{table.source}."] * bool(table.source)])


def show(table: Table) -> None:
    """Print a table to standard output, on a terminal with lines around it."""
    left = [0, *(i for i, column in enumerate(table.columns, start=1) if column.left)]
    print_table(*_paired_lines(table), table.title, left)


def markdown(table: Table) -> str:
    """Return the rows of a table as Markdown, the paper's result below ours."""
    if table.axis is not None:
        header, lines = _figure_lines(table)
    else:
        header = [table.title.partition(":")[0] if table.name else table.corner]
        header += [column.title for column in table.columns]
        rows = [(row, [_stacked(cell) for cell in row.cells]) for row in table.rows]
        lines = [*_grouped(rows, "**{}**")]
    rule = ["---", *["---:"] * (len(header) - 1)]
    # A bar in the name of a data set would start a new column.
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in (header, rule, *lines)]
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped)


def html(table: Table, *, detailed: bool = True) -> Html:
    """Return a table in a box that scrolls; ``detailed``: with seeds, seconds and notes."""
    head = [tag("th", table.corner, scope="col", class_="left")]
    head += [tag("th", column.title, scope="col") for column in table.columns]
    facts = [row for row in table.rows if not row.results]
    body = [row for row in table.rows if row.results]
    above = [_html_row(row, detailed) for row in facts] if body else []
    bodies = []
    for group, rows in groupby(body or facts, key=lambda row: row.group):
        lines = [_html_row(row, detailed) for row in rows]
        if group:
            name = tag("th", group, colspan=1 + len(table.columns), scope="colgroup")
            lines.insert(0, tag("tr", name, class_="group"))
        bodies.append(tag("tbody", *lines))
    whole = tag("table", tag("thead", tag("tr", *head), *above), *bodies, class_="results")
    return scroll_box(whole, table.title)


def link(cell: Cell) -> str | None:
    """Return the link to the records of a cell in the page; None without any."""
    return f"#{anchor(cell.records[0])}" if cell.records else None


def difference_tag(difference: float) -> Html:
    """Return our result less the paper's with an arrow and a sign; the colour is not needed."""
    rounded = round(difference, 1)
    if rounded == 0:
        return tag("span", "= 0.0", class_="difference")
    arrow, side = ("▲ +", "above") if rounded > 0 else ("▼ −", "below")
    size = abs(rounded)
    strength = "large" if size >= 5 else "clear" if size >= 1 else "slight"
    return tag("span", f"{arrow}{size:.1f}", class_=f"difference {side} {strength}")


def seconds_text(seconds: float) -> str:
    """Return a time in the unit that suits it."""
    return f"{seconds:.1f} s" if seconds < 10 else in_words(seconds)


def anchor(place: str) -> str:
    """Return the identifier of records in the page; ``place`` may be the path of one of them."""
    return "records/" + "/".join(place.split("/")[:3])


def _figure_lines(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return header and lines of a figure: a line for each value of x, a column for each row."""
    header = [table.corner, *(row.title for row in table.rows)]
    columns = [[cell.text for cell in row.results] for row in table.rows]
    values = [column.title for column in table.columns]
    return header, [[x, *texts] for x, *texts in zip(values, *columns, strict=True)]


def _paired_lines(table: Table) -> tuple[list[str], list[list[str]]]:
    """Return header and lines, with a second column where a paper has results of its own."""
    header, has_paper = [table.corner], []
    for i, column in enumerate(table.columns):
        cells = (row.cells[i] for row in table.rows)
        printed = [cell for cell in cells if isinstance(cell, Cell) and cell.printed]
        header += [column.title, *(cell.printed_by for cell in printed[:1])]
        has_paper.append(bool(printed))
    rows = []
    for row in table.rows:
        texts: list[str] = []
        for cell, is_paired in zip(row.cells, has_paper, strict=True):
            both = (cell, "") if isinstance(cell, str) else (cell.text, cell.beside)
            texts += both[: 1 + is_paired]
        rows.append((row, texts))
    return header, [*_grouped(rows, "-- {}")]


def _grouped(rows: Sequence[tuple[Row, list[str]]], heading: str) -> Iterator[list[str]]:
    """Yield the lines of a table, a group of rows under a line with its name."""
    for group, found in groupby(rows, key=lambda pair: pair[0].group):
        lines = [[row.title, *texts] for row, texts in found]
        if group:
            yield [heading.format(group), *[""] * (len(lines[0]) - 1)]
        yield from lines


def _stacked(cell: Cell | str) -> str:
    if isinstance(cell, str) or not cell.printed_text:
        return cell if isinstance(cell, str) else cell.text
    return f"{cell.text}<br>{cell.printed_by}: {cell.beside}"


def _html_row(row: Row, detailed: bool) -> Html:
    title = tag("th", row.title, scope="row", class_="left")
    return tag("tr", title, *(_html_cell(cell, detailed) for cell in row.cells))


def _html_cell(cell: Cell | str, detailed: bool) -> Html:
    """Return a result as a link to its records, the paper's with the difference, and the rest."""
    if isinstance(cell, str):
        return tag("td", cell)
    result = tag("b", cell.figure if detailed else cell.text)
    shown = tag("span", cell.word) if cell.mean is None else result
    if cell.status != NONE and (href := link(cell)):
        shown = tag("a", shown, href=href)
    parts: list[Html | None] = [shown]
    if detailed and cell.printed_text:
        apart = None if cell.difference is None else difference_tag(cell.difference)
        parts.append(tag("div", f"{cell.printed_by} {cell.printed_text} ", apart, class_="paper"))
    parts += [_behind(cell)] if detailed else []
    return tag("td", *parts, class_=f"result is-{cell.status.replace(' ', '-')}")


def _behind(cell: Cell) -> Html | None:
    """Return the other deviation, the number of seeds, the time and the notes of a result."""
    parts = cell.qualifiers
    if cell.mean is not None:
        name, other = "folds", cell.std_over_folds
        if cell.spread == "folds":
            name, other = "seeds", cell.std_over_seeds
        if not any(note.endswith("seeds") for note in cell.notes):
            parts.insert(0, counted(cell.num_seeds, "seed"))
        # A split with one test part has one fold for each seed; a single one has no deviation.
        if other is not None and abs(other - (cell.std or 0.0)) > 1e-9:
            parts.insert(0, f"± {cell.metric.text(other)} {name}")
        if cell.run_seconds is not None:
            parts.append(seconds_text(cell.run_seconds))
    # Lines break between the parts, not inside of "3 of 5 seeds" or "2 min".
    space = "\N{NO-BREAK SPACE}"
    parts = [part.replace(" ", space) if len(part) < _UNBROKEN else part for part in parts]
    return tag("div", ", ".join(parts), class_="behind") if parts else None
