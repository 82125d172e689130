"""Vectors and predictions of a set by shards, on several processes or on a Dask cluster.

A model computes a set in chunks, and rounding depends on which graphs share a chunk. A shard here
is a run of whole chunks, so results are equal bit for bit on any worker. How a long set is stored
(``igsd.graphs.shards``) does not matter.
"""

import contextlib
import hashlib
import json
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from igsd.baselines.registry import load_model
from igsd.errors import DataError, StorageError, caught_warnings, counted, warn_user
from igsd.estimators.predictions import about_graphs, prediction_columns
from igsd.experiments.records import in_words
from igsd.files.arrays import read_header
from igsd.files.columns import Columns
from igsd.files.models import SHIPPED, model_path
from igsd.files.remote import local_path
from igsd.graphs.graphset import GraphSet
from igsd.graphs.shards import MANIFEST, is_sharded, open_shards
from igsd.progress import progress_bar
from igsd.workers.pools import Workers
from igsd.workers.tasks import Pool, run_tasks

CHUNK = 10_000
"""Graphs of a chunk, for models that have no chunks of their own."""

_MOST, _PER_WORKER, _MOST_NOTES = 100_000, 8, 5
Range = tuple[int, int]


class Stored(NamedTuple):
    """A shard on a disk that workers see, too: (start, stop) of a stored set.

    ``path``: a file of graphs, or a folder of shards. ``stamp``: what ``stamp_of`` returns for it.
    """

    path: str
    stamp: str
    start: int = 0
    stop: int = 0


class _Answer(NamedTuple):
    """What a worker computes for a shard, and the warnings that came with it."""

    value: Any
    notes: tuple[str, ...]


def vectors_by_shards(
    model: Any,
    source: str,
    graphs: GraphSet,
    workers: Workers,
    *,
    data: str = "",
    verbose: bool = False,
) -> Iterator[np.ndarray]:
    """Yield the vectors of graphs in order, in chunks.

    ``source``: where the model is, as for ``load_model``. ``data``: where the graphs are; workers
    that all see a stored set there read their shards themselves.
    """
    if workers.is_here and hasattr(model, "transform_chunks"):
        yield from model.set_params(verbose=verbose).transform_chunks(graphs)
        return
    ranges = _ranges(model, graphs, is_embedding=True)
    computed = _computed(
        _vectors, model, source, graphs, data, ranges, workers, "embedding", verbose
    )
    chunks = iter(ranges)
    for (first, last), rows in computed:
        for start, stop in chunks:  # a file is written chunk by chunk, as by one process
            yield rows[start - first : stop - first]
            if stop == last:
                break


def predictions_by_shards(
    model: Any,
    source: str,
    graphs: GraphSet,
    workers: Workers,
    *,
    data: str = "",
    verbose: bool = False,
) -> Columns:
    """Return the columns of ``prediction_columns``; arguments as for ``vectors_by_shards``."""
    ranges = _ranges(model, graphs, is_embedding=False)
    if workers.is_here and (len(ranges) == 1 or hasattr(model, "chunk_ranges")):
        return prediction_columns(model, graphs, source, verbose=verbose)
    if hasattr(model, "set_params"):  # a model that gives no predictions is refused here
        prediction_columns(model, graphs.take(np.arange(1)), source)
    columns: Columns = {}
    computed = _computed(
        _predictions, model, source, graphs, data, ranges, workers, "predicting", verbose
    )
    for _, part in computed:
        for name, values in part.items():
            columns.setdefault(name, []).extend(values)
    return columns | about_graphs(graphs)


def _ranges(model: Any, graphs: GraphSet, *, is_embedding: bool) -> list[Range]:
    """Return (start, stop) of each chunk of graphs, which are computed together."""
    if hasattr(model, "chunk_ranges"):
        return list(model.chunk_ranges(graphs, is_embedding=is_embedding))
    starts = range(0, len(graphs), CHUNK)
    return [(start, min(start + CHUNK, len(graphs))) for start in starts]


