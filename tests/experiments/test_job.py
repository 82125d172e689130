from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from igsd.experiments import job
from igsd.experiments.job import cached_data, is_limited, is_shared, make_jobs
from igsd.experiments.runs import Run
from igsd.graphs.graphset import GraphSet
from tests.experiments.small_exhibit import write_data
from tests.small_graphs import make_graphs


def run(method: str, seed: int = 0, protocol: str = "nested") -> Run:
    return Run(protocol, "toy", method, "molecules", seed)


def test_methods_other_than_igsd_have_limits() -> None:
    assert not is_limited(run("igsd"))
    assert not is_limited(run("gin", protocol="semi"))
    assert is_limited(run("graph2vec"))
    assert not is_shared(run("graph2vec"))  # it draws
    assert is_shared(run("wl"))


def test_seeds_of_what_draws_nothing_share_a_job(tmp_path: Path) -> None:
    runs = [run(name, seed) for seed in range(2) for name in ("igsd", "wl")]
    jobs = make_jobs(runs, "toy", tmp_path, {"seconds": 5.0})
    assert [str(job) for job in jobs] == [
        "molecules on toy, seed 0",
        "wl on toy, seeds 0 to 1",
        "molecules on toy, seed 1",
    ]
    assert {job.seconds for job in jobs} == {5.0}
    assert jobs[1].path_of(1) == tmp_path / "nested" / "toy" / "wl" / "seed-1.json"


def test_data_are_opened_once(tmp_path: Path) -> None:
    source = write_data(tmp_path)
    assert cached_data(source) is cached_data(source)


def test_two_data_sets_stay_open(tmp_path: Path) -> None:
    sources = [write_data(tmp_path, name) for name in ("a", "b", "c")]
    first, *others = (cached_data(source) for source in sources)
    assert [cached_data(source) for source in sources[1:]] == others
    assert cached_data(sources[2]) is others[1]
    assert cached_data(sources[0]) is not first


def test_opening_tells_how_far_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_slowly(source: str, progress: Any) -> GraphSet:
        progress(1, 2)
        return make_graphs(2)

    monkeypatch.setattr(job, "open_data", open_slowly)
    told: list[tuple[int, int | None]] = []
    for _ in range(2):
        cached_data("slow", lambda *counts: told.append(counts))
    assert told == [(1, 2)]
