"""``Index``: the vectors of many graphs in one file, to be searched again and again.

Up to ``EXACT`` vectors the search is exact. Beyond, a navigable graph (``igsd.evaluation.hnsw``)
proposes candidates, whose distances are then computed exactly. The file is mapped into memory.
"""

import math
import mmap
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, Self, TypedDict

import numpy as np

from igsd.errors import ConfigError, DataError, StorageError, need
from igsd.evaluation.hnsw import build_hnsw, open_hnsw, search_hnsw
from igsd.evaluation.inputs import fitted_model
from igsd.evaluation.neighbors import Space, checked_places, scan
from igsd.files.arrays import Header, Stacked, read_arrays, write_arrays
from igsd.files.atomic import check_writable
from igsd.files.locks import working_folder
from igsd.files.models import from_folder, from_here, identity_of
from igsd.files.texts import Texts
from igsd.graphs.adjacency import pointers, ranges
from igsd.graphs.graphset import UNNAMED, GraphSet, Name
from igsd.graphs.open import as_graphset
from igsd.progress import progress_bar

EXACT = 100_000
"""Vectors up to which the search is exact."""

KIND, _VERSION = "vector index", 1
_BLOCK, _QUERIES = 50_000, 256
_SCHEMA = {
    "vectors": ("float32", 2),
    "mean": ("float64", 1),
    "scale": ("float64", 1),
    "varies": ("bool", 1),
    "lines": ("int64", 1),
    "classes": ("int64", 1),
    "ids": ("uint8", 1),
    "ids_ptr": ("int64", 1),
    "graph_names": ("uint8", 1),
    "graph_names_ptr": ("int64", 1),
    "hnsw": ("uint8", 1),
    "members": ("int64", 1),
    "members_ptr": ("int64", 1),
}


class _Header(TypedDict):
    name: str
    standardised: str
    class_names: list[Name]
    model: str
    identity: str


