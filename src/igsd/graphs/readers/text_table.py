"""``read_text_table``: a table in any of the formats that chemists keep molecules in, as text.

| suffix (also .gz, except for the last two) | what it is |
|---|---|
| ``.csv``, ``.tsv``, ``.txt`` | text; separator and encoding are found |
| ``.smi``, ``.smiles`` | a SMILES per line, then its name; with or without a header |
| ``.sdf``, ``.mol`` | records of RDKit; their properties are columns |
| ``.xlsx`` | a sheet of Excel: ``FILE.xlsx:SHEET`` if there are several (``igsd[excel]``) |
| ``.parquet`` | columns of Arrow |

``-`` is standard input: text, SMILES lines, or records of an SDF file. What was detected
(another separator or encoding, decimal commas) is in the table's ``notes``.
"""

import csv
import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from igsd.errors import DataError, counted, did_you_mean, enumerated, shortened
from igsd.files.arrays import read_header, refuse_pickle
from igsd.files.bounded import (
    STANDARD_INPUT,
    BoundedReader,
    read_bounded,
    read_standard_input,
    split_sheet,
)
from igsd.graphs.readers.cells import (
    Commas,
    cell_text,
    codec_of,
    comma_notes,
    names_rows,
    rows_of_cells,
    smiles_and_name,
    with_point,
)

