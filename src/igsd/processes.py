"""Processes and signals: stop between two steps, measure a method in a process of its own.

Only a fresh process tells the memory of one method from that of the methods before it, and only
from outside can a limit be put on work inside a library that never asks ``igsd.limits``.
"""

import _thread
import contextlib
import ctypes
import importlib
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from multiprocessing import resource_tracker
from typing import Any, NamedTuple, Self, TypeVar

from igsd.errors import ConfigError, IGSDError, TrainingError
from igsd.limits import GIB, MemoryLimitError, TimeLimitError, library_errors, limits


class Terminated(KeyboardInterrupt):
    """SIGTERM asked the program to stop; handled wherever Ctrl-C is."""


@contextlib.contextmanager
def _handled(number: int, handler: Any) -> Iterator[None]:
    """Handle a signal in the block; only the main thread may, and others change nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)


class StopSignals:
    """Records a request to stop, so that a loop can end between two steps with a checkpoint.

    A second Ctrl-C stops at once; a second SIGTERM does not, since `timeout` sends it twice.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self._handled = contextlib.ExitStack()

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            self._handled.enter_context(_handled(number, self._note))
        return self

    def __exit__(self, *error: object) -> None:
        self._handled.close()

    def error(self) -> KeyboardInterrupt:
        """Return the exception for the recorded request."""
        return Terminated() if self.received == signal.SIGTERM else KeyboardInterrupt()

    def _note(self, number: int, frame: object) -> None:
        if self.received is None:
            self.received = number
        elif number == signal.SIGINT:
            raise KeyboardInterrupt


@contextlib.contextmanager
def deaf_children() -> Iterator[None]:
    """Make processes started in the block ignore Ctrl-C, which a terminal sends to all of them.

    The parent handles it after the block, and ends them: keep the block short.
    """
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        with _handled(signal.SIGINT, signal.SIG_IGN):
            yield
        return
    # A child inherits what its parent blocks, or ignores. An ignored signal would be lost if
    # another thread of the parent took it, hence blocking and a handler that takes note.
    received: list[int] = []
    with _handled(signal.SIGINT, lambda number, frame: received.append(number)):
        before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
        try:
            resource_tracker.ensure_running()  # which unblocks the signal when it starts
            signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    if received:
        os.kill(os.getpid(), signal.SIGINT)


# Python discards an exception raised in code that the garbage collector calls, and modules that
# are interrupted while they are imported raise others instead.
_DEFERRING = ("importlib._bootstrap", "weakref", "_weakrefset")


@contextlib.contextmanager
def signals_stop() -> Iterator[None]:
    """Raise ``KeyboardInterrupt`` for Ctrl-C and ``Terminated`` for SIGTERM in the block.

    SIGTERM is raised once: `timeout` sends it twice. Both wait for the end of an import. A handler
    of a program that calls the command line is left alone.
    """
    own, is_raised = os.getpid(), False

    def stop(number: int, frame: Any) -> None:
        nonlocal is_raised
        if os.getpid() != own:  # a forked child inherits this handler, but ends at once
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif number == signal.SIGTERM and is_raised:
            return
        elif _must_wait(frame):
            _thread.start_new_thread(_send_again, (number,))
        elif number == signal.SIGTERM:
            is_raised = True
            raise Terminated
        else:
            raise KeyboardInterrupt

    defaults = ((signal.SIGINT, signal.default_int_handler), (signal.SIGTERM, signal.SIG_DFL))
    with contextlib.ExitStack() as handled:
        for number, default in defaults:
            if signal.getsignal(number) == default:
                handled.enter_context(_handled(number, stop))
        yield


def _must_wait(frame: Any) -> bool:
    """Whether an exception raised in this frame might get lost, or become another one."""
    while frame is not None:
        if frame.f_globals.get("__name__") in _DEFERRING or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def _send_again(number: int) -> None:
    time.sleep(0.05)
    os.kill(os.getpid(), number)


def exit_code_of(stop: BaseException) -> int:
    """Return the exit code of a shell: 143 if SIGTERM caused the stop, otherwise 130."""
    cause: BaseException | None = stop
    while cause is not None and not isinstance(cause, Terminated):
        cause = cause.__cause__
    return 128 + (signal.SIGINT if cause is None else signal.SIGTERM)


