"""``read_sheet``: one sheet of an Excel file, as rows of text."""

import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from igsd.errors import DataError, counted, did_you_mean, enumerated, need, shortened
from igsd.files.bounded import check_members
from igsd.graphs.readers.cells import cell_text

Rows = list[tuple[list[str], int]]
"""The cells of each row that has any, and its number in the sheet."""

_FORMULA = re.compile(rb"<(\w+:)?f[\s/>]")


def read_sheet(
    path: Path, wanted: str, weight: int
) -> tuple[list[list[str]], list[int], tuple[str, ...]]:
    """Return (rows, their numbers, notes) of a sheet; ``weight``: memory that a byte takes.

    ``wanted``: its name, empty for the only one. Raises ``DataError`` if there is no such sheet,
    for several if none is named, and for a file that cannot be read. A note names formulas without
    a value.
    """
    openpyxl = need("excel", "openpyxl", "Reading Excel files")
    with zipfile.ZipFile(path) as packed:
        entries = packed.infolist()
        check_members(path, entries, weight)
        sheets = [e for e in entries if e.filename.startswith("xl/worksheets/")]
        has_formulas = any(_FORMULA.search(packed.read(entry)) for entry in sheets)
    try:
        books = [
            openpyxl.load_workbook(path, read_only=True, data_only=data_only)
            for data_only in ((True, False) if has_formulas else (True,))
        ]
    except (AttributeError, KeyError, ValueError, TypeError, SyntaxError) as error:
        raise DataError(f"{path} cannot be read as an Excel file: {error}.") from error
    try:
        names = [sheet.title for sheet in books[0].worksheets]
        if wanted and wanted not in names:
            hint = f"{did_you_mean(wanted, names)} The sheets are: {enumerated(names, 30)}.".strip()
            raise DataError(f"{path} has no sheet {wanted!r}. {hint}")
        chosen = [wanted] if wanted else names
        found = {name: both for name in chosen if any(both := _rows(books, name))}
    finally:
        for book in books:
            book.close()
    if len(found) > 1:
        raise DataError(
            f"{path} has several sheets: {enumerated([repr(name) for name in found], 30)}. Name "
            f"one: {path}:{shortened(next(iter(found)))}"
        )
    if not found:
        raise DataError(f"{path} has no cells{f' in the sheet {wanted!r}' if wanted else ''}.")
    name, (rows, lacking) = next(iter(found.items()))
    note = (
        f"{counted(len(lacking), 'formula')} in the sheet {name!r} without a computed value "
        f"(cell {enumerated(lacking)}), read as empty: open the file in Excel or LibreOffice and "
        "save it there, which stores the values"
    )
    if not rows:
        raise DataError(f"{path} has no values: {note}.")
    width = max((place for place, cell in enumerate(rows[0][0], 1) if cell), default=0)
    cut = [row if any(row[width:]) else row[:width] for row, _ in rows]
    return cut, [number for _, number in rows], (note,) if lacking else ()


def _rows(books: list[Any], name: str) -> tuple[Rows, list[str]]:
    """Return the rows of a sheet, and the cells whose formula has no value.

    ``books``: the file read as values and, if it has formulas, as formulas. Programs that compute
    nothing store no value; or 0, and that Excel must compute all formulas when it opens the file.
    """
    is_stale = getattr(books[0].calculation, "fullCalcOnLoad", False)
    lacking: list[str] = []
    rows: Rows = []
    for number, (cells, *formulas) in enumerate(zip(*_cells(books, name), strict=True), 1):
        values = [cell.value for cell in cells]
        for place, cell in enumerate(formulas[0] if formulas else ()):
            is_empty = values[place] is None or (is_stale and values[place] == 0)
            # The value of a formula may also be an empty text, which is of another type.
            if is_empty and cell.data_type == "f" and cells[place].data_type == "n":
                values[place] = None
                lacking.append(cell.coordinate)
        if any(row := [cell_text(value) for value in values]):
            rows.append((row, number))
    return rows, lacking


def _cells(books: list[Any], name: str) -> list[Iterator[Any]]:
    sheets = [book[name] for book in books]
    for sheet in sheets:
        sheet.reset_dimensions()  # some programs write wrong ones
    return [sheet.iter_rows() for sheet in sheets]
