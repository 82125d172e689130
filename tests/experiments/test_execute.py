from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from igsd.experiments.execute import Display, execute_runs, lock_path, work_on
from igsd.experiments.records import Record, read_record
from igsd.experiments.run import Options, Run
from igsd.experiments.work import Batch
from igsd.workers.pools import Workers
from tests.experiments.small_exhibit import batches_of, write_data
from tests.small_graphs import TINY
from tests.workers.children import DaskProcesses, processes_at_work

LONG = tuple((TINY | {"epochs": 300}).items())
"""Long enough that a process can be killed in between."""


class Log(Display):
    """Notes what the executor tells."""

    def __init__(self) -> None:
        self.started: list[Batch] = []
        self.skipped: list[tuple[Batch, str]] = []

    def start(self, batch: Batch) -> None:
        self.started.append(batch)

    def skip(self, batch: Batch, reason: str) -> None:
        self.skipped.append((batch, reason))


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Let runs end at once with a made-up record; returns the seeds that were run."""
    seeds: list[int] = []

    def run(self: Run, graphs: Any, options: Options, memory: Any = None) -> Record:
        seeds.append(self.seed)
        return {"status": "limit" if self.method == "gcc" else "ok", "seed": self.seed}

    monkeypatch.setattr(Run, "execute", run)
    return seeds


def test_one_after_the_other(tmp_path: Path, made_up: list[int]) -> None:
    batches, log = batches_of(write_data(tmp_path), 3), Log()
    ended = list(execute_runs(batches, Options(tmp_path), Workers(1), log))
    assert [batch for batch, _ in ended] == log.started == batches
    assert [records[0]["seed"] for _, records in ended] == made_up == [0, 1, 2]


def test_nothing_starts_after_the_budget(tmp_path: Path, made_up: list[int]) -> None:
    batches, log = batches_of(write_data(tmp_path), 2), Log()
    assert list(execute_runs(batches, Options(), Workers(1), log, budget=0.0)) == []
    assert log.skipped == [(batch, "budget") for batch in batches]


def test_an_exceeded_limit_is_not_tried_again(tmp_path: Path, made_up: list[int]) -> None:
    source = write_data(tmp_path)
    batches = [(Run("nested", "toy", "gcc", "social", s, source=source),) for s in range(3)]
    assert len(list(execute_runs(batches, Options(), Workers(1)))) == 1
    assert made_up == [0]


def test_what_another_command_makes_is_left_to_it(tmp_path: Path, made_up: list[int]) -> None:
    (batch,), log, options = batches_of(write_data(tmp_path), 1), Log(), Options(tmp_path)
    path = lock_path(batch, options)
    assert path is not None
    path.parent.mkdir(parents=True)
    with FileLock(path):
        code = (
            "import sys\nfrom filelock import FileLock, Timeout\n"
            "try: FileLock(sys.argv[1]).acquire(timeout=0)\nexcept Timeout: print('taken')"
        )
        done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True)
        assert done.stdout == "taken\n"
        assert list(execute_runs([batch], options, Workers(1), log)) == []
    assert log.skipped == [(batch, "taken")]
    # A file that a dead command left does not count.
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("..")
    assert len(list(execute_runs([batch], options, Workers(1)))) == 1
    assert not path.exists()


def test_marks_of_killed_commands_go_with_the_next(tmp_path: Path, made_up: list[int]) -> None:
    held, left = (tmp_path / "nested" / name / ".seed-0.json.running" for name in ("a", "b"))
    for path in (held, left):
        path.parent.mkdir(parents=True)
        path.write_text(".")
    with FileLock(held):
        batches = batches_of(write_data(tmp_path), 1)
        assert len(list(execute_runs(batches, Options(tmp_path), Workers(1)))) == 1
        assert held.exists()
        assert not left.parent.exists()


def test_a_batch_that_has_ended_two_processes_is_failed(tmp_path: Path) -> None:
    (batch,), options = batches_of(write_data(tmp_path), 1), Options(tmp_path)
    path = lock_path(batch, options)
    assert path is not None
    path.parent.mkdir(parents=True)
    path.write_text("..")
    (record,) = work_on(batch, options)
    assert record["status"] == "failed"
    assert "was killed" in str(record["error"])


def test_threads_and_the_settings_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    seen = []

    def look(self: Run, *others: Any) -> Record:
        seen.append((torch.get_num_threads(), os.environ["MKL_NUM_THREADS"]))
        return {"status": "ok"}

    monkeypatch.setattr(Run, "execute", look)
    monkeypatch.delenv("MKL_NUM_THREADS", raising=False)
    before = torch.get_num_threads()
    work_on(batches_of(write_data(tmp_path), 1)[0], Options(threads=1))
    assert seen == [(1, "1")]
    assert torch.get_num_threads() == before
    assert "MKL_NUM_THREADS" not in os.environ


@pytest.mark.slow
def test_processes_side_by_side(tmp_path: Path) -> None:
    source, options = write_data(tmp_path), Options(tmp_path / "records")
    batches = batches_of(source, 2)
    batches.append((Run("nested", "toy", "histogram", "molecules", 0, source=source),))
    ended = dict(execute_runs(batches, options, Workers(2)))
    assert ended.keys() == set(batches)
    for batch in batches:
        (record,) = ended[batch]
        assert record["status"] == "ok"
        assert record["threads"] == 1
        assert read_record(batch[0].path(tmp_path / "records")) == record
    # The same numbers as here.
    (here,) = work_on(batches[0], replace(options, threads=1))
    assert here["rows"] == ended[batches[0]][0]["rows"]


@pytest.mark.slow
def test_a_process_that_is_killed_twice_is_a_failed_run(tmp_path: Path) -> None:
    source, endless = write_data(tmp_path), tuple((TINY | {"epochs": 10**6}).items())
    batches = batches_of(source, 1, endless) + batches_of(source, 1)
    killed: list[int] = []

    class KillTwice(Display):
        def start(self, batch: Batch) -> None:
            if killed:
                threading.Timer(1, kill).start()

        def end(self, batch: Batch, records: Sequence[Record]) -> None:
            if batch == batches[1]:
                kill()

    def kill() -> None:
        for process in processes_at_work():
            os.kill(process.pid, signal.SIGKILL)
        killed.append(1)

    ended = dict(execute_runs(batches, Options(tmp_path / "records"), Workers(2), KillTwice()))
    assert len(killed) == 2
    assert ended.keys() == set(batches)
    assert ended[batches[0]][0]["status"] == "failed"
    assert "was killed" in ended[batches[0]][0]["error"]
    assert ended[batches[1]][0]["status"] == "ok"


@pytest.fixture
def hears_ctrl_c() -> Iterator[None]:
    """Let this process hear Ctrl-C: one that a shell started in the background does not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("hears_ctrl_c")
