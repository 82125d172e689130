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

import difflib
import io
import re
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

import numpy as np

from igsd.errors import DataError, enumerated
from igsd.files.arrays import refuse_pickle
from igsd.files.bounded import BoundedReader, check_members, read_bounded
from igsd.files.columns import parse_number
from igsd.graphs.build import AS_FLOATS, ONE_WAY, encode_categories, first_not_finite, from_edges
from igsd.graphs.graphset import Fields, GraphSet, placeholders
from igsd.graphs.readers.file_labels import endings

_ADJACENCY = "_A.txt"
_COLUMNS = [f"{k}_{what}" for k in ("node", "edge", "graph") for what in ("labels", "attributes")]
_PARTS = ("A", "graph_indicator", *_COLUMNS)
_FEW = 0.1
"""The share of edges in one direction only below which a file with both seems to lack lines."""
_SEPARATORS = re.compile(rb"[,;\s]+")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_CLIMBS = re.compile(r"^([/\\]|[A-Za-z]:)|(^|[/\\])\.\.([/\\]|$)")


@dataclass(frozen=True)
class TUFiles:
    """One data set's files: ``name`` is DS, ``parts`` what follows it (``A``, ``graph_labels``).

    ``notes``: about files that are not read although they may have been meant to be.
    """

    source: Path
    name: str
    parts: dict[str, str]
    notes: tuple[str, ...] = ()

    def label(self, part: str) -> str:
        """Return the name of the file of ``part``, for messages."""
        return f"{self.source}: {self.name}_{part}.txt"

    def read(self, part: str) -> bytes:
        """Return the bytes of one file of ``parts``."""
        member = self.parts[part]
        try:
            if self.source.is_dir():
                return read_bounded(self.source / member)
            with zipfile.ZipFile(self.source) as archive, archive.open(member) as stream:
                return BoundedReader(self.source).read(stream)
        except (zipfile.BadZipFile, EOFError, zlib.error, OSError) as error:
            raise DataError(
                f"{self.label(part)} cannot be read: {error}. Fetch or unpack the data again."
            ) from error
        except (NotImplementedError, RuntimeError, ValueError) as error:
            raise DataError(f"{self.label(part)} cannot be unpacked: {error}.") from error


def find_tu_files(path: Path) -> TUFiles:
    """Return the files of the TU data set in the folder or zip at ``path``.

    Raises ``DataError`` for a missing path, a file that is not a zip, a zip with a member outside
    its folder or with too large a content, and unless there is one ``DS_A.txt``.
    """
    if not path.exists():
        raise DataError(f"There is no TU data set at {path}: no such file or folder.")
    members = _folder_members(path) if path.is_dir() else _zip_members(path)
    hidden = (".", "__MACOSX")  # of the system, not of the data set
    times = Counter(members)
    shown = {m: PurePosixPath(m) for m in sorted(times)}
    shown = {m: p for m, p in shown.items() if not any(part.startswith(hidden) for part in p.parts)}
    found = [member for member in shown if member.endswith(_ADJACENCY)]
    if not found:
        others = f" A folder may also hold files of networks ({', '.join(endings())})."
        raise DataError(
            f"{path} holds no TU data set: a file whose name ends in {_ADJACENCY} was expected, "
            f"found {enumerated(list(shown)) or 'nothing'}.{others if path.is_dir() else ''}"
        )
    if len(found) > 1:
        raise DataError(
            f"{path} holds {len(found)} data sets ({enumerated(found)}); one was expected. "
            "Give the folder of one of them."
        )
    folder, name = shown[found[0]].parent, shown[found[0]].name.removesuffix(_ADJACENCY)
    parts = {
        file.stem.removeprefix(f"{name}_"): member
        for member, file in shown.items()
        if file.parent == folder and file.name.startswith(f"{name}_") and file.suffix == ".txt"
    }
    doubled = [f"{m} is in the zip {n} times, the last is read" for m, n in times.items() if n > 1]
    read = {parts[part] for part in _PARTS if part in parts}
    unread = {m: _meant(file.stem, name) for m, file in shown.items() if m not in read}
    spelt = [
        f"{m} is not read: {name}_{part}.txt is expected" for m, part in unread.items() if part
    ]
    return TUFiles(path, name, parts, (*doubled, *spelt))


