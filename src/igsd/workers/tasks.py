"""``run_tasks``: many calls of a function by workers, repeated if a worker is killed.

The loop decides what is started, what is tried again and in which order results are yielded. It
knows its workers only as a ``Pool``: this process, processes on this machine, or a Dask cluster.
"""

import statistics
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from igsd.errors import TrainingError

T = TypeVar("T")
Arguments = tuple[Any, ...]

ATTEMPTS = 2
"""How often a call is made before the death of its process is blamed on it."""

_SLOW, _SEEN = 2.0, 3
"""A call that takes ``_SLOW`` times the median of at least ``_SEEN`` calls is copied."""


class WorkerLostError(TrainingError):
    """The process of a call was killed."""


class Pool:
    """Workers that make calls: here the calling process, in subclasses others.

    ``size``: how many calls are made at a time.
    """

    size = 1

    def submit(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """Start a call and return a handle to it."""
        call: Future[Any] = Future()
        call.set_result(function(*arguments))
        return call

    def wait(self, calls: Collection[Any], seconds: float | None) -> Collection[Any]:
        """Wait until a call has ended, at most ``seconds``; return the calls that have ended."""
        return calls

    def result(self, call: Any) -> Any:
        """Return the result of a call; raises ``WorkerLostError`` if its process was killed."""
        return call.result()

    def collect(self, value: Any) -> Any:
        """Return a result that is due, from wherever it has been kept until now."""
        return value

    def everywhere(self, function: Callable[..., T], *arguments: Any) -> list[T]:
        """Return the results of a function on all workers."""
        return [function(*arguments)]

    def cancel(self, call: Any) -> None:
        """Forget a call, and end it if that is possible."""

    def now(self) -> float:
        """Return the time in seconds."""
        return time.monotonic()

    def share(self, value: Any) -> Any:
        """Return an argument for many calls in place of a large value, which is sent only once."""
        return value


class Ended(NamedTuple):
    """A call that has ended: its arguments and its result."""

    arguments: Arguments
    value: Any


class _Call(NamedTuple):
    number: int
    arguments: Arguments


def run_tasks(
    function: Callable[..., Any],
    tasks: Iterable[Arguments],
    pool: Pool,
    *,
    begin: Callable[..., bool] = lambda *arguments: True,
    lost: Callable[..., Any] | None = None,
    prepare: Callable[..., Arguments] = lambda *arguments: arguments,
    in_order: bool = True,
    ahead: int = 0,
    copies: bool = False,
) -> Iterator[Ended]:
    """Yield (arguments, result) of ``function(*arguments)`` for all tasks.

    A task is taken from ``tasks`` when a worker is free, or when fewer than ``ahead`` tasks wait
    for one. A call whose process is killed is made once more.

    ``begin(*arguments)``: asked before each start; False skips the call. ``lost(*arguments)``: the
    result of a call whose process was killed twice; by default that is an error.
    ``prepare(*arguments)``: the arguments that are sent to the worker, made when they are sent, so
    that tasks take no memory while they wait. ``in_order``: yield results in the order of the
    tasks; at most four per worker then wait for an earlier one. ``copies``: repeat a call that
    takes twice as long as usual on an idle worker, and take the first result; only for functions
    that depend on nothing but their arguments.
    """
    loop = _Loop(function, iter(tasks), pool, begin, lost, prepare, in_order, ahead, copies)
    try:
        yield from loop.run()
    finally:
        for call in loop.running:
            pool.cancel(call)


@dataclass(eq=False)
class _Loop:
    """The arguments of ``run_tasks``, and its state; calls are numbered in the order of the tasks.

    ``running``: calls by their handle. ``_next``: the number of the next task. ``_due``: of the
    next result ``in_order``.
    """

    function: Callable[..., Any]
    tasks: Iterator[Arguments]
    pool: Pool
    begin: Callable[..., bool]
    lost: Callable[..., Any] | None
    prepare: Callable[..., Arguments]
    in_order: bool
    ahead: int
    copies: bool
    running: dict[Any, _Call] = field(default_factory=dict)
    _started: dict[int, float] = field(default_factory=dict)
    _again: deque[_Call] = field(default_factory=deque)
    _deaths: dict[int, int] = field(default_factory=dict)
    _copied: set[int] = field(default_factory=set)
    _ended: dict[int, Ended | None] = field(default_factory=dict)  # None: it was skipped
    _seconds: deque[float] = field(default_factory=lambda: deque(maxlen=1000))
    _next: int = 0
    _due: int = 0
    _is_over: bool = False

    def run(self) -> Iterator[Ended]:
        """Yield calls as they end."""
        while True:
            self._fill()
            yield from self._ready()
            if not self.running and not self._again and self._is_over:
                return
            patience = self._patience()
            for handle in self.pool.wait(list(self.running), patience) if self.running else ():
                self._end(handle)
            self._copy_slow()
            yield from self._ready()

    def _fill(self) -> None:
        """Start calls until all workers have one, and ``ahead`` wait."""
        while len(self.running) < self.pool.size + self.ahead:
            if self._again:
                call = self._again.popleft()
            elif not self._takes_tasks():
                return
            else:
                arguments = next(self.tasks, None)
                if arguments is None:
                    self._is_over = True
                    return
                call = _Call(self._next, arguments)
                self._next += 1
            if not self.begin(*call.arguments):
                self._ended[call.number] = None
                continue
            self._start(call)

    def _takes_tasks(self) -> bool:
        """Return whether a task may be taken: there may be one, and not too many results wait."""
        window = max(4 * self.pool.size, self.pool.size + self.ahead)
        is_full = self.in_order and self._next - self._due >= window
        return not self._is_over and not is_full

    def _start(self, call: _Call) -> None:
        self._started.setdefault(call.number, self.pool.now())
        handle = self.pool.submit(self.function, self.prepare(*call.arguments))
        self.running[handle] = call

    def _end(self, handle: Any) -> None:
        """Take the result of a call, or start it again if its process was killed."""
        call = self.running.pop(handle, None)
        if call is None:  # the copy was faster, just now
            return
        try:
            value = self.pool.result(handle)
        except WorkerLostError:
            if any(other.number == call.number for other in self.running.values()):
                return  # its copy is still at work
            deaths = self._deaths[call.number] = self._deaths.get(call.number, 0) + 1
            self._copied.discard(call.number)
            if deaths < ATTEMPTS:
                self._started.pop(call.number)
                self._again.append(call)
                return
            if self.lost is None:
                raise
            value = self.lost(*call.arguments)
        self._seconds.append(self.pool.now() - self._started.pop(call.number))
        self._ended[call.number] = Ended(call.arguments, value)
        for other in [h for h, each in self.running.items() if each.number == call.number]:
            del self.running[other]
            self.pool.cancel(other)

    def _ready(self) -> Iterator[Ended]:
        """Yield the results that are due."""
        while self._ended:
            number = self._due if self.in_order else next(iter(self._ended))
            if number not in self._ended:
                return
            ended = self._ended.pop(number)
            self._due = number + 1 if self.in_order else self._due
            if ended is not None:
                yield ended._replace(value=self.pool.collect(ended.value))

    def _is_slow_after(self) -> float | None:
        """Return the seconds after which a call is slow; None if that is not known yet."""
        if not self.copies or len(self._seconds) < _SEEN:
            return None
        return _SLOW * statistics.median(self._seconds)

    def _patience(self) -> float | None:
        """Return how long to wait for a call to end before looking for slow ones."""
        if not self._has_idle_workers():
            return None
        slow = self._is_slow_after()
        return None if slow is None else max(slow / 4, 0.05)

    def _has_idle_workers(self) -> bool:
        """Return whether there are workers without a call, and none to give them."""
        is_busy = len(self.running) >= self.pool.size or bool(self._again)
        return not is_busy and not self._takes_tasks()

    def _copy_slow(self) -> None:
        """Give slow calls to idle workers, too."""
        slow = self._is_slow_after() if self._has_idle_workers() else None
        if slow is None:
            return
        now = self.pool.now()
        for call in sorted(set(self.running.values()), key=lambda call: call.number):
            if len(self.running) >= self.pool.size:
                return
            if call.number not in self._copied and now - self._started[call.number] > slow:
                self._copied.add(call.number)
                self._start(call)
