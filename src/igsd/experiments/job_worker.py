"""``work_on``: what a process does with a job, whoever started it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
from collections.abc import Iterator

from igsd.experiments.claim import begin, release
from igsd.experiments.dispatch import execute, failed_record
from igsd.experiments.job import Job, cached_data
from igsd.experiments.records import Record

_ATTEMPTS = 2
_LOOK_EVERY = 1.0
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")

Ended = tuple[Job, list[Record]]


def work_on(job: Job, parent: int | None = None) -> Ended:
    """Return a job with its records, made by a single thread as in every other process.

    ``parent``: the process with whose end this one shall end, even where that is killed. A job
    that has ended two processes, as its ``claim`` tells, is not tried again.
    """
    if parent is not None and os.getppid() == parent:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    _allow_children()
    if begin(job) >= _ATTEMPTS:
        return job, killed(job)
    try:
        with _one_thread():
            _forget_peak_memory()
            return job, execute(job)
    finally:
        release(job)


def killed(job: Job) -> list[Record]:
    """Return the records of a job whose process was killed."""
    text = "The process of the run was ended from outside, perhaps for want of memory."
    release(job)
    graphs = cached_data(job.source)
    return [failed_record(job, run, graphs, text) for run in job.runs]


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
