from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import psutil
import pytest
import torch

from igsd.errors import ConfigError, DataError
from igsd.workers.pools import Workers, called
from igsd.workers.tasks import WorkerLostError, run_tasks
from tests.workers.children import ROOT, processes_at_work


def double(number: int) -> int:
    return 2 * number


def look(number: int) -> tuple[int, int, str]:
    import torch

    return os.getpid(), torch.get_num_threads(), os.environ["OMP_NUM_THREADS"]


def die_once(folder: str, number: int) -> int:
    path = Path(folder, str(number))
    if number == 3 and not path.exists():
        path.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def fail(number: int) -> int:
    raise DataError(f"Graph {number} is empty.")


def test_this_process() -> None:
    assert Workers().is_here
    assert not Workers(2).is_here
    assert Workers(3).size() == 3
    with Workers().pool() as pool:
        assert [e.value for e in run_tasks(double, [(1,), (2,)], pool)] == [2, 4]
        assert pool.share(double) is double


def test_another_version_of_igsd() -> None:
    with pytest.raises(ConfigError, match=r"has igsd .*, and this command igsd 0\.0\.7"):
        called(double, (1,), "0.0.7")
    assert called(double, (1,)) == 2


def test_threads_come_back() -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    assert called(look, (1,))[1:] == (1, "1")
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


@pytest.mark.slow
def test_processes_in_order_with_one_thread_each() -> None:
    with Workers(2).pool() as pool:
        found = [e.value for e in run_tasks(look, [(n,) for n in range(6)], pool)]
        assert {(threads, variable) for _, threads, variable in found} == {(1, "1")}
        assert os.getpid() not in {pid for pid, *_ in found}
        assert [e.value for e in run_tasks(double, [(n,) for n in range(5)], pool)] == [
            0,
            2,
            4,
            6,
            8,
        ]
    # They are kept for the next pool.
    with Workers(2).pool() as pool:
        again = {e.value[0] for e in run_tasks(look, [(n,) for n in range(6)], pool)}
    assert again <= {process.pid for process in processes_at_work()}


@pytest.mark.slow
def test_a_process_that_is_killed_costs_its_call_alone(tmp_path: Path) -> None:
    begun: list[int] = []

    def begin(folder: str, number: int) -> bool:
        begun.append(number)
        return True

    tasks = [(str(tmp_path), number) for number in range(6)]
    with Workers(2).pool() as pool:
        ended = run_tasks(die_once, tasks, pool, begin=begin)
        assert [e.value for e in ended] == list(range(6))
    assert sorted(begun) == [0, 1, 2, 3, 3, 4, 5]


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_is_idle_costs_nothing() -> None:
    begun: list[int] = []

    def begin(number: int) -> bool:
        begun.append(number)
        return True

    with Workers(2).pool() as pool:
        list(run_tasks(double, [(n,) for n in range(4)], pool))
        for process in processes_at_work():
            os.kill(process.pid, signal.SIGKILL)
        assert [e.value for e in run_tasks(double, [(1,), (2,)], pool, begin=begin)] == [2, 4]
    assert begun == [1, 2]


@pytest.mark.slow
def test_a_call_that_kills_its_process_and_one_that_fails() -> None:
    with Workers(2).pool() as pool:
        with pytest.raises(WorkerLostError, match="killed twice by the same part of the work"):
            list(run_tasks(die, [(n,) for n in range(4)], pool))
        with pytest.raises(DataError, match="Graph 0 is empty"):
            list(run_tasks(fail, [(0,)], pool))
        array = np.arange(10)
        assert next(iter(run_tasks(double, [(array,)], pool))).value.tolist() == [*range(0, 20, 2)]


WORK = """
from igsd.workers.pools import Workers
from igsd.workers.tasks import run_tasks
from tests.workers.test_pools import touch
import sys

with Workers(2).pool() as pool:
    list(run_tasks(touch, [(sys.argv[1], number) for number in range(2)], pool))
"""


def touch(folder: str, number: int) -> None:
    Path(folder, str(number)).touch()


@pytest.mark.slow
def test_processes_end_with_one_that_is_killed_while_they_start(tmp_path: Path) -> None:
    """They did their work all the same, beside the next command, and stayed for five minutes."""
    command = subprocess.Popen([sys.executable, "-c", WORK, str(tmp_path)], cwd=ROOT)
    parent, children = psutil.Process(command.pid), list[psutil.Process]()
    while not children and command.poll() is None:
        children = processes_at_work(parent)
    command.kill()
    command.wait()
    assert psutil.wait_procs(children, timeout=60)[1] == []
    assert not any(tmp_path.iterdir())
