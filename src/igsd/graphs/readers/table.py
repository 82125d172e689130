"""The molecules of a table, one per row, with its ids, classes and targets."""

import hashlib
import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import DataError, counted, enumerated, shortened, warn_user
from igsd.files.cache import NOTES, cache_dir
from igsd.files.columns import parse_number
from igsd.graphs.build import encode_categories
from igsd.graphs.graphset import UNNAMED, Fields, GraphSet
from igsd.graphs.labels import class_of_text, drop_missing, is_fraction, number_of
from igsd.graphs.molecule import molecule_of
from igsd.graphs.readers.cells import names_rows
from igsd.graphs.readers.smiles import (
    Molecules,
    SmilesFailure,
    failure_report,
    read_molecules,
    smiles_notes,
)
from igsd.graphs.readers.standard import level_of, repeated_molecules
from igsd.graphs.readers.text_table import LABEL_COLUMNS, TextTable, read_text_table
from igsd.progress import readable_name

_COUNTING = ("index", "no", "nr", "row")
_OTHER_COLUMNS = ("smile", "mol", "romol", "structure", "inchi", "standard_inchi")
_INCHI = "InChI="
_FIRST_ROWS = 200
_MOST_SHOWN = 5


def rows_of(graphs: GraphSet, table: TextTable) -> list[int]:
    """Return the row (from 0) of the table that each graph was read from."""
    if graphs.lines is None:
        raise DataError(f"{table.path} is a table, but its graphs do not know their lines.")
    place = {line: row for row, line in enumerate(table.lines)}
    return [place[line] for line in graphs.lines.tolist()]


def table_ids(table: TextTable, rows: Iterable[int]) -> tuple[str, ...] | None:
    """Return the ids of some rows from a column that names rows: id, or better one than a count."""
    naming = [c for c in table.columns if c and names_rows(c) and not table.is_repeated(c)]
    if not naming:
        return None
    plain = {column: column.lower().strip(". #") for column in naming}
    texts = table.column(min(naming, key=lambda c: (plain[c] != "id", plain[c] in _COUNTING)))
    return tuple(texts[row] for row in rows)


def read_smiles_table(
    path: str | Path | TextTable,
    smiles_column: str | None = None,
    label_column: str | None = None,
    target_columns: Sequence[str] | None = None,
    *,
    name: str | None = None,
    check_valence: bool = True,
    standardise: str | bool = "",
    names_unkept: bool = False,
) -> GraphSet:
    """Return the molecules of a table, in any format of ``igsd.graphs.readers.text_table``.

    ``smiles_column``: by default the one called smiles, canonical_smiles or similar, which may
    hold InChI, or else the one that holds InChI. ``label_column``: the classes (text or integers;
    what counts as missing: ``graphs.labels``); by default a column called label, class or y, if it
    holds such values.
    ``target_columns``: the targets, NaN if empty; by default every other column of numbers, except
    those that only name rows (id, index, no, mol_id and so on) and those with a repeated name.
    ``check_valence=False`` keeps molecules whose only fault is an impossible valence, with a note.
    ``standardise``: ``neutral`` or ``tautomer``, see ``igsd.graphs.readers.standard``.
    ``names_unkept``: warn of columns that the set does not keep.

    Rows that are not molecules are left out, with an ``IGSDWarning``, and listed in the set's
    ``notes``; molecules that occur several times are kept, with a warning and a note. Its ``lines``
    are the lines of the graphs in the file, its ``ids`` come from a column such as id, name or
    mol_id. Raises ``DataError`` for a file that is not such a table, a missing column, several
    columns of SMILES, values that do not fit their column, and a table without a molecule.
    """
    table, level = (
        path if isinstance(path, TextTable) else read_text_table(path),
        level_of(standardise),
    )
    smiles = smiles_column or guess_smiles(table)
    texts = table.column(smiles)
    label = label_column or _guess_label(table, (smiles, *(target_columns or ())))
    if label is not None:
        table.column(label)  # report a wrong name before reading the molecules
    targets, odd = target_columns, []
    if targets is None:
        others = [c for c in table.columns if c not in (smiles, label) and _may_be_target(table, c)]
        infinite = {column: first_infinite(_values(table, column)) for column in others}
        targets = [column for column in others if infinite[column] is None]
        odd = [infinite_note(column, v) for column, v in infinite.items() if v is not None]
    used = check_used(table.path, smiles, label, targets)
    if names_unkept:
        warn_of_unkept(table.columns, used)
    title = name or (readable_name(table.path.name).split(".")[0] if table.lines[0] else UNNAMED)
    found = read_rows(
        table, smiles, targets, name=title, check_valence=check_valence, standardise=level
    )
    failures, kept = found.failures, found.kept
    if found.graphs is None:
        raise DataError(f"{table.path}: {failure_report(failures, len(texts), title, _MOST_SHOWN)}")
    graphs = found.graphs
    if label is not None:
        classes = drop_missing(class_cells(table, label, kept), label)
        codes, names = encode_categories(classes)
        graphs = replace(graphs, classes=codes, class_names=names)
    notes = [*table.notes, *odd, *found.graphs.notes, *smiles_notes(failures, found.doubtful)]
    rows = [[int(kept[graph]) for graph in group] for group in repeated_molecules(graphs)]
    if repeats := repeats_note(table, rows, used):
        notes.append(repeats)
    told = [*table.notes, *odd, *found.graphs.notes, *([repeats] if repeats else [])]
    _tell(table, failures, told)
    return replace(graphs, notes=tuple(notes))


