from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from igsd.cli.run_display import RunDisplay, left_in_words, outcome
from igsd.experiments.estimates import Estimates
from igsd.experiments.job import Job
from igsd.experiments.runs import Run
from igsd.experiments.work import Work


def job(seed: int, *more: int) -> Job:
    runs = tuple(Run("nested", "A", "wl", "social", each) for each in (seed, *more))
    return Job(runs, "A", Path("r"))


def record(mean: float, status: str = "ok", **more: Any) -> dict[str, Any]:
    rows = [{"method": "wl", "mean": mean}, {"method": "majority", "mean": 0.5}]
    made = {"method": "wl", "seed": 0, "status": status, "rows": rows, "seconds": {"train": 20.0}}
    return made | {"data": {"graphs": 10}} | more


def test_lines_without_a_terminal(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = Work(jobs=[job(0), job(1)], sizes={"A": 10})
    with RunDisplay(work, tmp_path, 1, None, shown=True) as display:
        assert display.may_start(job(0))
        display.start(job(0))
        # A log file said nothing until the first run had ended, which may take hours.
        begin = capsys.readouterr().err
        display.end(job(0), [record(0.9)])
    assert begin == "2 runs left, for how long is not known yet\nwl on A, seed 0 ...\n"
    err = capsys.readouterr().err
    assert err.startswith("1/2 wl on A, seed 0: 90.0 %, 0.0 s; 1 run left, about 20 s")


def test_budget(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = Work(jobs=[job(0), job(1, 2)], sizes={"A": 10})
    with RunDisplay(work, tmp_path, 1, 0.0, shown=True) as display:
        assert not display.may_start(job(0))
    left = "3 runs left, for how long is not known yet"
    over = f"The budget is used up: {left}. The same command goes on."
    assert capsys.readouterr().err == f"{left}\n{over}\n"


def test_quiet_speaks_of_failures_alone(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    work = Work(jobs=[job(0), job(1)], sizes={"A": 10})
    with RunDisplay(work, tmp_path, 1, None, shown=False) as display:
        display.start(job(0))
        display.end(job(0), [record(0.9)])
        display.end(job(1), [record(0.0, "failed", error="It broke.")])
    assert capsys.readouterr().err == "2/2 wl on A, seed 1: It broke.\n"


def test_what_is_left() -> None:
    estimates, jobs = Estimates(), [job(0), job(1, 2)]
    assert left_in_words([], {}, estimates, 1) == "nothing left"
    text = "3 runs left, for how long is not known yet"
    assert left_in_words(jobs, {"A": 10}, estimates, 1) == text
    estimates.add(Path("r/nested/A/wl/seed-9.json"), record(0.9))
    assert left_in_words(jobs, {"A": 10}, estimates, 1) == "3 runs left, about 60 s"
    # The job of two seeds takes forty seconds, whoever runs the other.
    assert left_in_words(jobs, {"A": 10}, estimates, 2) == "3 runs left, about 40 s"


def test_outcomes() -> None:
    assert outcome([record(0.9), record(0.8)]) == "85.0 %"
    assert outcome([record(0.9, "limit", error="OMR: too much.")]) == "OMR: too much."
    assert outcome([record(0.9, rows=[{"method": "wl", "mae": {}}])]) == "done"
