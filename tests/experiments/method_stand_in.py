"""``run_measured`` without a process of its own, for tests of what is done with its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from igsd import processes
from igsd.limits import limits
from igsd.processes import Measured

Made = list[tuple[str, int]]
"""(method, seed) of what was run."""


def run_here(
    function: Callable[..., Any],
    *arguments: Any,
    memory_gib: float | None = None,
    seconds: float | None = None,
    modules: Sequence[str] = (),
    starts_processes: bool = False,
) -> Measured:
    """Return the answer with a made-up peak; the limits that methods ask for hold."""
    with limits(memory_gib=memory_gib, seconds=seconds):
        return Measured(function(*arguments), 3 * 2**20)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Run methods in this process; returns the list of (method, seed) that were run."""
    made: Made = []

    def run(function: Any, *arguments: Any, **limited: Any) -> Measured:
        if arguments:  # scoring has none
            made.append((arguments[1], arguments[2].seed))
        return run_here(function, *arguments, **limited)

    monkeypatch.setattr(processes, "run_measured", run)
    return made