def warn_of_unkept(columns: Sequence[str], used: Sequence[str]) -> None:
    """Warn of columns of text that a set does not keep: all but those used and names of rows."""
    left = [column for column in columns if column not in used and not names_rows(column)]
    if left:
        shown = enumerated([repr(shortened(column)) for column in left], _MOST_SHOWN)
        warn_user(
            f"The set does not keep {counted(len(left), 'column')} of the table: {shown}. "
            "--label-column NAME keeps one as the classes, which are then called class."
        )


def check_used(
    path: str | Path, smiles: str, label: str | None, targets: Sequence[str]
) -> list[str]:
    """Return the columns that are used; raises ``DataError`` if one is named twice."""
    used = [smiles, *([label] if label else []), *targets]
    if len(set(used)) < len(used):
        twice = next(column for place, column in enumerate(used) if column in used[:place])
        raise DataError(
            f"The column {twice!r} of {path} is named twice. A column is SMILES, the "
            "label or a target, but only one of them."
        )
    return used


def read_rows(
    table: TextTable,
    smiles: str,
    targets: Sequence[str],
    *,
    name: str,
    check_valence: bool = True,
    standardise: str = "",
) -> Molecules:
    """Return the molecules of the rows of a table, with their lines, ids and targets."""
    numbers = np.array([_numbers(table, column) for column in targets]).T if targets else None
    texts = table.column(smiles)
    found = read_molecules(texts, name=name, check_valence=check_valence, standardise=standardise)
    failures = tuple(_placed(failure, table) for failure in found.failures)
    doubtful = tuple(_placed(failure, table) for failure in found.doubtful)
    graphs, kept = found.graphs, found.kept
    if graphs is not None:
        columns: Fields = {"lines": np.array(table.lines, np.int64)[kept]}
        columns["ids"] = table_ids(table, kept)
        if numbers is not None:
            columns |= {"targets": numbers[kept], "target_names": tuple(targets)}
        graphs = replace(graphs, **columns)
    return Molecules(graphs, kept, failures, doubtful, found.changed)


def _placed(failure: SmilesFailure, table: TextTable) -> SmilesFailure:
    """Return a failure with its line, and with the reason of the file's own format if any."""
    row = failure.row
    line = table.lines[row] if table.lines[0] else None  # rows of a DataFrame have no lines
    if row not in table.failures:
        return replace(failure, line=line)
    name = next((text for text in table.rows[row] if text), "")
    return SmilesFailure(row, name, table.failures[row], line)


_shown_notes: set[str] = set()


def _tell(table: TextTable, failures: Sequence[SmilesFailure], notes: Sequence[str]) -> None:
    """Warn of rows that were left out and of how the table was read.

    The first five rows are shown when a table is read for the first time, on this machine; after
    that one line tells how many there are, and where.
    """
    if not failures and not notes:
        return
    content = repr((str(table.path.absolute()), table.lines[-1], [*map(str, failures)], [*notes]))
    key = hashlib.sha256(content.encode()).hexdigest()[:40]
    mark = cache_dir() / NOTES / key
    is_known = key in _shown_notes or mark.exists()
    _shown_notes.add(key)
    for note in () if is_known else notes:
        warn_user(f"{table.path.name}: {note}.")
    if failures:
        are = "is not a molecule and was" if len(failures) == 1 else "are not molecules and were"
        text = f"{len(failures)} of {counted(len(table.rows), 'row')} of {table.path.name} {are}"
        shown = "; ".join(str(failure) for failure in failures[:_MOST_SHOWN])
        more = len(failures) - _MOST_SHOWN
        shown += f"; and {more} more" if more > 0 else ""
        again = enumerated([failure.place for failure in failures], _MOST_SHOWN)
        warn_user(f"{text} left out{f', as before: {again}' if is_known else f': {shown}'}.")
    if not is_known and table.path.exists():
        with suppress(OSError):  # a cache that cannot be written only repeats the notes
            mark.parent.mkdir(parents=True, exist_ok=True)
            mark.touch()


def repeats_note(
    table: TextTable,
    rows: Sequence[Sequence[int]],
    used: Sequence[str],
    files: Sequence[str] = (),
) -> str:
    """Return a sentence on molecules that occur several times, empty if none does.

    ``rows``: groups of rows with the same molecule. ``files``: of each row, if there are several.
    """
    if not rows:
        return ""
    place = "lines" if table.lines[0] else "rows"
    of_file = [f" of {readable_name(name)}" for name in files] or [""] * len(table.lines)
    shown = [
        " and ".join(f"{table.lines[row]}{of_file[row]}" for row in group[:4]) for group in rows
    ]
    text = f"{counted(len(rows), 'molecule')} occur{'s' if len(rows) == 1 else ''} more than once "
    text += f"by InChIKey, in {sum(map(len, rows))} rows, all kept: {place} "
    text += enumerated(shown, _MOST_SHOWN)
    others = [c for c in table.columns if c != used[0] and c not in _repeated(table)]
    differing = []
    for column in others:
        if names_rows(column):
            continue
        cells = table.column(column)
        known = ({_as_number(cells[row]) for row in group if cells[row]} for group in rows)
        if count := sum(len(values) > 1 for values in known):
            differing.append(f"{shortened(column)!r} ({count})")
    if differing:
        text += f"; their rows disagree in {enumerated(differing)}"
    return text


