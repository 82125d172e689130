"""``LongTable``: a table of molecules of any length, read in parts that fit into memory.

Text (.csv, .tsv, .txt, .smi, also .gz) and Parquet are read row by row, other formats at once. A
first pass finds out what depends on all rows: which columns are numbers, decimal commas, and the
encoding. The rules are those of ``read_text_table`` and ``read_smiles_table``.
"""

import contextlib
import csv
import gzip
import io
import math
import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from igsd.errors import DataError, enumerated
from igsd.files.arrays import refuse_pickle
from igsd.files.bounded import STANDARD_INPUT, BoundedReader, split_sheet
from igsd.files.columns import parse_number
from igsd.graphs.labels import MARKERS
from igsd.graphs.readers import text_table
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
from igsd.graphs.readers.table import guess_smiles, infinite_note
from igsd.graphs.readers.text_table import TextTable, read_text_table, suffix_of

Row = tuple[list[str], int]
"""The cells of a row, and its line."""

_TEXTS = (".csv", ".tsv", ".txt", ".smi", ".smiles", ".ism")
_SAMPLE = 200
_HEAD = 1 << 16


@dataclass
class _Column:
    """What the cells of a column seen so far have in common."""

    may_be_label: bool = False
    names_rows: bool = False
    commas: Commas = field(default_factory=Commas)
    is_filled: bool = False
    is_known: bool = False
    all_numbers: bool = True
    infinite: float | None = None
    _has_point_fraction: bool = False
    _has_comma_fraction: bool = False

    def see(self, cell: str) -> None:
        """Take a cell into account."""
        if not cell:
            return
        self.is_filled = True
        if not self.names_rows:
            self.commas.see(cell)
        if cell.lower() in MARKERS:
            return
        self.is_known = True
        try:
            value = parse_number(with_point(cell))
        except ValueError:
            self.all_numbers = False
            return
        if self.infinite is None and not math.isfinite(value):
            self.infinite = value
        if "," in cell:
            self._has_comma_fraction |= not value.is_integer()
        else:
            self._has_point_fraction |= not value.is_integer()

    @property
    def is_settled(self) -> bool:
        """Whether no further cell can change anything."""
        is_text = not self.all_numbers and not self.commas.others_whole
        return is_text and (self._has_point_fraction or not self.may_be_label)

    @property
    def has_fraction(self) -> bool:
        """Whether a cell is a number with a fraction."""
        has_comma = self._has_comma_fraction and self.commas.are_decimal
        return self._has_point_fraction or has_comma

    @property
    def is_target(self) -> bool:
        """Whether the column holds numbers; a target holds no ``infinite`` one."""
        is_read = not self.commas.found or self.commas.are_decimal
        return self.is_known and self.all_numbers and is_read


