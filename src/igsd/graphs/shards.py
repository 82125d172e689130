"""A set of graphs in a folder of shards: ``part-0001.graphs``, ... and ``manifest.json``.

Each shard is a file as ``GraphSet.save`` writes it, with the same columns and names in all of them.
Opening such a folder reads the manifest and the tables of the shards, which takes the same short
time however long they are. A shard is mapped into memory, and its checksums are verified, when one
of its graphs is needed for the first time.
"""

import os
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from igsd.errors import StorageError, counted, shortened
from igsd.files.arrays import Header, Layout, read_layout, write_arrays
from igsd.files.atomic import write_json
from igsd.files.shapes import fault, read_json
from igsd.files.stacks import Stack, TextStack
from igsd.graphs.adjacency import Adjacency
from igsd.graphs.graphset import VERSION as SHARD_VERSION
from igsd.graphs.graphset import GraphSet, from_header

MANIFEST = "manifest.json"
VERSION = 1
"""Of the manifest. The format of a shard is that of a ``GraphSet`` in a file."""

_KIND = "graph set in shards"
_AGAIN = "Copy the folder again, or import the original data again with `igsd data import`."


class Shard(TypedDict):
    """The entry of a shard in the manifest: its file, its size, and the checksum of its table.

    The table holds the checksums of the data, so this one identifies the whole content.
    """

    file: str
    graphs: int
    nodes: int
    entries: int
    checksum: str


class _Manifest(TypedDict):
    kind: str
    version: int
    igsd: str
    name: str
    notes: list[str]
    graphs: int
    shards: list[Shard]


def is_sharded(path: str | os.PathLike[str]) -> bool:
    """Return whether a path is a folder of shards, perhaps an incomplete one."""
    folder = Path(path)
    if (folder / shard_name(1)).exists():
        return True
    try:
        if not (folder / MANIFEST).is_file():  # opening a pipe would wait for ever
            return False
        with open(folder / MANIFEST, "rb") as file:
            return _KIND.encode() in file.read(1000)  # other programs write manifests, too
    except OSError:
        return False


def shard_name(number: int) -> str:
    """Return the name of a shard, counted from 1."""
    return f"part-{number:04}.graphs"


def write_shard(folder: Path, number: int, arrays: Mapping[str, Any], header: Header) -> Shard:
    """Write a shard, counted from 1; return its entry in the manifest."""
    path = folder / shard_name(number)
    write_arrays(path, arrays, header | {"notes": []})
    return _described(path, read_layout(path, "graph set"))


def write_manifest(folder: Path, header: Header, shards: Sequence[Shard]) -> None:
    """Write the manifest of a folder, after its shards."""
    from igsd import __version__

    about = {"kind": _KIND, "version": VERSION, "igsd": __version__}
    about |= {"name": header["name"], "notes": list(header["notes"])}
    total = sum(shard["graphs"] for shard in shards)
    write_json(folder / MANIFEST, about | {"graphs": total, "shards": list(shards)})


def open_shards(path: str | os.PathLike[str]) -> GraphSet:
    """Return the set in a folder of shards, as one set; raises ``StorageError``.

    It is equal to the set that one file would hold.
    """
    folder = Path(path)
    manifest = _read_manifest(folder)
    layouts: list[Layout] = []
    for shard in manifest["shards"]:
        file = folder / shard["file"]
        layout = read_layout(file, "graph set", SHARD_VERSION)
        if (found := _described(file, layout)) != shard:
            is_so, listed = dict(found), dict(shard)
            key = next(k for k in (*is_so, *listed) if is_so.get(k) != listed.get(k))
            raise StorageError(
                f"{file} is not the shard that {folder / MANIFEST} lists: its {key} should be "
                f"{listed.get(key)}, but it is {is_so.get(key)}. {_AGAIN}"
            )
        if layouts and _common(layout) != _common(layouts[0]):
            raise StorageError(
                f"{file} does not belong to {folder / manifest['shards'][0]['file']}: its columns "
                f"or their names differ. {_AGAIN}"
            )
        layouts.append(layout)
    opened = _Opened([(folder / shard["file"]).absolute() for shard in manifest["shards"]])
    columns: dict[str, Any] = {}
    for key, (dtype, shape) in layouts[0].shapes.items():
        lengths = [layout.shapes[key][1][0] for layout in layouts]
        if key.removesuffix("_ptr") in ("graph_names", "ids"):
            columns[key.removesuffix("_ptr")] = None
            continue
        shifts = None
        if key in ("node_ptr", "row_ptr"):
            totals = [s["nodes" if key == "node_ptr" else "entries"] for s in manifest["shards"]]
            shifts = np.concatenate([[0], np.cumsum(totals)[:-1]]).tolist()
            lengths = [length - (place < len(lengths) - 1) for place, length in enumerate(lengths)]
        columns[key] = Stack(dtype, shape[1:], lengths, opened.reader(key), shifts)
    counts = [shard["graphs"] for shard in manifest["shards"]]
    for key in [key for key, column in columns.items() if column is None]:
        columns[key] = TextStack(counts, opened.reader(key))
    header = layouts[0].header | {"name": manifest["name"], "notes": manifest["notes"]}
    matrix = (columns.pop("row_ptr"), columns.pop("col"), columns.pop("edge_weight", None))
    return GraphSet(adjacency=Adjacency(*matrix), **(from_header(header) | columns))


