"""Limits on memory and time: an error with the words of the paper's table, not a dead machine.

Methods whose cost grows with the square of something say beforehand how much memory they are about
to take (``reserve``) and look at the clock between two blocks of work (``check_time``). Asking
before an allocation costs nothing, needs no second process and leaves everything that was computed
before in place; killing a process that is already swapping does not. What a method takes inside a
library cannot ask; ``igsd.baselines.measured`` runs such work in a process of its own.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass

from igsd.errors import IGSDError, ParameterError

GIB = 2.0**30

# What is left when the system does not say how much memory is free.
_UNKNOWN_FREE = 4 * GIB


class LimitError(IGSDError):
    """A computation that would exceed its limits; ``word`` is what the paper's table prints."""

    word = "> limit"


class MemoryLimitError(LimitError):
    """A computation that needs more memory than it may take: ``OMR``, out of memory."""

    word = "OMR"


class TimeLimitError(LimitError):
    """A computation that takes longer than it may: ``> limit``, ``> 1 day`` in the paper."""

    word = "> limit"


@dataclass(frozen=True)
class Limits:
    """How much a computation may take: bytes at one time, and a moment of ``time.monotonic``.

    ``memory`` None: what the machine has free at the moment of asking. ``deadline`` None: forever.
    """

    memory: float | None = None
    seconds: float | None = None
    deadline: float | None = None


_NONE = Limits()
_current: ContextVar[Limits] = ContextVar("igsd_limits", default=_NONE)


@contextlib.contextmanager
def limits(*, memory_gib: float | None = None, seconds: float | None = None) -> Iterator[Limits]:
    """Set the limits of everything computed inside the block; None leaves one as it is.

    Raises ``ConfigError`` for a limit that is not positive. A limit that is exceeded inside raises
    ``LimitError``; what was computed before is untouched.
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
    """Return if so many bytes may be taken for ``what``; raises ``MemoryLimitError`` if not."""
    allowed = _current.get().memory
    rule = "the memory limit" if allowed is not None else "the memory that is free"
    if allowed is None:
        allowed = free_memory()
    if num_bytes > allowed:
        raise MemoryLimitError(
            f"OMR: {what} needs {num_bytes / GIB:.1f} GiB, and {rule} is {allowed / GIB:.1f} GiB. "
            "Use fewer or smaller graphs, a method that is not quadratic, or a larger limit."
        )


def check_time(what: str) -> None:
    """Return if there is time left for ``what``; raises ``TimeLimitError`` if not."""
    allowed = _current.get()
    if allowed.deadline is not None and time.monotonic() > allowed.deadline:
        raise TimeLimitError(
            f"> limit: {what} was not done after {allowed.seconds:g} seconds. Use fewer or smaller "
            "graphs, or a larger limit."
        )


def free_memory() -> float:
    """Return the bytes that can be taken without swapping, or a careful guess."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return 1024.0 * int(line.split()[1])
    except (OSError, ValueError):
        pass
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return _UNKNOWN_FREE
