"""What ``igsd reproduce`` says of the work before it does any."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from igsd.cli.notes import say_note

if TYPE_CHECKING:
    from pathlib import Path

    from igsd.experiments.work import Work


def list_work(work: Work, records: Path, processes: int) -> None:
    """Print what would be run and how long it may take."""
    from igsd.cli.run_display import left_in_words
    from igsd.experiments.estimates import Estimates, in_words
    from igsd.report.table import plain_table

    estimates, lines = Estimates.read(records), []
    for job in work.jobs:
        seconds = estimates.seconds(job, work.sizes[job.source])
        took = "unknown" if seconds is None else in_words(seconds)
        lines.append([job.runs[0].protocol, took, str(job)])
    if lines:
        print(plain_table(["protocol", "time", "to run"], lines, left=(0, 1, 2)))
    left = left_in_words(work.jobs, work.sizes, estimates, processes)
    left = "nothing can be run" if work.is_impossible else left
    blocked = len(work.others) + len(work.broken)
    way_out = f"; {blocked} kept from running by what is in their place (--force)"
    print(f"{left}; {len(work.done)} done already{way_out if blocked else ''}")


def say_left(work: Work, records: Path, processes: int, command: str) -> None:
    """Say on standard error what is left to run, and by which command."""
    from igsd.cli.run_display import left_in_words
    from igsd.experiments.estimates import Estimates

    if work.jobs:
        left = left_in_words(work.jobs, work.sizes, Estimates.read(records), processes)
        print(f"{left}. To run: {command}", file=sys.stderr)


def say_problems(work: Work) -> None:
    """Say on standard error what cannot be run, and which records are in the way of a run."""
    from igsd.wording import counted

    for problem in work.problems:
        say_note(problem)
    if work.others:
        first, why = next(iter(work.others.items()))
        kept = f"{counted(len(work.others), 'record')} of other settings than these runs"
        which = f"the first: {first.label} on {first.data}, seed {first.seed}: {why}"
        say_note(f"kept: {kept} ({which}); --force makes such runs again.")
    sys.stderr.flush()
