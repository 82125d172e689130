"""``Workers``: where calls are made. Processes on this machine, each of which may die alone."""

import contextlib
import multiprocessing
import os
import socket
import sys
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import FIRST_COMPLETED
from concurrent.futures import wait as wait_for_any
from dataclasses import dataclass
from typing import Any

from igsd import __version__
from igsd.errors import ConfigError
from igsd.processes import deaf_children, end_with_parent
from igsd.workers.tasks import Arguments, Pool, T, WorkerLostError

_IDLE_SECONDS = 300.0
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


def num_cores() -> int:
    """Return the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on every system
        return os.cpu_count() or 1


@dataclass(frozen=True)
class Workers:
    """Where calls are made: in ``count`` processes here, or on Dask by a ``scheduler``."""

    count: int = 1
    scheduler: str | None = None

    @property
    def is_here(self) -> bool:
        """Whether calls are made in this process, one after the other."""
        return self.count == 1 and self.scheduler is None

    def size(self) -> int:
        """Return how many calls are made at a time; raises ``ConfigError`` without a cluster."""
        if self.scheduler is None:
            return self.count
        with self.pool() as pool:
            return pool.size

    @contextlib.contextmanager
    def pool(self) -> Iterator[Pool]:
        """Yield the workers; raises ``ConfigError`` if they cannot be used."""
        if self.is_here:
            yield Pool()
        elif self.scheduler is None:
            with contextlib.closing(_Processes(self.count)) as processes:
                yield processes
        else:
            from igsd.workers.cluster import cluster

            with cluster(self.scheduler) as pool:
                yield pool


ALONE = Workers()
"""This process."""

_idle: list[Any] = []
"""Executors of one process each, kept for the next pool: a process takes seconds to start."""


class _Processes(Pool):
    """Processes on this machine, each with an executor of its own: one may die alone."""

    def __init__(self, count: int) -> None:
        self.size = count
        self._executors: dict[Any, Any] = {}

    def submit(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """Start a call in an idle process, or in a new one."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        work = (called, function, arguments)
        with deaf_children():
            while _idle:
                executor = _idle.pop()
                with contextlib.suppress(BrokenProcessPool):  # it was killed while it was idle
                    executor.submit(os.getpid).result()
                    return self._noted(executor.submit(*work), executor)
            executor = _new_executor()
            return self._noted(executor.submit(*work), executor)

    def _noted(self, call: Any, executor: Any) -> Any:
        self._executors[call] = executor
        return call

    def wait(self, calls: Collection[Any], seconds: float | None) -> Collection[Any]:
        """Wait until a call has ended, at most ``seconds``; return the calls that have ended."""
        return wait_for_any(calls, seconds, FIRST_COMPLETED).done

    def result(self, call: Any) -> Any:
        """Return the result of a call; raises ``WorkerLostError`` if its process was killed."""
        from joblib.externals.loky.process_executor import BrokenProcessPool

        executor = self._executors.pop(call)
        try:
            value = call.result()
        except BrokenProcessPool as error:
            executor.shutdown(wait=False, kill_workers=True)
            raise WorkerLostError(
                "A process was killed twice by the same part of the work, possibly because memory "
                "ran out. Use fewer --jobs, or a machine with more memory."
            ) from error
        except BaseException:
            _idle.append(executor)
            raise
        _idle.append(executor)
        return value

    def cancel(self, call: Any) -> None:
        """End the process of a call."""
        if (executor := self._executors.pop(call, None)) is not None:
            executor.shutdown(wait=True, kill_workers=True)

    def close(self) -> None:
        """End the processes that are still working."""
        for call in list(self._executors):
            self.cancel(call)
        while len(_idle) > self.size:
            _idle.pop().shutdown(wait=False)


def _new_executor() -> Any:
    from joblib.externals.loky.process_executor import ProcessPoolExecutor

    threads = dict.fromkeys(_THREADS, "1")
    kwargs: Any = {"initializer": end_with_parent, "initargs": (os.getpid(),), "env": threads}
    return ProcessPoolExecutor(max_workers=1, timeout=_IDLE_SECONDS, **kwargs)


def called(function: Callable[..., T], arguments: Arguments, version: str = "") -> T:
    """Return ``function(*arguments)``, called in a worker with one thread.

    ``version``: that of igsd in the calling process, empty if it is the same for sure. Raises
    ``ConfigError`` if it is another.
    """
    if version and version != __version__:
        raise ConfigError(
            f"A Dask worker on {socket.gethostname()} has igsd {__version__}, and this command "
            f"igsd {version}: results could differ. Install the same version everywhere."
        )
    _allow_children()
    with limited_threads(1):
        return function(*arguments)


def _allow_children() -> None:
    """Let this process start others by ``multiprocessing``, as runs with limits do.

    Dask's workers are daemons, which may not have children; ours end with their parent anyway. The
    children of joblib's workers do not know its start method.
    """
    multiprocessing.current_process()._config["daemon"] = False  # type: ignore[attr-defined]
    method = multiprocessing.get_start_method(allow_none=True)
    if method not in (None, *multiprocessing.get_all_start_methods()):
        multiprocessing.set_start_method("spawn", force=True)


@contextlib.contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Limit PyTorch and BLAS to ``count`` threads, here and in processes started in the block."""
    if count is None:
        yield
        return
    from threadpoolctl import threadpool_limits

    torch = sys.modules.get("torch")  # a torch that is imported in the block reads the variables
    before = {name: os.environ.get(name) for name in _THREADS}
    threads = None if torch is None else torch.get_num_threads()
    os.environ.update(dict.fromkeys(_THREADS, str(count)))
    if torch is not None:
        torch.set_num_threads(count)
    try:
        with threadpool_limits(count):
            yield
    finally:
        if torch is not None:
            torch.set_num_threads(threads)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
