"""``read_smiles_table``: molecules in the rows of a CSV or TSV file, also compressed (.gz)."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import DataError, warn_user
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import GraphSet
from igsd.graphs.missing_values import warn_of_markers, without_markers
from igsd.graphs.smiles import SmilesFailure, failure_report, read_molecules, smiles_notes
from igsd.graphs.table_rows import names_rows, table_ids
from igsd.graphs.text_table import TextTable, read_text_table
from igsd.wording import counted, enumerated

_SMILES_COLUMNS = ("smiles", "canonical_smiles", "isomeric_smiles", "smile", "mol", "structure")
_LABEL_COLUMNS = ("label", "class", "y")


def read_smiles_table(
    path: str | os.PathLike[str],
    smiles_column: str | None = None,
    label_column: str | None = None,
    target_columns: Sequence[str] | None = None,
    *,
    name: str | None = None,
    check_valence: bool = True,
) -> GraphSet:
    """Return the molecules of a CSV or TSV file (also ``.gz``) whose first line names the columns.

    ``smiles_column``: by default the first one called smiles, canonical_smiles or the like.
    ``label_column``: becomes the classes (text or whole numbers; empty is unknown, and so is a
    marker of ``missing_values``, -1 by the rule there, with an ``IGSDWarning``); by default a
    column called label, class or y, if it holds such values.
    ``target_columns``: become the targets, NaN where empty; by default every other column of
    numbers, except those that only name rows (id, index, no, mol_id and the like) and those whose
    name stands twice.

    ``check_valence=False`` keeps molecules in which only a valence is impossible, and notes them.

    Rows that are no molecule are left out, with an ``IGSDWarning``, and listed in the set's
    ``notes``; its ``lines`` say on which line of the file each graph stood, its ``ids`` what a
    column such as id, name or mol_id calls it.
    Raises ``DataError`` for a file that is no such table, a column that is not there, values that
    do not fit their column, and a table without a single molecule.
    """
    table = read_text_table(Path(path))
    smiles = smiles_column or guess_smiles(table)
    texts = table.column(smiles)
    label = label_column or _guess_label(table, (smiles, *(target_columns or ())))
    if label is not None:
        table.column(label)  # a wrong name is told before the molecules are read
    used = (smiles, label)
    targets = _guess_targets(table, used) if target_columns is None else list(target_columns)
    _check_once(table, [smiles, *([label] if label else []), *targets])
    numbers = np.array([_numbers(table, column) for column in targets]).T if targets else None
    title = name or table.path.name.split(".")[0]
    found = read_molecules(texts, name=title, check_valence=check_valence)
    failures, doubtful = _with_lines(found.failures, table), _with_lines(found.doubtful, table)
    if found.graphs is None:
        raise DataError(f"{path}: {failure_report(failures, len(texts), title)}")
    kept = found.kept
    columns: dict[str, Any] = {"notes": smiles_notes(failures, doubtful)}
    columns |= {"lines": np.array(table.lines, np.int64)[kept], "ids": table_ids(table, kept)}
    if label is not None:
        columns["classes"], columns["class_names"] = _classes(table, label, kept)
    _warn_of_failures(table, failures)
    if numbers is not None:
        columns |= {"targets": numbers[kept], "target_names": tuple(targets)}
    return replace(found.graphs, **columns)


def _check_once(table: TextTable, columns: Sequence[str]) -> None:
    """Raise ``DataError`` where a column has been given two tasks."""
    for column in columns:
        if columns.count(column) > 1:
            raise DataError(
                f"The column {column!r} of {table.path} is named twice. A column is either the "
                "SMILES, the label or one target: name each once."
            )


def _warn_of_failures(table: TextTable, failures: Sequence[SmilesFailure]) -> None:
    """Warn that rows were left out, and name their lines."""
    if not failures:
        return
    lines = enumerated([failure.line for failure in failures], most=10)
    what = "was left out, being no molecule: line" if len(failures) == 1 else ""
    what = what or "were left out, being no molecules: lines"
    first = f"{'' if len(failures) == 1 else 'the first: '}{failures[0].text!r}"
    warn_user(
        f"{len(failures)} of {counted(len(table.rows), 'row')} of {table.path.name} {what} {lines} "
        f"({first}, {failures[0].reason}).",
    )


def guess_smiles(table: TextTable) -> str:
    """Return the column whose name says that it holds SMILES; raises ``DataError`` without one."""
    by_name = {column.lower(): column for column in reversed(table.columns)}
    for name in _SMILES_COLUMNS:
        if name in by_name:
            return by_name[name]
    for lower, column in by_name.items():
        if "smiles" in lower:
            return column
    molecule = next((name for name in table.columns if _looks_like_a_molecule(name)), None)
    if molecule is not None:
        raise DataError(
            f"{table.path} has no first line with the names of its columns: {molecule!r} there is "
            "a molecule. Put a line such as `smiles,label` before the first row."
        )
    raise DataError(
        f"{table.path} has no column called smiles (or canonical_smiles and the like). Its columns "
        f"are: {', '.join(table.columns)}. Name the one that holds SMILES: `igsd data import "
        f"{table.path} -o NEW --smiles-column NAME`, or smiles_column=... in Python."
    )


def _looks_like_a_molecule(text: str) -> bool:
    """Say whether a column's name is rather SMILES: RDKit reads it, and it has two atoms."""
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


def _guess_targets(table: TextTable, used: tuple[str | None, ...]) -> list[str]:
    """Return the other columns of finite numbers, without those that only name the rows."""
    found = []
    for column in table.columns:
        if column in used or names_rows(column) or table.columns.count(column) > 1:
            continue
        values = _values(table, column)
        known = [value for value in values if value is not None]
        if known and all(isinstance(value, float) and math.isfinite(value) for value in known):
            found.append(column)
    return found


def _classes(table: TextTable, column: str, rows: np.ndarray) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return (codes, names) of the label column in these rows, and say what is taken as unknown."""
    cells = table.column(column)
    given = [cells[row] for row in rows]
    texts = without_markers(given, of_classes=True)
    values, lines = [_value(text) for text in texts], [table.lines[row] for row in rows]
    for value, line in zip(values, lines, strict=True):
        if isinstance(value, float) and not value.is_integer():
            raise DataError(
                f"{table.path}, line {line}: the label column {column!r} must hold text or whole "
                f"numbers, found {value}. Name it in 'target_columns' if it is to be predicted as "
                "a number."
            )
    warn_of_markers(given, column, of_classes=True)
    return encode_categories(values)


def _numbers(table: TextTable, column: str) -> list[float]:
    """Return the numbers of a target column, NaN where empty."""
    values = _values(table, column)
    for value, line in zip(values, table.lines, strict=True):
        if isinstance(value, str) or (value is not None and math.isinf(value)):
            raise DataError(
                f"{table.path}, line {line}: the target column {column!r} must hold finite "
                f"numbers or nothing, found {str(value)!r}."
            )
    return [math.nan if value is None else float(value) for value in values]


def _values(table: TextTable, column: str) -> list[float | str | None]:
    """Return the cells of a column, None where they are empty or mark a missing value."""
    return [_value(text) for text in without_markers(table.column(column))]


def _value(text: str) -> float | str | None:
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        return text


def _with_lines(failures: Sequence[SmilesFailure], table: TextTable) -> tuple[SmilesFailure, ...]:
    """Return the failures with the line of the file on which each row ends."""
    return tuple(replace(failure, line=table.lines[failure.row]) for failure in failures)
