from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import pytest

from igsd.training.interrupt import StopSignals, Terminated, deaf_children


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
    show = "import signal; print(signal.getsignal(signal.SIGINT) == signal.SIG_IGN)"
    with deaf_children():
        child = subprocess.Popen([sys.executable, "-c", show], stdout=subprocess.PIPE, text=True)
    assert signal.getsignal(signal.SIGINT) == before
    assert child.communicate()[0] == "True\n"