_LOOK_EVERY, _LOOK_FOR_PARENT, _LONGEST_START = 0.2, 1.0, 600.0


class Measured(NamedTuple):
    """The value of a computation, and the peak memory of its process."""

    value: Any
    peak_bytes: int


def run_measured(
    function: Callable[..., Any],
    *arguments: Any,
    memory_gib: float | None = None,
    seconds: float | None = None,
    modules: Sequence[str] = (),
    starts_processes: bool = False,
) -> Measured:
    """Return ``function(*arguments)`` from a fresh process, with its peak memory.

    The function must be importable by name; its arguments and result must be plain data. The clock
    starts when the process has imported ``modules``; the memory includes Python and these. Raises
    ``MemoryLimitError`` or ``TimeLimitError`` for an exceeded limit, ``TrainingError`` for a
    process that died, and any igsd error that the function raised. ``starts_processes``: the
    function does, and they end with its process; their memory does not count.
    """
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    limit = {"memory_gib": memory_gib, "seconds": seconds}
    arguments = (sender, function, arguments, limit, modules)
    child = context.Process(target=_child, args=arguments, daemon=not starts_processes)
    with deaf_children():
        child.start()
    sender.close()
    try:
        answer = _watch(receiver, child, **limit)
    finally:
        _kill(child, with_children=starts_processes)
        receiver.close()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _kill(child: Any, *, with_children: bool) -> None:
    """End a process, and those that it has started, at once."""
    import psutil

    started: list[Any] = []
    with contextlib.suppress(psutil.Error):  # it has ended by itself
        started = psutil.Process(child.pid).children(recursive=True) if with_children else []
    child.kill()
    for process in started:
        with contextlib.suppress(psutil.Error):
            process.kill()
    child.join()


def _watch(receiver: Any, child: Any, memory_gib: float | None, seconds: float | None) -> Any:
    """Return the result of the child, or the error of the limit it exceeded."""
    start, is_ready = time.monotonic(), False
    while True:
        if receiver.poll(_LOOK_EVERY):
            try:
                answer = receiver.recv()
            except EOFError:
                return _died(child)
            if not isinstance(answer, int):  # at first the bytes held before the work begins
                return answer
            start, is_ready = time.monotonic(), True
            if memory_gib is not None and answer > memory_gib * GIB:
                return MemoryLimitError(
                    f"OMR: of the limit of {memory_gib:g} GiB, Python, its libraries and the "
                    f"graphs take {answer / GIB:.2f} GiB before the method begins. Use a larger "
                    "limit."
                )
        elif not child.is_alive() and not receiver.poll():
            return _died(child)
        passed = time.monotonic() - start
        if not is_ready and passed > _LONGEST_START:
            return TrainingError(
                f"The process of a method had not started after {_LONGEST_START:g} seconds. Is "
                "the disk with the installation slow, or the machine too busy?"
            )
        if is_ready and seconds is not None and passed > seconds:
            return TimeLimitError(f"> limit: the method was not done after {seconds:g} seconds.")
        if is_ready and memory_gib is not None and resident_bytes(child.pid) > memory_gib * GIB:
            return MemoryLimitError(f"OMR: the method took more than {memory_gib:g} GiB.")


def _died(child: Any) -> TrainingError:
    child.join()
    killed = child.exitcode is not None and child.exitcode < 0
    why = "The system may have killed it because memory ran out." if killed else "It exited."
    return TrainingError(
        f"The process of a method ended without a result (exit code {child.exitcode}). {why}"
    )


def _child(
    sender: Any, function: Callable[..., Any], arguments: Any, limit: Any, modules: Sequence[str]
) -> None:
    """Send the result of the function; igsd errors are sent as they are, others as text."""
    end_with_parent()
    sys.stdout = sys.stderr  # what a method prints must not end up in a table or in JSON
    try:
        for name in modules:
            with contextlib.suppress(ImportError):  # the method says which extra it misses
                importlib.import_module(name)
        sender.send(resident_bytes(os.getpid()))
        with limits(**limit), library_errors():
            value = function(*arguments)
        sender.send(Measured(value, peak_bytes()))
    except IGSDError as error:
        sender.send(error)
    except SystemExit as error:
        sender.send(TrainingError(f"The method called sys.exit({error.code!r})."))
    except Exception as error:
        sender.send(TrainingError(f"The method failed: {type(error).__name__}: {error}"))


