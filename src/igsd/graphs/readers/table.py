"""Tables of text, CSV or TSV (also .gz), and the molecules of a table with a SMILES column."""

import csv
import io
import math
import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import DataError, counted, did_you_mean, enumerated, shortened, warn_user
from igsd.files.arrays import read_header, refuse_pickle
from igsd.files.bounded import read_bounded
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import Fields, GraphSet
from igsd.graphs.labels import class_of_text, drop_missing, is_fraction
from igsd.graphs.readers.smiles import SmilesFailure, failure_report, read_molecules, smiles_notes

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
"""The suffixes of tables of text."""

_OF_A_MOLECULE = "mol|molecule|compound|cmpd|drug|substance|sample|chembl|pubchem|zinc"
_COUNTING = ("index", "no", "nr", "row")
_NAMING = re.compile(rf"|id|index|no|nr|row|cid|name|({_OF_A_MOLECULE})[ _.-]?(id|name|no|nr|cid)")
_SMILES_COLUMNS = ("smiles", "canonical_smiles", "isomeric_smiles", "smile", "mol", "structure")
_LABEL_COLUMNS = ("label", "class", "y")
_WEIGHT = 12  # bytes of memory that a byte of a table takes as cells
_MOST_MISSING = 10_000_000


@dataclass(frozen=True)
class TextTable:
    """Column names, rows of text, and the line of the file on which each row ends.

    A row may be shorter than the first line: some programs leave out empty cells at its end.
    """

    path: Path
    columns: list[str]
    rows: list[list[str]]
    lines: list[int]

    @cached_property
    def places(self) -> dict[str, list[int]]:
        """The places of the columns with each name."""
        places: dict[str, list[int]] = {}
        for place, name in enumerate(self.columns):
            places.setdefault(name, []).append(place)
        return places

    @property
    def listed(self) -> str:
        """The names of the columns for a message; of many only the first."""
        return enumerated([shortened(name) for name in self.columns], most=30)

    def is_repeated(self, name: str) -> bool:
        """Return whether several columns have this name."""
        return len(self.places[name]) > 1

    def column(self, name: str) -> list[str]:
        """Return the texts of one column; raises ``DataError`` if there is no such column."""
        if name not in self.places:
            hint = f"{did_you_mean(name, self.columns)} The columns are: {self.listed}.".strip()
            raise DataError(f"{self.path} has no column {shortened(name)!r}. {hint}")
        if self.is_repeated(name):
            raise DataError(
                f"{self.path} has {len(self.places[name])} columns called {shortened(name)!r}. "
                "Give them different names in the first line."
            )
        place = self.places[name][0]
        return [row[place].strip() if place < len(row) else "" for row in self.rows]


def read_text_table(path: Path) -> TextTable:
    """Return the table in a CSV or TSV file whose first line names the columns.

    The file is decompressed if it is a gzip file; the separator is the most frequent one in the
    first line. Raises ``DataError`` for a file that is not such a table, ``StorageError`` for a
    pickle.
    """
    refuse_pickle(path)
    try:
        text = _decoded(read_bounded(path, _WEIGHT), path)
        delimiter = max("\t,;", key=text.lstrip().split("\n", 1)[0].count)
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
    cells = sum(len(row) for row, _ in rows[1:])
    if len(columns) * (len(rows) - 1) - cells > max(_MOST_MISSING, cells):
        raise DataError(
            f"{path} has {len(columns)} columns in its first line, but its {len(rows) - 1} rows "
            f"have {cells / (len(rows) - 1):.1f} cells on average. Does the first line belong to "
            "this table, and is the separator the same in all lines?"
        )
    return TextTable(path, columns, [row for row, _ in rows[1:]], [line for _, line in rows[1:]])


def _decoded(raw: bytes, path: Path) -> str:
    """Decode UTF-8; raises ``DataError`` naming the first line that is not."""
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{path}, line {line}: the text is not UTF-8 (byte 0x{raw[error.start]:02x}). Save the "
            "table as UTF-8 first; `iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW` converts files of "
            "older programs."
        ) from error


