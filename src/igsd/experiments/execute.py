"""``execute_runs``: the one executor of runs, in processes on this machine or on a Dask cluster.

Serves `igsd evaluate`, `compare`, `reproduce` and `tune`. A file lock beside a record says that a
command makes it, so that several commands can share a folder; the system frees the lock when its
owner dies.
"""

import contextlib
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from igsd.experiments.records import Record, write_record
from igsd.experiments.run import DONE, LIMIT, Options, Run
from igsd.experiments.work import Batch
from igsd.files.locks import Lock
from igsd.workers.pools import Workers, limited_threads
from igsd.workers.tasks import ATTEMPTS, run_tasks

Ended = tuple[Batch, list[Record]]


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
        if not workers.is_here:
            options = replace(options, threads=1, verbose=False)
        tasks = ((batch, options) for batch in batches)
        asks: Any = {"begin": lambda batch, _: queue.begin(batch), "lost": killed}
        with workers.pool() as pool:
            for (batch, _), records in run_tasks(work_on, tasks, pool, in_order=False, **asks):
                if not workers.is_here:
                    _keep(batch, records, options)
                yield queue.end(batch, records)
    finally:
        # Ctrl-C ends processes on this machine at once; those of a cluster finish their batch.
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


def work_on(batch: Batch, options: Options) -> list[Record]:
    """Execute a batch in this process and return its records.

    A batch that has ended two processes, of which Dask does not tell, is not tried again.
    """
    if _begun(batch, options) >= ATTEMPTS:
        return killed(batch, options)
    graphs, records, memory = batch[0].graphs(), list[Record](), dict[Run, Any]()
    with limited_threads(options.threads):
        # Count the peak memory of this process from now, where the system can (Linux).
        with contextlib.suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5")
        for run in batch:
            # What exceeds its limits with one seed is not tried with the next.
            if any(r["status"] == "limit" and r["seed"] != run.seed for r in records):
                break
            records.append(run.execute(graphs, options, memory))
    return records


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


def _keep(batch: Batch, records: Sequence[Record], options: Options) -> None:
    """Write the records of workers that have another disk."""
    # Records end where a limit was exceeded.
    for run, record in zip(batch, records, strict=False):
        path = run.path(options.records or Path())
        if options.records is not None and not path.exists():
            write_record(path, record)
