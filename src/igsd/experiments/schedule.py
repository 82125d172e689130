"""``run_jobs``: many jobs side by side, in processes of this machine or on a cluster."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.errors import ConfigError
from igsd.experiments.dispatch import Job, Record, cached_data, execute, failed_record
from igsd.experiments.records import write_record

_ATTEMPTS = 2
_LOOK_EVERY = 1.0
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

Ended = tuple[Job, list[Record]]


@dataclass(frozen=True)
class Workers:
    """Who runs the jobs: ``count`` processes here, or the workers of a Dask ``scheduler``."""

    count: int = 1
    scheduler: str | None = None


def run_jobs(
    jobs: Sequence[Job],
    workers: Workers,
    may_start: Callable[[Job], bool] = lambda job: True,
    on_start: Callable[[Job], None] = lambda job: None,
) -> Iterator[Ended]:
    """Yield (job, its records) as jobs end.

    ``may_start`` is asked, and ``on_start`` told, before each job begins; a job that may not is
    left out. A job whose process is killed is tried once more, then its runs are recorded as
    failed. Raises ``ConfigError`` where a cluster cannot be used, ``StorageError`` where records
    cannot be written. What was under way when this is left has no record.
    """
    for job in jobs:
        _marker(job).unlink(missing_ok=True)  # of a command that was killed before this one
    if workers.count == 1 and workers.scheduler is None:
        for job in jobs:
            if may_start(job):
                on_start(job)
                yield work_on(job)
        return
    with _backend(workers) as count:
        yield from _side_by_side(list(jobs), count, may_start, on_start)


def work_on(job: Job, parent: int | None = None) -> Ended:
    """Return a job with its records, made by a single thread as in every other process.

    ``parent``: the process with whose end this one shall end, even where that is killed. A job
    that has ended two processes, as a marker beside its record tells, is not tried again.
    """
    if parent is not None and os.getppid() == parent:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _allow_children()
    marker = _marker(job)
    attempts = len(marker.read_bytes()) if marker.exists() else 0
    if attempts >= _ATTEMPTS:
        return job, _killed(job)
    marker.parent.mkdir(parents=True, exist_ok=True)
    marker.write_bytes(b"." * (attempts + 1))
    try:
        with _one_thread():
            _forget_peak_memory()
            return job, execute(job)
    finally:
        marker.unlink(missing_ok=True)


def num_workers(workers: Workers) -> int:
    """Return how many jobs run at a time; raises ``ConfigError`` where a cluster is not there."""
    if workers.scheduler is None:
        return workers.count
    with _client(workers.scheduler) as client:
        return len(_checked(client, workers.scheduler))


def _side_by_side(
    jobs: Sequence[Job],
    count: int,
    may_start: Callable[[Job], bool],
    on_start: Callable[[Job], None],
) -> Iterator[Ended]:
    """Yield what ends; after a process was killed, go on with the rest in new ones.

    All processes end with the one that was killed. What they had under way is then run once more,
    one job at a time, so that the job that is to blame is found.
    """
    from joblib.externals.loky.process_executor import BrokenProcessPool

    left, suspects, running = dict.fromkeys(jobs), set[Job](), set[Job]()

    def begin(job: Job) -> None:
        running.add(job)
        on_start(job)

    while left:
        alone = [job for job in left if job in suspects]
        batch = alone or list(left)
        try:
            for job, records in _pool(batch, count, 1 if alone else count, may_start, begin):
                running.discard(job)
                left.pop(job)
                yield job, records
            for job in batch:  # what was not allowed to start stays as it is
                left.pop(job, None)
        except BrokenProcessPool:
            for job in running & suspects:
                left.pop(job)
                yield job, _killed(job)
            suspects |= running
            running.clear()


def _pool(
    jobs: Sequence[Job],
    count: int,
    at_a_time: int,
    may_start: Callable[[Job], bool],
    on_start: Callable[[Job], None],
) -> Iterator[Ended]:
    """Yield what the processes of one pool have done, each job as it ends."""
    from joblib import Parallel, delayed

    def started() -> Iterator[Any]:
        for job in jobs:
            if may_start(job):
                on_start(job)
                yield delayed(work_on)(job, os.getpid())

    # One job would be run in this process, which must not be the one that is killed.
    pool = Parallel(
        n_jobs=max(count, 2), pre_dispatch=at_a_time, batch_size=1, return_as="generator_unordered"
    )
    for job, records in pool(started()):
        _keep(job, records)
        yield job, records


def _keep(job: Job, records: Sequence[Record]) -> None:
    """Write records that are not here because a worker wrote them on another machine."""
    for record in records:
        path = job.path_of(record["seed"])
        if not path.exists():
            write_record(path, record)


def _marker(job: Job) -> Path:
    """Return the file that stands beside a record while it is made."""
    path = job.path_of(job.runs[0].seed)
    return path.with_name(f".{path.name}.running")


def _killed(job: Job) -> list[Record]:
    """Return the records of a job whose process was killed."""
    text = "The process of the run was ended from outside, perhaps for want of memory."
    _marker(job).unlink(missing_ok=True)
    graphs = cached_data(job.source)
    return [failed_record(job, run, graphs, text) for run in job.runs]


@contextlib.contextmanager
def _backend(workers: Workers) -> Iterator[int]:
    """Let joblib use these workers inside the block; yield how many there are."""
    from joblib import parallel_config

    if workers.scheduler is None:
        with parallel_config(backend="loky", inner_max_num_threads=1):
            yield workers.count
        return
    with _client(workers.scheduler) as client:
        count = len(_checked(client, workers.scheduler))
        with parallel_config(backend="dask", client=client):
            yield count


@contextlib.contextmanager
def _client(scheduler: str) -> Iterator[Any]:
    """Yield a connection to a Dask scheduler; raises ``ConfigError`` where there is none."""
    try:
        from distributed import Client
    except ImportError as error:
        raise ConfigError(
            'The backend dask needs the package distributed: pip install "igsd[cluster]".'
        ) from error
    try:
        client = Client(scheduler, timeout=15, set_as_default=False)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"There is no Dask scheduler at {scheduler!r}. Start one with `dask scheduler` and "
            "give the address it prints, for example tcp://10.0.0.1:8786."
        ) from error
    with client:
        yield client


def _checked(client: Any, scheduler: str) -> dict[str, int]:
    """Return the threads of each worker; raises ``ConfigError`` for workers that cannot be used."""
    threads: dict[str, int] = client.ncores()
    if not threads:
        raise ConfigError(
            f"The Dask scheduler at {scheduler} has no workers. Start some with "
            f"`dask worker {scheduler} --nthreads 1`."
        )
    if max(threads.values()) > 1:
        raise ConfigError(
            "A Dask worker must have one thread, since runs of one process would share random "
            f"numbers: `dask worker {scheduler} --nthreads 1 --nworkers N`. Got one with "
            f"{max(threads.values())} threads."
        )
    return threads


def _end_with(parent: int) -> None:
    """End this process when its parent is gone: a run must not go on beside its successor."""
    while os.getppid() == parent:
        time.sleep(_LOOK_EVERY)
    os._exit(1)


def _allow_children() -> None:
    """Let this process start others by ``multiprocessing``, as measured methods do.

    Dask's workers are daemons, which may not have children; ours end with their parent anyway. In
    workers of joblib the way to start a process is one that the children do not know.
    """
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    method = multiprocessing.get_start_method(allow_none=True)
    if method not in (None, *multiprocessing.get_all_start_methods()):
        multiprocessing.set_start_method("spawn", force=True)


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Compute with one thread, here and in processes that are started inside the block."""
    import torch
    from threadpoolctl import threadpool_limits

    before, threads = {name: os.environ.get(name) for name in _THREADS}, torch.get_num_threads()
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def _forget_peak_memory() -> None:
    """Let the peak memory of this process count from now, where the system can (Linux)."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")
