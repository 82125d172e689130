"""The text files of one TU data set, in a folder or inside a zip that is never unpacked to disk.

The files ``DS_A.txt``, ``DS_graph_indicator.txt`` and so on may be at the top or in folders below
(``DS/``, ``DS/raw/``), all in one place, one data set per folder or zip.

| file | lines | meaning |
|---|---|---|
| ``DS_A.txt`` | one per edge | two node ids |
| ``DS_graph_indicator.txt`` | one per node | the graph it belongs to |
| ``DS_graph_labels.txt`` | one per graph | class (optional; -1 is a class like any other) |
| ``DS_graph_attributes.txt`` | one per graph | targets (optional) |
| ``DS_node_labels.txt``, ``DS_node_attributes.txt`` | one per node | optional |
| ``DS_edge_labels.txt``, ``DS_edge_attributes.txt`` | one per line of ``DS_A.txt`` | optional |

Rules where files differ:

- Graph ids start at 0 or 1. They must not decrease from line to line and must not skip a number:
  node columns would be mixed up silently otherwise.
- Node ids start at 0 if the id 0 occurs, at 1 if the id "number of nodes" occurs, otherwise like
  the graph ids.
- Of several columns in a label file the first is the label; a note says so.
- Numbers may be separated by commas, semicolons, spaces or tabs.
"""

import io
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np

from igsd.errors import DataError, enumerated
from igsd.files.arrays import refuse_pickle
from igsd.graphs.build import encode_categories, from_edges
from igsd.graphs.graphset import Fields, GraphSet

MAX_UNPACKED = 8 * 1024**3
"""Largest declared size of all members of a zip together, in bytes: a guard against zip bombs."""

_ADJACENCY = "_A.txt"
_SEPARATORS = re.compile(rb"[,;\s]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CLIMBS = re.compile(r"^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)")


@dataclass(frozen=True)
class TUFiles:
    """One data set's files: ``name`` is DS, ``parts`` what follows it (``A``, ``graph_labels``)."""

    source: Path
    name: str
    parts: dict[str, str]

    def label(self, part: str) -> str:
        """Return how messages name the file of ``part``."""
        return f"{self.source}: {self.name}_{part}.txt"

    def read(self, part: str) -> bytes | None:
        """Return the bytes of one file, or None if the data set has no such file."""
        member = self.parts.get(part)
        if member is None:
            return None
        try:
            if self.source.is_dir():
                return (self.source / member).read_bytes()
            with zipfile.ZipFile(self.source) as archive:
                return archive.read(member)
        except (zipfile.BadZipFile, EOFError, zlib.error, OSError) as error:
            raise DataError(
                f"{self.label(part)} cannot be read: {error}. Fetch or unpack the data again."
            ) from error
        except (NotImplementedError, RuntimeError) as error:
            raise DataError(f"{self.label(part)} cannot be unpacked: {error}.") from error


def find_tu_files(path: Path) -> TUFiles:
    """Return the files of the TU data set in the folder or zip at ``path``.

    Raises ``DataError`` for a missing path, a file that is not a zip, a zip with a member outside
    its folder or with more than ``MAX_UNPACKED`` bytes, and unless there is one ``DS_A.txt``.
    """
    if not path.exists():
        raise DataError(f"There is no TU data set at {path}: no such file or folder.")
    members = _folder_members(path) if path.is_dir() else _zip_members(path)
    found = [member for member in members if member.endswith(_ADJACENCY)]
    if not found:
        raise DataError(
            f"{path} holds no TU data set: a file whose name ends in {_ADJACENCY} was expected, "
            f"found {enumerated(members) or 'nothing'}."
        )
    if len(found) > 1:
        raise DataError(
            f"{path} holds {len(found)} data sets ({enumerated(found)}); one was expected. "
            "Give the folder of one of them."
        )
    chosen = PurePosixPath(found[0])
    name = chosen.name.removesuffix(_ADJACENCY)
    parts = {
        PurePosixPath(member).name[len(name) + 1 : -len(".txt")]: member
        for member in members
        if PurePosixPath(member).parent == chosen.parent
        and PurePosixPath(member).name.startswith(name + "_")
        and member.endswith(".txt")
    }
    return TUFiles(path, name, parts)


