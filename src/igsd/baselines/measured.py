"""``run_measured``: a computation in a process of its own, with its time and peak memory.

Two things can only be had this way: the memory that one method took and not the ones before it,
and a limit on work inside a library that never asks ``igsd.baselines.limits``. The child is watched
from outside and ended when it exceeds a limit; the parent goes on.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from igsd.baselines.limits import GIB, LimitError, MemoryLimitError, TimeLimitError, limits
from igsd.errors import IGSDError, TrainingError
from igsd.training.interrupt import deaf_children

_LOOK_EVERY = 0.2
_LONGEST_START = 600.0


@dataclass(frozen=True)
class Measured:
    """What a computation gave, the seconds it took, and the most memory its process held."""

    value: Any
    seconds: float
    peak_bytes: int


@dataclass(frozen=True)
class _Ready:
    """What a child says before it begins: how much its process holds already."""

    held_bytes: int


def run_measured(
    function: Callable[..., Any],
    *arguments: Any,
    memory_gib: float | None = None,
    seconds: float | None = None,
    modules: Sequence[str] = (),
) -> Measured:
    """Return ``function(*arguments)`` from a fresh process, with its time and peak memory.

    The function must be importable by name and its arguments and result must be plain data, as
    for any other process. Its time begins when the process has started and imported ``modules``;
    its memory holds Python and these.

    Raises ``LimitError`` (``MemoryLimitError``, ``TimeLimitError``) for a limit exceeded,
    ``TrainingError`` for a process that died, and whatever igsd error the function raised.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    arguments = (sender, function, arguments, memory_gib, seconds, modules)
    child = context.Process(target=_child, args=arguments, daemon=True)
    with deaf_children():
        child.start()
    sender.close()
    try:
        answer = _wait(receiver, child, _too_late(time.monotonic()))
        if isinstance(answer, _Ready):
            answer = _watch(receiver, child, answer, memory_gib, seconds)
    finally:
        child.kill()
        child.join()
        receiver.close()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _too_late(start: float) -> Callable[[], TrainingError | None]:
    """Return what ends the waiting for a process that never begins."""

    def check() -> TrainingError | None:
        if time.monotonic() - start < _LONGEST_START:
            return None
        return TrainingError(
            f"The process of a method had not started after {_LONGEST_START:g} seconds. Is the "
            "disk with the installation slow, or the machine too busy?"
        )

    return check


def _watch(
    receiver: Connection, child: Any, ready: _Ready, memory_gib: float | None, seconds: float | None
) -> Any:
    """Return the answer of a child that has begun, or the limit that it exceeded."""
    start = time.monotonic()
    if memory_gib is not None and ready.held_bytes > memory_gib * GIB:
        return MemoryLimitError(
            f"OMR: of the limit of {memory_gib:g} GiB, Python, its libraries and the graphs take "
            f"{ready.held_bytes / GIB:.2f} GiB before the method begins. Use a larger limit."
        )

    def exceeded() -> LimitError | None:
        if seconds is not None and time.monotonic() - start > seconds:
            return TimeLimitError(f"> limit: the method was not done after {seconds:g} seconds.")
        if memory_gib is not None and resident_bytes(child.pid) > memory_gib * GIB:
            return MemoryLimitError(f"OMR: the method took more than {memory_gib:g} GiB.")
        return None

    return _wait(receiver, child, exceeded)


def _wait(receiver: Connection, child: Any, exceeded: Callable[[], Exception | None]) -> Any:
    """Return what the child says next, or the limit that it ``exceeded`` meanwhile."""
    while not receiver.poll(_LOOK_EVERY):
        if not child.is_alive() and not receiver.poll():
            return _died(child)
        if (error := exceeded()) is not None:
            return error
    try:
        return receiver.recv()
    except EOFError:
        child.join()
        return _died(child)


def _died(child: Any) -> TrainingError:
    return TrainingError(
        f"The process of a method ended without an answer (exit code {child.exitcode}). The system "
        "may have ended it for want of memory."
    )


def _child(
    sender: Connection,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    memory_gib: float | None,
    seconds: float | None,
    modules: Sequence[str],
) -> None:
    """Compute and answer; an igsd error goes to the parent as it is, another as its text."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    try:
        for name in modules:
            importlib.import_module(name)
        sender.send(_Ready(resident_bytes(os.getpid())))
        start = time.perf_counter()
        with limits(memory_gib=memory_gib, seconds=seconds):
            value = function(*arguments)
        sender.send(Measured(value, time.perf_counter() - start, peak_bytes()))
    except MemoryError:
        sender.send(MemoryLimitError("OMR: the system had no more memory for the method."))
    except (LimitError, IGSDError) as error:
        sender.send(error)
    except Exception as error:
        sender.send(TrainingError(f"The method failed: {type(error).__name__}: {error}"))


def _end_with_parent() -> None:
    """End this process as soon as its parent is gone, even where that was killed."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def resident_bytes(pid: int) -> int:
    """Return the memory that a process holds now, 0 where the system does not tell."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def peak_bytes() -> int:
    """Return the most memory that this process ever held, 0 where the system does not tell."""
    try:
        # Not getrusage: there a new process begins with the peak of the one that started it.
        with open("/proc/self/status", encoding="ascii") as file:
            return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    except (OSError, ValueError, IndexError, StopIteration):
        pass
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)