def end_with_parent(
    parent: int | None = None, *, code: int = 1, patience: float = 0.0, last_words: str = ""
) -> None:
    """Let this process end with an exit code when its parent is gone, even if that was killed.

    ``parent``: the number of a parent that did not start this process by ``multiprocessing``; it
    may be gone already. ``patience``: seconds in which the process may end by itself, before it
    prints its ``last_words``.
    """
    started_by = multiprocessing.parent_process() if parent is None else None
    if started_by is None and parent is None:
        return
    if os.name != "posix" and parent not in (None, os.getppid()):
        return  # the launcher of an environment on Windows stands between

    def watch() -> None:
        if started_by is not None:
            started_by.join()
        while parent is not None and os.getppid() == parent:
            time.sleep(_LOOK_FOR_PARENT)
        time.sleep(patience)
        if last_words:
            print(last_words, file=sys.stderr)
        os._exit(code)

    threading.Thread(target=watch, daemon=True).start()


def resident_bytes(pid: int) -> int:
    """Return the memory that a process holds now, 0 if there is no such process."""
    import psutil

    try:
        return int(psutil.Process(pid).memory_info().rss)
    except psutil.Error:
        return 0


def peak_bytes() -> int:
    """Return the peak memory of this process, 0 if the system does not report it."""
    # psutil has no peak on Linux, and with getrusage a process inherits its parent's.
    with (
        contextlib.suppress(OSError, ValueError, IndexError, StopIteration),
        open("/proc/self/status", encoding="ascii") as file,
    ):
        return next(1024 * int(line.split()[1]) for line in file if line.startswith("VmHWM:"))
    try:
        import resource
    except ImportError:  # not on Windows
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak if sys.platform == "darwin" else peak * 1024)


T = TypeVar("T")


def map_folds(
    function: Callable[..., T], arguments: Iterable[tuple[Any, ...]], n_jobs: int = 1
) -> list[T]:
    """Return ``[function(*a) for a in arguments]``, by ``n_jobs`` processes (-1: all cores).

    Each call uses one BLAS thread, also with one process: the number of threads changes the last
    digits of a matrix product. Raises ``ConfigError`` if ``n_jobs`` is neither positive nor -1.
    """
    if n_jobs < 1 and n_jobs != -1:
        raise ConfigError(f"n_jobs must be a positive number, or -1 for all cores. Got {n_jobs}.")
    if n_jobs == 1:
        return [_single_threaded(function, a) for a in arguments]
    from joblib import Parallel, delayed

    work = (delayed(_single_threaded)(function, a) for a in arguments)
    with deaf_children():
        results = Parallel(n_jobs=n_jobs, backend="loky", return_as="generator")(work)
    return list(results)


def _single_threaded(function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        return function(*arguments)


# From glibc's malloc.h: the first is 128 KiB by default, the second at most 32 MiB.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
_DEFAULT, _LARGEST, _NEVER = 128 * 2**10, 32 * 2**20, 2**31 - 1


@contextlib.contextmanager
def kept_memory() -> Iterator[None]:
    """Keep freed buffers for reuse inside the block, and return them to the system after it.

    Every training step needs buffers of the same few megabytes, and by default glibc returns each
    of them at once. Other C libraries are left alone. No result depends on this.
    """
    library = _glibc()
    if library is None:
        yield
        return
    library.mallopt(_MMAP_THRESHOLD, _LARGEST)
    library.mallopt(_TRIM_THRESHOLD, _NEVER)
    try:
        yield
    finally:
        library.mallopt(_TRIM_THRESHOLD, _DEFAULT)
        library.malloc_trim(0)


def _glibc() -> ctypes.CDLL | None:
    """Return the C library of this process if it is glibc."""
    try:
        library = ctypes.CDLL(None)
        return library if hasattr(library, "mallopt") and hasattr(library, "malloc_trim") else None
    except (OSError, TypeError):
        return None
