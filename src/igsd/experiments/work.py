"""``plan_work``: the runs that exhibits still need, and those that are there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from igsd.errors import ConfigError, IGSDError, nearest
from igsd.experiments.dispatch import (
    BROKEN,
    DONE,
    LIMIT,
    OTHER,
    check_run,
    state_of,
    why_other,
)
from igsd.experiments.exhibit import Exhibit, data_facts
from igsd.experiments.job import Job, cached_data, is_limited, make_jobs
from igsd.experiments.runs import Run, fitting_recipe, runs_of
from igsd.graphs.catalogue import find_entry
from igsd.graphs.graphset import GraphSet


@dataclass
class Work:
    """What is to be done: jobs in the order in which they are started, the first seeds first.

    ``done``: the runs whose record is there. ``others``: those whose place is taken by the record
    of another run, and what that has otherwise; ``broken``: by a file that is no record.
    ``problems``: sentences on what cannot be run. ``names`` and ``sizes``: what the data sets call
    themselves and how many graphs they have, by what the user called them.
    """

    jobs: list[Job] = field(default_factory=list)
    done: list[Run] = field(default_factory=list)
    others: dict[Run, str] = field(default_factory=dict)
    broken: list[Run] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)

    @property
    def is_impossible(self) -> bool:
        """Whether nothing that was asked for can be run, or has been."""
        return bool(self.problems) and not (self.jobs or self.done or self.others or self.broken)


def narrowed(
    exhibits: Sequence[Exhibit], data: Sequence[str], methods: Sequence[str]
) -> list[Exhibit]:
    """Return the exhibits with some data sets and methods alone; those left empty fall away.

    A data set that is not in an exhibit is added where it is open to the user's own. Empty lists
    leave everything. Raises ``ConfigError`` for a name that is in none of them.
    """
    found = [_with_methods(_with_data(e, data), methods) for e in exhibits]
    kept = [exhibit for exhibit in found if exhibit.data and exhibit.lines]
    # Methods first: without any that is known, no exhibit is left to have data sets.
    for asked, valid, used, kind in (
        (methods, _methods(exhibits), _methods(exhibits), "method"),
        (data, _data(exhibits), _data(kept), "data set"),
    ):
        for name in asked:
            if _known_as(name) not in used:
                said = f"{exhibits[0].name} has no" if len(exhibits) == 1 else "Nothing has a"
                raise ConfigError(f"{said} {kind} {name!r}. {nearest(name, valid)}")
    return kept


def _methods(exhibits: Sequence[Exhibit]) -> set[str]:
    return {line.method for exhibit in exhibits for line in exhibit.lines}


def _data(exhibits: Sequence[Exhibit]) -> set[str]:
    return {name for exhibit in exhibits for name in exhibit.data}


def plan_work(
    exhibits: Sequence[Exhibit],
    records: Path,
    *,
    num_seeds: int | None = None,
    force: bool = False,
    limits: Mapping[str, float | None] | None = None,
    open_source: Callable[[str], GraphSet] = cached_data,
) -> Work:
    """Return what is still to be run for these exhibits.

    Opens every data set that is asked for, by ``open_source``. One that is not to be had, or cannot
    be scored, is a problem and does not keep the others from running. ``force``: run again what has
    a record of another run in its place, or a file that is none, which is warned of.
    """
    work, sources = Work(), dict.fromkeys(d for e in exhibits for d in e.data)
    for source in sources:
        try:
            graphs = open_source(source)
            work.names[source], work.sizes[source] = graphs.name, len(graphs)
            runs = _runs_on(graphs, source, exhibits, num_seeds)
            jobs = [j for run in runs for j in make_jobs([run], source, records, limits or {})]
            _sort_out(jobs, graphs, work, force)
        except IGSDError as error:
            work.problems.append(f"{source} is left out: {error}")
    work.jobs.sort(key=lambda job: job.runs[0].seed)
    return work


def usual_recipe(source: str, graphs: GraphSet) -> str:
    """Return the recipe that belongs to a data set, by what its nodes show where it is unknown."""
    facts = data_facts().get(source)
    if facts is not None:
        return facts.recipe
    return fitting_recipe(graphs)


def is_left_to_run(job: Job) -> bool:
    """Say whether a job is still to be run: another command may have made its runs meanwhile.

    Or the first seed of them has exceeded its limits.
    """
    if all(run.path(job.records).exists() for run in job.runs):
        graphs = cached_data(job.source)
        if all(state_of(job, run, graphs) == DONE for run in job.runs):
            return False
    first = replace(job.runs[0], seed=0)
    if first in job.runs or not is_limited(first):
        return True
    return state_of(job, first, cached_data(job.source)) != LIMIT


def _sort_out(jobs: Sequence[Job], graphs: GraphSet, work: Work, force: bool) -> None:
    """Add to ``work`` what is to be run, and what is not."""
    todo: list[Run] = []
    states = {job.runs[0]: state_of(job, job.runs[0], graphs) for job in jobs}
    over = {replace(run, seed=0) for run, state in states.items() if state == LIMIT}
    refused: dict[Run, str] = {}
    for job in jobs:
        run = job.runs[0]
        first = replace(run, seed=0)
        if states[run] in (DONE, LIMIT) or first in over:
            work.done.append(run)
        elif states[run] == OTHER and not force:
            work.others[run] = why_other(job, run, graphs)
        elif states[run] == BROKEN and not force:
            work.broken.append(run)  # state_of has named the file, which is kept
        elif not _refused(job, first, graphs, refused):
            todo.append(run)
    work.problems += list(dict.fromkeys(text for text in refused.values() if text))
    if todo:
        like = jobs[0]
        limits = {"seconds": like.seconds, "memory_gib": like.memory_gib}
        work.jobs += make_jobs(todo, like.source, like.records, limits)


def _refused(job: Job, first: Run, graphs: GraphSet, refused: dict[Run, str]) -> bool:
    """Say whether a run cannot be made, and remember why; every seed of it ends alike."""
    if first not in refused:
        refused[first] = ""
        try:
            check_run(job, first, graphs)
        except IGSDError as error:
            refused[first] = f"{first.protocol} on {first.data} is left out: {error}"
    return bool(refused[first])


def _runs_on(
    graphs: GraphSet, source: str, exhibits: Sequence[Exhibit], num_seeds: int | None
) -> Iterator[Run]:
    """Yield the runs on one data set, each once; a run bears the name of the graphs."""
    recipe, seen = usual_recipe(source, graphs), set()
    for exhibit in exhibits:
        if source in exhibit.data:
            for run in runs_of(exhibit, {source: recipe}, num_seeds):
                named = replace(run, data=graphs.name)
                if named not in seen:
                    seen.add(named)
                    yield named


def _with_data(exhibit: Exhibit, asked: Sequence[str]) -> Exhibit:
    if not asked:
        return exhibit
    names = [_known_as(name) for name in asked]
    kept = [name for name in names if name in exhibit.data or exhibit.other_data]
    return replace(exhibit, data=tuple(dict.fromkeys(kept)), other_data=False)


def _with_methods(exhibit: Exhibit, asked: Sequence[str]) -> Exhibit:
    lines = tuple(line for line in exhibit.lines if not asked or line.method in asked)
    return replace(exhibit, lines=lines)


def _known_as(name: str) -> str:
    """Return the name of a data set in the catalogue; a path or another name stays as it is."""
    entry = find_entry(name)
    return name if entry is None else entry.name
