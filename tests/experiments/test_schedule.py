from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from igsd.experiments import job_worker
from igsd.experiments.job import Job
from igsd.experiments.job_worker import work_on
from igsd.experiments.records import read_record
from igsd.experiments.runs import Run
from igsd.experiments.schedule import run_jobs
from igsd.experiments.workers import Workers, num_workers
from tests.experiments.small_exhibit import jobs_of, write_data
from tests.small_graphs import TINY

LONG = tuple((TINY | {"epochs": 300}).items())
"""Long enough that a process can be killed in between."""


def test_one_after_the_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_worker, "execute", lambda job: [{"seed": job.runs[0].seed}])
    jobs, told = jobs_of("toy", tmp_path, 3), []
    ended = run_jobs(jobs, Workers(1), lambda job: job != jobs[1], told.append)
    assert [records[0]["seed"] for _, records in ended] == [0, 2]
    assert told == [jobs[0], jobs[2]]


def test_marks_of_an_earlier_command_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job_worker, "execute", lambda job: [])
    (job,) = jobs_of("toy", tmp_path, 1)
    marker = job.path_of(0).with_name(".seed-0.json.running")
    marker.parent.mkdir(parents=True)
    marker.write_bytes(b"..")
    assert list(run_jobs([job], Workers(1))) == [(job, [])]


@pytest.mark.slow
def test_processes_side_by_side(tmp_path: Path) -> None:
    jobs = jobs_of(write_data(tmp_path), tmp_path / "records", 2)
    jobs.append(Job((Run("nested", "toy", "histogram", "molecules", 0),), jobs[0].source, tmp_path))
    ended = {job: records for job, records in run_jobs(jobs, Workers(2))}
    assert ended.keys() == set(jobs)
    for job in jobs:
        (record,) = ended[job]
        assert record["status"] == "ok"
        assert record["threads"] == 1
        assert read_record(job.path_of(record["seed"])) == record
    # The same numbers as here.
    (here,) = work_on(jobs[0])[1]
    assert here["rows"] == ended[jobs[0]][0]["rows"]


@pytest.mark.slow
def test_a_process_that_is_killed_twice_is_a_failed_run(tmp_path: Path) -> None:
    from joblib.externals.loky import get_reusable_executor

    source, endless = write_data(tmp_path), tuple((TINY | {"epochs": 10**6}).items())
    jobs = jobs_of(source, tmp_path / "records", 1, endless)
    jobs += jobs_of(source, tmp_path / "records", 1)
    pools: list[Any] = []

    def kill_soon(job: Job) -> None:
        if job == jobs[0]:
            threading.Timer(5, kill).start()

    def kill() -> None:
        pool = get_reusable_executor(reuse=True)
        pools.append(pool)
        for pid in list(pool._processes):
            os.kill(pid, signal.SIGKILL)

    ended = dict(run_jobs(jobs, Workers(2), on_start=kill_soon))
    assert len(pools) == 2
    assert ended.keys() == set(jobs)
    assert ended[jobs[0]][0]["status"] == "failed"
    assert "ended from outside" in ended[jobs[0]][0]["error"]
    # The other job died with the first, and then was run alone.
    assert ended[jobs[1]][0]["status"] == "ok"


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """Let this process hear Ctrl-C: one that a shell started in the background does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_ends_the_processes_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    from joblib.externals.loky import get_reusable_executor

    endless = tuple((TINY | {"epochs": 10**6}).items())
    jobs = jobs_of(write_data(tmp_path), tmp_path / "records", 2, endless)
    found: list[list[Any]] = []
    ended = threading.Event()

    def stop_when_busy() -> None:
        while len(list((tmp_path / "records").rglob(".*.running"))) < 2:
            time.sleep(0.1)
        found.append(list(get_reusable_executor(reuse=True)._processes.values()))
        os.kill(os.getpid(), signal.SIGINT)
        while not ended.wait(30):  # the first may fall into deaf_children, which hears none
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop_when_busy).start()
    with pytest.raises(KeyboardInterrupt):
        list(run_jobs(jobs, Workers(2)))
    ended.set()
    assert len(found[0]) == 2
    assert not any(process.is_alive() for process in found[0])
    assert [path for path in (tmp_path / "records").rglob("*") if path.is_file()] == []


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """Start a Dask scheduler and two workers; yield its address and the workers' processes."""
    pytest.importorskip("distributed", reason="the extra cluster is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    address, base = f"tcp://127.0.0.1:{port}", [sys.executable, "-m", "dask"]
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
    processes = [subprocess.Popen([*base, "scheduler", *options], cwd=tmp_path, **quiet)]
    try:
        for name in ("a", "b"):
            options = [address, "--nthreads", "1", "--no-nanny", "--no-dashboard", "--name", name]
            options += ["--local-directory", str(tmp_path / f"dask-{name}")]
            processes.append(subprocess.Popen([*base, "worker", *options], cwd=tmp_path, **quiet))
        yield address, processes[1:]
    finally:
        for process in processes:
            process.kill()
            process.wait()


@pytest.mark.slow
def test_a_cluster_whose_worker_is_killed(
    tmp_path: Path, cluster: tuple[str, list[subprocess.Popen[bytes]]]
) -> None:
    address, processes = cluster
    _wait_for_workers(address, 2)
    assert num_workers(Workers(1, address)) == 2
    jobs = jobs_of(write_data(tmp_path), tmp_path / "records", 4, LONG)
    started: list[Job] = []

    def kill_when_busy(job: Job) -> None:
        started.append(job)
        if len(started) == 3:  # both workers have had a job by now, and one of them a second
            time.sleep(1)
            processes[0].kill()

    ended = [job for job, _ in run_jobs(jobs, Workers(1, address), on_start=kill_when_busy)]
    assert sorted(job.runs[0].seed for job in ended) == [0, 1, 2, 3]
    files = sorted((tmp_path / "records").rglob("*"))
    assert [file.name for file in files if file.is_file()] == [f"seed-{s}.json" for s in range(4)]
    for job in jobs:
        record = read_record(job.path_of(job.runs[0].seed))
        assert record is not None
        assert record["status"] == "ok"


def _wait_for_workers(address: str, count: int) -> None:
    from distributed import Client

    with Client(address, timeout=120, set_as_default=False) as client:
        client.wait_for_workers(count, timeout=120)