@dataclass
class LongTable:
    """One or several files with the same columns. ``sample``: their first rows.

    ``num_rows``: of all files. ``notes``: how they were read.
    """

    sources: list[str]
    columns: list[str]
    sample: TextTable
    num_rows: int
    notes: tuple[str, ...]
    _facts: list[_Column]
    _codecs: dict[str, str] = field(default_factory=dict)
    _seen: dict[str, "_Seen"] = field(default_factory=dict)

    @classmethod
    def open(cls, sources: Sequence[str]) -> "LongTable":
        """Return the table of these files after a first pass; raises ``DataError``."""
        table = cls(list(sources), [], TextTable(Path(sources[0]), [], [], []), 0, (), [])
        rows: list[list[str]] = []
        lines: list[int] = []
        notes: list[str] = []
        for source in sources:
            found, codec_note = table._first_pass(source, rows, lines)
            several = f"{Path(source).name}: " if len(sources) > 1 else ""
            notes += [several + note for note in (*codec_note, *found.notes)]
        notes += comma_notes((name, facts.commas) for name, facts in table._pairs())
        molecules = table.sample.molecules
        path = Path(sources[0])
        if molecules and table.columns == ["smiles", "name"] and not table._facts[1].is_filled:
            table.columns, table._facts = table.columns[:1], table._facts[:1]
            rows = [row[:1] for row in rows]
        table.sample = TextTable(path, table.columns, rows, lines, molecules)
        table.notes = tuple(notes)
        return table

    def guess_label(self, used: Sequence[str]) -> str | None:
        """Return a column called label, class or y if its values are categories."""
        for column, facts in self._pairs():
            if facts.may_be_label and column not in used and not facts.has_fraction:
                return column
        return None

    def guess_targets(self, used: Sequence[str | None]) -> tuple[list[str], list[str]]:
        """Return (columns, notes): those of numbers that do more than name the rows."""
        found = {
            column: facts.infinite
            for column, facts in self._pairs()
            if column not in used
            and not names_rows(column)
            and not self.sample.is_repeated(column)
            and facts.is_target
        }
        notes = [infinite_note(column, v) for column, v in found.items() if v is not None]
        return [column for column, value in found.items() if value is None], notes

    def guess_smiles(self) -> str:
        """Return the column of molecules; raises ``DataError`` if none or several may be meant."""
        return guess_smiles(self.sample)

    def parts(self, size: int) -> Iterator[TextTable]:
        """Yield the rows of all files in tables of at most ``size`` rows of one file.

        Raises ``DataError`` if a file is not what the first pass has seen.
        """
        places = [place for place, facts in enumerate(self._facts) if facts.commas.are_decimal]
        for source in self.sources:
            with self._unchanged(source) as seen:
                opened, done = self._open(source), 0
                if opened.columns != seen.columns:
                    raise changed(source)
            while True:
                with self._unchanged(source):
                    block = list(islice(opened.rows, size))
                    is_wide = any(len(row) > len(seen.columns) for row, _ in block)
                    if is_wide or (not block and done != seen.num_rows):
                        raise changed(source)
                if not block:
                    break
                cells = [row[: len(self.columns)] for row, _ in block]
                for row in cells if places else ():
                    for place in places:
                        if place < len(row):
                            row[place] = with_point(row[place])
                failures = {
                    row - done: fault
                    for row, fault in opened.failures.items()
                    if done <= row < done + len(block)
                }
                done += len(block)
                yield TextTable(
                    Path(source),
                    self.columns,
                    cells,
                    [line for _, line in block],
                    opened.molecules,
                    failures,
                )

    @contextlib.contextmanager
    def _unchanged(self, source: str) -> Iterator["_Seen"]:
        """Yield what the first pass saw of a file; raises ``DataError`` if the file has changed.

        An error inside the block is then reported as the change that caused it.
        """
        seen = self._seen[source]
        try:
            yield seen
        except (DataError, UnicodeDecodeError) as error:
            if isinstance(error, UnicodeDecodeError) or _state_of(source) != seen.state:
                raise changed(source) from error
            raise
        if _state_of(source) != seen.state:
            raise changed(source)

    def _pairs(self) -> Iterator[tuple[str, _Column]]:
        return zip(self.columns, self._facts, strict=True)

    def _first_pass(
        self, source: str, rows: list[list[str]], lines: list[int]
    ) -> tuple["_Opened", list[str]]:
        """See all rows of a file; return it with a note on its encoding, if any."""
        notes: list[str] = []
        before, state = self.num_rows, _state_of(source)
        try:
            found = self._see(source, rows, lines)
        except UnicodeDecodeError as error:
            if self._codecs[source] != "utf-8-sig":
                raise text_table.cut_text(source, error) from error
            self._codecs[source] = "cp1252"
            notes.append("not UTF-8, read as Latin-1. Save it as UTF-8 if names look wrong")
            self.num_rows = before
            found = self._see(source, rows, lines)
        if self.num_rows == before:
            raise DataError(
                f"{source} has no rows; a first line with the names of the columns and at least "
                "one row were expected."
            )
        if _state_of(source) != state:
            raise changed(source)
        self._seen[source] = _Seen(state, found.columns, self.num_rows - before)
        return found, notes

    def _see(self, source: str, rows: list[list[str]], lines: list[int]) -> "_Opened":
        found = self._open(source)
        if not self.columns:
            self.columns = found.columns
            self._facts = [
                _Column(name.lower() in text_table.LABEL_COLUMNS, names_rows(name))
                for name in found.columns
            ]
            self.sample = TextTable(Path(source), found.columns, [], [], found.molecules)
        elif found.columns != self.columns:
            raise DataError(
                f"Tables become one set only if they have the same columns. Those of "
                f"{self.sources[0]} are {enumerated(self.columns, 30)}; those of {source} are "
                f"{enumerated(found.columns, 30)}."
            )
        named = [place for place, name in enumerate(self.columns) if "smiles" in name.lower()]
        differ = False
        for row, line in found.rows:
            self.num_rows += 1
            text_table.check_width(source, line, row, self.columns)
            for facts, cell in zip(self._facts, row, strict=False):
                if not facts.is_settled:
                    facts.see(cell.strip())
            is_new = not differ and len(named) > 1 and len({*_cells(row, named)}) > 1
            if len(rows) < _SAMPLE or is_new:
                rows.append(row)
                lines.append(line)
            differ = differ or is_new
        return found

    def _open(self, source: str) -> "_Opened":
        path, _ = split_sheet(source)
        if source != STANDARD_INPUT:
            refuse_pickle(path)
        suffix = suffix_of(path)
        if source != STANDARD_INPUT and suffix == ".parquet":
            return _open_parquet(path)
        if source == STANDARD_INPUT or suffix not in _TEXTS:
            table = read_text_table(source)
            pairs = zip(table.rows, table.lines, strict=True)
            return _Opened(table.columns, pairs, table.molecules, table.notes, table.failures)
        with _readable(source):
            opened = self._open_text(source, path, suffix)
        opened.rows = _readable_rows(source, opened.rows)
        return opened

    def _open_text(self, source: str, path: Path, suffix: str) -> "_Opened":
        with _unpacked(path) as file:
            head = file.read(_HEAD)
        if source not in self._codecs:
            self._codecs[source], note = codec_of(head)
        note = "read as UTF-16" if self._codecs[source].startswith("utf-16") else ""
        text = head.decode(self._codecs[source], errors="replace")
        first = next((line for line in text.split("\n") if line.strip()), "")
        lines = _lines(path, self._codecs[source])
        notes = (note,) if note else ()
        if suffix in _TEXTS[:3] or "smiles" in re.split(r"[\s,;|]+", first.lower()):
            return _open_cells(lines, text, notes)
        return _open_smiles(lines, notes)


