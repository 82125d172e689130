"""``read_text_table``: the columns and rows of a CSV or TSV file, also compressed (.gz)."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

from igsd.errors import DataError, did_you_mean
from igsd.pickles import refuse_pickle
from igsd.wording import counted


@dataclass(frozen=True)
class TextTable:
    """Column names, rows of text, and the line of the file on which each row ends."""

    path: Path
    columns: list[str]
    rows: list[list[str]]
    lines: list[int]

    def column(self, name: str) -> list[str]:
        """Return the texts of one column; raises ``DataError`` when there is no such column."""
        if name not in self.columns:
            columns = f"The columns are: {', '.join(self.columns)}."
            hint = f"{did_you_mean(name, self.columns)} {columns}".strip()
            raise DataError(f"{self.path} has no column {name!r}. {hint}")
        if self.columns.count(name) > 1:
            raise DataError(
                f"{self.path} has {self.columns.count(name)} columns called {name!r}, so it is not "
                "clear which one is meant. Give them different names in the first line."
            )
        place = self.columns.index(name)
        return [row[place].strip() for row in self.rows]


def read_text_table(path: Path) -> TextTable:
    """Return the table in a CSV or TSV file whose first line names the columns.

    Decompressed where its content says so; the separator is the one most frequent in the first
    line. Raises ``DataError`` for a file that is no such table, ``StorageError`` for a pickle.
    """
    refuse_pickle(path)
    try:
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        text = _decoded(raw, path)
        first = text.lstrip().split("\n", 1)[0]
        delimiter = max("\t,;", key=first.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = [(row, reader.line_num) for row in reader if any(cell.strip() for cell in row)]
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise DataError(f"{path} cannot be read as a CSV or TSV table of text: {error}.") from error
    if len(rows) < 2:
        raise DataError(
            f"{path} has {counted(len(rows), 'line')}; a first line with the names of the columns "
            "and at least one row were expected."
        )
    columns = [cell.strip() for cell in rows[0][0]]
    for row, line in rows[1:]:
        if len(row) > len(columns):
            raise DataError(
                f"{path}, line {line}: {len(columns)} columns expected, found {len(row)}. "
                "Put quotes around cells that hold the separator."
            )
        # Some programs leave out empty cells at the end of a row.
        row.extend([""] * (len(columns) - len(row)))
    return TextTable(path, columns, [row for row, _ in rows[1:]], [line for _, line in rows[1:]])


def _decoded(raw: bytes, path: Path) -> str:
    """Return the text of a file in UTF-8; raises ``DataError`` with the line that is not."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: the text is not UTF-8 (byte 0x{raw[error.start]:02x}). Save the "
            "table as UTF-8 first; `iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW` turns what older "
            "programs write into it."
        ) from error