def _meant(stem: str, name: str) -> str | None:
    """Return the part of a data set that an unread file seems to be: misspelt, or elsewhere."""
    lower, prefix = stem.lower(), f"{name}_".lower()
    ends = [part for part in _PARTS[1:] if lower.endswith(part)]
    close = difflib.get_close_matches(lower.removeprefix(prefix), _PARTS[1:], n=1, cutoff=0.8)
    return next(iter(ends + close), None)


def _folder_members(path: Path) -> list[str]:
    """Return the text files in a folder and up to two levels below."""
    found = [file for pattern in ("*.txt", "*/*.txt", "*/*/*.txt") for file in path.glob(pattern)]
    return [file.relative_to(path).as_posix() for file in found if file.is_file()]


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
        if not entry.filename or _CLIMBS.search(entry.filename):
            raise DataError(
                f"{path} is refused as a whole: its member {entry.filename!r} would be outside "
                "the folder. Use a copy from a source you trust."
            )
    check_members(path, entries)
    return [entry.filename for entry in entries if not entry.is_dir()]


def read_tu(path: str | Path) -> GraphSet:
    """Return the data set in the TU folder or zip at ``path``; zips are read in memory.

    Raises ``DataError`` naming file, line, rule and value for the first fault.
    """
    files = find_tu_files(Path(path))
    counts, first_graph = _node_counts(files)
    notes = [*files.notes]
    notes += ["graphs are numbered from 0 in the files"] if first_graph == 0 else []
    source, target = _edges(files, counts, first_graph, notes)
    columns: Fields = {}
    for kind, length in (
        ("node", int(counts.sum())),
        ("edge", len(source)),
        ("graph", len(counts)),
    ):
        labels = _column(files, f"{kind}_labels", length, kind, whole=True)
        if labels is not None:
            if labels.shape[1] > 1:
                notes.append(f"{kind}_labels: first of {labels.shape[1]} columns used as the label")
            codes, names = encode_categories(labels[:, 0])
            columns |= {f"{kind}_labels": codes.astype(np.int32), f"{kind}_label_names": names}
        numbers = _column(files, f"{kind}_attributes", length, kind, whole=False)
        if numbers is not None:
            columns[f"{kind}_attributes"] = np.ascontiguousarray(numbers, np.float32)
            columns[f"{kind}_attribute_names"] = placeholders(numbers.shape[1])
    if "graph_labels" in columns:
        columns["classes"] = columns.pop("graph_labels").astype(np.int64)
        columns["class_names"] = columns.pop("graph_label_names")
    if "graph_attributes" in columns:
        columns["targets"] = columns.pop("graph_attributes").astype(np.float64)
        columns["target_names"] = placeholders(len(columns.pop("graph_attribute_names")), "y")
    graphs = from_edges(counts, source, target, name=files.name, notes=tuple(notes), **columns)
    if any(note.endswith(ONE_WAY) for note in graphs.notes):
        graphs = replace(graphs, notes=graphs.notes + _missing_mirrors(files, source, target))
    return graphs


def _missing_mirrors(files: TUFiles, source: np.ndarray, target: np.ndarray) -> tuple[str, ...]:
    """Return a note on the first edge in one direction only, if nearly all others have both."""
    num_nodes = int(max(source.max(), target.max())) + 1
    is_single = ~np.isin(target * num_nodes + source, source * num_nodes + target)
    if is_single.mean() >= _FEW:
        return ()
    line = line_of(files.read("A"), int(np.argmax(is_single)))
    return (
        f"{files.name}_A.txt has nearly every edge in both directions, but that of line {line} in "
        "one: was the file cut short?",
    )