def _cells(row: list[str], places: Sequence[int]) -> list[str]:
    return [row[place] if place < len(row) else "" for place in places]


class _Seen(NamedTuple):
    """What the first pass saw of a file."""

    state: tuple[int, ...]
    columns: list[str]
    num_rows: int


def _state_of(source: str) -> tuple[int, ...]:
    """Return size, time and inode of a file; empty for standard input or a missing file."""
    try:
        status = split_sheet(source)[0].stat()
    except OSError:
        return ()
    return status.st_size, status.st_mtime_ns, status.st_ino


def changed(source: str | Path) -> DataError:
    """Return the error for a file that is not what it was in the first pass."""
    return DataError(f"{source} changed while it was read. Import it when nothing writes to it.")


@contextlib.contextmanager
def _readable(source: str) -> Iterator[None]:
    """Raise ``DataError`` for what the readers of text and gzip raise inside the block."""
    try:
        yield
    except (OSError, EOFError, zlib.error, csv.Error) as error:
        raise DataError(f"{source} cannot be read as a table: {error}.") from error


def _readable_rows(source: str, rows: Iterator[Row]) -> Iterator[Row]:
    with _readable(source):
        yield from rows


@dataclass
class _Opened:
    """A file whose rows are still to be read, once."""

    columns: list[str]
    rows: Iterator[Row]
    molecules: str = ""
    notes: tuple[str, ...] = ()
    failures: Any = field(default_factory=dict)


def _unpacked(path: Path) -> IO[bytes]:
    with open(path, "rb") as file:
        is_gzip = file.read(2) == b"\x1f\x8b"
    return cast(IO[bytes], gzip.open(path, "rb") if is_gzip else open(path, "rb"))


def _lines(path: Path, codec: str) -> Iterator[str]:
    """Yield the lines of a file with their ends; raises ``DataError`` for what is not text."""
    bound = BoundedReader(path, weight=0)
    errors = "replace" if codec == "cp1252" else "strict"
    with _unpacked(path) as file, io.TextIOWrapper(file, codec, errors, newline="") as text:
        for number, line in enumerate(text, 1):
            text_table.check_is_text(line, path, number)
            if number % 100_000 == 0 and isinstance(file, gzip.GzipFile):
                bound.check_ratio(file.tell())
            yield line


def _open_cells(lines: Iterator[str], head: str, notes: tuple[str, ...]) -> _Opened:
    """Return the rows of a text whose first line names the columns."""
    separator = text_table.separator_of(head)
    if separator == " ":
        lines = (line.rstrip(" \t\r\n") + "\n" for line in lines)
    rows = rows_of_cells(lines, separator)
    first, _ = next(rows, ([], 0))
    notes += text_table.separator_notes(separator)
    return _Opened([cell.strip() for cell in first], rows, notes=notes)


def _open_smiles(lines: Iterator[str], notes: tuple[str, ...]) -> _Opened:
    """Return the lines of a SMILES and, after a space or tab, a name."""
    rows = ((smiles_and_name(line), number) for line, number in text_table.filled_lines(lines))
    return _Opened(["smiles", "name"], rows, "smiles", notes)


def _open_parquet(path: Path) -> _Opened:
    """Return the rows of a Parquet file, batch by batch."""
    import pyarrow as pa
    import pyarrow.parquet

    try:
        file = pa.parquet.ParquetFile(path)
        names = text_table.parquet_names(file.schema_arrow.names)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise text_table.parquet_error(path, error) from error

    def rows() -> Iterator[Row]:
        done = 0
        try:
            for batch in file.iter_batches(10_000):
                columns = [map(cell_text, c.to_pylist()) for c in batch.columns]
                for row in zip(*columns, strict=True):
                    done += 1
                    yield list(row), done
        except (pa.ArrowException, OSError, OverflowError) as error:
            raise text_table.parquet_error(path, error) from error

    return _Opened(names, rows())
