"""``run_jobs``: many jobs side by side, in processes of this machine or on a cluster."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from igsd.experiments.claim import claim, clear_leftovers
from igsd.experiments.job import Job
from igsd.experiments.job_worker import Ended, killed, work_on
from igsd.experiments.records import Record, write_record
from igsd.experiments.workers import Workers, backend
from igsd.training.interrupt import deaf_children


def run_jobs(
    jobs: Sequence[Job],
    workers: Workers,
    may_start: Callable[[Job], bool] = lambda job: True,
    on_start: Callable[[Job], None] = lambda job: None,
    on_taken: Callable[[Job], None] = lambda job: None,
) -> Iterator[Ended]:
    """Yield (job, its records) as jobs end.

    ``may_start`` is asked, and ``on_start`` told, before each job begins; a job that may not is
    left out, and so is one that another command has taken, which ``on_taken`` is told. A job whose
    process is killed is tried once more, then its runs are recorded as failed. Raises
    ``ConfigError`` where a cluster cannot be used, ``StorageError`` where records cannot be
    written. What was under way when this is left has no record.
    """

    def begins(job: Job) -> bool:
        if not may_start(job):
            return False
        if not claim(job):
            on_taken(job)
            return False
        return True

    if workers.count == 1 and workers.scheduler is None:
        for job in jobs:
            if begins(job):
                on_start(job)
                yield work_on(job)
        return
    try:
        with backend(workers) as count:
            yield from _side_by_side(list(jobs), count, begins, on_start)
    finally:
        # Ctrl-C ends processes of this machine at once; those of a cluster end what they began.
        if workers.scheduler is None:
            for job in jobs:
                clear_leftovers(job)


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
                yield job, killed(job)
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
    with deaf_children():
        ended = pool(started())
    for job, records in ended:
        _keep(job, records)
        yield job, records


def _keep(job: Job, records: Sequence[Record]) -> None:
    """Write records that are not here because a worker wrote them on another machine."""
    for record in records:
        path = job.path_of(record["seed"])
        if not path.exists():
            write_record(path, record)
