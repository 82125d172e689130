"""Limits on memory and time, and the errors for exceeding them.

Methods with quadratic cost announce how much memory they are about to allocate (``reserve``) and
check the clock between blocks of work (``check_time``). Allocations inside a library cannot be
announced; for those ``igsd.processes`` runs a method in a process of its own and watches it.
"""

import contextlib
import re
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import NamedTuple

from igsd.errors import ConfigError, IGSDError, ParameterError, TrainingError, shortened

GIB = 2.0**30
MIB = 2**20


class LimitError(IGSDError):
    """A computation that exceeds its limits; ``word`` is what the paper's table prints."""

    word = "> limit"


class MemoryLimitError(LimitError):
    """A computation that needs more memory than allowed: ``OMR``, out of memory."""

    word = "OMR"


class TimeLimitError(LimitError):
    """A computation that takes longer than allowed: ``> limit``, ``> 1 day`` in the paper."""


class Limits(NamedTuple):
    """Bytes allowed at one time (None: those free when asked), and a deadline of ``monotonic``."""

    memory: float | None = None
    seconds: float | None = None
    deadline: float | None = None


_current = ContextVar("igsd_limits", default=Limits())  # noqa: B039, an immutable tuple


@contextlib.contextmanager
def limits(*, memory_gib: float | None = None, seconds: float | None = None) -> Iterator[Limits]:
    """Set the limits for the block; None keeps the outer limit. ``ConfigError`` unless positive."""
    for name, value in (("memory_gib", memory_gib), ("seconds", seconds)):
        if value is not None and not value > 0:
            raise ParameterError(name, "limits", f"must be above 0. Got {value!r}.")
    outer = _current.get()
    inner = outer if memory_gib is None else outer._replace(memory=memory_gib * GIB)
    if seconds is not None:
        inner = inner._replace(seconds=seconds, deadline=time.monotonic() + seconds)
    token = _current.set(inner)
    try:
        yield inner
    finally:
        _current.reset(token)


_SMALLER = "Use fewer or smaller graphs, a method that is not quadratic, or a larger limit."


def reserve(num_bytes: float, what: str, way_out: str = _SMALLER) -> None:
    """Raise ``MemoryLimitError`` if ``what`` needs more bytes than allowed."""
    allowed, rule = _current.get().memory, "the memory limit"
    if allowed is None:
        allowed, rule = free_memory(), "the free memory"
    if num_bytes > allowed:
        raise MemoryLimitError(
            f"OMR: {what} needs {num_bytes / GIB:.1f} GiB, and {rule} is {allowed / GIB:.1f} GiB. "
            f"{way_out}"
        )


_NO_MEMORY = re.compile(
    "allocate memory|out of memory|not enough memory|bad_alloc|calculation overflowed|array is too "
    "big|[Mm]aximum allowed (size|dimension)"
)


def is_out_of_memory(error: Exception) -> bool:
    """Return whether an error of any library says that memory is used up."""
    says_so = isinstance(error, RuntimeError | ValueError) and _NO_MEMORY.search(str(error))
    is_named_so = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    return bool(says_so) or is_named_so


@contextlib.contextmanager
def library_errors() -> Iterator[None]:
    """Raise an ``IGSDError`` with a way out for what NumPy, SciPy and PyTorch cannot compute.

    That is: too little memory, a number too large for its type, and a singular system.
    """
    try:
        yield
    except IGSDError:
        raise
    except Exception as error:
        name, reason = type(error).__name__, shortened(str(error).partition("\n")[0], 200)
        if is_out_of_memory(error):
            raise MemoryLimitError(
                f"Out of memory{f' ({reason})' if reason else ''}. Use a smaller batch_size, "
                "hidden_dim or num_layers, fewer --jobs, or part of the data."
            ) from error
        if name.lstrip("_") in ("LinAlgError", "ArpackError", "ArpackNoConvergence"):
            raise TrainingError(
                f"A system of equations cannot be solved ({reason}): it is singular, or its "
                "numbers are too extreme. Use values nearer to the defaults for settings such as "
                "teleport, heat_time, eta and gamma, or look for extreme numbers in the data."
            ) from error
        if isinstance(error, OverflowError) or "Overflow when unpacking" in reason:
            raise ConfigError(
                f"A number is too large to compute with ({reason}). Use a smaller value for the "
                "settings that differ from their defaults, or look for extreme numbers in the data."
            ) from error
        raise


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
