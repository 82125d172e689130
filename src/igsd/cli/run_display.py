"""``RunDisplay``: what runs, what is left and for how long, on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    from igsd.experiments.estimates import Estimates
    from igsd.experiments.job import Job
    from igsd.experiments.records import Record
    from igsd.experiments.work import Work


class RunDisplay:
    """Follows jobs from start to end and decides whether another one may be started.

    On a terminal a line with what runs and what is left stays below the others; elsewhere (a log
    file) there is a line at the beginning and one at each start. ``budget``: the seconds after
    which nothing is started any more.
    """

    def __init__(
        self, work: Work, records: Path, workers: int, budget: float | None, *, shown: bool
    ) -> None:
        from igsd.experiments.estimates import Estimates

        self._work, self._workers, self._shown = work, workers, shown
        self._left = dict.fromkeys(work.jobs)
        self._running: dict[Job, float] = {}
        self._estimates = Estimates.read(records)
        self._begin, self._budget = time.monotonic(), budget
        self._is_over, self._taken = False, list["Job"]()
        self._status: Any = None

    def __enter__(self) -> RunDisplay:
        if self._shown and sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True, markup=False, highlight=False).status("")
            self._status.__enter__()
        elif self._shown and self._left:
            self._say(self._rest())
        return self

    def __exit__(self, *error: object) -> None:
        if self._status is not None:
            self._status.__exit__(*error)
        if self._is_over:
            left = f"The budget is used up: {self._rest()}"
            print(f"{left}. The same command goes on.", file=sys.stderr)
        if self._taken:
            from igsd.wording import counted

            runs = counted(_num_runs(self._taken), "run")
            print(f"Another command in the same folder makes {runs} of these.", file=sys.stderr)

    def may_start(self, job: Job) -> bool:
        """Say whether there is time for a job, and it is still to be run."""
        from igsd.experiments.work import is_left_to_run

        if self._budget is not None and time.monotonic() - self._begin >= self._budget:
            self._is_over = True
            return False
        if is_left_to_run(job):
            return True
        self._left.pop(job, None)
        return False

    def taken(self, job: Job) -> None:
        """Note that another command makes the runs of a job."""
        self._left.pop(job, None)
        self._taken.append(job)

    def start(self, job: Job) -> None:
        """Note that a job is started."""
        self._running[job] = time.monotonic()
        if self._shown and self._status is None:
            self._say(f"{job} ...")
        self._show()

    def end(self, job: Job, records: Sequence[Record]) -> None:
        """Note that a job has ended, and say how."""
        begin = self._running.pop(job, None)
        self._left.pop(job, None)
        for record in records:
            self._estimates.add(job.path_of(record["seed"]), record)
        took = "" if begin is None else f", {time.monotonic() - begin:.1f} s"
        failed = any(record["status"] == "failed" for record in records)
        if self._shown or failed:
            done = len(self._work.jobs) - len(self._left)
            place = f"{done}/{len(self._work.jobs)}"
            tail = "" if self._status is not None or not self._shown else f"; {self._rest()}"
            self._say(f"{place} {job}: {outcome(records)}{took}{tail}")
        self._show()

    def _rest(self) -> str:
        return left_in_words(list(self._left), self._work.sizes, self._estimates, self._workers)

    def _say(self, text: str) -> None:
        if self._status is None:
            print(text, file=sys.stderr, flush=True)
        else:
            self._status.console.print(text)

    def _show(self) -> None:
        if self._status is not None:
            running = " | ".join(str(job) for job in self._running)
            self._status.update(f"{running}\n  {self._rest()}")


def left_in_words(
    jobs: Sequence[Job], sizes: Mapping[str, int], estimates: Estimates, workers: int
) -> str:
    """Return how many runs are left and for how long: ``12 runs left, about 20 min``."""
    from igsd.experiments.estimates import in_words
    from igsd.wording import counted

    runs = counted(_num_runs(jobs), "run")
    seconds = {job: estimates.seconds(job, sizes[job.source]) for job in jobs}
    told = [value for value in seconds.values() if value is not None]
    # Side by side they take as long as the longest of them, at least.
    known = max(sum(told) / max(workers, 1), max(told, default=0.0))
    unknown = [job for job in jobs if seconds[job] is None]
    if not jobs:
        return "nothing left"
    if len(unknown) == len(jobs):
        return f"{runs} left, for how long is not known yet"
    more = f" and {counted(_num_runs(unknown), 'run')} of unknown length" if unknown else ""
    return f"{runs} left, about {in_words(known)}{more}"


def _num_runs(jobs: Sequence[Job]) -> int:
    return sum(len(job.runs) for job in jobs)


def outcome(records: Sequence[Record]) -> str:
    """Return how the runs of a job ended, in a few words."""
    bad = [record for record in records if record["status"] != "ok"]
    if bad:
        return str(bad[0]["error"])
    means = [row["mean"] for record in records for row in _own(record) if "mean" in row]
    if not means:
        return "done"
    return f"{100 * sum(means) / len(means):.1f} %"


def _own(record: Record) -> list[dict[str, Any]]:
    """Return the row of the method that was run: without twins removed, under the first protocol.

    IGSD by a recipe has a record without the name of a method.
    """
    name = record.get("method", "igsd")
    return [row for row in record["rows"] if row["method"] == name][:1]
