"""Ctrl-C and SIGTERM: held back until a step is complete, and not heard by processes we start."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any


class Terminated(KeyboardInterrupt):
    """SIGTERM told the program to stop; all that answers Ctrl-C answers it too."""


class StopSignals:
    """Notes a request to stop, so that the loop can end between two steps with a checkpoint.

    A Ctrl-C after it stops at once; a SIGTERM does not, since `timeout` sends each twice. Outside
    the main thread Python allows no handlers; then nothing is held back.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._previous: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._previous[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)

    def error(self) -> KeyboardInterrupt:
        """Return what the loop raises for the request that was noted."""
        return Terminated() if self.received == signal.SIGTERM else KeyboardInterrupt()

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.received is None:
            self.received = number
        elif number == signal.SIGINT:
            raise KeyboardInterrupt


@contextlib.contextmanager
def deaf_children() -> Iterator[None]:
    """Let processes that start in the block not hear Ctrl-C, which a terminal sends to all.

    The parent hears it and ends them; they would say a traceback each, even while they start. It
    is deaf itself in the block, which must be short: a Ctrl-C in it has to be given again.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
