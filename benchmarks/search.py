"""Approximate search in many vectors: recall against exact search, time, and memory of the build.

``python -m benchmarks --only search`` takes 120,000 vectors, ``python -m benchmarks.search
1000000`` a million, for a quarter of an hour of one core, with a record of its own. The vectors
have 256 columns: clusters of rank 32 with a little noise, cut off at zero, like those of a network;
or random normal numbers, among which hardly any vector is closer than the others, the worst case.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.context import Context
from benchmarks.record import default_path, make_record, write_record
from benchmarks.row import Row, Skipped
from benchmarks.side import run_once
from benchmarks.table import text_table
from benchmarks.timing import load_note
from igsd.evaluation.index import Index

NUM_VECTORS, WIDTH, NUM_QUERIES, K = 120_000, 256, 1000, 10
RECALL, MILLISECONDS, LIMIT = 0.98, 5.0, 2.5 * 1024
"""What is asked for: recall at 10, at most so much time a query, and MiB of the build."""


def rows(context: Context) -> list[Row]:
    """Return the rows of a set that is small enough for every run."""
    return measured(context.folder, NUM_VECTORS)


def measured(
    folder: Path, count: int, kinds: tuple[str, ...] = ("clustered", "random")
) -> list[Row]:
    """Return recall, time and memory of ``count`` vectors of every kind."""
    try:
        import usearch  # noqa: F401
    except ImportError as error:
        raise Skipped('usearch is not installed: pip install "igsd[search]"') from error
    found = []
    for kind in kinds:
        arguments: dict[str, Any] = {"kind": kind, "count": count, "folder": str(folder)}
        build = run_once("benchmarks.search:build_side", **arguments)
        search = run_once("benchmarks.search:search_side", **arguments)
        plain = run_once("benchmarks.search:search_side", exact=True, **arguments)
        found += _rows_of(kind, count, build, search, plain)
        index_path(folder, kind).unlink()
    return found


def _rows_of(kind: str, count: int, build: Any, search: Any, plain: Any) -> list[Row]:
    data = f"{count:,} {kind} vectors of {WIDTH}"
    pairs = zip(search.result, plain.result, strict=True)
    recall = sum(len({*mine} & {*other}) for mine, other in pairs) / (K * len(plain.result))
    mine, other = (1000 * side.cpu / NUM_QUERIES for side in (search, plain))
    bars = (RECALL, MILLISECONDS, LIMIT) if kind == "clustered" else (None, None, LIMIT)
    note = f"exact search of the same {NUM_QUERIES:,} new vectors; CPU time, one thread"
    built = f"built in {build.wall:.0f} s, {build.cpu:.0f} s of CPU, {load_note()}"
    peak = build.peak
    return [
        Row("search: recall at 10", data, recall, 1.0, recall, bars[0], "", note),
        Row("search: ms a query", data, mine, other, mine, bars[1], "ms", note, True),
        Row(
            "index: peak / 2.5 GiB",
            data,
            peak,
            LIMIT,
            peak / LIMIT,
            None if bars[2] is None else 1.0,
            "MiB",
            built,
            True,
        ),
    ]


def build_side(kind: str, count: int, folder: str) -> Callable[[], int]:
    """Return the work of making the index; its result: the number of vectors."""
    path = Path(folder, f"{kind}.npy")
    shape = (count, WIDTH)
    vectors = np.lib.format.open_memmap(path, "w+", np.float32, shape)
    for start in range(0, count, 50_000):
        stop = min(start + 50_000, count)
        vectors[start:stop] = vectors_of(kind, stop - start, seed=start)
    vectors.flush()
    del vectors

    def work() -> int:
        mapped = np.load(path, mmap_mode="r", allow_pickle=False)
        made = len(Index.build(mapped, index_path(Path(folder), kind), verbose=True))
        path.unlink()
        return made

    return work


def search_side(kind: str, count: int, folder: str, exact: bool = False) -> Callable[[], Any]:
    """Return the work of searching new vectors; its result: the neighbours."""
    index = Index.load(index_path(Path(folder), kind))
    queries = vectors_of(kind, NUM_QUERIES, seed=10**9)
    if not exact:
        index.search(queries[:1], K)  # the links are checked once

    def work() -> Any:
        indices, _ = index.search(queries, K, exact=exact)
        return indices.tolist

    return work


def index_path(folder: Path, kind: str) -> Path:
    """Return where an index is."""
    return folder / f"{kind}.index"


def vectors_of(kind: str, count: int, seed: int) -> np.ndarray:
    """Return new vectors [count, 256] float32 of a kind."""
    draws, rank, clusters = np.random.default_rng(seed + 1), 32, 2000
    if kind == "random":
        return draws.standard_normal((count, WIDTH), dtype=np.float32)
    shared = np.random.default_rng(0)
    weights = shared.standard_normal((rank, WIDTH), dtype=np.float32)
    centres = shared.standard_normal((clusters, rank), dtype=np.float32)
    inner = 0.6 * draws.standard_normal((count, rank), dtype=np.float32)
    inner += centres[draws.integers(0, clusters, count)]
    noise = draws.standard_normal((count, WIDTH), dtype=np.float32)
    return np.maximum(inner @ weights, 0) + np.float32(0.05) * noise


def main(arguments: list[str]) -> int:
    """Measure so many vectors of some kinds, print the rows and write a record."""
    count, kinds = int(arguments[0]), tuple(arguments[1:]) or ("clustered",)
    load, started = [os.getloadavg()[0]], time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="igsd-benchmarks-") as folder:
        found = measured(Path(folder), count, kinds)
    record = make_record(found, time.perf_counter() - started, [*load, os.getloadavg()[0]])
    print(text_table(found))
    write_record(default_path(record), record)
    return int(any(row.failed for row in found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
