"""The paper's tables and figures as text: ours beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from igsd.report.paper_cell import PaperCell
from igsd.report.paper_figure import PaperFigure
from igsd.report.paper_table import PaperRow, PaperTable
from igsd.report.table import plain_table

Lines = list[list[str]]


def table_lines(table: PaperTable) -> tuple[list[str], Lines]:
    """Return (header, lines) of a table: two columns for each of its own where the paper has one.

    A group of rows has a line of its own with its name.
    """
    header, paired = ["method"], []
    for i, column in enumerate(table.columns):
        printed = [row.cells[i] for row in table.rows if row.cells[i].printed]
        header += [column.title, *(cell.printed_by for cell in printed[:1])]
        paired.append(bool(printed))
    lines = [[title, *_spread(texts, paired)] for title, texts in table.statistics]
    rows = [(row, _cells(row.cells, paired)) for row in table.rows]
    return header, [*lines, *_grouped(rows, "-- {}")]


def figure_lines(figure: PaperFigure) -> tuple[list[str], Lines]:
    """Return (header, lines) of a figure: a line for each value of x, a column for each series."""
    header = [figure.x_title, *(series.title for series in figure.series)]
    columns = [[cell.text for cell in series.cells] for series in figure.series]
    lines = [[str(x), *texts] for x, *texts in zip(figure.x, *columns, strict=True)]
    return header, lines


def exhibit_text(shown: PaperTable | PaperFigure) -> str:
    """Return a table or figure as plain text, with what its figures are and where they are from."""
    if isinstance(shown, PaperTable):
        header, lines = table_lines(shown)
    else:
        header, lines = figure_lines(shown)
    text = plain_table(header, lines, shown.title)
    return f"{text}\n{shown.about}\n{shown.source}."


def markdown(table: PaperTable) -> str:
    """Return a table as Markdown, the paper's figure below ours."""
    header = [table.title.partition(":")[0], *(column.title for column in table.columns)]
    lines = [[title, *texts] for title, texts in table.statistics]
    lines += _grouped([(row, [_stacked(c) for c in row.cells]) for row in table.rows], "**{}**")
    rule = ["---", *["---:"] * (len(header) - 1)]
    # A bar in the name of a data set would start a new column.
    rows = [[cell.replace("|", "\\|") for cell in line] for line in (header, rule, *lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _grouped(rows: Sequence[tuple[PaperRow, list[str]]], heading: str) -> Iterator[list[str]]:
    """Yield the lines of a table, a group of rows under a line with its name."""
    group = ""
    for row, texts in rows:
        if row.group != group and row.group:
            yield [heading.format(row.group), *[""] * len(texts)]
        group = row.group
        yield [row.title, *texts]


def _stacked(cell: PaperCell) -> str:
    return cell.text + (f"<br>{cell.printed_by}: {cell.printed_text}" if cell.printed_text else "")


def _cells(cells: Sequence[PaperCell], paired: Sequence[bool]) -> list[str]:
    texts: list[str] = []
    for cell, has_printed in zip(cells, paired, strict=True):
        texts += [cell.text, cell.printed_text] if has_printed else [cell.text]
    return texts


def _spread(texts: Sequence[str], paired: Sequence[bool]) -> list[str]:
    """Return the texts with a gap beside each where the paper has a column."""
    pairs = zip(texts, paired, strict=True)
    return [part for text, pair in pairs for part in ([text, ""] if pair else [text])]
