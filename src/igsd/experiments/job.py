"""``Job``: the runs that one process makes, on data that it opens itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from igsd.baselines.registry import method
from igsd.evaluation import PROTOCOLS
from igsd.experiments.method_plan import DAY
from igsd.experiments.runs import Run
from igsd.graphs.download import Progress
from igsd.graphs.graphset import GraphSet
from igsd.graphs.open_data import open_data

_MOST_OPEN = 2
_opened: dict[str, GraphSet] = {}


@dataclass(frozen=True)
class Job:
    """Runs that differ in their seed alone, on data that ``source`` stands for.

    More than one where the method draws nothing: it is then run once and scored under all folds.
    ``seconds`` and ``memory_gib``: the limits of methods other than IGSD.
    """

    runs: tuple[Run, ...]
    source: str
    records: Path
    seconds: float | None = DAY
    memory_gib: float | None = None

    def path_of(self, seed: int) -> Path:
        """Return where the record of this seed stands."""
        return replace(self.runs[0], seed=seed).path(self.records)

    def __str__(self) -> str:
        run, last = self.runs[0], self.runs[-1].seed
        seeds = f"seed {run.seed}" if run.seed == last else f"seeds {run.seed} to {last}"
        share = "" if run.protocol != "semi" else f", {run.label_rate:.0%} labels"
        target = f", {run.target}" if run.target else ""
        return f"{run.label} on {run.data}{target}{share}, {seeds}"


def make_jobs(
    runs: Sequence[Run], source: str, records: Path, limits: Mapping[str, float | None]
) -> list[Job]:
    """Return the jobs of runs on one data set; those of a method that draws nothing share one."""
    groups: dict[Run, list[Run]] = {}
    for run in runs:
        groups.setdefault(replace(run, seed=0) if is_shared(run) else run, []).append(run)
    return [Job(tuple(group), source, records, **limits) for group in groups.values()]


def is_limited(run: Run) -> bool:
    """Say whether a run has limits of time and memory: methods other than IGSD have."""
    return run.protocol in PROTOCOLS and not run.is_recipe


def is_shared(run: Run) -> bool:
    """Say whether other seeds of this run differ in their folds alone."""
    return is_limited(run) and not method(run.method).draws


def cached_data(source: str, progress: Progress | None = None) -> GraphSet:
    """Return the graphs that DATA stands for, kept for the next run of this process.

    ``progress`` is told how far it is, as by ``load_dataset``, where they are not open yet.
    """
    if source not in _opened:
        graphs = open_data(source, progress=progress)
        for oldest in list(_opened)[: 1 - _MOST_OPEN]:
            del _opened[oldest]
        _opened[source] = graphs
    return _opened[source]
