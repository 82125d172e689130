"""``read_corpus``: millions of SMILES as chemical graphs with free targets, kept on disk.

The strings are cut into parts. A part (graphs, descriptors and counts of fragments) is computed
once, by one of several processes, and kept in the cache under a checksum of its strings, so that an
interrupted run goes on where it stopped. All parts together become one folder of arrays that are
mapped into memory: what is held in memory does not grow with the targets.
"""

import contextlib
import hashlib
import json
import shutil
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Required, TypedDict

import numpy as np

from igsd.errors import DataError, StorageError, need, warn_user
from igsd.files.arrays import Header, read_arrays, write_arrays
from igsd.files.atomic import check_writable, write_json
from igsd.files.cache import cache_dir, cache_limit, make_room, recall
from igsd.files.shapes import fault, read_json
from igsd.graphs.adjacency import Adjacency, pointers
from igsd.graphs.chemistry import BOND_NAMES, ChemicalColumns
from igsd.graphs.descriptors import descriptors, fragment_counts, signed_log
from igsd.graphs.graphset import GraphSet
from igsd.graphs.molecule import molecule_of
from igsd.graphs.readers.table import guess_smiles
from igsd.graphs.readers.text_table import read_text_table
from igsd.workers.pools import ALONE, Workers
from igsd.workers.tasks import run_tasks

ALGORITHM = 1
"""Raise this whenever the numbers of a part change, so that older files are ignored."""

PART = 1000
"""Strings of a part."""

_COLUMNS = ("node_counts", "degrees", "col", "edge_labels", "node_labels")
_TARGETS = ("descriptors", "fragments")
_SCHEMA = {
    "node_counts": ("int32", 1),
    "degrees": ("int16", 1),
    "col": ("int32", 1),
    "edge_labels": ("int16", 1),
    "node_labels": ("int32", 1),
    "descriptors": ("float32", 2),
    "fragments": ("uint8", 2),
}
_ATTEMPTS = 3


@dataclass(frozen=True, eq=False)
class Corpus:
    """Molecules and what RDKit computes for them.

    ``graphs``: a chemical set. ``descriptors`` [G, t] float32: signed logarithms, NaN if unknown.
    ``fragments`` [G, k] uint8: counts. ``checksum``: of all strings and how they were read.
    ``left_out``: the number of strings that are not molecules.
    """

    graphs: GraphSet
    descriptors: np.ndarray
    fragments: np.ndarray
    checksum: str
    left_out: int


def corpus_texts(sources: Sequence[str]) -> Iterator[str]:
    """Yield the SMILES of tables (a column called smiles or similar), one after the other."""
    for source in sources:
        if not Path(source).is_file():
            raise DataError(f"There is no table {source}. A corpus is a table with SMILES.")
        table = read_text_table(Path(source))
        yield from table.column(guess_smiles(table))


def read_corpus(
    texts: Iterable[str],
    *,
    num_fragments: int = 1024,
    workers: Workers = ALONE,
    folder: Path | None = None,
    advance: Callable[[int], Any] = lambda count: None,
) -> Corpus:
    """Return the molecules of SMILES strings with their targets; invalid ones are left out.

    ``workers``: processes that read the molecules. ``folder``: where parts are kept, by default in
    the cache, or in a temporary folder if the cache cannot be used. ``advance``: called with the
    number of strings done since.
    """
    texts = texts if isinstance(texts, Sequence) else list(texts)
    with _place(folder) as place:
        for _ in range(_ATTEMPTS):
            keys: list[str] = []

            def left(keys: list[str] = keys) -> Iterator[tuple[Sequence[str], Path]]:
                """Yield the parts that are not in the folder yet, or damaged."""
                for part in _parts(texts):
                    keys.append(part_key(part, num_fragments))
                    path = _part_path(place, keys[-1])
                    if recall(path, "A part of the corpus in the cache", _read_part) is None:
                        yield part, path
                    else:
                        advance(len(part))

            def prepare(part: Sequence[str], path: Path) -> tuple[Sequence[str], int]:
                """Return the arguments of a worker, which need not see the disk with the parts."""
                return part, num_fragments

            with workers.pool() as pool:
                calls = run_tasks(make_part, left(), pool, prepare=prepare, in_order=False)
                for (part, path), made in calls:
                    write_arrays(path, *made)
                    advance(len(part))
            if not keys:
                raise DataError(
                    "The corpus holds no SMILES string; at least two molecules are needed."
                )
            if (corpus := _joined(keys, place)) is not None:
                if folder is None:
                    make_room(cache_limit())
                return corpus
    raise StorageError(
        f"Parts of the corpus in {place} vanished while they were read. Does another program empty "
        "the folder? Set IGSD_CACHE to another one."
    )


