"""Limits on memory and time, and the errors for exceeding them.

Methods with quadratic cost announce how much memory they are about to allocate (``reserve``) and
check the clock between blocks of work (``check_time``). This costs nothing, needs no second process
and keeps everything computed so far. Allocations inside a library cannot be announced; for those
``igsd.processes`` runs a method in a process of its own and watches it.
"""

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from igsd.errors import IGSDError, ParameterError

GIB = 2.0**30


class LimitError(IGSDError):
    """A computation that exceeds its limits; ``word`` is what the paper's table prints."""

    word = "> limit"


class MemoryLimitError(LimitError):
    """A computation that needs more memory than allowed: ``OMR``, out of memory."""

    word = "OMR"


class TimeLimitError(LimitError):
    """A computation that takes longer than allowed: ``> limit``, ``> 1 day`` in the paper."""

    word = "> limit"


@dataclass(frozen=True)
class Limits:
    """Allowed bytes at one time, and a deadline on the clock of ``time.monotonic``.

    ``memory`` None: what the machine has free when asked. ``deadline`` None: no limit.
    """

    memory: float | None = None
    seconds: float | None = None
    deadline: float | None = None


_NONE = Limits()
_current: ContextVar[Limits] = ContextVar("igsd_limits", default=_NONE)


@contextlib.contextmanager
def limits(*, memory_gib: float | None = None, seconds: float | None = None) -> Iterator[Limits]:
    """Set the limits for the block; None keeps the outer limit.

    Raises ``ConfigError`` for a limit that is not positive, ``LimitError`` where one is exceeded.
    """
    for name, value in (("memory_gib", memory_gib), ("seconds", seconds)):
        if value is not None and not value > 0:
            raise ParameterError(name, "limits", f"must be above 0. Got {value!r}.")
    outer = _current.get()
    inner = Limits(
        outer.memory if memory_gib is None else memory_gib * GIB,
        outer.seconds if seconds is None else seconds,
        outer.deadline if seconds is None else time.monotonic() + seconds,
    )
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)


def reserve(num_bytes: float, what: str) -> None:
    """Raise ``MemoryLimitError`` if ``what`` needs more bytes than allowed."""
    allowed = _current.get().memory
    rule = "the memory limit" if allowed is not None else "the free memory"
    if allowed is None:
        allowed = free_memory()
    if num_bytes > allowed:
        raise MemoryLimitError(
            f"OMR: {what} needs {num_bytes / GIB:.1f} GiB, and {rule} is {allowed / GIB:.1f} GiB. "
            "Use fewer or smaller graphs, a method that is not quadratic, or a larger limit."
        )


def check_time(what: str) -> None:
    """Raise ``TimeLimitError`` if the time for ``what`` is used up."""
    allowed = _current.get()
    if allowed.deadline is not None and time.monotonic() > allowed.deadline:
        raise TimeLimitError(
            f"> limit: {what} was not done after {allowed.seconds:g} seconds. Use fewer or smaller "
            "graphs, or a larger limit."
        )


def free_memory() -> float:
    """Return the bytes that can be allocated without swapping."""
    import psutil

    return float(psutil.virtual_memory().available)
