"""``import_tables``: tables of molecules of any length as one set, in bounded memory.

The rows are cut into parts. Each part is parsed by one of several workers and written to a folder
beside the output as soon as it is done; an interrupted import goes on from there. In the end the
columns of all parts are joined into one file, byte for byte what ``GraphSet.save`` writes for the
same molecules, or, for more than ``SHARD`` molecules, into a folder of shards.
"""

import contextlib
import hashlib
import json
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from igsd.errors import DataError, StorageError, counted, enumerated, need, warn_user
from igsd.files.arrays import Header, write_arrays
from igsd.files.atomic import atomic_file, remove_abandoned
from igsd.files.bounded import split_sheet
from igsd.files.locks import owned
from igsd.graphs.build import encode_categories
from igsd.graphs.joining import (
    KIND,
    RECODED,
    Parts,
    check_replaceable,
    is_own,
    names_of,
    read_part,
    remove_parts,
    settle_replaced,
    write_set,
)
from igsd.graphs.readers.cells import names_rows
from igsd.graphs.readers.long_table import LongTable, changed
from igsd.graphs.readers.smiles import failure_report, smiles_notes, standard_note
from igsd.graphs.readers.standard import level_of, skeletons
from igsd.graphs.readers.table import (
    SmilesFailure,
    check_used,
    class_cells,
    read_rows,
    repeats_note,
    warn_of_unkept,
)
from igsd.graphs.readers.text_table import TextTable
from igsd.progress import readable_name
from igsd.workers.pools import ALONE, Workers
from igsd.workers.tasks import run_tasks

ALGORITHM = 3
"""Raise this whenever a part changes, so that older ones are made again."""

PART = 10_000
"""Rows of a part."""

LONG = 1 << 20
"""Bytes of a table; a larger one is read in parts."""

_MOST_NOTES, _MOST_SHOWN = 1000, 5


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
    workers: Workers = ALONE,
    begin: Callable[[int], Callable[[int], Any]] = lambda total: lambda count: None,
) -> Imported:
    """Write the molecules of tables with the same columns as one set, whole or not at all.

    The options are those of ``read_smiles_table``. ``workers``: who parses. ``begin(total)`` is
    called with the number of rows and returns a function that is called with the number of rows
    done since. Parts stay in the folder ``TARGET.parts`` until the set is written; raises
    ``StorageError`` if it holds anything else, or if another process imports to it. Replaces a set
    that is there.
    """
    need("chem", "rdkit", "Reading SMILES")
    folder = parts_folder(target)
    _check_folder(folder, sources)
    check_replaceable(target)
    table = LongTable.open(sources)
    smiles, label, targets = _columns_of(table, smiles_column, label_column, target_columns)
    for note in table.notes:
        warn_user(f"{note}.")
    stem = Path(sources[0]) if len(sources) == 1 else target
    name = readable_name(stem.name).split(".")[0]
    reading = Reading(smiles, label, targets, level_of(standardise), name)
    advance = begin(table.num_rows)
    with owned(folder):
        settle_replaced(target, folder)
        remove_abandoned(folder)
        keys: dict[Path, str] = {}

        def left() -> Iterator[tuple[Path, TextTable, Reading]]:
            for part in table.parts(PART):
                path = folder / f"part-{len(keys) + 1:06}"
                keys[path] = part_key(part, reading)
                if _is_done(path, keys[path]):
                    advance(len(part.rows))
                else:
                    yield path, part, reading

        on_cluster = workers.scheduler is not None
        work = sent_part if on_cluster else write_part
        with _kept(keys):
            with workers.pool() as pool:
                ahead = pool.size if on_cluster else 0
                tasks = run_tasks(work, left(), pool, in_order=False, ahead=ahead)
                for (path, part, _), sent in tasks:
                    if sent is not None:
                        with atomic_file(path) as file:
                            file.write(sent)
                    advance(len(part.rows))
            imported = _join(keys, target, table, reading)
        remove_parts(folder)
    return imported


@contextlib.contextmanager
def _kept(parts: Collection[Path]) -> Iterator[None]:
    """Say after an error of the system, such as a full disk, which parts need not be read again."""
    try:
        yield
    except StorageError as error:
        there = sum(path.exists() for path in parts)
        if there and error.__cause__ is not None:
            folder = next(iter(parts)).parent
            raise StorageError(
                f"{error} The folder {folder} keeps {counted(there, 'part')} of the import: the "
                "same command continues from there."
            ) from error
        raise


def parts_folder(target: Path) -> Path:
    """Return the folder in which parts are kept until the set is written."""
    # Absolute: processes that are kept for reuse may have started in another folder.
    return target.with_name(f"{target.name}.parts").absolute()


def _columns_of(
    table: LongTable, smiles: str | None, label: str | None, targets: Sequence[str] | None
) -> tuple[str, str | None, tuple[str, ...]]:
    """Return the columns of molecules, of labels and of targets; those not named are guessed.

    Warns of columns that the set does not keep; notes on guessed ones go to the table's.
    """
    smiles = smiles or table.guess_smiles()
    table.sample.column(smiles)
    label = label or table.guess_label((smiles, *(targets or ())))
    if targets is None:
        targets, odd = table.guess_targets((smiles, label))
        table.notes = (*table.notes, *odd)
    for column in (*([label] if label else []), *targets):
        table.sample.column(column)  # report a wrong name before reading the molecules
    warn_of_unkept(table.columns, check_used(table.sources[0], smiles, label, targets))
    return smiles, label, tuple(targets)


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
        others = [path.name for path in sorted(folder.iterdir()) if not is_own(path)]
    except OSError as error:
        raise StorageError(f"Cannot read {folder}: {error.strerror}. {way_out}") from error
    if others:
        raise StorageError(
            f"The parts of the import go to the folder {folder}, but it holds something else: "
            f"{enumerated(others, _MOST_SHOWN)}. {way_out}"
        )