@contextlib.contextmanager
def _place(folder: Path | None) -> Iterator[Path]:
    """Yield the folder for the parts of a corpus."""
    place = cache_dir() / "corpus" if folder is None else folder
    try:
        check_writable(place / "corpus.json")
        usable = True
    except (StorageError, OSError) as error:
        if folder is not None:
            raise
        warn_user(f"The corpus cannot be cached. {error} Set IGSD_CACHE to a writable folder.")
        usable = False
    if usable:
        yield place
        return
    # Arrays that are mapped into memory outlive their files.
    with tempfile.TemporaryDirectory(prefix="igsd-", ignore_cleanup_errors=True) as temporary:
        yield Path(temporary)


def part_key(texts: Sequence[str], num_fragments: int) -> str:
    """Return the identity of a part: its strings, the fragments, RDKit and ``ALGORITHM``."""
    rdkit = need("chem", "rdkit", "Reading SMILES")
    spec = [ALGORITHM, rdkit.__version__, num_fragments, list(texts)]
    return hashlib.sha256(json.dumps(spec).encode()).hexdigest()[:40]


def make_part(texts: Sequence[str], num_fragments: int) -> tuple[dict[str, np.ndarray], Header]:
    """Return (arrays, header) of one part."""
    from rdkit import rdBase

    found, rows, counts = ChemicalColumns(), [], []
    with rdBase.BlockLogs():
        for text in texts:
            molecule = molecule_of(text)
            if molecule is None:
                continue
            found.append(molecule, text)
            rows.append(signed_log(descriptors(molecule)))
            counts.append(fragment_counts(molecule, num_fragments))
    header: dict[str, Any] = {"kind": "corpus part", "strings": len(texts)}
    arrays: dict[str, np.ndarray] = {}
    if rows:
        graphs = found.graphs("part")
        arrays = {
            "node_counts": graphs.node_counts().astype(np.int32),
            "degrees": np.diff(graphs.adjacency.row_ptr).astype(np.int16),
            "col": np.asarray(graphs.adjacency.col, np.int32),
            "edge_labels": np.asarray(graphs.edge_labels, np.int16),
            "node_labels": np.asarray(graphs.node_labels, np.int32),
            "descriptors": np.stack(rows),
            "fragments": np.stack(counts),
        }
        header["atoms"] = list(graphs.node_label_names)
    return arrays, header


class _PartHeader(TypedDict, total=False):
    strings: Required[int]
    atoms: list[str]


def _read_part(path: Path) -> tuple[dict[str, np.ndarray], Header]:
    return read_arrays(
        path, "corpus part", schema=_SCHEMA, needs_checksum=True, header_type=_PartHeader
    )


def _parts(texts: Iterable[str]) -> Iterator[list[str]]:
    iterator = iter(texts)
    while part := list(islice(iterator, PART)):
        yield part


def _part_path(folder: Path, key: str) -> Path:
    return folder / key[:2] / f"{key}.safetensors"


class _Joined(TypedDict):
    atoms: list[str]
    left_out: int
    sums: dict[str, int]


