"""``import_tables``: tables of molecules of any length as one file, in bounded memory.

The rows are cut into parts. Each is parsed by one of several processes and written to a folder
beside the file as soon as it is done; an interrupted import goes on from there. In the end the
columns of all parts are written one after the other into the file, which is what ``GraphSet.save``
writes of the same molecules.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Required, TypedDict

import numpy as np

from igsd.errors import DataError, StorageError, counted, enumerated, need, warn_user
from igsd.files.arrays import Header, Stacked, read_arrays, write_arrays
from igsd.files.atomic import remove_abandoned
from igsd.files.bounded import split_sheet
from igsd.files.locks import owned
from igsd.files.texts import Texts
from igsd.graphs.build import encode_categories
from igsd.graphs.labels import drop_missing
from igsd.graphs.readers.long_table import LongTable, changed
from igsd.graphs.readers.smiles import failure_report, smiles_notes, standard_note
from igsd.graphs.readers.standard import alike_skeletons, level_of, same_molecules, skeletons
from igsd.graphs.readers.table import (
    SmilesFailure,
    check_used,
    class_cells,
    names_rows,
    read_rows,
    repeats_note,
)
from igsd.graphs.readers.text_table import TextTable
from igsd.processes import map_folds

ALGORITHM = 2
"""Raise this whenever a part changes, so that older ones are made again."""

PART = 10_000
"""Rows of a part."""

LONG = 1 << 20
"""Bytes of a table from which on it is read in parts."""

_KIND, _MOST_NOTES, _MOST_SHOWN = "part of a set", 1000, 5
_NAME = re.compile(r"part-\d{6,}")
# A part, one that was being written when its process was killed, and the lock.
_OWN = re.compile(rf"{_NAME.pattern}|\.{_NAME.pattern}\..{{8}}~|\.lock")
_RECODED = {
    "node_labels": "node_label_names",
    "edge_labels": "edge_label_names",
    "atom_kinds": "atom_kind_names",
}


@dataclass(frozen=True)
class Reading:
    """How the rows of a table become molecules: its columns, and the name of the set."""

    smiles: str
    label: str | None
    targets: tuple[str, ...]
    standardise: str
    name: str


class Imported(NamedTuple):
    """What was written: the number of graphs, and notes on how."""

    graphs: int
    notes: tuple[str, ...]


def import_tables(
    sources: Sequence[str],
    target: Path,
    *,
    smiles_column: str | None = None,
    label_column: str | None = None,
    target_columns: Sequence[str] | None = None,
    standardise: str = "",
    jobs: int = 1,
    begin: Callable[[int], Callable[[int], Any]] = lambda total: lambda count: None,
) -> Imported:
    """Write the molecules of tables with the same columns to one file, whole or not at all.

    The options are those of ``read_smiles_table``. ``jobs``: processes that parse. ``begin(total)``
    is told the number of rows, and returns what is told how many more are done. Parts stay in the
    folder ``TARGET.parts`` until the file is written; raises ``StorageError`` if it holds anything
    else, or if another process imports to it.
    """
    need("chem", "rdkit", "Reading SMILES")
    folder = parts_folder(target)
    _check_folder(folder, sources)
    table = LongTable.open(sources)
    smiles = smiles_column or table.guess_smiles()
    table.sample.column(smiles)
    label = label_column or table.guess_label((smiles, *(target_columns or ())))
    targets = target_columns
    if targets is None:
        targets = table.guess_targets((smiles, label))
    for column in (*([label] if label else []), *targets):
        table.sample.column(column)  # report a wrong name before reading the molecules
    check_used(sources[0], smiles, label, targets)
    stem = Path(sources[0]) if len(sources) == 1 else target
    name = stem.name.split(".")[0]
    reading = Reading(smiles, label, tuple(targets), level_of(standardise), name)
    advance = begin(table.num_rows)
    with owned(folder):
        remove_abandoned(folder)
        keys: dict[Path, str] = {}
        for block in _blocks(table.parts(PART), 2 * jobs):
            jobs_left = []
            for part in block:
                path = folder / f"part-{len(keys) + 1:06}"
                keys[path] = part_key(part, reading)
                if not _is_done(path, keys[path]):
                    jobs_left.append((path, part, reading))
            map_folds(write_part, jobs_left, min(jobs, max(len(jobs_left), 1)))
            advance(sum(len(part.rows) for part in block))
        imported = _join(keys, target, table, reading)
        _remove_parts(folder)
    return imported


def parts_folder(target: Path) -> Path:
    """Return the folder in which parts are kept while a file is made."""
    # Absolute: processes that are kept for reuse may have started in another folder.
    return target.with_name(f"{target.name}.parts").absolute()


def _check_folder(folder: Path, sources: Sequence[str]) -> None:
    """Raise ``StorageError`` if the folder of parts is a link, or holds anything but parts."""
    for source in sources:
        path, _ = split_sheet(source)
        if folder in path.absolute().parents or folder.resolve() in path.resolve().parents:
            raise StorageError(
                f"{source} is in {folder}, the folder for the parts of the import, which is "
                "removed at the end. Move the file, or write to another name with -o."
            )
    if not folder.is_symlink() and not folder.exists():
        return
    way_out = "Move it, or write to another name with -o."
    if folder.is_symlink() or not folder.is_dir():
        raise StorageError(
            f"The parts of the import go to the folder {folder}, but there is a link or a file of "
            f"that name. {way_out}"
        )
    try:
        others = [
            path.name
            for path in sorted(folder.iterdir())
            if not _OWN.fullmatch(path.name) or path.is_symlink() or not path.is_file()
        ]
    except OSError as error:
        raise StorageError(f"Cannot read {folder}: {error.strerror}. {way_out}") from error
    if others:
        raise StorageError(
            f"The parts of the import go to the folder {folder}, but it holds something else: "
            f"{enumerated(others, _MOST_SHOWN)}. {way_out}"
        )


def _remove_parts(folder: Path) -> None:
    """Remove the parts of a folder, and nothing else; its lock removes it if it is empty."""
    for path in folder.iterdir():
        if _NAME.fullmatch(path.name):
            path.unlink()


def write_part(path: Path, table: TextTable, reading: Reading) -> None:
    """Parse the rows of a part and write it, whole or not at all."""
    found = read_rows(
        table,
        reading.smiles,
        reading.targets,
        name=reading.name,
        standardise=reading.standardise,
    )
    header: Header = {"kind": _KIND, "key": part_key(table, reading), "rows": len(table.rows)}
    for kind in ("failures", "doubtful"):
        header[kind] = [asdict(failure) for failure in getattr(found, kind)]
    header |= {"file": table.path.name, "changed": found.changed, "kept": len(found.kept)}
    arrays: dict[str, np.ndarray] = {}
    if found.graphs is not None:
        arrays, packed = found.graphs.packed()
        header |= {
            "set": packed,
            "shapes": {k: [str(v.dtype), *v.shape] for k, v in arrays.items()},
        }
        if reading.label is not None:
            # What is missing depends on all classes; empty cells are.
            cells = class_cells(table, reading.label, found.kept)
            arrays["classes"], header["classes"] = encode_categories(
                [c if c != "" else None for c in cells]
            )
        arrays["skeletons"] = skeletons(found.graphs)
    write_arrays(
        path,
        {k: v.view(np.int64) if v.dtype == np.uint64 else v for k, v in arrays.items()},
        header,
    )


def part_key(table: TextTable, reading: Reading) -> str:
    """Return what identifies a part: its rows and lines, how they are read, RDKit."""
    rdkit = need("chem", "rdkit", "Reading SMILES")
    spec = [ALGORITHM, rdkit.__version__, asdict(reading), table.path.name, table.columns]
    content = json.dumps([*spec, table.lines, table.rows, sorted(table.failures.items())])
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:40]


class _PartHeader(TypedDict, total=False):
    key: Required[str]
    rows: Required[int]
    kept: Required[int]


def _read_part(path: Path, key: str) -> tuple[dict[str, np.ndarray], Header]:
    """Return (arrays, header) of a part; raises ``StorageError`` if it has another key."""
    arrays, header = read_arrays(path, _KIND, needs_checksum=True, header_type=_PartHeader)
    if header["key"] != key:
        raise StorageError(f"{path} is a part of another import. Import the table again.")
    return arrays, header


def _is_done(path: Path, key: str) -> bool:
    """Return whether a part is there, whole, and has this key."""
    try:
        _read_part(path, key)
    except StorageError:
        return False
    return True


def _blocks(parts: Iterator[TextTable], size: int) -> Iterator[list[TextTable]]:
    while block := list(islice(parts, size)):
        yield block


def _join(keys: dict[Path, str], target: Path, table: LongTable, reading: Reading) -> Imported:
    """Write the columns of all parts, which have these keys, to one file."""
    headers = [_read_part(path, key)[1] for path, key in keys.items()]
    filled = [(path, header) for path, header in zip(keys, headers, strict=True) if header["kept"]]
    failures, doubtful = (
        _failures(headers, kind, len(table.sources) > 1) for kind in ("failures", "doubtful")
    )
    if not filled:
        _remove_parts(parts_folder(target))  # there is nothing to continue
        report = failure_report(failures[:_MOST_NOTES], table.num_rows, reading.name)
        raise DataError(f"{table.sources[0]}: {report}")
    total = sum(header["kept"] for header in headers)
    parts = _Parts([path for path, _ in filled], [header for _, header in filled])
    arrays, names = parts.columns()
    header: Header = dict(filled[0][1]["set"]) | names
    if reading.label is not None:
        arrays["classes"], header["class_names"] = parts.classes(reading.label)
    notes = list(table.notes)
    if reading.standardise:
        changed = sum(header["changed"] for header in headers)
        notes.append(standard_note(reading.standardise, changed, total))
    rows_left_out = smiles_notes(failures, doubtful)
    notes += rows_left_out[:_MOST_NOTES]
    if len(rows_left_out) > _MOST_NOTES:
        notes.append(f"and {len(rows_left_out) - _MOST_NOTES} more rows like these")
    if len(table.sources) > 1:
        notes.append(f"lines are counted in each of the {len(table.sources)} files")
    numbers = [number for number, header in enumerate(headers) if header["kept"]]
    groups = [[(numbers[part], line) for part, line in group] for group in parts.repeated()]
    if repeats := _repeats_note(groups, table, reading):
        notes.append(repeats)
        warn_user(f"{reading.name}: {repeats}.")
    if failures:
        shown = enumerated([str(failure) for failure in failures], _MOST_SHOWN)
        are = "is not a molecule and was" if len(failures) == 1 else "are not molecules and were"
        warn_user(f"{len(failures)} of {counted(table.num_rows, 'row')} {are} left out: {shown}.")
    write_arrays(target, arrays, header | {"notes": notes})
    return Imported(total, tuple(notes))


def _repeats_note(groups: list[list[tuple[int, int]]], table: LongTable, reading: Reading) -> str:
    """Return a sentence on molecules that occur several times, empty if none does.

    Their rows are read once more if they may disagree in columns that are not kept.
    """
    rows: dict[tuple[int, int], list[str]] = {place: [] for group in groups for place in group}
    lines_of: dict[int, set[int]] = {}
    for number, line in rows:
        lines_of.setdefault(number, set()).add(line)
    is_read = any(c != reading.smiles and not names_rows(c) for c in table.columns)
    for number, part in enumerate(table.parts(PART) if groups and is_read else ()):
        wanted = lines_of.get(number, set())
        if not wanted.issubset(part.lines):
            raise changed(part.path)
        for row, line in zip(part.rows, part.lines, strict=True):
            if line in wanted:
                rows[number, line] = row
    lines = [line for _, line in rows]
    picked = TextTable(Path(table.sources[0]), table.columns, list(rows.values()), lines)
    number_of = {place: number for number, place in enumerate(rows)}
    chosen = [[number_of[place] for place in group] for group in groups]
    return repeats_note(picked, chosen, [reading.smiles])


def _failures(headers: Iterable[Header], kind: str, is_several: bool) -> list[SmilesFailure]:
    """Return the rows left out of all parts; of several files, each is named in its reason."""
    found = []
    for header in headers:
        for entry in header[kind]:
            place = f" ({header['file']})" if is_several else ""
            found.append(SmilesFailure(**entry | {"reason": entry["reason"] + place}))
    return found


@dataclass(frozen=True)
class _Parts:
    """The parts that hold molecules. A part is mapped only while one of its columns is read."""

    paths: list[Path]
    headers: list[Header]

    def read(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of every part."""
        for path, header in zip(self.paths, self.headers, strict=True):
            yield np.asarray(_read_part(path, header["key"])[0][column])

    def columns(self) -> tuple[dict[str, Any], Header]:
        """Return every column of the set to be written, and the names behind recoded ones."""
        shapes = [header["shapes"] for header in self.headers]
        arrays: dict[str, Any] = {}
        names: Header = {}
        for key, (dtype, *_) in shapes[0].items():
            if any(key not in shape for shape in shapes):
                raise StorageError(f"The parts of {self.paths[0].parent} do not fit. Remove them.")
            rows = sum(shape[key][1] for shape in shapes)
            is_pointer = key.endswith("_ptr")
            shape = (rows - (len(shapes) - 1) * is_pointer, *shapes[0][key][2:])
            read = self._pointers if is_pointer else self.read
            if key in _RECODED:
                names[_RECODED[key]] = self._names(_RECODED[key])
                read = self._recoded
            arrays[key] = Stacked(np.dtype(dtype), shape, _bound(read, key))
        return arrays, names

    def classes(self, label: str) -> tuple[np.ndarray, list[Any]]:
        """Return (codes, names) of the classes; warns of what is taken as missing."""
        pairs = zip(self.read("classes"), self.headers, strict=True)
        cells = [[*h["classes"], ""][code] for codes, h in pairs for code in codes.tolist()]
        codes, names = encode_categories(drop_missing(cells, label))
        return codes, list(names)

    def repeated(self) -> list[list[tuple[int, int]]]:
        """Return the molecules that occur several times, each as (place of the part, line)."""
        groups = alike_skeletons(np.concatenate(list(self.read("skeletons"))))
        wanted = np.unique([graph for group in groups for graph in group]).astype(np.int64)
        names: dict[int, str] = {}
        places: dict[int, tuple[int, int]] = {}
        done = 0
        for number, path in enumerate(self.paths):
            stop = done + self.headers[number]["kept"]
            own = wanted[(wanted >= done) & (wanted < stop)].tolist()
            if own:
                part, _ = _read_part(path, self.headers[number]["key"])
                texts = Texts(part["graph_names"], part["graph_names_ptr"])
                names |= {graph: texts[graph - done] for graph in own}
                places |= {graph: (number, int(part["lines"][graph - done])) for graph in own}
            done = stop
        return [[places[graph] for graph in group] for group in same_molecules(groups, names)]

    def _names(self, key: str) -> list[str]:
        return sorted({name for header in self.headers for name in header["set"][key]})

    def _recoded(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of codes with those of the names of all parts."""
        key = _RECODED[column]
        place = {name: code for code, name in enumerate(self._names(key))}
        for codes, header in zip(self.read(column), self.headers, strict=True):
            own = np.array([*(place[name] for name in header["set"][key]), -1], codes.dtype)
            yield own[codes]

    def _pointers(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of pointers, each part's moved to the end of the one before."""
        end = 0
        for number, pointer in enumerate(self.read(column)):
            yield pointer[number > 0 :] + end
            end += int(pointer[-1])


def _bound(read: Callable[[str], Iterator[np.ndarray]], key: str) -> Callable[[], Any]:
    return lambda: read(key)


def is_long(sources: Sequence[str], jobs: int) -> bool:
    """Return whether tables are read in parts: several, large, or by several processes."""
    files = [Path(source) for source in sources if Path(source).is_file()]
    return len(sources) > 1 or jobs > 1 or any(file.stat().st_size > LONG for file in files)