def _read_manifest(folder: Path) -> _Manifest:
    """Return the manifest of a folder whose shards are all there, each listed once."""
    path = folder / MANIFEST
    if not path.exists():
        raise StorageError(
            f"{folder} holds shards of a set, but no {MANIFEST}, which lists them. {_AGAIN}"
        )
    manifest: Any = read_json(path, "the manifest of a set in shards", _AGAIN)
    if not isinstance(manifest, dict) or manifest.get("kind") != _KIND:
        raise StorageError(f"{path} is not the manifest of a set in shards. {_AGAIN}")
    if manifest.get("version") != VERSION:
        raise StorageError(
            f"{path} is of format {manifest.get('version')}; this igsd reads format {VERSION}. "
            "Import the data again, or use the igsd that wrote it."
        )
    if (reason := fault(manifest, _Manifest)) is not None:
        raise StorageError(f"{path} is damaged: {reason} {_AGAIN}")
    names = [shard["file"] for shard in manifest["shards"]]
    if not names:
        raise StorageError(f"{path} is damaged: it lists no shards. {_AGAIN}")
    for place, name in enumerate(names):
        if name in names[:place]:
            raise StorageError(f"{path} lists the shard {name!r} twice. {_AGAIN}")
        if Path(name).name != name or not name:
            raise StorageError(f"{path} lists {name!r}, which is not a file beside it. {_AGAIN}")
        if name != shard_name(place + 1):  # graphs would be numbered in another order
            raise StorageError(
                f"{path} lists {shortened(name)!r} where {shard_name(place + 1)!r} must stand. "
                f"{_AGAIN}"
            )
    shards = sorted(file.name for file in folder.glob(shard_name(0).replace("0000", "[0-9]*")))
    if more := [name for name in shards if name not in set(names)]:
        raise StorageError(f"{folder} holds {more[0]}, which {path} does not list. {_AGAIN}")
    if missing := [name for name in names if not (folder / name).is_file()]:
        raise StorageError(
            f"{folder} lacks {counted(len(missing), 'shard')} of its {len(names)}: {missing[0]!r} "
            f"is not there. {_AGAIN}"
        )
    if manifest["graphs"] != sum(shard["graphs"] for shard in manifest["shards"]):
        raise StorageError(
            f"{path} is damaged: it promises {manifest['graphs']} graphs, but its shards hold "
            f"{sum(shard['graphs'] for shard in manifest['shards'])}. {_AGAIN}"
        )
    return manifest  # type: ignore[return-value]


def _described(path: Path, layout: Layout) -> Shard:
    """Return the entry that a shard should have, by its own table."""
    try:
        rows = {key: layout.shapes[key][1][0] for key in ("node_ptr", "row_ptr", "col")}
    except (KeyError, IndexError) as error:
        raise StorageError(f"{path} is damaged: it has no column {error}. {_AGAIN}") from error
    return {
        "file": path.name,
        "graphs": rows["node_ptr"] - 1,
        "nodes": rows["row_ptr"] - 1,
        "entries": rows["col"],
        "checksum": layout.checksum,
    }


def _common(layout: Layout) -> tuple[Any, ...]:
    """Return the common part of all shards of a set: the header, and the types of the columns."""
    header = {key: value for key, value in layout.header.items() if key not in ("name", "notes")}
    return header, {key: (dtype, shape[1:]) for key, (dtype, shape) in layout.shapes.items()}


class _Opened:
    """The shards of a set; one is opened, and verified, when it is first needed."""

    def __init__(self, paths: list[Path]) -> None:
        self._paths = paths
        self._sets: dict[int, GraphSet] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {"_paths": self._paths, "_sets": {}}  # another process maps the files itself

    def reader(self, key: str) -> Any:
        """Return a function from the number of a shard to one of its columns."""
        return partial(self._column, key)

    def _column(self, key: str, number: int) -> Any:
        if number not in self._sets:
            self._sets[number] = GraphSet.load(self._paths[number], decoded=False)
        graphs = self._sets[number]
        own = {"row_ptr": "row_ptr", "col": "col", "edge_weight": "weight"}
        return getattr(graphs.adjacency, own[key]) if key in own else getattr(graphs, key)