def _folder_members(path: Path) -> list[str]:
    """Return the text files in a folder and up to two levels below, without hidden ones."""
    found = [file for pattern in ("*.txt", "*/*.txt", "*/*/*.txt") for file in path.glob(pattern)]
    members = [file.relative_to(path).as_posix() for file in found if file.is_file()]
    return sorted(member for member in members if not _hidden(member))


def _zip_members(path: Path) -> list[str]:
    """Return the members of a zip; raises ``DataError`` for one that is damaged or malicious."""
    refuse_pickle(path)
    try:
        with zipfile.ZipFile(path) as archive:
            entries = archive.infolist()
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, ValueError) as error:
        raise DataError(
            f"{path} is not a zip file, or it was cut short: {error}. A TU data set is a folder or "
            "zip with files such as DS_A.txt; fetch it again if it was downloaded."
        ) from error
    for entry in entries:
        if _CLIMBS.search(entry.filename):
            raise DataError(
                f"{path} is refused as a whole: its member {entry.filename!r} would be outside "
                "the folder. Use a copy from a source you trust."
            )
    total = sum(entry.file_size for entry in entries)
    if total > MAX_UNPACKED:
        raise DataError(
            f"{path} is refused: it declares {total / 1024**3:.1f} GiB unpacked, and the limit is "
            f"{MAX_UNPACKED / 1024**3:.0f} GiB. If that is intended, unpack it and give the folder."
        )
    return sorted(e.filename for e in entries if not e.is_dir() and not _hidden(e.filename))


def _hidden(member: str) -> bool:
    """Say whether a file belongs to the system, not to the data set (``__MACOSX``, ``.name``)."""
    return any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(member).parts)


def read_tu(path: str | os.PathLike[str]) -> GraphSet:
    """Return the data set in the TU folder or zip at ``path``; zips are read in memory.

    Raises ``DataError`` naming file, line, rule and value unless the data set is complete and
    consistent.
    """
    files = find_tu_files(Path(path))
    counts, first_graph = _node_counts(files)
    num_nodes, num_graphs = int(counts.sum()), len(counts)
    notes = ["graphs are numbered from 0 in the files"] if first_graph == 0 else []
    source, target = _edges(files, counts, first_graph, notes)
    columns: Fields = {}
    for kind, expected in (("node", num_nodes), ("edge", len(source))):
        columns |= _labels(files, f"{kind}_labels", expected, kind, notes)
        columns |= _attributes(files, f"{kind}_attributes", expected, kind)
    classes = _labels(files, "graph_labels", num_graphs, "graph", notes)
    if classes:
        columns["classes"] = classes["graph_labels"].astype(np.int64)
        columns["class_names"] = classes["graph_label_names"]
    targets = _attributes(files, "graph_attributes", num_graphs, "graph")
    if targets:
        columns["targets"] = targets["graph_attributes"].astype(np.float64)
        columns["target_names"] = tuple(f"y{i}" for i in range(columns["targets"].shape[1]))
    return from_edges(counts, source, target, name=files.name, notes=tuple(notes), **columns)