def write_part(path: Path, table: TextTable, reading: Reading) -> None:
    """Parse the rows of a part and write it, whole or not at all."""
    found = read_rows(
        table,
        reading.smiles,
        reading.targets,
        name=reading.name,
        standardise=reading.standardise,
    )
    header: Header = {"kind": KIND, "key": part_key(table, reading), "rows": len(table.rows)}
    for kind in ("failures", "doubtful"):  # as many as are told of all parts together
        rows = getattr(found, kind)
        header[kind] = [asdict(failure) for failure in rows[:_MOST_NOTES]]
        header[f"num_{kind}"] = len(rows)
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


def sent_part(path: Path, table: TextTable, reading: Reading) -> bytes:
    """Return the content of a part's file, for a worker that may have another disk."""
    with tempfile.TemporaryDirectory(prefix="igsd-") as folder:
        own = Path(folder, path.name)
        write_part(own, table, reading)
        return own.read_bytes()


def part_key(table: TextTable, reading: Reading) -> str:
    """Return the identity of a part: its rows and lines, how they are read, RDKit."""
    rdkit = need("chem", "rdkit", "Reading SMILES")
    spec = [ALGORITHM, rdkit.__version__, asdict(reading), table.path.name, table.columns]
    content = json.dumps([*spec, table.lines, table.rows, sorted(table.failures.items())])
    return hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:40]


def _is_done(path: Path, key: str) -> bool:
    """Return whether a part is there, whole, and has this key."""
    try:
        read_part(path, key)
    except StorageError:
        return False
    return True


def _join(keys: dict[Path, str], target: Path, table: LongTable, reading: Reading) -> Imported:
    """Write the molecules of all parts, which have these keys, as one set."""
    failures, doubtful = list[SmilesFailure](), list[SmilesFailure]()
    headers = []
    for path, key in keys.items():
        headers.append(read_part(path, key)[1])
        for kind, found in (("failures", failures), ("doubtful", doubtful)):
            found += _failures(headers[-1], kind, len(table.sources) > 1)
            del found[_MOST_NOTES:], headers[-1][kind]
    filled = [(path, header) for path, header in zip(keys, headers, strict=True) if header["kept"]]
    if not filled:
        remove_parts(parts_folder(target))  # there is nothing to continue
        report = failure_report(failures, table.num_rows, reading.name, _MOST_SHOWN)
        raise DataError(f"{table.sources[0]}: {report}")
    total = sum(header["kept"] for header in headers)
    all_headers = [header for _, header in filled]
    names = {key: names_of(all_headers, key) for key in RECODED.values()}
    parts = Parts([path for path, _ in filled], all_headers, names)
    header: Header = dict(filled[0][1]["set"])
    header |= {key: value for key, value in names.items() if key in header}
    classes = None
    if reading.label is not None:
        classes, header["class_names"] = parts.classes(reading.label)
    notes = list(table.notes)
    if reading.standardise:
        changed = sum(header["changed"] for header in headers)
        notes.append(standard_note(reading.standardise, changed, total))
    notes += smiles_notes(failures, doubtful)[:_MOST_NOTES]
    num_failures, num_doubtful = (
        sum(header[f"num_{kind}"] for header in headers) for kind in ("failures", "doubtful")
    )
    if (more := num_failures + num_doubtful - _MOST_NOTES) > 0:
        notes.append(f"and {more} more rows like these")
    if len(table.sources) > 1:
        notes.append(f"lines are counted in each of the {len(table.sources)} files")
    numbers = [number for number, header in enumerate(headers) if header["kept"]]
    groups = [[(numbers[part], line) for part, line in group] for group in parts.repeated()]
    if repeats := _repeats_note(groups, [h["file"] for h in headers], table, reading):
        notes.append(repeats)
        warn_user(f"{reading.name}: {repeats}.")
    if num_failures:
        shown = ", ".join(str(failure) for failure in failures[:_MOST_SHOWN])
        shown += f" and {num_failures - _MOST_SHOWN} more" if num_failures > _MOST_SHOWN else ""
        are = "is not a molecule and was" if num_failures == 1 else "are not molecules and were"
        warn_user(f"{num_failures} of {counted(table.num_rows, 'row')} {are} left out: {shown}.")
    write_set(target, parts_folder(target), parts, classes, header | {"notes": notes})
    return Imported(total, tuple(notes))


def _repeats_note(
    groups: list[list[tuple[int, int]]], files: Sequence[str], table: LongTable, reading: Reading
) -> str:
    """Return a sentence on molecules that occur several times, empty if none does.

    ``groups``: each molecule's places, (part, line); ``files``: the name of each part's file. Their
    rows are read once more if they may disagree in columns that are not kept.
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
    named = [files[number] for number, _ in rows] if len(table.sources) > 1 else ()
    return repeats_note(picked, chosen, [reading.smiles], named)


def _failures(header: Header, kind: str, is_several: bool) -> list[SmilesFailure]:
    """Return rows left out of a part; of several files, the reason names the file."""
    place = f" ({header['file']})" if is_several else ""
    entries = header[kind]
    return [SmilesFailure(**entry | {"reason": entry["reason"] + place}) for entry in entries]


def is_long(sources: Sequence[str], workers: Workers) -> bool:
    """Return whether tables are read in parts: several, large, or by other workers than this."""
    files = [Path(source) for source in sources if Path(source).is_file()]
    is_large = any(file.stat().st_size > LONG for file in files)
    return len(sources) > 1 or is_large or not workers.is_here
