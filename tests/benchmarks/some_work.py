"""Work for the tests of ``Side``, which imports it in a process of its own."""

from __future__ import annotations

from collections.abc import Callable


def counter(start: int) -> Callable[[], int]:
    """Return work that counts its runs, and prints what must not disturb the answers."""
    runs = [start - 1]

    def work() -> int:
        print("not an answer")
        runs[0] += 1
        return runs[0]

    return work


def broken() -> Callable[[], int]:
    """Return work that fails."""

    def work() -> int:
        raise RuntimeError("no such luck")

    return work