def _node_counts(files: TUFiles) -> tuple[np.ndarray, int]:
    """Return (nodes per graph, id of the first graph) from the graph indicator."""
    part = "graph_indicator"
    if part not in files.parts:
        raise DataError(
            f"{files.label(part)} is missing; it says which graph each node belongs to, and no TU "
            "data set can be read without it."
        )
    raw = files.read(part)
    ids = parse_numbers(raw, files.label(part), whole=True, columns=1)[:, 0]
    steps = np.diff(ids, prepend=ids[:1])
    if ids[0] not in (0, 1):
        raise DataError(
            f"{files.label(part)}, line {line_of(raw, 0)}: the first graph must be 0 or 1, "
            f"found {ids[0]}."
        )
    if (bad := np.flatnonzero((steps < 0) | (steps > 1))).size:
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
    raw, file, num_nodes = files.read("A"), files.label("A"), int(counts.sum())
    pairs = parse_numbers(raw, file, whole=True, columns=2)
    low, high = int(pairs.min()), int(pairs.max())
    base = 0 if low == 0 else 1 if high == num_nodes else first_graph
    if low < base or high >= base + num_nodes:
        row = int(np.flatnonzero(((pairs < base) | (pairs >= base + num_nodes)).any(axis=1))[0])
        raise DataError(
            f"{file}, line {line_of(raw, row)}: node ids must run from {base} to "
            f"{base + num_nodes - 1} (the graph indicator has {num_nodes} lines), "
            f"found {pairs[row, 0]}, {pairs[row, 1]}."
        )
    if base == 0:
        notes.append("nodes are numbered from 0 in the files")
    pairs -= base
    source, target = pairs[:, 0], pairs[:, 1]
    graph = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    if (bad := np.flatnonzero(graph[source] != graph[target])).size:
        row = int(bad[0])
        raise DataError(
            f"{file}, line {line_of(raw, row)}: edge {source[row] + base}, {target[row] + base} "
            f"joins graph {graph[source[row]] + first_graph} with graph "
            f"{graph[target[row]] + first_graph}; an edge must stay inside one graph. Do the files "
            "belong to the same data set?"
        )
    return source, target


def _column(
    files: TUFiles, part: str, expected: int, kind: str, *, whole: bool
) -> np.ndarray | None:
    """Return the numbers of an optional file, which has one line per node, edge or graph."""
    if part not in files.parts:
        return None
    table = parse_numbers(files.read(part), files.label(part), whole=whole)
    if len(table) != expected:
        other = "A" if kind == "edge" else "graph_indicator"
        raise DataError(
            f"{files.label(part)} has {len(table)} lines, but {files.name}_{other}.txt has "
            f"{expected} {kind}s. The file is cut short, or belongs to another data set."
        )
    return table


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
    if not whole and (row := first_not_finite(table)) is not None:
        values = table[row].tolist()
        raise DataError(
            f"{file}, line {line_of(raw, row)}: numbers must be finite{AS_FLOATS}, got {values}."
        )
    return table


def line_of(raw: bytes, row: int) -> int:
    """Return the number (from 1) of the ``row``-th line (from 0) that is not blank."""
    return next((n for seen, (n, _) in enumerate(_lines(raw)) if seen == row), row + 1)


def _parse_quickly(raw: bytes, whole: bool) -> np.ndarray | None:
    """Return the table as pyarrow reads it, or None if it is not a plain CSV of numbers."""
    from pyarrow import ArrowInvalid, BufferReader, csv, float64, int64

    start = raw[:4096].lstrip().split(b"\n", 1)[0].strip()
    delimiter = next((mark for mark in (",", "\t", " ") if mark.encode() in start), ",")
    width = start.count(delimiter.encode()) + 1
    names = [str(column) for column in range(width)]
    types = dict.fromkeys(names, int64() if whole else float64())
    try:
        table = csv.read_csv(
            BufferReader(raw),
            read_options=csv.ReadOptions(column_names=names),
            parse_options=csv.ParseOptions(delimiter=delimiter, quote_char=False),
            convert_options=csv.ConvertOptions(column_types=types, null_values=[]),
        )
    except ArrowInvalid:
        return None
    result = np.empty((width, table.num_rows), np.int64 if whole else np.float64)
    for column in range(width):
        result[column] = table.column(column).to_numpy()
    return result.T


def _parse_by_line(raw: bytes, file: str, whole: bool, columns: int | None) -> np.ndarray:
    """Return the table read line by line; raises ``DataError`` for the first bad line."""
    rows: list[list[float]] = []
    for number, text in _lines(raw):
        parts = _SEPARATORS.split(text.strip(b",;"))
        values = [_number(part, file, number, whole) for part in parts]
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
        value = parse_number(part)
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
    lines = enumerate(io.BytesIO(raw.removeprefix(_BYTE_ORDER_MARK)), start=1)
    yield from ((number, text) for number, line in lines if (text := line.strip()))


def _shown(text: bytes) -> str:
    """Return at most 60 characters of a text, in quotes."""
    decoded = text.decode("utf-8", "replace")
    return repr(decoded if len(decoded) <= 60 else decoded[:57] + "...")