def _as_number(text: str) -> float | str:
    """Return a cell as a number if it is one, so that 3.70 and 3.7 are equal."""
    number = number_of(text)
    return text if number is None else number


def _repeated(table: TextTable) -> set[str]:
    return {column for column in table.columns if table.is_repeated(column)}


def smiles_columns(table: TextTable) -> list[str]:
    """Return the columns that hold molecules.

    Those whose names mean SMILES, else the one called structure, InChI or the like, else those with
    InChI in them. Of columns that are equal only the first.
    """
    if table.molecules:
        return [table.molecules]
    by_name = {column.lower(): column for column in reversed(table.columns)}
    found = [column for column in table.columns if "smiles" in column.lower()]
    found = found or [by_name[name] for name in _OTHER_COLUMNS if name in by_name][:1]
    found = found or [column for column in table.places if _holds_inchi(table, column)]
    if len(found) > 1 and len({tuple(table.column(c)) for c in found}) == 1:
        found = found[:1]
    return found


def _holds_inchi(table: TextTable, column: str) -> bool:
    """Return whether most of the first cells of a column that are filled are InChI."""
    if table.is_repeated(column) or column.startswith(_INCHI):
        return False
    place = table.places[column][0]
    cells = (row[place].strip() for row in islice(table.rows, _FIRST_ROWS) if place < len(row))
    filled = [cell.startswith(_INCHI) for cell in cells if cell]
    return 2 * sum(filled) > len(filled)


def guess_smiles(table: TextTable) -> str:
    """Return the column of molecules; raises ``DataError`` if none or several may be meant."""
    found = smiles_columns(table)
    if len(found) == 1:
        return found[0]
    way_out = "`--smiles-column NAME` of igsd train, embed, predict, neighbors and data import, or "
    way_out += "smiles_column=... in Python"
    if found:
        kind = "SMILES" if "smiles" in found[0].lower() else "InChI"
        raise DataError(
            f"{table.path} has several columns of {kind}, which differ: {enumerated(found, 30)}. "
            f"Say which one holds the molecules: {way_out}."
        )
    if molecule := next(filter(_looks_like_a_molecule, table.columns), None):
        raise DataError(
            f"{table.path} has no header: {shortened(molecule)!r} in its first line is a molecule. "
            "Put a line such as `smiles,label` before the first row."
        )
    raise DataError(
        f"{table.path} has no column called smiles (or canonical_smiles and so on), and none of "
        f"InChI. Its columns are: {table.listed}. Name the one that holds SMILES: {way_out}."
    )


def _looks_like_a_molecule(text: str) -> bool:
    """Return whether the name of a column is a SMILES string of at least two atoms."""
    try:
        from rdkit import rdBase
    except ImportError:
        return False
    with rdBase.BlockLogs():
        molecule = molecule_of(text, check_valence=True)
    return molecule is not None and molecule.GetNumAtoms() > 1


def _guess_label(table: TextTable, used: tuple[str, ...]) -> str | None:
    """Return a column called label, class or y if its values are categories."""
    for column in table.columns:
        if column.lower() in LABEL_COLUMNS and column not in used:
            values = _values(table, column)
            if not any(isinstance(value, float) and not value.is_integer() for value in values):
                return column
    return None


def infinite_note(column: str, number: float) -> str:
    """Return a sentence on a column of numbers that is no target because one is not finite."""
    return f"column {shortened(column)!r} not used as a target: it holds {number}"


def first_infinite(values: Sequence[float | str | None]) -> float | None:
    """Return the first number that is not finite, None if there is none."""
    return next((v for v in values if isinstance(v, float) and not math.isfinite(v)), None)


def _may_be_target(table: TextTable, column: str) -> bool:
    """Return whether a column holds numbers and does more than name the rows."""
    if names_rows(column) or table.is_repeated(column):
        return False
    known = [value for value in _values(table, column) if value is not None]
    return bool(known) and all(isinstance(v, float) for v in known)


def class_cells(table: TextTable, column: str, rows: np.ndarray) -> list[Any]:
    """Return the labels in these rows, empty where there is none; ``DataError`` for fractions."""
    cells = table.column(column)
    for row in rows:
        if is_fraction(cells[row]):
            raise DataError(
                f"{table.path}, line {table.lines[row]}: the label column {column!r} must hold "
                f"text or integers, found {float(cells[row])}. Name it in 'target_columns' to "
                "predict it as a number."
            )
    return [class_of_text(cells[row]) for row in rows]


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
        return None if text is None else parse_number(text)
    except ValueError:
        return text
