"""How the cells of a table become text, whole or in parts: encoding, commas, SMILES lines."""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from igsd.errors import DataError, enumerated
from igsd.graphs.labels import MARKERS, number_of

_BOUND = r"[<>=~≤≥]{0,2} ?"
_DECIMAL = re.compile(rf"{_BOUND}[+-]?(\d+|[1-9]\d{{0,2}}(\.\d{{3}})+),\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(rf"{_BOUND}[+-]?[1-9]\d{{0,2}},\d{{3}}")
_WHOLE = re.compile(rf"{_BOUND}[+-]?\d+([eE][+-]?\d+)?")

_OF_A_MOLECULE = "mol|molecule|compound|cmpd|drug|substance|sample|chembl|pubchem|zinc"
_ITS_NAME = rf"({_OF_A_MOLECULE})[ _.-]?(id|name|no|nr|cid)"
_NAMING = re.compile(rf"|id|index|no|nr|row|cid|name|title( of the record)?|{_ITS_NAME}")


def names_rows(column: str) -> bool:
    """Return whether a column only names the rows, by its own name: id, index, mol_id, ..."""
    return _NAMING.fullmatch(column.lower().strip(". #")) is not None


def may_be_name(cells: Sequence[str]) -> bool:
    """Return whether the first cell may be a heading: a text that does not recur below it."""
    is_number = number_of(with_point(cells[0])) is not None
    is_value = is_number or cells[0].lower() in ("", *MARKERS)
    return not is_value and cells[0] not in cells[1:]


@dataclass
class Commas:
    """Whether the commas in the cells of a column are decimal commas, as far as they were seen.

    They are if all numbers with a fraction are written with one, perhaps as a bound (``<2,5``), and
    every other cell is a whole number or missing. ``1,234`` alone may also be thousands.
    """

    found: bool = False
    all_decimal: bool = True
    all_thousands: bool = True
    others_whole: bool = True

    def see(self, cell: str) -> None:
        """Take a cell into account."""
        if "," in cell:
            self.found = True
            self.all_decimal &= _DECIMAL.fullmatch(cell) is not None
            self.all_thousands &= _THOUSANDS.fullmatch(cell) is not None
        elif self.others_whole and cell:
            self.others_whole = cell.lower() in MARKERS or _WHOLE.fullmatch(cell) is not None

    @property
    def are_none(self) -> bool:
        """True once decimal commas are ruled out."""
        return not (self.all_decimal and self.others_whole)

    @property
    def are_unclear(self) -> bool:
        """Whether they are decimal commas or thousands."""
        return self.found and self.all_thousands and self.others_whole

    @property
    def are_decimal(self) -> bool:
        """Whether they are decimal commas for certain."""
        is_decimal = self.found and self.all_decimal and self.others_whole
        return is_decimal and not self.all_thousands


def with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point: 1.234,5 becomes 1234.5."""
    return cell.replace(".", "").replace(",", ".") if "," in cell else cell


def comma_notes(columns: Iterable[tuple[str, Commas]]) -> tuple[str, ...]:
    """Return the notes on columns with decimal commas, or with commas that are unclear."""
    pairs = list(columns)
    decimal = [repr(name) for name, commas in pairs if commas.are_decimal]
    unclear = [repr(name) for name, commas in pairs if commas.are_unclear]
    notes: tuple[str, ...] = ()
    if decimal:
        notes += (f"decimal commas in {enumerated(decimal)} are read as points",)
    if unclear:
        notes += (
            f"commas in {enumerated(unclear)} may be decimal commas or thousands, so these are "
            "left as text: write points, or no commas",
        )
    return notes


def codec_of(raw: bytes) -> tuple[str, str]:
    """Return (codec, note) by the first bytes of a file: UTF-8, or UTF-16 by its marks or zeros."""
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "utf-16", "read as UTF-16"
    if b"\x00" in raw[:200] and len(raw) >= 4:
        places = [raw[start:200:2].count(0) for start in (0, 1)]
        is_often = max(places) > len(raw[:200]) // 16  # a single zero is damage in another text
        if min(places) == 0 and is_often:
            return ("utf-16-be", "utf-16-le")[places[1] > 0], "read as UTF-16"
    return "utf-8-sig", ""


def smiles_and_name(line: str) -> list[str]:
    """Return the SMILES of a line and its name, empty if there is none.

    An extension of CXSMILES, between two bars, belongs to the SMILES.
    """
    found = re.fullmatch(r"(\S+(?:\s+\|[^|]*\|)?)\s*(.*)", line)
    return [line, ""] if found is None else [found[1], found[2]]


def cell_text(value: Any) -> str:
    """Return the text of a cell: empty for None and NaN, SMILES for a molecule of RDKit."""
    if value is None or type(value).__name__ in ("NaTType", "NAType"):
        return ""
    if isinstance(value, float):
        if value != value:
            return ""
        # repr of a number of NumPy names its type.
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(float(value))
    if hasattr(value, "GetNumAtoms"):
        from rdkit import Chem

        return Chem.MolToSmiles(value)
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    return str(value).strip()


_EXCEL_LINE = ["sep=", ""]
"""The cells of a first line such as ``sep=;``, by which Excel is told the separator."""


def rows_of_text(text: str) -> list[list[str]]:
    """Return the cells of every line of a table that is not empty and not a comment.

    Comments begin with ``#`` or ``%``, and stand above the first row or have another number of
    cells. The most frequent of tab, comma, semicolon and bar in the first row
    separates the cells, or else blanks do.
    Raises ``DataError`` for a line with a cell that is too large, and if blanks and commas may both
    separate the cells.
    """
    lines = re.split(r"\r\n|\r|\n", text)
    first = next((i for i, line in enumerate(lines) if line.strip() and not _is_comment(line)), 0)
    mark = max("\t,;|", key=lines[first].count)
    if mark not in lines[first] or (mark == "," and _are_blanks(lines[first:])):
        mark = ""
    if not mark:
        rows = [line.split() for line in lines[first:]]
    else:
        reader = csv.reader((f"{line}\n" for line in lines[first:]), delimiter=mark, strict=True)
        try:
            rows = [[cell.strip() for cell in row] for row in reader]
        except csv.Error as error:
            raise DataError(f"line {first + reader.line_num}: {error}.") from error
    rows = [row for row in rows if any(row)]
    rows = rows[1:] if rows[:1] == [_EXCEL_LINE] else rows
    width = len(rows[0]) if rows else 0
    return [row for row in rows if len(row) == width or not _is_comment(row[0])]


def _is_comment(line: str) -> bool:
    return line.startswith(("#", "%"))


def _are_blanks(lines: list[str]) -> bool:
    """Return whether blanks separate the cells of lines of which the first one has a comma.

    They do if the last cell of each line is a number with a decimal comma. Raises ``DataError`` if
    names seem to have commas, or blanks.
    """
    rows = [line.split() for line in lines if line.strip() and not _is_comment(line)]
    if not any(len(row) > 2 for row in rows[:1]) or '"' in lines[0]:
        return False
    if all(_DECIMAL.fullmatch(row[-1]) or _WHOLE.fullmatch(row[-1]) for row in rows):
        return True
    cells = [cell.strip() for cell in lines[0].split(",")]
    if len({*map(len, rows)}) == 1 and any(" " in cell for cell in cells):
        raise DataError(
            f"commas or blanks may separate the cells of {lines[0].strip()[:60]!r}. Separate them "
            "by tabs, or put quotes around names."
        )
    return False


def rows_of_cells(lines: Iterable[str], separator: str) -> Iterator[tuple[list[str], int]]:
    """Yield the cells of each row that is not empty, and the line on which it ends.

    ``csv.Error`` says on which line the row begins that cannot be read.
    """
    kwargs: Any = {"delimiter": separator, "strict": True, "skipinitialspace": separator == " "}
    reader, first = csv.reader(lines, **kwargs), 1
    try:
        for row in reader:
            if any(map(str.strip, row)) and (reader.line_num > 1 or row != _EXCEL_LINE):
                yield row, reader.line_num
            first = reader.line_num + 1
    except csv.Error as error:
        to = f" to {reader.line_num}" if reader.line_num > first else ""
        raise csv.Error(f"line {first}{to}: {error} (is a quote left open?)") from error
