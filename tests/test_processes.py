from __future__ import annotations

import importlib
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from threadpoolctl import threadpool_info

from igsd import processes as measured
from igsd import processes as memory
from igsd.errors import ConfigError, DataError, TrainingError
from igsd.limits import MemoryLimitError, TimeLimitError, check_time, reserve
from igsd.processes import (
    StopSignals,
    Terminated,
    deaf_children,
    exit_code_of,
    kept_memory,
    map_folds,
    resident_bytes,
    run_measured,
    signals_stop,
)
from tests.cli.conftest import write_toy
from tests.experiments.small_exhibit import write_data
from tests.small_graphs import TINY


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_noted_and_not_raised(number: int) -> None:
    with StopSignals() as stop:
        assert stop.received is None
        os.kill(os.getpid(), number)
        assert stop.received == number


def test_the_second_signal_stops_at_once() -> None:
    with StopSignals():
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_a_second_sigterm_lets_the_step_end() -> None:
    """`timeout` sends two, and no checkpoint was saved."""
    with StopSignals() as stop:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGTERM)
    assert isinstance(stop.error(), Terminated)


def test_ctrl_c_is_no_sigterm() -> None:
    with StopSignals() as stop:
        os.kill(os.getpid(), signal.SIGINT)
    assert not isinstance(stop.error(), Terminated)


def test_the_handlers_come_back() -> None:
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)]
    with StopSignals():
        assert signal.getsignal(signal.SIGINT) != before[0]
    with pytest.raises(ZeroDivisionError), StopSignals():
        raise ZeroDivisionError
    assert [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)] == before


def test_other_threads_leave_the_handlers_alone() -> None:
    failures: list[BaseException] = []

    def work() -> None:
        try:
            with StopSignals() as stop:
                assert stop.received is None
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert failures == []


def test_children_do_not_hear_ctrl_c() -> None:
    # Workers once answered it with a traceback each, while they were starting.
    before = signal.getsignal(signal.SIGINT)
    show = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print(True)"
    with deaf_children():
        child = subprocess.Popen([sys.executable, "-c", show], stdout=subprocess.PIPE, text=True)
    assert signal.getsignal(signal.SIGINT) == before
    assert child.communicate()[0] == "True\n"


ENDLESS = [f"--set={key}={str(v).lower()}" for key, v in (TINY | {"epochs": 10**6}).items()]
ROOT = Path(__file__).parents[1]
REPRODUCE = """
import sys
from igsd.__main__ import start
from igsd.experiments import exhibits
from tests.experiments.small_exhibit import small_exhibit
from tests.small_graphs import TINY

row = {"title": "IGSD", "method": "igsd", "settings": TINY | {"epochs": 10**6}}
source = sys.argv[1]
exhibits.read_exhibit = lambda name: small_exhibit(source, row=[row])
sys.argv[1:] = ["reproduce", "table-3", "--jobs", "2", "--quiet"]
sys.exit(start())
"""


def test_it_is_raised_once_and_the_handler_goes() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), signals_stop():  # noqa: PT012
        try:
            os.kill(os.getpid(), signal.SIGTERM)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)  # while files are tidied up
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_handler_of_the_calling_program_is_left_alone() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: heard.append(number))
    try:
        with signals_stop():
            os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [signal.SIGTERM]


def test_a_forked_child_ends_at_once() -> None:
    with signals_stop():
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            os._exit(0)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGTERM


STOPPED_IMPORT = """
import os, signal, time

try:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.2)
except BaseException:
    raise ImportError
is_whole = True
"""


def test_a_signal_waits_for_the_end_of_an_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Modules turned it into errors of their own, or were left half imported.
    (tmp_path / "told_to_stop.py").write_text(STOPPED_IMPORT)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(Terminated), signals_stop():  # noqa: PT012
        importlib.import_module("told_to_stop")
        time.sleep(5)
    assert sys.modules.pop("told_to_stop").is_whole


class Collected:
    def __del__(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(0.01)


def test_a_signal_is_not_lost_in_the_garbage_collector() -> None:
    with pytest.raises(Terminated), signals_stop():  # noqa: PT012
        Collected()
        time.sleep(5)


DEAF = """
import os, signal, time
from igsd.processes import deaf_children

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    with deaf_children():
        os.kill(os.getpid(), signal.SIGINT)
        print("reached")
    time.sleep(5)
except KeyboardInterrupt:
    print("heard")
"""


def test_ctrl_c_while_children_start_is_heard_after_it() -> None:
    # In a process of its own: a thread of the test runner could take the signal.
    done = subprocess.run([sys.executable, "-c", DEAF], capture_output=True, text=True)
    assert done.stdout.split() == ["reached", "heard"]


def test_ctrl_c_that_another_thread_takes_is_not_lost() -> None:
    code = "import threading, time\nthreading.Thread(target=time.sleep, args=(20,), daemon=True)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}.start()\n{DEAF}"], capture_output=True, text=True
    )
    assert done.stdout.split() == ["reached", "heard"]