def names_rows(column: str) -> bool:
    """Return whether a column only names the rows, by its own name: id, index, mol_id, ..."""
    return _NAMING.fullmatch(column.lower().strip(". #")) is not None


def is_table(data: str) -> bool:
    """Return whether DATA is a table of text rather than a name, a folder or a file of igsd."""
    path = Path(data)
    return path.is_file() and path.name.lower().endswith(SUFFIXES) and read_header(path) is None


def rows_of(graphs: GraphSet, table: TextTable) -> list[int]:
    """Return the row (from 0) of the table that each graph was read from."""
    if graphs.lines is None:
        raise DataError(f"{table.path} is a table, but its graphs do not know their lines.")
    place = {line: row for row, line in enumerate(table.lines)}
    return [place[line] for line in graphs.lines.tolist()]


def table_ids(table: TextTable, rows: Iterable[int]) -> tuple[str, ...] | None:
    """Return the ids of some rows from a column that names rows (better than one that counts)."""
    naming = [c for c in table.columns if c and names_rows(c) and not table.is_repeated(c)]
    if not naming:
        return None
    texts = table.column(min(naming, key=lambda c: c.lower().strip(". #") in _COUNTING))
    return tuple(texts[row] for row in rows)


def read_smiles_table(
    path: str | Path,
    smiles_column: str | None = None,
    label_column: str | None = None,
    target_columns: Sequence[str] | None = None,
    *,
    name: str | None = None,
    check_valence: bool = True,
) -> GraphSet:
    """Return the molecules of a CSV or TSV file (also ``.gz``) whose first line names the columns.

    ``smiles_column``: by default the first one called smiles, canonical_smiles or similar.
    ``label_column``: the classes (text or integers; what counts as missing: ``graphs.labels``); by
    default a column called label, class or y, if it holds such values.
    ``target_columns``: the targets, NaN if empty; by default every other column of numbers, except
    those that only name rows (id, index, no, mol_id and so on) and those with a repeated name.
    ``check_valence=False`` keeps molecules whose only fault is an impossible valence, with a note.

    Rows that are not molecules are left out, with an ``IGSDWarning``, and listed in the set's
    ``notes``; its ``lines`` are the lines of the graphs in the file, its ``ids`` come from a column
    such as id, name or mol_id. Raises ``DataError`` for a file that is not such a table, a missing
    column, values that do not fit their column, and a table without a molecule.
    """
    table = read_text_table(Path(path))
    smiles = smiles_column or guess_smiles(table)
    texts = table.column(smiles)
    label = label_column or _guess_label(table, (smiles, *(target_columns or ())))
    if label is not None:
        table.column(label)  # report a wrong name before reading the molecules
    targets = target_columns
    if targets is None:
        targets = [c for c in table.columns if c not in (smiles, label) and _is_target(table, c)]
    used = [smiles, *([label] if label else []), *targets]
    if len(set(used)) < len(used):
        twice = next(column for place, column in enumerate(used) if column in used[:place])
        raise DataError(
            f"The column {twice!r} of {table.path} is named twice. A column is SMILES, the "
            "label or a target, but only one of them."
        )
    numbers = np.array([_numbers(table, column) for column in targets]).T if targets else None
    title = name or table.path.name.split(".")[0]
    found = read_molecules(texts, name=title, check_valence=check_valence)
    failures = [replace(failure, line=table.lines[failure.row]) for failure in found.failures]
    doubtful = [replace(failure, line=table.lines[failure.row]) for failure in found.doubtful]
    if found.graphs is None:
        raise DataError(f"{path}: {failure_report(failures, len(texts), title)}")
    kept = found.kept
    columns: Fields = {"notes": smiles_notes(failures, doubtful)}
    columns |= {"lines": np.array(table.lines, np.int64)[kept], "ids": table_ids(table, kept)}
    if label is not None:
        columns["classes"], columns["class_names"] = _classes(table, label, kept)
    if failures:
        _warn_of_failures(table, failures)
    if numbers is not None:
        columns |= {"targets": numbers[kept], "target_names": tuple(targets)}
    return replace(found.graphs, **columns)


