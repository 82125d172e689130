"""Rows of a table and the graphs read from them: what a row is called, and where it stands."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from igsd.errors import DataError
from igsd.graphs.graphset import GraphSet
from igsd.graphs.text_table import TextTable
from igsd.storage import read_header

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
"""How the name of a table of text ends."""

_OF_A_MOLECULE = "mol|molecule|compound|cmpd|drug|substance|sample|chembl|pubchem|zinc"
_COUNTING = ("index", "no", "nr", "row")
_NAMING = re.compile(rf"|id|index|no|nr|row|cid|name|({_OF_A_MOLECULE})[ _.-]?(id|name|no|nr|cid)")


def names_rows(column: str) -> bool:
    """Say whether a column is called as one that only names the rows: id, index, mol_id, ..."""
    return _NAMING.fullmatch(_plain(column)) is not None


def is_table(data: str) -> bool:
    """Say whether DATA is a table of text rather than a name, a folder or a file of igsd."""
    path = Path(data)
    return path.is_file() and path.name.lower().endswith(SUFFIXES) and read_header(path) is None


def rows_of(graphs: GraphSet, table: TextTable) -> list[int]:
    """Return for each graph the row of the table that it was read from, counted from 0."""
    if graphs.lines is None:
        raise DataError(
            f"{table.path} is a table, but its graphs do not say on which line they stood."
        )
    place = {line: row for row, line in enumerate(table.lines)}
    return [place[line] for line in graphs.lines.tolist()]


def table_ids(table: TextTable, rows: Iterable[int]) -> tuple[str, ...] | None:
    """Return what a table calls some rows, by the first of its columns that names rows.

    One that only counts them is taken where there is no other. None where there is no such column.
    """
    naming = [c for c in table.columns if c and names_rows(c) and table.columns.count(c) == 1]
    if not naming:
        return None
    texts = table.column(min(naming, key=lambda column: _plain(column) in _COUNTING))
    return tuple(texts[row] for row in rows)


def _plain(column: str) -> str:
    return column.lower().strip(". #")