def shards_of(ranges: Sequence[Range], num_workers: int) -> list[Range]:
    """Return (start, stop) of shards: whole ranges, about eight shards per worker."""
    total = ranges[-1][1]
    size = min(max(total // (_PER_WORKER * num_workers), 1), _MOST)
    shards: list[Range] = []
    first = ranges[0][0]
    for start, stop in ranges:
        if start > first and stop - first > size:
            shards.append((first, start))
            first = start
    return [*shards, (first, total)]


def _computed(
    function: Callable[..., _Answer],
    model: Any,
    source: str,
    graphs: GraphSet,
    data: str,
    ranges: Sequence[Range],
    workers: Workers,
    title: str,
    verbose: bool,
) -> Iterator[tuple[Range, Any]]:
    """Yield each shard of a set, in order, with what workers compute for it."""
    notes: set[str] = set()
    with workers.pool() as pool, progress_bar(title, len(graphs), shown=verbose) as advance:
        shards = ranges if workers.is_here else shards_of(ranges, pool.size)
        sent = _sent_model(model, source, workers, pool)
        stored = None if workers.is_here else _stored(data, pool)

        def prepare(start: int, stop: int) -> tuple[Any, Any, int]:
            """Return what a worker gets: the model, and the graphs of a shard or their place."""
            if stored is not None:
                return sent, stored._replace(start=start, stop=stop), start
            return sent, graphs.take(np.arange(start, stop)), start

        begin = time.monotonic()
        on_cluster = workers.scheduler is not None
        ahead = pool.size if on_cluster else 0
        calls = run_tasks(function, shards, pool, prepare=prepare, ahead=ahead, copies=on_cluster)
        for done, ((start, stop), answer) in enumerate(calls, start=1):
            yield (start, stop), answer.value
            advance(stop - start, _pace(done, len(shards), stop, len(graphs), begin))
            notes.update(answer.notes)
    _tell(sorted(notes))


def _pace(done: int, shards: int, position: int, total: int, begin: float) -> str:
    """Return how many shards are done, how fast, and how long the others will take."""
    seconds = max(time.monotonic() - begin, 1e-6)
    rate = position / seconds
    left = in_words((total - position) / rate)
    return f"{done}/{shards} shards, {rate:,.0f} graphs/s, {left} left"


def _tell(notes: Sequence[str]) -> None:
    """Repeat the warnings of workers, the first of many."""
    for note in notes[:_MOST_NOTES]:
        warn_user(note)
    if len(notes) > _MOST_NOTES:
        warn_user(f"There are {counted(len(notes) - _MOST_NOTES, 'more note')} like these.")


def _stored(data: str, pool: Pool) -> Stored | None:
    """Return where the graphs are, if DATA is a stored set that every worker sees."""
    path = os.path.abspath(os.path.expanduser(data))
    stamp = stamp_of(path)
    if not stamp or set(pool.everywhere(stamp_of, path)) != {stamp}:
        return None
    return Stored(path, stamp)


def stamp_of(path: str) -> str:
    """Return a fingerprint of a stored set; empty if there is none.

    That is the size and the header of a file of graphs, or the manifest of a folder of shards: both
    hold checksums of the data.
    """
    try:
        if is_sharded(path):
            return hashlib.sha256(Path(path, MANIFEST).read_bytes()).hexdigest()
        header = read_header(Path(path)) if os.path.isfile(path) else None
        if header is None:
            return ""
        text = json.dumps(header, sort_keys=True, default=str)
        return f"{os.path.getsize(path)}-{hashlib.sha256(text.encode()).hexdigest()}"
    except (OSError, ValueError):
        return ""


@lru_cache(maxsize=1)
def _opened_set(path: str, stamp: str) -> GraphSet:
    if stamp_of(path) != stamp:
        raise StorageError(f"{path} is not the same on every worker, or has changed.")
    return open_shards(path) if os.path.isdir(path) else GraphSet.load(path)


def _graphs(shard: GraphSet | Stored) -> GraphSet:
    """Return the graphs of a shard; a worker keeps a stored set open for the next one."""
    if isinstance(shard, GraphSet):
        return shard
    return _opened_set(shard.path, shard.stamp).take(np.arange(shard.start, shard.stop))


def _sent_model(model: Any, source: str, workers: Workers, pool: Pool) -> Any:
    """Return what workers get in place of a model: itself, its path, or the content of its file."""
    if workers.is_here:
        return model
    if source in SHIPPED and not os.path.exists(source):
        return source  # workers have it too
    path = model_path(local_path(source))
    if workers.scheduler is None:
        return str(path.absolute())
    try:
        return pool.share(path.read_bytes())
    except OSError as error:
        raise StorageError(f"Cannot read {path}: {error.strerror}.") from error


@lru_cache(maxsize=1)
def _received(content: bytes) -> Any:
    """Return the model in the content of a file."""
    with tempfile.TemporaryDirectory(prefix="igsd-") as folder:
        path = Path(folder, f"{hashlib.sha256(content).hexdigest()[:8]}.safetensors")
        path.write_bytes(content)
        return load_model(path)


@lru_cache(maxsize=1)
def _opened(path: str, changed: float) -> Any:
    return load_model(path)


def _model(sent: Any) -> Any:
    """Return the model that was sent; a worker keeps it for its next shard."""
    if isinstance(sent, bytes):
        return _received(sent)
    if isinstance(sent, str):
        return _opened(sent, os.path.getmtime(sent) if os.path.exists(sent) else 0.0)
    return sent


@contextlib.contextmanager
def _noted(first: int) -> Iterator[list[str]]:
    """Yield a list that collects the warnings of the block; errors say where the shard begins."""
    with caught_warnings() as notes:
        try:
            yield notes
        except DataError as error:
            if not first:
                raise
            raise DataError(f"{error} (Graphs are counted from graph {first} here.)") from error


def _vectors(sent: Any, shard: GraphSet | Stored, first: int) -> _Answer:
    """Return the vectors of a shard."""
    with _noted(first) as notes:
        value = np.asarray(_model(sent).transform(_graphs(shard)))
    return _Answer(value, tuple(notes))


def _predictions(sent: Any, shard: GraphSet | Stored, first: int) -> _Answer:
    """Return the predictions of a shard, as columns."""
    with _noted(first) as notes:
        value = prediction_columns(_model(sent), _graphs(shard))
    return _Answer(value, tuple(notes))
