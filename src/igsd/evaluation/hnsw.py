"""A navigable graph over vectors (HNSW), built and searched by usearch (extra ``igsd[search]``).

It is kept as bytes in an igsd file, which usearch reads where they are mapped. Its native code
trusts every link, so all of them are checked first.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from igsd.errors import StorageError, need

CONNECTIVITY = 16
"""Links of a vector on the upper levels; twice as many on the lowest."""

EXPANSION_ADD, EXPANSION_SEARCH = 128, 384
"""Candidates that are kept while a vector is added, and while one is searched."""

_HEAD = np.dtype(
    {
        "names": ["magic", "kinds", "present", "deleted", "columns"],
        "formats": ["S7", "S4", "<u8", "<u8", "<u8"],
        "offsets": [0, 13, 17, 25, 33],
        "itemsize": 64,
    }
)
_GRAPH = np.dtype([(name, "<u8") for name in ("size", "links", "base_links", "top", "entry")])
_KINDS = bytes([101, 12, 14, 15])  # squared distances, float16 numbers, 64-bit keys, 32-bit links
_ROWS = 20_000


def build_hnsw(
    path: Path, chunks: Iterable[np.ndarray], width: int, advance: Callable[[int], Any], jobs: int
) -> None:
    """Write the graph over float16 vectors, which arrive in chunks [n, width], to ``path``.

    Vectors are numbered from 0. With one job the same vectors always give the same bytes.
    """
    index = _empty(width)
    for rows in chunks:
        for start in range(0, len(rows), 1000):
            part = rows[start : start + 1000]
            index.add(np.arange(len(index), len(index) + len(part)), part, threads=jobs)
            advance(len(part))
    try:
        index.save(str(path))
    except RuntimeError as error:
        raise StorageError(f"Cannot write {path.parent}: {error}. Is the disk full?") from error


def open_hnsw(data: np.ndarray, count: int, width: int, source: Any) -> Any:
    """Return the graph over ``count`` vectors in the bytes ``data``; ``source``: its file.

    Raises ``StorageError`` unless its vectors are finite and all links lead to one of them.
    """
    if (reason := _fault(data, count, width)) is not None:
        raise StorageError(
            f"{source} is damaged, or was made by another version of usearch: {reason}. Make it "
            "again with `igsd index`."
        )
    index = _empty(width)
    try:
        index.view(data)
    except RuntimeError as error:
        raise StorageError(
            f"{source} cannot be read by this version of usearch: {error}. Make it again with "
            "`igsd index`."
        ) from error
    return index


def search_hnsw(index: Any, queries: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers [Q, count] of vectors close to float16 queries, and how many were found.

    The rest of a row means nothing.
    """
    index.expansion_search = max(EXPANSION_SEARCH, 2 * count)
    found = index.search(queries, count, threads=1)
    if len(queries) == 1:  # for one query usearch returns a row
        return found.keys.reshape(1, -1).astype(np.int64), np.array([len(found.keys)])
    return found.keys.astype(np.int64), np.asarray(found.counts, np.int64)


def _empty(width: int) -> Any:
    """Return an index without vectors."""
    usearch = need("search", "usearch.index", "Searching more than 100,000 vectors")
    kwargs = {"connectivity": CONNECTIVITY, "expansion_add": EXPANSION_ADD}
    return usearch.Index(ndim=width, metric="l2sq", dtype="f16", **kwargs)


def _fault(data: np.ndarray, count: int, width: int) -> str | None:
    """Return what is wrong with the bytes of a graph, None if they are valid.

    They are the matrix with its shape; a head; a graph's head; the level of every node; and the
    nodes: a key, the level again, and for each level the number of links and room for links.
    """
    vectors, place = 8 + 2 * count * width, 8 + 2 * count * width + _HEAD.itemsize
    levels_at = place + _GRAPH.itemsize
    nodes_at = levels_at + 2 * count
    if len(data) < nodes_at or data[:8].view("<u4").tolist() != [count, 2 * width]:
        return "it has another number or width of vectors"
    head, graph = data[vectors:place].view(_HEAD)[0], data[place:levels_at].view(_GRAPH)[0]
    if head.tolist() != (b"usearch", _KINDS, count, 0, width):
        return "its head is not that of such vectors"
    base, links = int(graph["base_links"]), int(graph["links"])
    levels = data[levels_at:nodes_at].view("<i2").astype(np.int64)
    if graph["size"] != count or not 1 <= min(base, links) <= max(base, links) <= 1024:
        return "its graph has another size"
    if not count or levels.min() < 0 or levels.max() != graph["top"] or graph["entry"] >= count:
        return "its levels do not fit"
    if levels[int(graph["entry"])] != graph["top"]:
        return "its levels do not fit"
    sizes = 10 + 4 * (1 + base) + levels * (4 * (1 + links))
    starts = nodes_at + np.cumsum(sizes) - sizes
    if nodes_at + sizes.sum() != len(data):
        return "its links have another length"
    for first in range(0, count, _ROWS):
        rows = slice(first, first + _ROWS)
        if not np.isfinite(
            data[8 + 2 * width * first : vectors].view("<f2")[: _ROWS * width]
        ).all():
            return "its vectors are not finite"
        own = _gathered(data, starts[rows], 10)
        numbers = np.arange(first, first + len(own))
        if not np.array_equal(own[:, :8].copy().view("<u8")[:, 0], numbers):
            return "its vectors are not numbered in their order"
        if not np.array_equal(own[:, 8:].copy().view("<i2")[:, 0], levels[rows]):
            return "its levels do not fit"
        for level in range(int(levels[rows].max()) + 1):
            here = starts[rows][levels[rows] >= level]
            room = base if level == 0 else links
            offset = 10 + (level > 0) * 4 * (1 + base) + max(level - 1, 0) * 4 * (1 + links)
            linked = _gathered(data, here + offset, 4 * (1 + room)).view("<u4").astype(np.int64)
            is_used = np.arange(room) < linked[:, :1]
            targets = np.where(is_used, linked[:, 1:], 0)
            if linked[:, 0].max() > room or targets.max() >= count:
                return "a link leads nowhere"
            if (levels[targets][is_used] < level).any():
                return "a link leads nowhere"
    return None


def _gathered(data: np.ndarray, starts: np.ndarray, length: int) -> np.ndarray:
    """Return ``length`` bytes from each start, [n, length]."""
    return np.ascontiguousarray(data[starts[:, None] + np.arange(length)])
