"""Parts of an import as one set: one file, or of a long set a folder of shards."""

import contextlib
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict

import numpy as np

from igsd.errors import StorageError
from igsd.files.arrays import Header, Stacked, read_arrays, write_arrays
from igsd.files.texts import Texts
from igsd.graphs.build import encode_categories
from igsd.graphs.labels import drop_missing
from igsd.graphs.readers.standard import alike_skeletons, same_molecules
from igsd.graphs.shards import is_sharded, write_manifest, write_shard

SHARD = 250_000
"""Molecules from which on a set becomes a folder of shards, and the most of a shard."""

KIND = "part of a set"
"""What the file of a part holds."""

NAME = re.compile(r"part-\d{6,}")
"""The name of such a file."""

_SHARDS, _REPLACED = "shards", "replaced"  # the folder of shards while it is made, and an old one
_SHARD_FILE = re.compile(r"(part-\d{4,}\.graphs|manifest\.json)|\..*~")
RECODED = {
    "node_labels": "node_label_names",
    "edge_labels": "edge_label_names",
    "atom_kinds": "atom_kind_names",
}


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


def is_own_folder(path: Path) -> bool:
    """Return whether a folder is one of shards that is being made or replaced."""
    if path.name not in (_SHARDS, _REPLACED):
        return False
    return all(_SHARD_FILE.fullmatch(file.name) and file.is_file() for file in path.iterdir())


def remove_parts(folder: Path) -> None:
    """Remove the parts of a folder, and nothing else; its lock removes it if it is empty."""
    for path in folder.iterdir():
        if NAME.fullmatch(path.name):
            path.unlink()
        elif path.is_dir() and is_own_folder(path):
            shutil.rmtree(path)


def settle_replaced(target: Path, folder: Path) -> None:
    """End what a killed import began: an older set that was moved away returns, or is removed.

    It returns unless there is a new one. ``folder``: that of the parts, which this process owns.
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

    ``folder``: that of the parts.
    """
    own, start = folder / _SHARDS, 0
    shutil.rmtree(own, ignore_errors=True)
    pieces = parts.shards() if parts.kept > SHARD else [parts]
    if len(pieces) > 1:
        own.mkdir()
    shards = []
    for number, piece in enumerate(pieces, 1):
        arrays = piece.columns()
        if classes is not None:
            arrays["classes"] = classes[start : start + piece.kept]
            start += piece.kept
        if len(pieces) > 1:
            shards.append(write_shard(own, number, arrays, header))
    if len(pieces) > 1:
        write_manifest(own, header, shards)
    with _out_of_the_way(target, folder / _REPLACED):
        if len(pieces) == 1:
            write_arrays(target, arrays, header)
        else:
            own.replace(target)


@contextlib.contextmanager
def _out_of_the_way(target: Path, place: Path) -> Iterator[None]:
    """Move an older set that a file or folder cannot replace; it returns if the block fails."""
    is_moved = is_sharded(target) or (target.is_file() and (place.parent / _SHARDS).exists())
    if is_moved:
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

    ``names``: behind the codes of columns that are recoded, of all parts.
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
        """Return every column of the set to be written."""
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
                part, _ = read_part(path, self.headers[number]["key"])
                texts = Texts(part["graph_names"], part["graph_names_ptr"])
                names |= {graph: texts[graph - done] for graph in own}
                places |= {graph: (number, int(part["lines"][graph - done])) for graph in own}
            done = stop
        return [[places[graph] for graph in group] for group in same_molecules(groups, names)]

    def _recoded(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of codes with those of the names of all parts."""
        key = RECODED[column]
        place = {name: code for code, name in enumerate(self.names[key])}
        for codes, header in zip(self.read(column), self.headers, strict=True):
            own = np.array([*(place[name] for name in header["set"][key]), -1], codes.dtype)
            yield own[codes]

    def _pointers(self, column: str) -> Iterator[np.ndarray]:
        """Yield a column of pointers, each part's moved to the end of the one before."""
        end = 0
        for number, pointer in enumerate(self.read(column)):
            yield pointer[number > 0 :] + end
            end += int(pointer[-1])


def names_of(headers: Iterable[Header], key: str) -> list[str]:
    """Return the names that parts have under a key of their sets, each once, sorted."""
    return sorted({name for header in headers for name in header["set"].get(key, ())})


def _bound(read: Callable[[str], Iterator[np.ndarray]], key: str) -> Callable[[], Any]:
    return lambda: read(key)