def _warn_of_failures(table: TextTable, failures: Sequence[SmilesFailure]) -> None:
    """Warn that rows were left out, and name their lines."""
    lines = enumerated([failure.line for failure in failures], most=10)
    what, first = "are not molecules and were left out: lines", "the first: "
    if len(failures) == 1:
        what, first = "is not a molecule and was left out: line", ""
    warn_user(
        f"{len(failures)} of {counted(len(table.rows), 'row')} of {table.path.name} {what} {lines} "
        f"({first}{shortened(failures[0].text)!r}, {shortened(failures[0].reason, 200)})."
    )


def guess_smiles(table: TextTable) -> str:
    """Return the column whose name means SMILES; raises ``DataError`` if there is none."""
    by_name = {column.lower(): column for column in reversed(table.columns)}
    for name in (*_SMILES_COLUMNS, *(lower for lower in by_name if "smiles" in lower)):
        if name in by_name:
            return by_name[name]
    if molecule := next(filter(_looks_like_a_molecule, table.columns), None):
        raise DataError(
            f"{table.path} has no header: {shortened(molecule)!r} in its first line is a molecule. "
            "Put a line such as `smiles,label` before the first row."
        )
    raise DataError(
        f"{table.path} has no column called smiles (or canonical_smiles and so on). Its columns "
        f"are: {table.listed}. Name the one that holds SMILES: `igsd data import "
        f"{table.path} -o NEW --smiles-column NAME`, or smiles_column=... in Python."
    )


def _looks_like_a_molecule(text: str) -> bool:
    """Return whether the name of a column is a SMILES string of at least two atoms."""
    try:
        from rdkit import Chem, rdBase
    except ImportError:
        return False
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(text)
    return molecule is not None and molecule.GetNumAtoms() > 1


def _guess_label(table: TextTable, used: tuple[str, ...]) -> str | None:
    """Return a column called label, class or y if its values are categories."""
    for column in table.columns:
        if column.lower() in _LABEL_COLUMNS and column not in used:
            values = _values(table, column)
            if not any(isinstance(value, float) and not value.is_integer() for value in values):
                return column
    return None


def _is_target(table: TextTable, column: str) -> bool:
    """Return whether a column holds finite numbers and does more than name the rows."""
    if names_rows(column) or table.is_repeated(column):
        return False
    known = [value for value in _values(table, column) if value is not None]
    return bool(known) and all(isinstance(v, float) and math.isfinite(v) for v in known)


def _classes(table: TextTable, column: str, rows: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return (codes, names) of the labels in these rows; warn of markers of missing values."""
    cells = table.column(column)
    for row in rows:
        if is_fraction(cells[row]):
            raise DataError(
                f"{table.path}, line {table.lines[row]}: the label column {column!r} must hold "
                f"text or integers, found {float(cells[row])}. Name it in 'target_columns' to "
                "predict it as a number."
            )
    return encode_categories(drop_missing([class_of_text(cells[row]) for row in rows], column))


def _numbers(table: TextTable, column: str) -> list[float]:
    """Return the numbers of a target column, NaN for empty cells."""
    values = _values(table, column)
    for value, line in zip(values, table.lines, strict=True):
        if isinstance(value, str) or (value is not None and math.isinf(value)):
            raise DataError(
                f"{table.path}, line {line}: the target column {column!r} must hold finite "
                f"numbers or nothing, found {shortened(str(value))!r}."
            )
    return [math.nan if value is None else float(value) for value in values]


def _values(table: TextTable, column: str) -> list[float | str | None]:
    """Return the cells of a column, None for empty cells and markers of missing values."""
    return [_value(text) for text in drop_missing(table.column(column), column, warn=False)]


def _value(text: str | None) -> float | str | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return text