def test_exit_codes() -> None:
    told = KeyboardInterrupt("Stopped. To continue: ...")
    assert exit_code_of(told) == 130
    told.__cause__ = Terminated()
    assert exit_code_of(told) == 143


STARTING = """
import os, sys
from importlib import abc

class Finder(abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == module:
            os.kill(os.getpid(), int(number))

module, number = sys.argv[1:]
sys.meta_path.insert(0, Finder())
from igsd.__main__ import start
sys.argv[1:] = ["data", "list"]
sys.exit(start())
"""


@pytest.mark.parametrize("module", ["igsd.cli", "igsd.processes", "igsd.cli.data"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_while_it_starts(module: str, number: int) -> None:
    """A traceback of whatever was being imported."""
    command = [sys.executable, "-c", STARTING, module, str(int(number))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (128 + number, "igsd: Stopped.\n")


@pytest.mark.slow
def test_training_is_stopped_and_can_go_on(tmp_path: Path) -> None:
    run, toy = tmp_path / "run", write_toy(tmp_path)
    command = ["-m", "igsd", "train", str(toy), "-o", str(run), "--quiet", *ENDLESS]
    code, err = stopped(tmp_path, command, (run / "checkpoint.safetensors").exists)
    again = shlex.join(["igsd", "train", str(toy), "-o", str(run), "--resume"])
    assert (code, err) == (143, f"igsd: Stopped. To continue: {again}\n")


@pytest.mark.slow
def test_processes_side_by_side_leave_nothing(tmp_path: Path) -> None:
    """Markers of runs stayed, and joblib told of leaked objects."""
    source, records = write_data(tmp_path), tmp_path / "results"
    both_run = lambda: len(list(records.rglob(".*.running"))) == 2  # noqa: E731
    code, err = stopped(tmp_path, ["-c", REPRODUCE, source], both_run)
    kept = "Finished runs are in results; the same command continues."
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


def test_value_and_memory() -> None:
    found = run_measured(large_sum, 200)
    assert found.value == 200 * 2**17
    assert found.peak_bytes > 200 * 2**20


@pytest.mark.slow
def test_the_peak_of_the_parent_is_not_the_childs() -> None:
    # getrusage of a new process begins with the peak of the one that started it.
    held = np.ones(2**27)
    assert run_measured(large_sum, 1).peak_bytes < held.nbytes


@pytest.mark.slow
def test_a_child_ends_with_its_parent(tmp_path: Path) -> None:
    script = "from tests.test_processes import *; run_measured(say_pid, sys.argv[1])"
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


def wait_with_another(path: str) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(path).write_text(str(child.pid))
    child.wait()


@pytest.mark.slow
def test_what_the_process_has_started_ends_with_it(tmp_path: Path) -> None:
    with pytest.raises(TimeLimitError):
        run_measured(wait_with_another, str(tmp_path / "pid"), seconds=2.0, starts_processes=True)
    other = int((tmp_path / "pid").read_text())
    deadline = time.monotonic() + 30
    while resident_bytes(other) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not resident_bytes(other)


@pytest.mark.slow
def test_the_clock_begins_with_the_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "slow_to_import.py").write_text("import time\n\ntime.sleep(2.5)\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert run_measured(wait, 0.1, seconds=2.0, modules=["slow_to_import"]).value is None
    # A method with a missing extra names it itself.
    assert run_measured(wait, 0.1, modules=["not_there"]).value is None


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
    with pytest.raises(TrainingError, match=r"exit code 7\). It exited"):
        run_measured(fail, "dead")
    with pytest.raises(TrainingError, match=r"called sys.exit\(3\)"):
        run_measured(sys.exit, 3)


def _threads(number):
    import numpy as np

    np.ones((2, 2)) @ np.ones((2, 2))
    return number, max((pool["num_threads"] for pool in threadpool_info()), default=1)


def test_order_and_single_threads():
    assert map_folds(_threads, [(3,), (1,), (2,)]) == [(3, 1), (1, 1), (2, 1)]


@pytest.mark.slow
def test_processes_give_the_same():
    assert map_folds(_threads, [(3,), (1,)], n_jobs=2) == [(3, 1), (1, 1)]


@pytest.mark.parametrize("n_jobs", [0, -2])
def test_number_of_processes(n_jobs):
    with pytest.raises(ConfigError, match="n_jobs"):
        map_folds(_threads, [], n_jobs)


def test_results_do_not_depend_on_it() -> None:
    x = torch.randn(2000, 64, generator=torch.Generator().manual_seed(0))
    plain = x @ x.T
    with kept_memory():
        kept = x @ x.T
    assert torch.equal(plain, kept)


def test_an_error_inside_passes_through() -> None:
    with pytest.raises(KeyError), kept_memory():
        raise KeyError("x")


def test_another_c_library_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_glibc", lambda: None)
    with kept_memory():
        assert True
