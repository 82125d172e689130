from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from igsd.experiments.estimates import Estimates, in_words, run_seconds
from igsd.experiments.job import Job
from igsd.experiments.runs import Run


def record(seconds: float, graphs: int = 10, status: str = "ok") -> dict[str, Any]:
    parts = {"train": seconds - 1, "evaluate": 1.0, "processor": 99.0}
    return {"status": status, "seconds": parts, "data": {"graphs": graphs}}


def job(data: str, *seeds: int) -> Job:
    runs = tuple(Run("nested", data, "wl", "social", seed) for seed in seeds)
    return Job(runs, data, Path("r"))


def test_seconds_of_runs_like_it() -> None:
    estimates = Estimates()
    assert estimates.seconds(job("A", 0), 10) is None
    estimates.add(job("A").records / "nested/A/wl/seed-0.json", record(4.0))
    estimates.add(job("A").records / "nested/A/wl/seed-1.json", record(6.0))
    estimates.add(job("A").records / "nested/A/wl/seed-2.json", record(60.0, status="failed"))
    assert estimates.seconds(job("A", 2, 3), 10) == pytest.approx(10.0)
    assert estimates.seconds(job("B", 0), 100) == pytest.approx(50.0)


def test_files_that_are_no_records_are_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "nested" / "A" / "wl"
    folder.mkdir(parents=True)
    (folder / "seed-0.json").write_text("{}")
    assert Estimates.read(tmp_path) == Estimates()


def test_what_a_run_took() -> None:
    assert run_seconds(record(4.0)) == 4.0


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(40, "40 s"), (700, "12 min"), (5400, "1 h 30 min"), (12003, "3 h 20 min")],
)
def test_words(seconds: float, text: str) -> None:
    assert in_words(seconds) == text
