"""Join the parts of an import into one set: a file, or for a long set a folder of shards."""

import contextlib
import os
import re
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict

import numpy as np

from igsd.errors import StorageError, enumerated
from igsd.files.arrays import Header, Stacked, read_arrays, write_arrays
from igsd.files.texts import Texts
from igsd.graphs.build import encode_categories
from igsd.graphs.labels import drop_missing
from igsd.graphs.readers.standard import alike_skeletons, same_molecules
from igsd.graphs.shards import MANIFEST, is_sharded, write_manifest, write_shard

SHARD = 250_000
"""The most molecules of a file; a set with more becomes a folder of shards of at most this size."""

KIND = "part of a set"
"""What the file of a part holds."""

RECODED = {
    "node_labels": "node_label_names",
    "edge_labels": "edge_label_names",
    "atom_kinds": "atom_kind_names",
}
"""Columns of codes, which differ from part to part, and the names of the codes."""

_SHARD_NAME = re.compile(r"part-\d{4,}\.graphs")
_SHARDS, _REPLACED = "shards", "replaced"  # the shards while they are written; the set they replace
_PART = re.compile(r"part-\d{6,}")
# A part, one that was being written when its process was killed, the lock, and a replaced file.
_OWN_FILE = re.compile(rf"{_PART.pattern}|\.{_PART.pattern}\..{{8}}~|\.lock|{_REPLACED}")
_SHARD_FILE = re.compile(r"(part-\d{4,}\.graphs|manifest\.json)|\..*~")


class _PartHeader(TypedDict, total=False):
    key: Required[str]
    rows: Required[int]
    kept: Required[int]


def read_part(path: Path, key: str) -> tuple[dict[str, np.ndarray], Header]:
    """Return (arrays, header) of a part; raises ``StorageError`` if it has another key."""
    arrays, header = read_arrays(path, KIND, needs_checksum=True, header_type=_PartHeader)
    if header["key"] != key:
        raise StorageError(f"{path} is a part of another import. Import the table again.")
    return arrays, header


def is_own(path: Path) -> bool:
    """Return whether a file or folder among the parts of an import was made by an import."""
    if path.is_symlink():
        return False
    if path.is_file():
        return _OWN_FILE.fullmatch(path.name) is not None
    if path.name not in (_SHARDS, _REPLACED):
        return False
    return all(_SHARD_FILE.fullmatch(file.name) and file.is_file() for file in path.iterdir())


def remove_parts(folder: Path) -> None:
    """Remove the parts of a folder, and nothing else; its lock removes it if it is empty."""
    for path in folder.iterdir():
        if _PART.fullmatch(path.name):
            path.unlink()
        elif path.is_dir() and is_own(path):
            shutil.rmtree(path)


def settle_replaced(target: Path, folder: Path) -> None:
    """Finish what a killed import began: restore the older set that it had moved away.

    If the new set is there already, the older one is removed. ``folder``: that of the parts, which
    this process owns.
    """
    replaced = folder / _REPLACED
    if os.path.lexists(target):
        _remove(replaced)
    elif replaced.exists():
        replaced.replace(target)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def write_set(
    target: Path, folder: Path, parts: "Parts", classes: np.ndarray | None, header: Header
) -> None:
    """Write the set to a file, or a long one to a folder of shards, whole or not at all.

    ``folder``: that of the parts. ``classes``: the codes of all molecules, if they have classes.
    """
    own, old = folder / _SHARDS, folder / _REPLACED
    shutil.rmtree(own, ignore_errors=True)
    groups = parts.shards() if parts.kept > SHARD else [parts]
    if len(groups) == 1:
        with _moved_away(target, old, if_file=False):
            write_arrays(target, _with_classes(parts, classes), header)
        return
    own.mkdir()
    shards, start = [], 0
    for number, group in enumerate(groups, 1):
        codes = None if classes is None else classes[start : start + group.kept]
        shards.append(write_shard(own, number, _with_classes(group, codes), header))
        start += group.kept
    write_manifest(own, header, shards)
    with _moved_away(target, old, if_file=True):
        own.replace(target)


def _with_classes(parts: "Parts", classes: np.ndarray | None) -> dict[str, Any]:
    return parts.columns() | ({} if classes is None else {"classes": classes})


def check_replaceable(target: Path) -> None:
    """Raise ``StorageError`` if a folder of shards, which is replaced whole, holds other files."""
    if not is_sharded(target):
        return
    names = {path.name for path in target.iterdir()}
    if other := sorted(n for n in names if n != MANIFEST and not _SHARD_NAME.fullmatch(n)):
        raise StorageError(
            f"{target} is a set of shards, which would be replaced as a whole, and also holds "
            f"{enumerated(other)}. Move those away, or choose another name."
        )


