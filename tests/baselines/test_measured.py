from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from igsd.baselines import measured
from igsd.baselines.limits import MemoryLimitError, TimeLimitError, check_time, reserve
from igsd.baselines.measured import resident_bytes, run_measured
from igsd.errors import DataError, TrainingError


def large_sum(mebibytes: int) -> float:
    return float(np.ones(mebibytes * 2**17).sum())


def wait(seconds: float) -> None:
    time.sleep(seconds)


def hold(mebibytes: int) -> None:
    held = np.ones(mebibytes * 2**17)
    time.sleep(60)
    del held


def ask(what: str) -> None:
    reserve(2.0**40, what)


def late(what: str) -> None:
    time.sleep(0.05)
    check_time(what)


def say_pid(path: str) -> None:
    Path(path + ".part").write_text(str(os.getpid()))
    os.rename(path + ".part", path)
    time.sleep(600)


def fail(kind: str) -> None:
    if kind == "data":
        raise DataError("Graph 3 is empty.")
    if kind == "dead":
        os._exit(7)
    raise ZeroDivisionError("by zero")


def test_value_time_and_memory() -> None:
    found = run_measured(large_sum, 200)
    assert found.value == 200 * 2**17
    assert found.peak_bytes > 200 * 2**20
    assert 0 < found.seconds < 60


@pytest.mark.slow
def test_the_peak_of_the_parent_is_not_the_childs() -> None:
    # getrusage of a new process begins with the peak of the one that started it.
    held = np.ones(2**27)
    assert run_measured(large_sum, 1).peak_bytes < held.nbytes


@pytest.mark.slow
def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    script = "from tests.baselines.test_measured import *; run_measured(say_pid, sys.argv[1])"
    parent = subprocess.Popen([sys.executable, "-c", script, str(tmp_path / "pid")])
    while not (tmp_path / "pid").exists():
        time.sleep(0.1)
    parent.kill()
    parent.wait()
    child = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 30
    while resident_bytes(child) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not resident_bytes(child)


@pytest.mark.slow
def test_ended_from_outside() -> None:
    with pytest.raises(TimeLimitError, match=r"^> limit"):
        run_measured(wait, 60.0, seconds=0.5)
    with pytest.raises(MemoryLimitError, match=r"^OMR: the method took more than 1 GiB"):
        run_measured(hold, 1024, memory_gib=1.0)


@pytest.mark.slow
def test_the_clock_begins_with_the_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\n\ntime.sleep(2.5)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    found = run_measured(wait, 0.1, seconds=2.0, modules=["slow_to_import"])
    assert 0.1 <= found.seconds < 2.0
    with pytest.raises(TrainingError, match=r"ModuleNotFoundError: .*not_there"):
        run_measured(wait, 0.1, modules=["not_there"])


@pytest.mark.slow
def test_a_process_that_never_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "hangs.py").write_text("import time\n\ntime.sleep(60)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(measured, "_LONGEST_START", 1.0)
    with pytest.raises(TrainingError, match="had not started after 1 seconds"):
        run_measured(wait, 0.1, modules=["hangs"])


@pytest.mark.slow
def test_a_limit_below_a_bare_process_says_so() -> None:
    rule = r"^OMR: of the limit of 0.001 GiB, Python, its libraries and the graphs take 0\.\d\d GiB"
    with pytest.raises(MemoryLimitError, match=rule):
        run_measured(wait, 60.0, memory_gib=0.001)


@pytest.mark.slow
def test_errors_come_back() -> None:
    with pytest.raises(MemoryLimitError, match="OMR: a matrix needs"):
        run_measured(ask, "a matrix", memory_gib=100.0)
    with pytest.raises(DataError, match="Graph 3"):
        run_measured(fail, "data")
    with pytest.raises(TrainingError, match="ZeroDivisionError: by zero"):
        run_measured(fail, "else")
    with pytest.raises(TrainingError, match="exit code 7"):
        run_measured(fail, "dead")
