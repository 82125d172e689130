"""``read_smiles_table``: molecules in the rows of a CSV or TSV file, also compressed (.gz)."""

from __future__ import annotations

import csv
import gzip
import io
import math
import os
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import DataError, nearest
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import GraphSet
from igsd.graphs.smiles import SmilesFailure, failure_report, read_molecules, smiles_notes
from igsd.storage import refuse_pickle

_SMILES_COLUMNS = ("smiles", "canonical_smiles", "isomeric_smiles", "smile", "mol", "structure")
_LABEL_COLUMNS = ("label", "class", "y")
_NUMBERING = ("", "id", "index", "no", "nr", "row", "cid")
_MISSING = ("", "nan", "na", "none", "null")


@dataclass(frozen=True)
class SmilesTable:
    """Graphs of the rows that are molecules, the rows that are not, and which rows were kept.

    ``kept_rows`` [G] int64 counts rows from 0 below the header, as ``failures`` do.
    """

    graphs: GraphSet
    failures: tuple[SmilesFailure, ...]
    kept_rows: np.ndarray


@dataclass(frozen=True)
class _Table:
    """A table of text: column names, rows, and the line on which each row ends."""

    path: Path
    columns: list[str]
    rows: list[list[str]]
    lines: list[int]

    def column(self, name: str) -> list[str]:
        """Return the texts of one column; raises ``DataError`` when there is no such column."""
        if name not in self.columns:
            raise DataError(
                f"{self.path} has no column {name!r}. {nearest(name, self.columns)} "
                f"The columns are: {', '.join(self.columns)}."
            )
        place = self.columns.index(name)
        return [row[place].strip() for row in self.rows]


def read_smiles_table(
    path: str | os.PathLike[str],
    smiles_column: str | None = None,
    label_column: str | None = None,
    target_columns: Sequence[str] | None = None,
    *,
    name: str | None = None,
    check_valence: bool = True,
) -> SmilesTable:
    """Return the molecules of a CSV or TSV file (also ``.gz``) whose first line names the columns.

    ``smiles_column``: by default the first one called smiles, canonical_smiles or the like.
    ``label_column``: becomes the classes (text or whole numbers; empty is unknown); by default a
    column called label, class or y, if it holds such values.
    ``target_columns``: become the targets, NaN where empty; by default every other column of
    numbers, except those that only count rows (id, index, no, cid and the like).

    ``check_valence=False`` keeps molecules in which only a valence is impossible, and notes them.

    Rows that are no molecule are left out and listed in ``failures`` and in the set's ``notes``.
    Raises ``DataError`` for a file that is no such table, a column that is not there, values that
    do not fit their column, and a table without a single molecule.
    """
    table = _read_table(Path(path))
    smiles = smiles_column or _guess_smiles(table)
    texts = table.column(smiles)
    label = label_column or _guess_label(table, smiles)
    used = (smiles, label)
    targets = _guess_targets(table, used) if target_columns is None else list(target_columns)
    classes = None if label is None else _classes(table, label)
    numbers = np.array([_numbers(table, column) for column in targets]).T if targets else None
    title = name or table.path.name.split(".")[0]
    found = read_molecules(texts, name=title, check_valence=check_valence)
    failures, doubtful = _with_lines(found.failures, table), _with_lines(found.doubtful, table)
    if found.graphs is None:
        raise DataError(f"{path}: {failure_report(failures, len(texts), title)}")
    kept = found.kept
    columns: dict[str, Any] = {"notes": smiles_notes(failures, doubtful)}
    if classes is not None:
        columns |= {"classes": classes[0][kept], "class_names": classes[1]}
    if numbers is not None:
        columns |= {"targets": numbers[kept], "target_names": tuple(targets)}
    return SmilesTable(replace(found.graphs, **columns), failures, kept)


def _read_table(path: Path) -> _Table:
    """Return the table of text in a file, decompressed where its content says so."""
    refuse_pickle(path)
    try:
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        text = raw.decode("utf-8-sig")
        first = text.lstrip().split("\n", 1)[0]
        delimiter = max("\t,;", key=first.count)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        rows = [(row, reader.line_num) for row in reader if any(cell.strip() for cell in row)]
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path} cannot be read as a CSV or TSV table of text (UTF-8): {error}."
        ) from error
    if len(rows) < 2:
        raise DataError(
            f"{path} has {len(rows)} lines; a first line with the names of the columns and at "
            "least one row were expected."
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
    return _Table(path, columns, [row for row, _ in rows[1:]], [line for _, line in rows[1:]])


def _guess_smiles(table: _Table) -> str:
    """Return the column whose name says that it holds SMILES."""
    by_name = {column.lower(): column for column in reversed(table.columns)}
    for name in _SMILES_COLUMNS:
        if name in by_name:
            return by_name[name]
    for lower, column in by_name.items():
        if "smiles" in lower:
            return column
    raise DataError(
        f"{table.path} has no column called smiles (or canonical_smiles and the like). Its columns "
        f"are: {', '.join(table.columns)}. Name the one that holds SMILES with 'smiles_column'."
    )


def _guess_label(table: _Table, smiles: str) -> str | None:
    """Return a column called label, class or y if its values are categories."""
    for column in table.columns:
        if column.lower() in _LABEL_COLUMNS and column != smiles:
            values = [_value(text) for text in table.column(column)]
            if not any(isinstance(value, float) and not value.is_integer() for value in values):
                return column
    return None


def _guess_targets(table: _Table, used: tuple[str | None, ...]) -> list[str]:
    """Return the other columns of numbers, without those that only count the rows."""
    found = []
    for column in table.columns:
        if column in used or column.lower().strip(". #") in _NUMBERING:
            continue
        values = [_value(text) for text in table.column(column)]
        known = [value for value in values if value is not None]
        if known and all(isinstance(value, float) for value in known):
            found.append(column)
    return found


def _classes(table: _Table, column: str) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return (codes, names) of the label column."""
    values = [_value(text) for text in table.column(column)]
    for value, line in zip(values, table.lines, strict=True):
        if isinstance(value, float) and not value.is_integer():
            raise DataError(
                f"{table.path}, line {line}: the label column {column!r} must hold text or whole "
                f"numbers, found {value}. Name it in 'target_columns' if it is to be predicted as "
                "a number."
            )
    return encode_categories(values)


def _numbers(table: _Table, column: str) -> list[float]:
    """Return the numbers of a target column, NaN where empty."""
    values = [_value(text) for text in table.column(column)]
    for value, line in zip(values, table.lines, strict=True):
        if isinstance(value, str) or (value is not None and math.isinf(value)):
            raise DataError(
                f"{table.path}, line {line}: the target column {column!r} must hold finite "
                f"numbers or nothing, found {str(value)!r}."
            )
    return [math.nan if value is None else float(value) for value in values]


def _value(text: str) -> float | str | None:
    """Return a cell as a number, as text, or as None where it is empty."""
    if text.lower() in _MISSING:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _with_lines(failures: Sequence[SmilesFailure], table: _Table) -> tuple[SmilesFailure, ...]:
    """Return the failures with the line of the file on which each row ends."""
    return tuple(replace(failure, line=table.lines[failure.row]) for failure in failures)