@contextlib.contextmanager
def _moved_away(target: Path, place: Path, *, if_file: bool) -> Iterator[None]:
    """Move an older set that cannot be replaced in one step; it returns if the block fails.

    A file replaces a file in one step, but not a folder; a folder replaces neither.
    """
    is_moved = is_sharded(target) or (if_file and target.is_file())
    if is_moved:
        check_replaceable(target)
        target.replace(place)
    try:
        yield
    except BaseException:
        if is_moved:
            place.replace(target)
        raise
    if is_moved:
        _remove(place)


@dataclass(frozen=True)
class Parts:
    """The parts that hold molecules. A part is mapped only while one of its columns is read.

    ``names``: what the codes of ``RECODED`` columns stand for in the whole set.
    """

    paths: list[Path]
    headers: list[Header]
    names: dict[str, list[str]]

    @property
    def kept(self) -> int:
        """The number of molecules."""
        return sum(header["kept"] for header in self.headers)

    def shards(self) -> list["Parts"]:
        """Return the parts in groups of at most ``SHARD`` molecules, or of one part."""
        found: list[Parts] = []
        for path, header in zip(self.paths, self.headers, strict=True):
            if not found or found[-1].kept + header["kept"] > SHARD:
                found.append(Parts([], [], self.names))
            found[-1].paths.append(path)
            found[-1].headers.append(header)
        return found

    def read(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of every part."""
        for path, header in zip(self.paths, self.headers, strict=True):
            yield np.asarray(read_part(path, header["key"])[0][column])

    def columns(self) -> dict[str, Any]:
        """Return every column of the joined set, to be read part by part while it is written."""
        shapes = [header["shapes"] for header in self.headers]
        arrays: dict[str, Any] = {}
        for key, (dtype, *_) in shapes[0].items():
            if any(key not in shape for shape in shapes):
                raise StorageError(f"The parts of {self.paths[0].parent} do not fit. Remove them.")
            rows = sum(shape[key][1] for shape in shapes)
            is_pointer = key.endswith("_ptr")
            shape = (rows - (len(shapes) - 1) * is_pointer, *shapes[0][key][2:])
            read = self._pointers if is_pointer else self.read
            read = self._recoded if key in RECODED else read
            arrays[key] = Stacked(np.dtype(dtype), shape, _bound(read, key))
        return arrays

    def classes(self, label: str) -> tuple[np.ndarray, list[Any]]:
        """Return (codes, names) of the classes; warns about cells that count as missing."""
        parts = list(zip(self.read("classes"), self.headers, strict=True))
        cells = Counter[Any]()  # in the order of their first molecules
        for codes, header in parts:
            own, first, counts = np.unique(codes, return_index=True, return_counts=True)
            texts = [*header["classes"], ""]
            for place in np.argsort(first).tolist():
                cells[texts[own[place]]] += int(counts[place])
        kept = drop_missing([*cells], label, counts=cells.values())
        places, names = encode_categories(kept)
        place_of = dict(zip(cells, places.tolist(), strict=True)) | {"": -1}
        tables = [np.array([place_of.get(t, -1) for t in (*h["classes"], "")]) for _, h in parts]
        recoded = (table[codes] for (codes, _), table in zip(parts, tables, strict=True))
        return np.concatenate([*recoded]), list(names)

    def repeated(self) -> list[list[tuple[int, int]]]:
        """Return the molecules that occur several times, each as its places (part, line)."""
        groups = alike_skeletons(np.concatenate(list(self.read("skeletons"))))
        wanted = np.unique([graph for group in groups for graph in group]).astype(np.int64)
        names: dict[int, str] = {}
        places: dict[int, tuple[int, int]] = {}
        done = 0
        for number, path in enumerate(self.paths):
            stop = done + self.headers[number]["kept"]
            own = wanted[(wanted >= done) & (wanted < stop)].tolist()
            if own:
                part, _ = read_part(path, self.headers[number]["key"])
                texts = Texts(part["graph_names"], part["graph_names_ptr"])
                names |= {graph: texts[graph - done] for graph in own}
                places |= {graph: (number, int(part["lines"][graph - done])) for graph in own}
            done = stop
        return [[places[graph] for graph in group] for group in same_molecules(groups, names)]

    def _recoded(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of codes, translated to the codes of the whole set."""
        key = RECODED[column]
        place = {name: code for code, name in enumerate(self.names[key])}
        for codes, header in zip(self.read(column), self.headers, strict=True):
            own = np.array([*(place[name] for name in header["set"][key]), -1], codes.dtype)
            yield own[codes]

    def _pointers(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of pointers; those of each part continue where the last one ended."""
        end = 0
        for number, pointer in enumerate(self.read(column)):
            yield pointer[number > 0 :] + end
            end += int(pointer[-1])


def names_of(headers: Iterable[Header], key: str) -> list[str]:
    """Return the sorted names that the sets of any parts have under a key."""
    return sorted({name for header in headers for name in header["set"].get(key, ())})


def _bound(read: Callable[[str], Iterator[np.ndarray]], key: str) -> Callable[[], Any]:
    return lambda: read(key)
