"""``execute_runs``: the one executor of runs, in processes of this machine or on a Dask cluster.

Serves `igsd evaluate`, `compare`, `reproduce` and `tune`. A file lock beside a record says that a
command makes it, so that several commands can share a folder; the system frees the lock when its
owner dies.
"""

import asyncio
import contextlib
import logging
import multiprocessing
import os
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky.process_executor import BrokenProcessPool

from igsd.errors import ConfigError, need
from igsd.experiments.records import Record, write_record
from igsd.experiments.run import DONE, LIMIT, Options, Run
from igsd.experiments.work import Batch
from igsd.files.locks import Lock
from igsd.processes import deaf_children

_ATTEMPTS = 2
_LOOK_EVERY = 1.0
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")
# Seconds in which a scheduler must listen, and in which one on a busy machine must answer.
_LONGEST_START, _LONGEST_ANSWER = 8.0, 60.0

Ended = tuple[Batch, list[Record]]


@dataclass(frozen=True)
class Workers:
    """Where runs are executed: in ``count`` processes here, or on Dask by a ``scheduler``."""

    count: int = 1
    scheduler: str | None = None

    def size(self) -> int:
        """Return how many batches run at a time; raises ``ConfigError`` without a cluster."""
        if self.scheduler is None:
            return self.count
        with _client(self.scheduler) as (_, count):
            return count


class Display:
    """Progress callbacks of the executor; the base class ignores them."""

    def start(self, batch: Batch) -> None:
        """Note that a batch starts."""

    def end(self, batch: Batch, records: Sequence[Record]) -> None:
        """Note that a batch has ended with these records."""

    def skip(self, batch: Batch, reason: str) -> None:
        """Note that a batch is not started: ``budget``, ``done`` or ``taken`` by a command."""


def execute_runs(
    batches: Sequence[Batch],
    options: Options,
    workers: Workers,
    display: Display | None = None,
    budget: float | None = None,
) -> Iterator[Ended]:
    """Yield (batch, its records) as batches end.

    ``budget``: the seconds after which nothing is started. A batch is also skipped if another
    command has made its runs or is making them, or if a run with another seed exceeded its limits.
    A batch whose process is killed is tried once more, then its runs are recorded as failed. Raises
    ``ConfigError`` if a cluster cannot be used, ``StorageError`` if records cannot be written.
    Batches that are running when the caller stops iterating leave no record.
    """
    queue = _Queue(options, display or Display(), budget)
    if options.records is not None:
        _remove_marks(options.records)
    try:
        if workers.count == 1 and workers.scheduler is None:
            for batch in batches:
                if queue.begin(batch):
                    yield queue.end(batch, work_on(batch, options)[1])
            return
        options = replace(options, threads=1, verbose=False)
        with _backend(workers) as count:
            yield from _side_by_side(list(batches), options, count, queue)
    finally:
        # Ctrl-C ends processes of this machine at once; those of a cluster finish their batch.
        queue.close(remove_leftovers=workers.scheduler is None)


class _Queue:
    """Decides which batches start, holds their locks, and tells the display."""

    def __init__(self, options: Options, display: Display, budget: float | None) -> None:
        self._options, self._display = options, display
        self._end = None if budget is None else time.monotonic() + budget
        self._locks: dict[Batch, Lock] = {}
        self._over: set[Run] = set()
        self._begun: set[Batch] = set()

    def begin(self, batch: Batch) -> bool:
        """Whether a batch may start now; if so, it is locked."""
        if batch not in self._begun:  # otherwise its process was killed
            is_over = self._end is not None and time.monotonic() >= self._end
            reason = "budget" if is_over else "" if self._is_left(batch) else "done"
            if not reason and not self._lock(batch):
                reason = "taken"
            if reason:
                self._display.skip(batch, reason)
                return False
            self._begun.add(batch)
        self._display.start(batch)
        return True

    def end(self, batch: Batch, records: list[Record]) -> Ended:
        """Release a batch and return it with its records."""
        if any(record["status"] == "limit" for record in records):
            self._over.add(replace(batch[0].fit, seed=0))
        if batch in self._locks:
            self._locks.pop(batch).release()
        self._display.end(batch, records)
        return batch, records

    def close(self, *, remove_leftovers: bool) -> None:
        """Release all batches; a killed process may have left temporary files."""
        folder = self._options.records or Path()  # without one there are no locks
        for batch, lock in self._locks.items():
            for run in batch if remove_leftovers else ():
                path = run.path(folder)
                for left in path.parent.glob(f".{path.name}.*"):
                    if left != lock.path:
                        left.unlink(missing_ok=True)
            lock.release()
        self._locks.clear()

    def _is_left(self, batch: Batch) -> bool:
        """Whether a batch is still to be run: another command may have made its runs."""
        first, records = replace(batch[0], seed=0), self._options.records
        if first.fit in self._over:
            return False
        if records is None or self._options.force:
            return True
        if all(run.path(records).exists() for run in batch):
            graphs = batch[0].graphs()
            if all(run.state(graphs, self._options)[0] == DONE for run in batch):
                return False
        if first in batch or not first.path(records).exists():
            return True
        return first.state(first.graphs(), self._options)[0] != LIMIT

    def _lock(self, batch: Batch) -> bool:
        path = lock_path(batch, self._options)
        if path is None:
            return True
        lock = Lock(path)
        if not lock.acquire():
            return False
        path.write_text("")
        self._locks[batch] = lock
        return True