class Index:
    """Vectors of graphs for ``igsd.neighbors``; made by ``Index.build``, opened by ``Index.load``.

    ``len(index)`` graphs. ``vectors`` [G, d] float32. ``ids``, ``graph_names``, ``lines``,
    ``classes`` and ``class_names``: of the graphs, None where they have none. ``model``: where the
    model that made the vectors was. ``is_exact``: whether search compares with every vector.
    """

    def __init__(self, arrays: dict[str, np.ndarray], header: Header, path: Path) -> None:
        self.vectors, self.path = arrays["vectors"], path
        self.space = Space(*(arrays[key] for key in Space._fields))
        self.name, self.standardised = str(header["name"]), str(header["standardised"])
        self.model = from_here(path.parent, header["model"]) if header["model"] else ""
        self.identity = str(header["identity"])
        self.lines, self.classes = arrays.get("lines"), arrays.get("classes")
        self.class_names = tuple(header["class_names"])
        self.ids, self.graph_names = _texts(arrays, "ids"), _texts(arrays, "graph_names")
        self.is_exact = "hnsw" not in arrays
        self._arrays = arrays

    def __len__(self) -> int:
        return len(self.vectors)

    def __repr__(self) -> str:
        how = "exact" if self.is_exact else "approximate"
        return f"Index({self.name!r}, graphs={len(self)}, width={self.vectors.shape[1]}, {how})"

    @classmethod
    def build(
        cls,
        data: Any,
        path: str | os.PathLike[str],
        *,
        model: Any = None,
        source: str = "",
        jobs: int = 1,
        verbose: bool = False,
    ) -> Self:
        """Write the index of ``data`` to ``path``, whole or not at all, and return it.

        A file that is there is replaced, as by ``GraphSet.save``; `igsd index` asks for --force.
        ``data``: graphs that ``model``, fitted or the path of a saved one, embeds; or vectors
        [G, d], which may be mapped into memory. ``source``: where the model is, to be found again
        from the file. ``jobs``: threads that build an index of more than ``EXACT`` vectors; several
        give slightly different candidates each time. ``verbose``: show progress. Raises
        ``DataError`` for vectors that are not finite, and where there are none.
        """
        target = Path(path)
        check_writable(target)
        if jobs < 1:
            raise ConfigError(f"jobs must be at least 1. Got {jobs}.")
        source = source or (model if isinstance(model, str) else "")
        graphs, chunks, count = _chunks_of(data, model := fitted_model(model), verbose)
        if count > EXACT:
            need("search", "usearch.index", f"An index of more than {EXACT:,} vectors")
        with working_folder(target.parent, ".igsd-index-", ("vectors", "hnsw")) as folder:
            vectors, space = _stored(chunks, folder / "vectors")
            arrays: dict[str, Any] = (
                {"vectors": vectors.stacked} | space._asdict() | _described(graphs)
            )
            if count > EXACT:
                arrays |= _navigable(vectors, space, folder / "hnsw", jobs, verbose)
            header = {
                "kind": KIND,
                "version": _VERSION,
                "name": UNNAMED if graphs is None else graphs.name,
                "standardised": "" if graphs is None else graphs.standardised,
                "class_names": [] if graphs is None else list(graphs.class_names),
                "model": from_folder(target.parent, source) if source else "",
                "identity": identity_of(model),
            }
            write_arrays(target, arrays, header)
        return cls.load(target)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Return the index at ``path``, mapped into memory; raises ``StorageError``."""
        source = Path(path).expanduser()
        arrays, header = read_arrays(
            source, KIND, _VERSION, _SCHEMA, needs_checksum=True, header_type=_Header
        )
        if (column := _misfit(arrays, header)) is not None:
            raise StorageError(
                f"{source} is damaged: its column {column!r} is missing or does not fit the "
                "others. Copy it again, or make it again with `igsd index`."
            )
        return cls(arrays, header, source)

    def check_model(self, model: Any) -> None:
        """Raise ``DataError`` unless ``model`` is the one that made the vectors, where known."""
        found = identity_of(model)
        if self.identity and found and found != self.identity:
            known = f" ({self.model})" if self.model else ""
            raise DataError(
                f"{self.path} is an index of vectors of another model{known}; vectors of two "
                "models cannot be compared. Use that model, or make an index with this one: `igsd "
                "index`."
            )

    def search(
        self, queries: Any, k: int = 10, *, exact: bool = False
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return (indices, distances) [Q, k] as ``igsd.neighbors`` does.

        ``queries``: vectors [Q, d] or numbers of graphs. ``exact``: compare with every vector, also
        where there are many.
        """
        places = checked_places(queries, len(self), k)
        rows = self.vectors[places] if places is not None else queries
        asked, width = self.space.asked(rows), min(k, len(self) - (places is not None))
        if self.is_exact or exact or not width:
            return self._scan(asked, width, places)
        indices = np.empty((len(asked), width), np.int64)
        distances = np.empty(indices.shape)
        for start in range(0, len(asked), _QUERIES):
            part = slice(start, start + _QUERIES)
            own = None if places is None else places[part]
            indices[part], distances[part], is_full = self._propose(asked[part], width, own)
            if not is_full.all():  # the graph does not lead to enough vectors
                left = np.flatnonzero(~is_full)
                own = None if own is None else own[left]
                found = self._scan(asked[part][left], width, own)
                indices[start + left], distances[start + left] = found
        return indices, distances

    @cached_property
    def _scaled(self) -> np.ndarray:
        """All vectors in the space of distances, kept if they are few."""
        return self.space.scaled(self.vectors)

    @cached_property
    def _hnsw(self) -> Any:
        width, count = int(self.space.varies.sum()), len(self._arrays["members_ptr"]) - 1
        return open_hnsw(self._arrays["hnsw"], count, width, self.path)

    def _scan(
        self, asked: np.ndarray, width: int, places: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the nearest by comparing with every vector, in blocks if there are many."""
        if len(self) <= EXACT:
            return scan(self._scaled, asked, width, places)
        indices = np.zeros((len(asked), 0), np.int64)
        distances = np.zeros((len(asked), 0))
        for start in range(0, len(self), _BLOCK):
            block = self.space.scaled(self.vectors[start : start + _BLOCK])
            near, apart = scan(block, asked, min(width + 1, len(block)), None)
            near += start
            if places is not None:
                apart[near == places[:, None]] = np.inf
            indices, distances = np.hstack([indices, near]), np.hstack([distances, apart])
            order = np.lexsort([indices, distances])[:, :width]
            indices = np.take_along_axis(indices, order, 1)
            distances = np.take_along_axis(distances, order, 1)
        return indices, distances

    def _propose(
        self, asked: np.ndarray, width: int, places: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (indices, distances, whether there are enough) of a block of queries.

        Every candidate stands for a group of vectors that are equal in float16. Their distances
        are computed from the vectors themselves.
        """
        ptr, most = self._arrays["members_ptr"], 2 * (width + 1)
        numbers, counts = search_hnsw(self._hnsw, _half(asked), min(most, len(ptr) - 1))
        is_found = np.arange(numbers.shape[1]) < counts[:, None]
        query, group = np.nonzero(is_found)[0], numbers[is_found]
        starts = ptr[group]
        stops = np.minimum(ptr[group + 1], starts + most)
        graph = self._arrays["members"][ranges(starts, stops)]
        query = np.repeat(query, stops - starts)
        if places is not None:
            is_other = graph != places[query]
            graph, query = graph[is_other], query[is_other]
        apart = np.empty(len(graph))
        for start in range(0, len(graph), _BLOCK):
            part = slice(start, start + _BLOCK)
            gap = self.space.scaled(self.vectors[graph[part]]) - asked[query[part]]
            apart[part] = np.sqrt(np.einsum("ij,ij->i", gap, gap) / max(gap.shape[1], 1))
        apart = apart.round(6)
        order = np.lexsort([graph, apart, query])
        graph, apart, query = graph[order], apart[order], query[order]
        first = np.searchsorted(query, np.arange(len(asked)))
        is_full = np.diff(np.append(first, len(query))) >= width
        chosen = np.minimum(first[:, None] + np.arange(width), max(len(query) - 1, 0))
        return graph[chosen], apart[chosen], is_full


def _chunks_of(
    data: Any, model: Any, verbose: bool
) -> tuple[GraphSet | None, Iterator[np.ndarray], int]:
    """Return (graphs if known, chunks of vectors, number of vectors)."""
    if model is None:
        vectors = np.asanyarray(data)
        if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or 0 in vectors.shape:
            raise DataError(
                "An index needs vectors [G, d] of numbers, at least one of each, or graphs and a "
                f"model. Got shape {vectors.shape} of {vectors.dtype}."
            )
        return None, _blocks(vectors), len(vectors)
    graphs = as_graphset(data, standardise=getattr(model, "standardised_", ""))
    if not hasattr(model, "transform_chunks"):
        return graphs, iter([np.asarray(model.transform(graphs))]), len(graphs)
    if "verbose" in model.get_params(deep=False):
        model.set_params(verbose=verbose)
    return graphs, model.transform_chunks(graphs), len(graphs)


def _blocks(vectors: np.ndarray) -> Iterator[np.ndarray]:
    """Yield rows in blocks; of a mapped file, the pages that were read are given back."""
    mapped: Any = getattr(vectors, "_mmap", None) if getattr(vectors, "mode", "") == "r" else None
    for start in range(0, len(vectors), _BLOCK):
        yield vectors[start : start + _BLOCK]
        if hasattr(mapped, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
            mapped.madvise(mmap.MADV_DONTNEED)


class _File(NamedTuple):
    """An array in a file, read in blocks and never mapped: mapped pages count as memory."""

    path: Path
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def blocks(self) -> Iterator[np.ndarray]:
        """Yield the rows in blocks."""
        size = _BLOCK * (1 if len(self.shape) > 1 else 1000)
        width = math.prod(self.shape[1:])
        with open(self.path, "rb") as file:
            for start in range(0, self.shape[0], size):
                rows = min(size, self.shape[0] - start)
                yield np.fromfile(file, self.dtype, rows * width).reshape(rows, *self.shape[1:])

    @property
    def stacked(self) -> Stacked:
        """The array for ``write_arrays``."""
        return Stacked(self.dtype, self.shape, self.blocks)


def _stored(chunks: Iterator[np.ndarray], path: Path) -> tuple[_File, Space]:
    """Write vectors that arrive in chunks to a file; return it, and their space.

    Mean and deviation are joined chunk by chunk (Chan, Golub and LeVeque 1979).
    """
    done, mean, squares, largest = 0, np.zeros(0), np.zeros(0), 1.0
    with open(path, "wb") as file:
        for chunk in chunks:
            with np.errstate(over="ignore"):
                rows = np.ascontiguousarray(chunk, np.float32)
            if not np.isfinite(rows).all():
                wrong = done + int(np.argmin(np.isfinite(rows).all(axis=1)))
                raise DataError(
                    "Vectors of an index must be finite numbers (32-bit floats). That of graph "
                    f"{wrong} is not."
                )
            file.write(rows.data)
            values = rows.astype(np.float64)
            if not done:
                mean, squares = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
            own, total = values.mean(axis=0), done + len(rows)
            squares += values.var(axis=0) * len(rows) + (own - mean) ** 2 * done * len(rows) / total
            mean += (own - mean) * len(rows) / total
            largest, done = max(largest, float(np.abs(values).max(initial=0.0))), total
    if not done:
        raise DataError("There are no vectors to make an index of.")
    deviation = np.sqrt(squares / done)
    varies = deviation > 1e-12 * largest
    vectors = _File(path, np.dtype(np.float32), (done, len(mean)))
    if done <= EXACT:
        return vectors, Space.of(np.concatenate([*vectors.blocks()]))
    return vectors, Space(mean[varies] / deviation[varies], deviation[varies], varies)


def _navigable(
    vectors: _File, space: Space, path: Path, jobs: int, verbose: bool
) -> dict[str, Any]:
    """Return the arrays of the navigable graph over the vectors that differ in float16.

    Thousands of equal vectors, as indistinguishable graphs have them, would link to each other
    alone and be cut off from the rest.
    """
    width = int(space.varies.sum())
    if not width:
        return {}  # all are equal
    factors = np.random.default_rng(0).integers(0, 2**63, width, np.uint64) | np.uint64(1)
    keys = np.concatenate([_row_keys(rows, factors) for rows in _halves(vectors, space)])
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    rank = np.argsort(np.argsort(first))  # groups in the order of their first vector
    members = np.argsort(rank[group], kind="stable")
    is_first = np.zeros(len(keys), bool)
    is_first[first] = True
    with progress_bar("indexing", len(first), shown=verbose) as advance:
        chosen = (is_first[at : at + _BLOCK] for at in range(0, len(keys), _BLOCK))
        pairs = zip(_halves(vectors, space), chosen, strict=True)
        build_hnsw(path, (rows[kept] for rows, kept in pairs), width, advance, jobs)
    bounds = pointers(np.bincount(rank[group]))
    return {
        "hnsw": _File(path, np.dtype(np.uint8), (path.stat().st_size,)).stacked,
        "members": members.astype(np.int64),
        "members_ptr": bounds,
    }


def _halves(vectors: _File, space: Space) -> Iterator[np.ndarray]:
    """Yield vectors in the space of distances as float16, in blocks."""
    for rows in vectors.blocks():
        yield _half(space.scaled(rows))


def _half(scaled: np.ndarray) -> np.ndarray:
    """Return scaled numbers as float16, clipped to its range."""
    most = float(np.finfo(np.float16).max)
    return np.ascontiguousarray(np.clip(scaled, -most, most), np.float16) + np.float16(0)


def _row_keys(rows: np.ndarray, factors: np.ndarray) -> np.ndarray:
    """Return a number for each row, the same for equal rows."""
    return (rows.view(np.uint16).astype(np.uint64) * factors).sum(axis=1, dtype=np.uint64)


def _described(graphs: GraphSet | None) -> dict[str, np.ndarray]:
    """Return the columns that say which graph a vector belongs to."""
    columns: dict[str, np.ndarray] = {}
    if graphs is None:
        return columns
    for key in ("ids", "graph_names"):
        if (texts := getattr(graphs, key)) is not None:
            packed = Texts.of(texts)
            columns |= {key: packed.data, f"{key}_ptr": packed.bounds}
    found = {key: getattr(graphs, key) for key in ("lines", "classes")}
    return columns | {key: value for key, value in found.items() if value is not None}


def _texts(arrays: dict[str, np.ndarray], key: str) -> Texts | None:
    return Texts(arrays[key], arrays[f"{key}_ptr"]) if key in arrays else None


def _misfit(arrays: dict[str, np.ndarray], header: Header) -> str | None:
    """Return a column that is missing or points at nothing, None if all are sound."""
    if missing := {"vectors", *Space._fields} - arrays.keys():
        return min(missing)
    count, width = arrays["vectors"].shape
    kept = int(arrays["varies"].sum())
    lengths = {"varies": width, "mean": kept, "scale": kept, "lines": count, "classes": count}
    for key, length in lengths.items():
        if key in arrays and len(arrays[key]) != length:
            return key
    if not count or not width:
        return "vectors"
    blocks = [arrays["vectors"][start : start + _BLOCK] for start in range(0, count, _BLOCK)]
    lowest = np.min([block.min(axis=0) for block in blocks], axis=0)
    highest = np.max([block.max(axis=0) for block in blocks], axis=0)
    if not np.isfinite([lowest, highest]).all():
        return "vectors"
    if not np.isfinite(arrays["mean"]).all():
        return "mean"
    space = Space(*(arrays[key] for key in Space._fields))
    if not (space.scale > 0).all() or not space.fits(lowest, highest, count):
        return "scale"
    if "lines" in arrays and arrays["lines"].min() < 0:
        return "lines"
    classes = arrays.get("classes")
    if classes is not None and not -1 <= classes.min() <= classes.max() < len(
        header["class_names"]
    ):
        return "classes"
    for key, most in (("ids", count), ("graph_names", count), ("members", None)):
        bounds = arrays.get(f"{key}_ptr")
        if (bounds is None) != (key not in arrays):
            return key
        if bounds is None:
            continue
        is_sound = len(bounds) > 1 and bounds[0] == 0 and bounds[-1] == len(arrays[key])
        if not is_sound or (np.diff(bounds) < 0).any() or most not in (None, len(bounds) - 1):
            return key
        if most is not None and not Texts(arrays[key], bounds).is_utf8:
            return key
    if ("members" in arrays) != ("hnsw" in arrays):
        return "hnsw"
    if "members" in arrays:
        seen = np.zeros(count, bool)
        members = arrays["members"]
        if len(members) != count or not 0 <= members.min() <= members.max() < count:
            return "members"
        seen[members] = True
        if not seen.all() or (np.diff(arrays["members_ptr"]) < 1).any():
            return "members"
    return None
