from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from igsd.cli.planned_work import list_work, say_left, say_problems
from igsd.experiments.job import Job
from igsd.experiments.runs import Run
from igsd.experiments.work import Work

RUN = Run("nested", "toy", "wl", "molecules", 0)


def test_the_list_of_what_would_be_run(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    runs = (RUN, replace(RUN, seed=1))
    work = Work(jobs=[Job(runs, "toy.graphs", tmp_path)], done=[RUN], sizes={"toy.graphs": 4})
    list_work(work, tmp_path, 2)
    header, line, last = capsys.readouterr().out.splitlines()
    assert (header.split()[0], line.split()) == (
        "protocol",
        ["nested", "unknown", "wl", "on", "toy,", "seeds", "0", "to", "1"],
    )
    assert last.startswith("2 runs left")
    assert last.endswith("; 1 done already")


def test_what_is_kept_from_running_is_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    list_work(Work(others={RUN: ""}, broken=[replace(RUN, seed=1)]), tmp_path, 2)
    said = "nothing left; 0 done already; 2 kept from running by what is in their place (--force)"
    assert capsys.readouterr().out.strip() == said


def test_nothing_left_is_not_worth_a_word(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    say_left(Work(), tmp_path, 1, "igsd reproduce all")
    assert capsys.readouterr().err == ""


def test_problems_and_records_in_the_way(capsys: pytest.CaptureFixture[str]) -> None:
    say_problems(Work(others={RUN: "epochs is 1 there and 2 here"}, problems=["X is left out."]))
    first, second = capsys.readouterr().err.splitlines()
    assert first == "igsd: note: X is left out."
    kept = "kept: 1 record of other settings than these runs (the first: wl on toy, seed 0: epochs"
    assert second == f"igsd: note: {kept} is 1 there and 2 here); --force makes such runs again."