def _node_counts(files: TUFiles) -> tuple[np.ndarray, int]:
    """Return (nodes per graph, id of the first graph) from the graph indicator."""
    part = "graph_indicator"
    raw = files.read(part)
    if raw is None:
        raise DataError(
            f"{files.label(part)} is missing; it says which graph each node belongs to, and no TU "
            "data set can be read without it."
        )
    ids = parse_numbers(raw, files.label(part), whole=True, columns=1)[:, 0]
    steps = np.diff(ids, prepend=ids[:1])
    if ids[0] not in (0, 1):
        raise DataError(
            f"{files.label(part)}, line {line_of(raw, 0)}: the first graph must be 0 or 1, "
            f"found {ids[0]}."
        )
    bad = np.flatnonzero((steps < 0) | (steps > 1))
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{files.label(part)}, line {line_of(raw, row)}: after graph {ids[row - 1]} the same "
            f"or the next number was expected, found {ids[row]}. Nodes must be listed graph by "
            "graph, and every graph needs at least one node."
        )
    return np.bincount(ids - ids[0]), int(ids[0])


def _edges(
    files: TUFiles, counts: np.ndarray, first_graph: int, notes: list[str]
) -> tuple[np.ndarray, np.ndarray]:
    """Return (source, target) of every line of ``DS_A.txt``, counted from 0 over all graphs."""
    raw = files.read("A")
    file, num_nodes = files.label("A"), int(counts.sum())
    pairs = parse_numbers(raw or b"", file, whole=True, columns=2)
    low, high = int(pairs.min()), int(pairs.max())
    base = first_graph
    if low == 0 or high == num_nodes:
        base = 0 if low == 0 else 1
    if low < base or high >= base + num_nodes:
        row = int(np.flatnonzero(((pairs < base) | (pairs >= base + num_nodes)).any(axis=1))[0])
        raise DataError(
            f"{file}, line {line_of(raw or b'', row)}: node ids must run from {base} to "
            f"{base + num_nodes - 1} (the graph indicator has {num_nodes} lines), "
            f"found {_pair(pairs, row)}."
        )
    if base == 0:
        notes.append("nodes are numbered from 0 in the files")
    pairs -= base
    source, target = pairs[:, 0], pairs[:, 1]
    graph = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    bad = np.flatnonzero(graph[source] != graph[target])
    if len(bad):
        row = int(bad[0])
        raise DataError(
            f"{file}, line {line_of(raw or b'', row)}: edge {_pair(pairs + base, row)} joins graph "
            f"{graph[source[row]] + first_graph} with graph {graph[target[row]] + first_graph}; an "
            "edge must stay inside one graph. Do the files belong to the same data set?"
        )
    return source, target


def _labels(files: TUFiles, part: str, expected: int, kind: str, notes: list[str]) -> Fields:
    """Return codes and names of an optional label file as columns."""
    raw = files.read(part)
    if raw is None:
        return {}
    table = parse_numbers(raw, files.label(part), whole=True)
    _check_length(files, part, len(table), expected, kind)
    if table.shape[1] > 1:
        notes.append(f"{part}: first of {table.shape[1]} columns used as the label")
    codes, names = encode_categories(table[:, 0])
    return {part: codes.astype(np.int32), f"{kind}_label_names": names}


def _attributes(files: TUFiles, part: str, expected: int, kind: str) -> Fields:
    """Return the numbers of an optional attribute file as columns."""
    raw = files.read(part)
    if raw is None:
        return {}
    table = parse_numbers(raw, files.label(part), whole=False)
    _check_length(files, part, len(table), expected, kind)
    names = tuple(f"x{column}" for column in range(table.shape[1]))
    return {part: np.ascontiguousarray(table, np.float32), f"{kind}_attribute_names": names}


def _check_length(files: TUFiles, part: str, found: int, expected: int, kind: str) -> None:
    """Raise ``DataError`` unless a file has one line per node, edge or graph."""
    if found != expected:
        other = "A" if kind == "edge" else "graph_indicator"
        raise DataError(
            f"{files.label(part)} has {found} lines, but {files.name}_{other}.txt has {expected} "
            f"{kind}s. The file is cut short, or belongs to another data set."
        )


def _pair(pairs: np.ndarray, row: int) -> str:
    return f"{pairs[row, 0]}, {pairs[row, 1]}"