_WEIGHT = 12  # bytes of memory that a byte of a table takes as cells
_MOST_MISSING = 10_000_000
LABEL_COLUMNS = ("label", "class", "y")
"""Columns that are taken for classes by their names."""
_SEPARATORS = {"\t": "tabs", ",": "commas", ";": "semicolons", "|": "bars", " ": "spaces"}
_SMILES = "smiles"
_NOT_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True)
class TextTable:
    """Column names, rows of text, and the line of the file on which each row ends.

    A row may be shorter than the first line: some programs leave out empty cells at its end.
    ``lines`` are rows of a sheet, the first lines of records of an SDF file, and rows from 1 of a
    Parquet file. ``molecules``: the column that holds the molecules, empty if its name has to tell.
    ``failures``: why rows could not be read, by their place. ``notes``: how the file was read.
    """

    path: Path
    columns: list[str]
    rows: list[list[str]]
    lines: list[int]
    molecules: str = ""
    failures: Mapping[int, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

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


_MOST_KEPT = 200_000
_kept: dict[str, tuple[tuple[int, ...], TextTable]] = {}


def read_text_table(source: str | Path) -> TextTable:
    """Return the table at a path, of any format above, with the names of its columns.

    Raises ``DataError`` for a file that is not such a table, ``StorageError`` for a pickle. The
    last table stays in memory, since labels are read after the molecules, and standard input can be
    read only once.
    """
    text = str(source)
    path, sheet = split_sheet(text)
    place = text
    state: tuple[int, ...] = ()
    try:
        if text != STANDARD_INPUT:
            status = path.stat()
            place = f"{path.absolute()}:{sheet}"
            state = (status.st_mtime_ns, status.st_size, status.st_ino)
        if place in _kept and _kept[place][0] == state:
            return _kept[place][1]
        table = _with_points(_read(path, sheet))
    except (OSError, EOFError, zlib.error, csv.Error, zipfile.BadZipFile) as error:
        raise DataError(f"{text} cannot be read as a table: {error}.") from error
    if len(table.rows) <= _MOST_KEPT or text == STANDARD_INPUT:
        for other in [key for key in _kept if key != STANDARD_INPUT]:
            del _kept[other]
        _kept[place] = state, table
    return table


def _read(path: Path, sheet: str) -> TextTable:
    """Return the table by its suffix."""
    if str(path) == STANDARD_INPUT:
        raw = read_standard_input(_WEIGHT)
        if not raw.strip():
            raise DataError(
                "Standard input is empty; SMILES lines, a CSV table or an SDF file was expected."
            )
        text, notes = _decoded(raw, Path("standard input"))
        return _smiles_or_text(text, Path("standard input"), notes)
    refuse_pickle(path)
    if suffix_of(path) == ".parquet":
        return _parquet(path)
    if suffix_of(path) == ".xlsx":
        from igsd.graphs.readers.excel import read_sheet  # few need it

        return _table(path, *read_sheet(path, sheet, _WEIGHT))
    text, notes = _decoded(read_bounded(path, _WEIGHT), path)
    return _PARSERS[suffix_of(path)](text, path, notes)


def suffix_of(path: Path) -> str:
    """Return the suffix of a table, ``.gz`` left out; empty if igsd cannot read it."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    is_packed = path.name.lower().endswith(".gz")
    known = [*_PARSERS, *(() if is_packed else (".xlsx", ".parquet"))]
    return suffix if suffix in known else ""


def is_table(data: str) -> bool:
    """Return whether DATA is a table rather than a name, a folder or a file of igsd."""
    if data == STANDARD_INPUT:
        return True
    path, _ = split_sheet(data)
    if not os.path.isfile(path) or not suffix_of(path) or read_header(path) is not None:
        return False
    from igsd.graphs.readers.files import is_network_file  # few commands need it

    return not is_network_file(Path(path))


def _decoded(raw: bytes, path: Path) -> tuple[str, tuple[str, ...]]:
    """Return (text, notes): UTF-8, else UTF-16 by its marks, else Latin-1 as Windows writes it."""
    codec, note = codec_of(raw)
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError as error:
        if note:
            raise cut_text(path, error) from error
        note = "not UTF-8, read as Latin-1. Save it as UTF-8 if names look wrong"
        text = raw.decode("cp1252", errors="replace")
    check_is_text(text, path)
    return text, (note,) if note else ()


def check_is_text(text: str, path: Path, first: int = 1) -> None:
    """Raise ``DataError`` for control characters in a text that begins in line ``first``."""
    if (found := _NOT_TEXT.search(text)) is not None:
        line = text.count("\n", 0, found.start()) + first
        raise DataError(
            f"{path}, line {line}: the file is not text (character 0x{ord(found[0]):02x}). A table "
            "of text, .csv, .tsv or .smi, was expected; save it in one of these formats."
        )


def cut_text(path: str | Path, error: UnicodeDecodeError) -> DataError:
    """Return the error for UTF-16 that cannot be decoded."""
    return DataError(f"{path} begins as UTF-16, but is cut or damaged: {error}.")


def _text(text: str, path: Path, notes: tuple[str, ...]) -> TextTable:
    """Return the table of a text whose first line names the columns."""
    separator = separator_of(text)
    if separator == " ":
        text = re.sub(r"(?m)[ \t]+$", "", text)
    rows = list(rows_of_cells(io.StringIO(text, newline=""), separator))
    notes += separator_notes(separator)
    return _table(path, [row for row, _ in rows], [line for _, line in rows], notes)


def separator_notes(separator: str) -> tuple[str, ...]:
    """Return a note on a separator that is neither a tab nor a comma."""
    return () if separator in "\t," else (f"cells are separated by {_SEPARATORS[separator]}",)


def separator_of(text: str) -> str:
    """Return the most frequent separator of the first line; spaces if all lines agree on them."""
    first, _, rest = text.lstrip().partition("\n")
    found = max("\t,;|", key=first.count)
    if found in first or " " not in first.strip():
        return found if found in first else ","
    width = len(first.split())
    lines = [line for line in rest.split("\n", 100)[:100] if line.strip()]
    return " " if lines and all(len(line.split()) == width for line in lines) else ","


def _table(
    path: Path, rows: list[list[str]], lines: list[int], notes: tuple[str, ...]
) -> TextTable:
    """Return the table of rows of which the first one names the columns."""
    if len(rows) < 2:
        raise DataError(
            f"{path} has {counted(len(rows), 'line')}; a first line with the names of the columns "
            "and at least one row were expected."
        )
    columns = [cell.strip() for cell in rows[0]]
    for row, line in zip(rows[1:], lines[1:], strict=True):
        check_width(path, line, row, columns)
    cells = sum(len(row) for row in rows[1:])
    if len(columns) * (len(rows) - 1) - cells > max(_MOST_MISSING, cells):
        raise DataError(
            f"{path} has {len(columns)} columns in its first line, but its {len(rows) - 1} rows "
            f"have {cells / (len(rows) - 1):.1f} cells on average. Does the first line belong to "
            "this table, and is the separator the same in all lines?"
        )
    return TextTable(path, columns, rows[1:], lines[1:], notes=notes)


def check_width(path: str | Path, line: int, row: list[str], columns: list[str]) -> None:
    """Raise ``DataError`` for a row with more cells than there are columns."""
    if len(row) > len(columns):
        raise DataError(
            f"{path}, line {line}: {len(columns)} columns expected, found {len(row)}. "
            + (
                "The first line must name the columns: remove a title above them."
                if Path(path).suffix.lower() == ".xlsx"
                else "Put quotes around cells that hold the separator."
            )
        )


def _smiles_lines(text: str, path: Path, notes: tuple[str, ...]) -> TextTable:
    """Return the table of lines with a SMILES and, after a space or tab, a name.

    A first line that names a column smiles makes it an ordinary table of text.
    """
    lines = list(filled_lines(text.split("\n")))
    if not lines:
        raise DataError(f"{path} has no lines; a SMILES in every line was expected.")
    if _SMILES in re.split(r"[\s,;|]+", lines[0][0].lower()):
        return _text(text, path, notes)
    rows = [smiles_and_name(line) for line, _ in lines]
    columns = [_SMILES, "name"]
    if not any(name for _, name in rows):
        columns, rows = columns[:1], [row[:1] for row in rows]
    return TextTable(path, columns, rows, [number for _, number in lines], _SMILES, notes=notes)


def filled_lines(lines: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield (line, its number) for each line that is neither empty nor a comment."""
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip(), number


def _smiles_or_text(text: str, path: Path, notes: tuple[str, ...]) -> TextTable:
    """Return what standard input holds: records, a table if its first line names SMILES, or SMILES.

    Records are known by the lines that end a structure (``M  END``) or a record (``$$$$``).
    """
    if re.search(r"(?m)^(M  END|\$\$\$\$)", text):
        return _records(text, path, notes)
    first = text.lstrip().partition("\n")[0]
    header = "" if first.startswith("InChI=") else first.lower()  # commas are part of an InChI
    names_columns = any(word in re.split(r"[\s,;|\"']+", header) for word in ("inchi", "structure"))
    is_table = _SMILES in header or names_columns or header.count(",") > 0
    return (_text if is_table else _smiles_lines)(text, path, notes)


def _records(text: str, path: Path, notes: tuple[str, ...]) -> TextTable:
    """Return the records of an SDF or MOL file: structure as SMILES, title, and properties."""
    from igsd.graphs.readers.sdf import read_records  # few need it

    found = list(read_records(text))
    if not found:
        raise DataError(f"{path} has no records; MOL blocks, separated by $$$$, were expected.")
    names = dict.fromkeys(name for record in found for name in record.properties)
    title = next(n for n in ("name", "title", "title of the record") if n not in names)
    structure = next(n for n in (_SMILES, "structure", "molecule of the record") if n not in names)
    titles = [title] if any(record.title for record in found) else []
    rows = [
        [r.smiles, *([r.title] if titles else []), *(r.properties.get(key, "") for key in names)]
        for r in found
    ]
    failures = {place: record.fault for place, record in enumerate(found) if record.fault}
    lines = [record.line for record in found]
    return TextTable(path, [structure, *titles, *names], rows, lines, structure, failures, notes)


def _parquet(path: Path) -> TextTable:
    """Return the columns of a Parquet file as text."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        with pa.parquet.ParquetFile(path) as file:
            about = file.metadata
            sizes = (
                about.row_group(place).total_byte_size for place in range(about.num_row_groups)
            )
            BoundedReader(path, _WEIGHT).check(sum(sizes))
            table = file.read()
            columns = [column.to_pylist() for column in table.columns]
    except (pa.ArrowException, ValueError, OverflowError) as error:
        if isinstance(error, DataError):
            raise
        raise parquet_error(path, error) from error
    return column_table(path, parquet_names(table.column_names), columns)


def parquet_names(names: Iterable[str]) -> list[str]:
    """Return the names of columns, of which pandas may have written its index as one."""
    return ["index" if name == "__index_level_0__" else name for name in names]


def parquet_error(path: Path, error: Exception) -> DataError:
    """Return the error for a file that pyarrow cannot read."""
    return DataError(f"{path} cannot be read as a Parquet file: {error}.")


def column_table(
    path: Path, names: Sequence[str], columns: Sequence[Iterable[Any]], first: int = 1
) -> TextTable:
    """Return columns of values as a table; its lines count from ``first``."""
    texts = [[cell_text(value) for value in column] for column in columns]
    rows = [list(row) for row in zip(*texts, strict=True)]
    if not rows:
        raise DataError(f"{path} has no rows; at least one is needed.")
    return TextTable(path, [*names], rows, list(range(first, first + len(rows))))


def frame_table(frame: Any) -> TextTable:
    """Return a DataFrame of pandas or polars as a table; its lines are the places of its rows.

    An index of pandas that is more than 0, 1, 2... becomes a column, under its name or as ``id``.
    """
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        twice = next(name for place, name in enumerate(names) if name in names[:place])
        raise DataError(
            f"Several columns of the DataFrame are called {shortened(twice)!r}. Give them "
            "different names."
        )
    columns = [frame[name].to_list() for name in frame.columns]
    index = getattr(frame, "index", None)
    if index is not None and list(index) != list(range(len(frame))):
        name = str(getattr(index, "name", None) or "id")
        if name not in names:
            names, columns = [name, *names], [list(index), *columns]
    return _with_points(column_table(Path("the DataFrame"), names, columns, first=0))


def is_frame(data: Any) -> bool:
    """Return whether an object is a DataFrame of pandas or polars."""
    return hasattr(data, "columns") and hasattr(data, "to_dict") and hasattr(data, "shape")


def _with_points(table: TextTable) -> TextTable:
    """Return the table with points instead of decimal commas in columns of numbers."""
    seen: list[tuple[str, Commas]] = []
    for place, name in enumerate(table.columns):
        if names_rows(name):
            continue
        commas = Commas()
        for row in table.rows:
            if commas.are_none:
                break
            if place < len(row):
                commas.see(row[place].strip())
        seen.append((name, commas))
        for row in table.rows if commas.are_decimal else ():
            if place < len(row):
                row[place] = with_point(row[place])
    return replace(table, notes=table.notes + comma_notes(seen))


_PARSERS: dict[str, Callable[[str, Path, tuple[str, ...]], TextTable]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt"), _text),
    **dict.fromkeys((".smi", ".smiles", ".ism"), _smiles_lines),
    **dict.fromkeys((".sdf", ".sd", ".mol"), _records),
}
"""What reads the text of a file, by its suffix."""

SUFFIXES = (*_PARSERS, *(f"{suffix}.gz" for suffix in _PARSERS), ".xlsx", ".parquet")
"""The suffixes of tables."""