def lock_path(batch: Batch, options: Options) -> Path | None:
    """Return the lock file beside a batch's first record.

    It holds a dot for each process that started the batch.
    """
    if options.records is None:
        return None
    # Commands that lack the record of one protocol only make the same vectors.
    path = replace(batch[0], protocol=batch[0].fit.protocol).path(options.records)
    return path.with_name(f".{path.name}.running")


def _remove_marks(records: Path) -> None:
    """Remove the locked files that killed commands left; those of others stay locked."""
    # Unlike rglob, walk does not mind folders that their owners remove meanwhile.
    for folder, _, names in os.walk(records):
        for name in names:
            if name.startswith(".") and name.endswith(".running"):
                lock = Lock(Path(folder, name))
                if lock.acquire():
                    lock.release()


def work_on(batch: Batch, options: Options, parent: int | None = None) -> Ended:
    """Execute a batch in this process and return it with its records.

    ``parent``: this process ends when that one does, even if it is killed. A batch that has ended
    two processes is not tried again.
    """
    if parent is not None:
        _allow_children()
        if os.getppid() == parent:
            threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if _begun(batch, options) >= _ATTEMPTS:
        return batch, killed(batch, options)
    graphs, records, memory = batch[0].graphs(), list[Record](), dict[Run, Any]()
    with _threads(options.threads):
        # Count the peak memory of this process from now, where the system can (Linux).
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        for run in batch:
            # What exceeds its limits with one seed is not tried with the next.
            if any(r["status"] == "limit" and r["seed"] != run.seed for r in records):
                break
            records.append(run.execute(graphs, options, memory))
    return batch, records


def killed(batch: Batch, options: Options) -> list[Record]:
    """Return the records of a batch whose process was killed."""
    text = "The process of the run was killed, possibly because memory ran out."
    graphs = batch[0].graphs()
    return [run.failed(graphs, options, text) for run in batch]


def _begun(batch: Batch, options: Options) -> int:
    """Note that a process begins a batch; return how many had begun it before."""
    path = lock_path(batch, options)
    if path is None:
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "a+", encoding="ascii") as file:
        file.seek(0)
        count = file.read().count(".")
        file.write(".")
    return count


def _side_by_side(
    batches: Sequence[Batch], options: Options, count: int, queue: _Queue
) -> Iterator[Ended]:
    """Yield what ends; after a process was killed, continue with the rest in new ones.

    All processes end with the one that was killed. What they had under way is then run once more,
    one batch at a time, to find the one that is to blame.
    """
    left, suspects, running = dict.fromkeys(batches), set[Batch](), set[Batch]()

    def started(batches: Sequence[Batch]) -> Iterator[Any]:
        for batch in batches:
            if queue.begin(batch):
                running.add(batch)
                yield delayed(work_on)(batch, options, os.getpid())

    while left:
        alone = [batch for batch in left if batch in suspects]
        chosen, at_a_time = alone or list(left), 1 if alone else count
        # A pool of one would run a batch in this process, which must not be the one that is killed.
        settings = {"n_jobs": max(count, 2), "pre_dispatch": at_a_time, "batch_size": 1}
        pool = Parallel(return_as="generator_unordered", **settings)
        try:
            with deaf_children():
                ended = pool(started(chosen))
            for batch, records in ended:
                _keep(batch, records, options)
                running.discard(batch)
                left.pop(batch)
                yield queue.end(batch, records)
            for batch in chosen:  # what was not allowed to start stays as it is
                left.pop(batch, None)
        except BrokenProcessPool:
            for batch in running & suspects:
                left.pop(batch)
                yield queue.end(batch, killed(batch, options))
            suspects |= running
            running.clear()