def parse_numbers(raw: bytes, file: str, *, whole: bool, columns: int | None = None) -> np.ndarray:
    """Return the numbers in ``raw`` as an array [lines, columns], int64 (``whole``) or float64.

    Numbers are separated by commas, semicolons, spaces or tabs; blank lines and either kind of line
    end are accepted. ``columns``: the count per line, by default that of the first line. pyarrow's
    CSV reader takes a well-formed file (a few hundred MB a second); any other is read line by line,
    which accepts odd spacing and finds the first bad line.

    Raises ``DataError`` naming ``file`` and line for an empty file, a value that is not a finite
    (or whole) number, and a line with another count of numbers.
    """
    raw = raw.removeprefix(_BYTE_ORDER_MARK)
    if not raw.strip():
        raise DataError(f"{file} is empty; at least one line of numbers was expected.")
    table = _parse_quickly(raw, whole)
    if table is None or (columns is not None and table.shape[1] != columns):
        table = _parse_by_line(raw, file, whole, columns)
    if not whole and not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        values = table[row].tolist()
        raise DataError(f"{file}, line {line_of(raw, row)}: numbers must be finite, got {values}.")
    return table


def line_of(raw: bytes, row: int) -> int:
    """Return the number (from 1) of the ``row``-th line (from 0) that is not blank."""
    for seen, (number, _) in enumerate(_lines(raw)):
        if seen == row:
            return number
    return row + 1


def _parse_quickly(raw: bytes, whole: bool) -> np.ndarray | None:
    """Return the table as pyarrow reads it, or None if it is not a plain CSV of numbers."""
    import pyarrow as pa
    from pyarrow import csv

    start = raw[:4096].lstrip().split(b"\n", 1)[0].strip()
    delimiter = next((mark for mark in (",", "\t", " ") if mark.encode() in start), ",")
    width = start.count(delimiter.encode()) + 1
    names = [str(column) for column in range(width)]
    kind = pa.int64() if whole else pa.float64()
    try:
        table = csv.read_csv(
            pa.BufferReader(raw),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=csv.ConvertOptions(
                column_types=dict.fromkeys(names, kind), null_values=[]
            ),
        )
    except pa.ArrowInvalid:
        return None
    result = np.empty((width, table.num_rows), np.int64 if whole else np.float64)
    for column in range(width):
        result[column] = table.column(column).to_numpy()
    return result.T


def _parse_by_line(raw: bytes, file: str, whole: bool, columns: int | None) -> np.ndarray:
    """Return the table read line by line; raises ``DataError`` for the first bad line."""
    rows: list[list[float]] = []
    for number, text in _lines(raw):
        values = [
            _number(part, file, number, whole) for part in _SEPARATORS.split(text.strip(b",;"))
        ]
        columns = len(values) if columns is None else columns
        if len(values) != columns:
            raise DataError(
                f"{file}, line {number}: {columns} number{'s' if columns > 1 else ''} expected, "
                f"found {len(values)}: {_shown(text)}. Was the file cut short?"
            )
        rows.append(values)
    return np.array(rows, dtype=np.int64 if whole else np.float64)


def _number(part: bytes, file: str, number: int, whole: bool) -> float:
    """Parse one number, an ``int`` if ``whole``."""
    try:
        value = float(part)
        if not whole:
            return value
        if value.is_integer() and abs(value) < 2**53:
            return int(value)
    except ValueError:
        pass
    kind = "a whole number" if whole else "a number"
    raise DataError(f"{file}, line {number}: {kind} was expected, found {_shown(part)}.")


def _lines(raw: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (line number from 1, stripped text) of every line that is not blank."""
    for number, line in enumerate(io.BytesIO(raw.removeprefix(_BYTE_ORDER_MARK)), start=1):
        text = line.strip()
        if text:
            yield number, text


def _shown(text: bytes) -> str:
    """Return at most 60 characters of a text, in quotes."""
    decoded = text.decode("utf-8", "replace")
    return repr(decoded if len(decoded) <= 60 else decoded[:57] + "...")
