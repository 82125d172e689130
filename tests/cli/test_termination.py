from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from igsd.cli.termination import exit_code_of, sigterm_stops
from igsd.training.interrupt import Terminated
from tests.cli.conftest import write_toy
from tests.experiments.small_exhibit import write_data
from tests.small_graphs import TINY

ENDLESS = [f"--set={key}={str(v).lower()}" for key, v in (TINY | {"epochs": 10**6}).items()]
ROOT = Path(__file__).parents[2]
REPRODUCE = """
import sys
from igsd.cli.main import main
from igsd.experiments import exhibit
from tests.experiments.small_exhibit import small_exhibit
from tests.small_graphs import TINY

row = {"title": "IGSD", "method": "igsd", "settings": TINY | {"epochs": 10**6}}
exhibit.read_exhibit = lambda name: small_exhibit(sys.argv[1], row=[row])
sys.exit(main(["reproduce", "table-3", "--jobs", "2", "--quiet"]))
"""


def test_it_is_raised_once_and_the_handler_goes() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), sigterm_stops():  # noqa: PT012
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)  # while files are tidied up
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_handler_of_the_calling_program_is_left_alone() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with sigterm_stops():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def test_a_forked_child_ends_at_once() -> None:
    with sigterm_stops():
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM


def test_exit_codes() -> None:
    told = KeyboardInterrupt("Stopped. To go on: ...")
    assert exit_code_of(told) == 130
    told.__cause__ = Terminated()
    assert exit_code_of(told) == 143


@pytest.mark.slow
def test_training_is_stopped_and_can_go_on(tmp_path: Path) -> None:
    run, toy = tmp_path / "run", write_toy(tmp_path)
    command = ["-m", "igsd", "train", str(toy), "-o", str(run), "--quiet", *ENDLESS]
    code, err = stopped(tmp_path, command, (run / "checkpoint.safetensors").exists)
    again = f"igsd train {toy} -o {run} --resume"
    assert (code, err) == (143, f"igsd: Stopped. To go on: {again}\n")


@pytest.mark.slow
def test_processes_side_by_side_leave_nothing(tmp_path: Path) -> None:
    """Markers of runs stayed, and joblib told of leaked objects."""
    source, records = write_data(tmp_path), tmp_path / "results"
    both_run = lambda: len(list(records.rglob(".*.running"))) == 2  # noqa: E731
    code, err = stopped(tmp_path, ["-c", REPRODUCE, source], both_run)
    kept = "Finished runs are in results; the same command goes on."
    assert (code, err) == (143, f"igsd: Stopped. {kept}\n")
    assert [path for path in records.rglob("*") if path.is_file()] == []


def stopped(folder: Path, arguments: list[str], is_busy: Callable[[], bool]) -> tuple[int, str]:
    """Return exit code and standard error of Python, sent what `timeout` sends when it is busy."""
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 300
        while not is_busy() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        os.killpg(process.pid, signal.SIGTERM)
        return process.wait(120), process.communicate(timeout=60)[1]
    finally:
        process.kill()