def _keep(batch: Batch, records: Sequence[Record], options: Options) -> None:
    """Write the records of workers that have another disk."""
    # Records end where a limit was exceeded.
    for run, record in zip(batch, records, strict=False):
        path = run.path(options.records or Path())
        if options.records is not None and not path.exists():
            write_record(path, record)


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a run must not continue beside its successor."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os._exit(1)


def _allow_children() -> None:
    """Let this process start others by ``multiprocessing``, as measured methods do.

    Dask's workers are daemons, which may not have children; ours end with their parent anyway. The
    start method of joblib's workers is unknown to their children.
    """
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    method = multiprocessing.get_start_method(allow_none=True)
    if method not in (None, *multiprocessing.get_all_start_methods()):
        multiprocessing.set_start_method("spawn", force=True)


@contextlib.contextmanager
def _threads(count: int | None) -> Iterator[None]:
    """Limit PyTorch and BLAS to ``count`` threads, here and in processes started in the block."""
    if count is None:
        yield
        return
    import torch
    from threadpoolctl import threadpool_limits

    before, threads = {name: os.environ.get(name) for name in _THREADS}, torch.get_num_threads()
    os.environ.update(dict.fromkeys(_THREADS, str(count)))
    torch.set_num_threads(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        torch.set_num_threads(threads)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextlib.contextmanager
def _backend(workers: Workers) -> Iterator[int]:
    """Let joblib use these workers inside the block; yield how many there are."""
    if workers.scheduler is None:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            yield workers.count
        return
    with _client(workers.scheduler) as (dask, count), parallel_config(backend="dask", client=dask):
        yield count


def check_address(scheduler: str) -> tuple[str, int]:
    """Return host and port of a Dask scheduler; raises ``ConfigError``. Does not connect."""
    comm = need("cluster", "distributed.comm", "The backend dask")
    try:
        host, port = comm.get_address_host_port(scheduler)
    except ValueError:
        host, port = "", 0
    if not host or not 0 < port < 2**16:
        raise ConfigError(
            "The address of a Dask scheduler must be SCHEME://HOST:PORT or HOST:PORT, as `dask "
            f"scheduler` prints it, for example tcp://10.0.0.1:8786. Got {scheduler!r}."
        )
    return host, port


@contextlib.contextmanager
def _client(scheduler: str) -> Iterator[tuple[Any, int]]:
    """Yield a connection to a Dask scheduler and its number of workers; raises ``ConfigError``."""
    host, port = check_address(scheduler)
    from distributed import Client

    try:
        if not scheduler.startswith("ucx"):  # every other scheme is based on TCP
            _wait_for_listener(host, port)
        client = Client(scheduler, timeout=_LONGEST_ANSWER, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"There is no Dask scheduler at {scheduler!r}. Start one with `dask scheduler` and "
            "give the address it prints, for example tcp://10.0.0.1:8786."
        ) from error
    # It reports a lost connection by its whole stack; one sentence below is enough.
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
    with client:
        try:
            yield client, _num_workers(client, scheduler)
        except (asyncio.CancelledError, CancelledError) as error:
            raise ConfigError(
                f"The Dask scheduler at {scheduler} has ended, or cannot be reached any more. "
                "Finished runs have their records; restart it, and the same command continues."
            ) from error


def _wait_for_listener(host: str, port: int) -> None:
    """Return when somebody listens; raises ``OSError`` if nobody does for some seconds.

    The system itself accepts the connection, so a scheduler that is slow to answer is not missed.
    """
    end = time.monotonic() + _LONGEST_START
    while True:
        left = end - time.monotonic()
        try:
            socket.create_connection((host, port), timeout=max(left, 1.0)).close()
            return
        except OSError:
            if left <= 0:
                raise
        time.sleep(0.2)


def _num_workers(client: Any, scheduler: str) -> int:
    """Return the number of workers; raises ``ConfigError`` if they are unusable."""
    if not (threads := client.ncores()):
        raise ConfigError(
            f"The Dask scheduler at {scheduler} has no workers. Start some with "
            f"`dask worker {scheduler} --nthreads 1`."
        )
    if len(threads) == 1:
        raise ConfigError(
            f"The Dask scheduler at {scheduler} has one worker, and joblib would make all runs in "
            f"this process instead. Start another, `dask worker {scheduler} --nthreads 1`, or "
            "leave out --backend and --scheduler."
        )
    if max(threads.values()) > 1:
        raise ConfigError(
            "A Dask worker must have one thread, since runs of one process would share random "
            f"numbers: `dask worker {scheduler} --nthreads 1 --nworkers N`. Got one with "
            f"{max(threads.values())} threads."
        )
    return len(threads)