def test_ctrl_c_ends_the_processes_at_once_and_leaves_nothing(tmp_path: Path) -> None:
    endless = tuple((TINY | {"epochs": 10**6}).items())
    batches = batches_of(write_data(tmp_path), 2, endless)
    found: list[list[Any]] = []
    ended = threading.Event()

    def stop_when_busy() -> None:
        while len(list((tmp_path / "records").rglob(".*.running"))) < 2:
            time.sleep(0.1)
        found.append(processes_at_work())
        os.kill(os.getpid(), signal.SIGINT)
        while not ended.wait(30):  # the first may fall into deaf_children, which hears none
            os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=stop_when_busy).start()
    with pytest.raises(KeyboardInterrupt):
        list(execute_runs(batches, Options(tmp_path / "records"), Workers(2)))
    ended.set()
    assert len(found[0]) == 2
    assert not any(process.is_running() for process in found[0])
    assert [path for path in (tmp_path / "records").rglob("*") if path.is_file()] == []


@pytest.mark.slow
def test_a_cluster_whose_worker_is_killed(tmp_path: Path, cluster: DaskProcesses) -> None:
    address, _, processes = cluster
    assert Workers(1, address).size() == 2
    batches = batches_of(write_data(tmp_path), 4, LONG)
    started: list[Batch] = []

    class KillWhenBusy(Display):
        def start(self, batch: Batch) -> None:
            started.append(batch)
            if len(started) == 3:  # both workers have had a batch, and one of them a second
                time.sleep(1)
                processes[0].kill()

    options, workers = Options(tmp_path / "records"), Workers(1, address)
    ended = [batch for batch, _ in execute_runs(batches, options, workers, KillWhenBusy())]
    assert sorted(batch[0].seed for batch in ended) == [0, 1, 2, 3]
    # The mark of a killed process stays until the next command that writes there.
    files = sorted(f.name for f in (tmp_path / "records").rglob("*") if f.is_file())
    assert [f for f in files if not f.startswith(".")] == [f"seed-{s}.json" for s in range(4)]
    for (run,) in batches:
        record = read_record(run.path(tmp_path / "records"))
        assert record is not None
        assert record["status"] == "ok"
