"""Labels of graphs by the names of their files: a table with the columns file and label."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from pathlib import Path

from igsd.errors import DataError, counted, enumerated, shortened, warn_user
from igsd.files.bounded import read_bounded
from igsd.graphs.labels import drop_missing, number_of
from igsd.graphs.readers.cells import may_be_name, names_rows, rows_of_text
from igsd.settings.own import offered

SUFFIXES = (
    ".graphml",
    ".gml",
    ".gexf",
    ".net",
    ".pajek",
    ".json",
    ".edgelist",
    ".edges",
    ".csv",
    ".tsv",
    ".npz",
    ".npy",
)
"""The endings of files of networks, each also followed by .gz."""


def endings() -> tuple[str, ...]:
    """Return the endings of files of networks, with those that readers of packages are for."""
    return (*SUFFIXES, *(f".{name}" for name in offered("readers")))


@cache
def _pattern(known: tuple[str, ...]) -> re.Pattern[str]:
    either = "|".join(map(re.escape, known))
    return re.compile(rf"(?P<stem>.+?)(?:{either})(?:\.gz)?(?P<own>:.*)?", re.I | re.S)


def file_and_stem(name: str) -> tuple[str, str]:
    """Return the file of a graph and its name without the ending, both ``name`` if it has none.

    Only a known ending is removed: of ``team.00.graphml`` the stem is ``team.00``. A graph of a
    file of several, ``file.json:3``, is of ``file.json``.
    """
    found = _pattern(endings()).fullmatch(name)
    if found is None:
        return name, name
    return name.removesuffix(found["own"] or ""), found["stem"]


def names_by_stem(names: Iterable[str]) -> dict[str, list[str]]:
    """Return the different files of graphs by their names without the ending."""
    found: dict[str, list[str]] = {}
    for file, stem in dict.fromkeys(map(file_and_stem, names)):
        found.setdefault(stem, []).append(file)
    return found


def places_of(asked: Iterable[str], names: Sequence[str]) -> list[int | None]:
    """Return the index of each requested graph, None if it is missing or ambiguous.

    A graph is called as it is, or without the ending of its file, perhaps behind a folder.
    """
    plain = _without_folder(names)
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        file, stem = file_and_stem(name)
        for key in {name, stem + name.removeprefix(file)}:
            places.setdefault(key, []).append(place)
    found = [places.get(one) or places.get(plain(one), []) for one in asked]
    return [each[0] if len(each) == 1 else None for each in found]


def read_file_labels(path: Path, names: Sequence[str]) -> list[str]:
    """Return the label of each graph, by its file, from a table with the columns file and label.

    The two columns of a table of two may have any names and any order. A file is named in full, or
    without its ending if no other has the same name. Raises ``DataError`` for other columns, a name
    that is ambiguous, repeated with another label or unknown. A graph with an empty cell has no
    label, nor has one without a row; if there are such, a note counts both.
    """
    rows = _rows(path)
    file, label = _columns_of(rows, names, path)
    stems = names_by_stem(names)
    files = {one for several in stems.values() for one in several}
    exact, given, unknown = set(names), dict[str, str](), []
    plain = _without_folder(names)
    for row in rows[1:]:
        if len(row) <= max(file, label):
            raise DataError(f"{path} has a row of {len(row)} cells: {', '.join(row)}.")
        asked = row[file] if row[file] in exact else plain(row[file])
        if asked not in exact and asked not in files:
            found = stems.get(asked, [])
            if len(found) > 1:
                raise DataError(
                    f"{path} names {asked}, which is ambiguous: there are {enumerated(found)}. "
                    "Give the ending too."
                )
            if not found:
                unknown.append(asked)
                continue
            asked = found[0]
        if given.setdefault(asked, row[label]) != row[label]:
            raise DataError(f"{path} gives the file {row[file]} two labels.")
    if unknown:
        what = "file" if plain("a/b") == "b" else "graph"
        there = f"is no such {what}" if len(unknown) == 1 else f"are no such {what}s"
        raise DataError(f"{path} names {enumerated(unknown)}, but there {there}.")
    labels = [given.get(name, given.get(file_and_stem(name)[0])) for name in names]
    if twice := [name for name, count in Counter(names).items() if count > 1 and name in given]:
        warn_user(
            f"Several graphs are called {enumerated(twice, 3)}; each gets the label that {path} "
            "gives that name."
        )
    _warn_of_missing(labels, names, path)
    return [found or "" for found in labels]


def _columns_of(rows: list[list[str]], names: Sequence[str], path: Path) -> tuple[int, int]:
    """Return the places of the columns file and label; raises ``DataError`` for other columns."""
    header = [cell.lower() for cell in rows[0]] if rows else []
    if {"file", "label"} <= set(header):
        if twice := [cell for cell in ("file", "label") if header.count(cell) > 1]:
            raise DataError(
                f"{path} has several columns called {twice[0]}. Give them different names."
            )
        return header.index("file"), header.index("label")
    if len(header) == 2 and not any(_names_graph(cell, names) for cell in rows[0]):
        file = _naming_column(rows, names, path)
        return file, 1 - file
    raise DataError(
        f"{path} must have the columns file and label, named in its first line, or two columns "
        "with other names, of which one names the graphs. Its first line is: "
        f"{', '.join(rows[0]) if rows else 'missing'}."
    )


def _warn_of_missing(labels: list[str | None], names: Sequence[str], path: Path) -> None:
    """Warn of graphs without a row, counting empty cells too; ``DataError`` if none has a row."""
    if missing := [name for name, found in zip(names, labels, strict=True) if found is None]:
        if len(missing) == len(names):
            raise DataError(f"{path} has no row for any graph. Add one for each that has a label.")
        known = drop_missing(labels, path.name, warn=False)
        pairs = list(zip(names, labels, known, strict=True))
        empty = [name for name, cell, label in pairs if cell is not None and label is None]
        also = f", and no label in the row of {enumerated(empty, 2)}" if empty else ""
        warn_user(
            f"{path} has no row for {enumerated(missing, 2)}{also}; "
            f"{counted(known.count(None), 'graph')} of {len(names)} count as unlabelled."
        )


def has_file_column(path: Path, names: Sequence[str]) -> bool:
    """Return whether a file of labels is a table that names graphs by their files.

    It has the columns file and label, or several columns of which one names mostly graphs.
    """
    try:
        rows = _rows(path)
    except (OSError, DataError):
        return False
    if not rows or len(rows[0]) < 2:
        return False
    if {"file", "label"} <= {cell.lower() for cell in rows[0]}:
        return True
    return 2 * max(_hits(rows, names)) > len(rows) - 1


def count_named(path: Path, names: Sequence[str]) -> int:
    """Return the number of rows of a table that name graphs."""
    return max(_hits(_rows(path), names))


def check_one_column(path: Path, names: Sequence[str] | None) -> None:
    """Raise ``DataError`` for a table with several columns where a label per line was expected.

    A .csv or .tsv file is such a table, and so is any other text with several numbers in every
    line, unless these may be numbers with decimal commas.
    """
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix == ".npy":
        return
    try:
        rows = _rows(path)
    except DataError:
        if suffix in (".csv", ".tsv"):
            raise
        return
    if not rows or len(rows[0]) < 2 or len({*map(len, rows)}) > 1:
        return
    if suffix not in (".csv", ".tsv") and not _are_columns_of_numbers(rows, path):
        return
    called = "have no names"
    if names:
        called = f"are called {enumerated([repr(shortened(name)) for name in names], 3)}"
    raise DataError(
        f"{path} is a table with the columns {enumerated(rows[0])}, and none of them names the "
        f"graphs, which {called}. Give a table with the columns file and label, where file names "
        "the graphs, or a file with nothing but one label per line, in their order."
    )


def _are_columns_of_numbers(rows: list[list[str]], path: Path) -> bool:
    """Return whether cells are numbers, and no whole numbers and decimals of one label.

    Where commas separate them, they are columns if the first one counts the rows.
    """
    body = rows if all(number_of(cell) is not None for cell in rows[0]) else rows[1:]
    if not body or any(number_of(cell) is None for row in body for cell in row):
        return False
    if "," not in read_bounded(path).decode("utf-8-sig"):
        return True
    first = [row[0] for row in body]
    return first in ([*map(str, range(start, start + len(body)))] for start in (0, 1))


def _naming_column(rows: list[list[str]], names: Sequence[str], path: Path) -> int:
    """Return which of two columns names the graphs, the other one holding their labels.

    Graphs may be called 0 and 1 as classes are, but names are different from each other. Raises
    ``DataError`` if both columns may name them, or if the first line does not name the columns.
    """
    columns = [[row[place] for row in rows if place < len(row)] for place in (0, 1)]
    hits, count = _hits(rows, names), len(rows) - 1
    distinct = [len(set(column[1:])) for column in columns]
    often = [place for place in (0, 1) if 2 * hits[place] > count]
    named = [place for place in (0, 1) if _is_name_of_names(rows[0][place])]
    if len(named) == 1 and named[0] in often:
        return named[0]
    is_either = len(often) == 2 and distinct == [count, count]
    if is_either or (hits[0], distinct[0]) == (hits[1], distinct[1]):
        raise DataError(
            f"Both columns of {path}, {rows[0][0]} and {rows[0][1]}, may name the graphs. Call "
            "the one that does file and the other one label."
        )
    if not all(map(may_be_name, columns)):
        raise DataError(
            f"The first line of {path}, {', '.join(rows[0])}, seems to hold a label rather than "
            "the names of the columns. Write file,label above it, or call the columns so if it "
            "names them."
        )
    return int((hits[1], distinct[1]) > (hits[0], distinct[0]))


def _is_name_of_names(cell: str) -> bool:
    return cell.lower() in ("file", "graph") or names_rows(cell)


def _hits(rows: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """Return the number of cells of each column, below its name, that name graphs."""
    known = {*names, *(part for name in names for part in file_and_stem(name))}
    plain = _without_folder(names)
    cells = [[row[place] for row in rows[1:] if place < len(row)] for place in range(len(rows[0]))]
    return [sum(bool(c) and (c in known or plain(c) in known) for c in column) for column in cells]


def _without_folder(names: Iterable[str]) -> Callable[[str], str]:
    """Return a function that removes the folder from a path, if the names are those of files."""
    are_files = any(file_and_stem(name)[1] != name for name in names)
    return lambda text: Path(text).name if are_files else text


def _names_graph(cell: str, names: Sequence[str]) -> bool:
    return any(cell in (name, *file_and_stem(name)) for name in names)


def _rows(path: Path) -> list[list[str]]:
    try:
        text = read_bounded(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path} must be text in UTF-8. Save it as such.") from error
    try:
        return rows_of_text(text)
    except DataError as error:
        raise DataError(f"{path} cannot be read as a table: {error}") from error