def _joined(keys: Sequence[str], folder: Path) -> Corpus | None:
    """Return the corpus of these parts, joined on disk when first asked for; None if one vanished.

    A damaged one is joined again.
    """
    checksum = hashlib.sha256("".join(keys).encode()).hexdigest()
    place = folder / f"joined-{checksum[:40]}"
    for _ in range(2):
        file = place / "corpus.json"
        what = "The joined corpus in the cache"
        if (found := recall(file, what, lambda path: _open(path.parent, checksum))) is not None:
            return found
        try:
            _join(keys, folder, place)
        except (StorageError, OSError):
            if all(_part_path(folder, key).exists() for key in keys):
                raise
            return None
    return None


def _open(place: Path, checksum: str) -> Corpus:
    """Return the corpus in a folder of joined parts; raises ``StorageError`` if it is damaged."""
    manifest = read_json(place / "corpus.json", "the description of a corpus")
    if (reason := fault(manifest, _Joined)) is not None:
        raise StorageError(f"{place / 'corpus.json'} is damaged: {reason}")
    arrays = {
        name: np.load(place / f"{name}.npy", "r", allow_pickle=False) for name in manifest["sums"]
    }
    for name, expected in manifest["sums"].items():
        if _checksum(arrays[name]) != expected:
            raise StorageError(f"{place / name}.npy is damaged: it is not what was written.")
    graphs = GraphSet(
        node_ptr=arrays["node_ptr"],
        adjacency=Adjacency(arrays["row_ptr"], arrays["col"]),
        node_labels=arrays["node_labels"],
        node_label_names=tuple(manifest["atoms"]),
        edge_labels=arrays["edge_labels"],
        edge_label_names=BOND_NAMES,
        name="corpus",
    )
    return Corpus(
        graphs, arrays["descriptors"], arrays["fragments"], checksum, int(manifest["left_out"])
    )


def _join(keys: Sequence[str], folder: Path, place: Path) -> None:
    """Write the arrays of all parts one after the other into files of one folder."""
    parts = [_read_part(_part_path(folder, key)) for key in keys]
    headers = [header for _, header in parts]
    filled = [(arrays, header) for arrays, header in parts if arrays]
    if not filled:
        raise DataError("Not one string of the corpus is a molecule that RDKit can read.")
    names = sorted({name for _, header in filled for name in header["atoms"]})
    codes = {name: code for code, name in enumerate(names)}
    with tempfile.TemporaryDirectory(dir=folder, prefix="join-") as outer:
        temporary = Path(outer, "joined")
        temporary.mkdir()
        made: dict[str, np.ndarray] = {}
        for column in (*_COLUMNS, *_TARGETS):
            shapes = [arrays[column].shape for arrays, _ in filled]
            shape = (sum(shape[0] for shape in shapes), *shapes[0][1:])
            dtype = np.int32 if column.endswith("labels") else filled[0][0][column].dtype
            made[column] = np.lib.format.open_memmap(
                temporary / f"{column}.npy", "w+", dtype, shape
            )
        starts = dict.fromkeys(made, 0)
        for arrays, header in filled:
            own = np.array([codes[name] for name in header["atoms"]], np.int32)
            for column, target in made.items():
                values = np.asarray(arrays[column])
                values = own[values] if column == "node_labels" else values
                target[starts[column] : starts[column] + len(values)] = values
                starts[column] += len(values)
        made["node_ptr"] = pointers(made.pop("node_counts"))
        made["row_ptr"] = pointers(made.pop("degrees"))
        for column in ("node_ptr", "row_ptr"):
            np.save(temporary / f"{column}.npy", made[column], allow_pickle=False)
        left_out = sum(header["strings"] for header in headers) - len(made["descriptors"])
        sums = {column: _checksum(array) for column, array in made.items()}
        for array in made.values():
            if isinstance(array, np.memmap):
                array.flush()
        manifest = {"atoms": names, "left_out": left_out, "sums": sums}
        write_json(temporary / "corpus.json", manifest)
        shutil.rmtree(place, ignore_errors=True)
        with contextlib.suppress(OSError):  # another process was faster
            temporary.rename(place)


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
