"""SIGTERM, which `timeout` and batch systems send, ends a command as Ctrl-C does."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType

from igsd.training.interrupt import Terminated


@contextlib.contextmanager
def sigterm_stops() -> Iterator[None]:
    """Let SIGTERM raise ``Terminated`` in the block, once: `timeout` sends it twice.

    Nothing is changed where a program that calls the command line has a handler of its own or
    ignores the signal, nor outside the main thread, where Python allows no handlers.
    """
    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield
        return
    own, is_heard = os.getpid(), False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal is_heard
        if os.getpid() != own:  # a forked child has this handler too, and is to end at once
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif not is_heard:
            is_heard = True
            raise Terminated

    signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def exit_code_of(stop: BaseException) -> int:
    """Return 143 where SIGTERM is behind a stop, as a shell says it, and 130 otherwise."""
    reason: BaseException | None = stop
    while reason is not None:
        if isinstance(reason, Terminated):
            return 128 + signal.SIGTERM
        reason = reason.__cause__
    return 128 + signal.SIGINT
