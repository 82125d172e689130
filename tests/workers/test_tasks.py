from __future__ import annotations

import heapq
from collections.abc import Callable, Collection
from typing import Any

import pytest

from igsd.workers.tasks import Arguments, Pool, WorkerLostError, run_tasks


class FakePool(Pool):
    """Workers in made-up time: a call ends after the seconds that are its first argument.

    ``deaths``: how often the process of a call with this second argument is killed.
    """

    def __init__(self, size: int, deaths: dict[Any, int] | None = None) -> None:
        self.size, self.deaths = size, deaths or {}
        self.time, self.most = 0.0, 0
        self.begun: list[Any] = []
        self._calls: list[tuple[float, int, Callable[..., Any], Arguments]] = []
        self._cancelled: set[int] = set()
        self._number = 0

    def submit(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        self._number += 1
        self.begun.append(arguments[1])
        is_copy = self.begun.count(arguments[1]) > 1 and not self.deaths
        seconds = 1.0 if is_copy else arguments[0]
        heapq.heappush(self._calls, (self.time + seconds, self._number, function, arguments))
        self.most = max(self.most, len(self._calls))
        return self._number

    def wait(self, calls: Collection[Any], seconds: float | None) -> Collection[Any]:
        while True:
            end, number, function, arguments = self._calls[0]
            if seconds is not None and end > self.time + seconds:
                self.time += seconds
                return []
            heapq.heappop(self._calls)
            self.time = end
            if number not in self._cancelled:
                self._ended = (function, arguments)
                return [number]

    def result(self, call: Any) -> Any:
        function, arguments = self._ended
        if self.deaths.get(arguments[1], 0) > 0:
            self.deaths[arguments[1]] -= 1
            raise WorkerLostError("killed")
        return function(*arguments)

    def cancel(self, call: Any) -> None:
        self._cancelled.add(call)

    def now(self) -> float:
        return self.time


def name(seconds: float, text: str) -> str:
    return text.upper()


TASKS = [(3.0, "a"), (1.0, "b"), (1.0, "c"), (5.0, "d"), (1.0, "e")]


def values(pool: Pool, **options: Any) -> list[str]:
    return [ended.value for ended in run_tasks(name, TASKS, pool, **options)]


def test_here() -> None:
    assert values(Pool()) == list("ABCDE")


def test_in_order_and_as_they_end() -> None:
    assert values(FakePool(2)) == list("ABCDE")
    assert values(FakePool(2), in_order=False) == list("BCAED")
    pool = FakePool(2)
    values(pool)
    assert (pool.most, pool.time) == (2, 7.0)


def test_tasks_are_taken_only_when_they_can_start() -> None:
    taken: list[str] = []

    def tasks() -> Any:
        for seconds, text in TASKS:
            taken.append(text)
            yield seconds, text

    ended = run_tasks(name, tasks(), FakePool(2))
    assert next(ended).value == "A"
    assert taken == ["a", "b", "c", "d"]  # the last took the place of a and was not waited for
    ended.close()


def test_a_killed_process_costs_its_call_alone() -> None:
    pool = FakePool(2, {"a": 1})
    assert values(pool) == list("ABCDE")
    assert sorted(pool.begun) == list("aabcde")


def test_a_call_that_ends_two_processes() -> None:
    with pytest.raises(WorkerLostError):
        values(FakePool(2, {"a": 2}))
    lost = values(FakePool(2, {"a": 2}), lost=lambda seconds, text: f"no {text}")
    assert lost == ["no a", "B", "C", "D", "E"]


def test_what_is_sent_is_made_late() -> None:
    sent: list[str] = []

    def prepare(seconds: float, text: str) -> tuple[float, str]:
        sent.append(text)
        return seconds, text * 2

    ended = run_tasks(name, TASKS, FakePool(2), prepare=prepare)
    first = next(ended)
    assert (first.arguments, first.value) == ((3.0, "a"), "AA")
    assert sent == ["a", "b", "c", "d"]
    ended.close()


def test_calls_that_may_not_begin_are_left_out() -> None:
    assert values(FakePool(2), begin=lambda seconds, text: text not in "bd") == list("ACE")


def test_results_that_wait_for_a_slow_one_are_bounded() -> None:
    tasks = [(1000.0, "slow"), *((1.0, str(number)) for number in range(100))]
    pool = FakePool(2)
    ended = run_tasks(name, tasks, pool, ahead=2)
    assert next(ended).value == "SLOW"
    assert len(pool.begun) == 8


def test_a_slow_call_is_copied_to_a_free_worker() -> None:
    tasks = [*((1.0, str(number)) for number in range(6)), (1000.0, "slow"), (1.0, "x")]
    pool = FakePool(2)
    found = [ended.value for ended in run_tasks(name, tasks, pool, copies=True)]
    assert found == [*"012345", "SLOW", "X"]
    assert pool.begun.count("slow") == 2
    assert pool.time < 10
    pool = FakePool(2)
    assert len(list(run_tasks(name, tasks, pool))) == 8
    assert pool.time > 1000


def test_an_error_ends_all_and_cancels_what_runs() -> None:
    def fail(seconds: float, text: str) -> str:
        if text == "b":
            raise ZeroDivisionError
        return text

    pool = FakePool(2)
    with pytest.raises(ZeroDivisionError):
        list(run_tasks(fail, TASKS, pool))
    assert pool._cancelled == {1}
