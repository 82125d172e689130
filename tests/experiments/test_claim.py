from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from igsd.experiments import claim as claims
from igsd.experiments import job_worker
from igsd.experiments.claim import begin, claim, claim_path, clear_leftovers, release
from igsd.experiments.job import Job
from igsd.experiments.schedule import run_jobs
from igsd.experiments.workers import Workers
from tests.experiments.small_exhibit import jobs_of


@pytest.fixture
def job(tmp_path: Path) -> Job:
    return jobs_of("toy", tmp_path, 1)[0]


def claimed_by(pid: int, job: Job, host: str | None = None) -> None:
    """Write the claim that a process would write."""
    path = claim_path(job)
    path.parent.mkdir(parents=True, exist_ok=True)
    host = host or claims.platform.node()
    path.write_text(f"{host} {pid} {claims._born(pid)}\n.")


def test_what_another_command_has_is_left_to_it(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three commands in one folder told each other's runs as killed."""
    monkeypatch.setattr(job_worker, "execute", lambda job: [])
    claimed_by(os.getppid(), job)
    taken: list[Job] = []
    assert list(run_jobs([job], Workers(1), on_taken=taken.append)) == []
    assert taken == [job]
    clear_leftovers(job)
    assert claim_path(job).read_text().endswith(".")
    release(job)
    assert list(run_jobs([job], Workers(1))) == [(job, [])]
    assert not claim_path(job).exists()


def test_what_is_gone_or_far_away_does_not_count(job: Job) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    claimed_by(gone.pid, job)
    assert claim(job)
    claimed_by(os.getppid(), job, host="elsewhere")
    assert claim(job)
    # Another process has the number of one that is gone.
    claim_path(job).write_text(f"{claims.platform.node()} {os.getppid()} 12345\n")
    assert claim(job)
    claim_path(job).write_text("")
    assert claim(job)


def test_processes_that_begin_are_counted(job: Job) -> None:
    assert [begin(job), begin(job), begin(job)] == [0, 1, 2]  # of a worker elsewhere
    release(job)
    assert claim(job)
    assert [begin(job), begin(job), begin(job)] == [0, 1, 2]
    assert claim(job)  # it is still this command's
    assert begin(job) == 3


def test_what_a_killed_process_leaves_beside_its_record(job: Job) -> None:
    folder = job.path_of(0).parent
    clear_leftovers(job)
    assert claim(job)
    for name in (".seed-0.json.x7ab", "seed-0.json", ".seed-1.json.running"):
        (folder / name).touch()
    clear_leftovers(job)
    assert sorted(path.name for path in folder.iterdir()) == [".seed-1.json.running", "seed-0.json"]
