"""``run_measured`` without a process of its own, for tests of what is done with its answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from igsd.baselines.limits import limits
from igsd.baselines.measured import Measured
from igsd.experiments import method_plan
from igsd.experiments.method_plan import MethodPlan, plan_method
from igsd.experiments.scoring import Scoring
from igsd.graphs.graphset import GraphSet
from tests.small_graphs import make_graphs

Made = list[tuple[str, int]]
"""(method, seed) of what was run."""


@pytest.fixture(scope="module")
def labelled() -> GraphSet:
    """Eight graphs with classes."""
    return make_graphs(8, classes=True, name="toy")


def plan(
    graphs: GraphSet, name: str = "wl", *, recipe: str = "molecules", **others: Any
) -> MethodPlan:
    """Return the plan of a method that is scored as its vectors are."""
    return plan_method(graphs, name, Scoring(standardise="no"), recipe=recipe, **others)


def run_here(
    function: Callable[..., Any],
    *arguments: Any,
    memory_gib: float | None = None,
    seconds: float | None = None,
    modules: Sequence[str] = (),
) -> Measured:
    """Return the answer with a made-up time and peak; the limits that methods ask for hold."""
    with limits(memory_gib=memory_gib, seconds=seconds):
        return Measured(function(*arguments), 1.5, 3 * 2**20)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> Made:
    """Run methods in this process; returns the list of (method, seed) that were run."""
    made: Made = []

    def run(function: Any, *arguments: Any, **limited: Any) -> Measured:
        made.append((arguments[1], arguments[2].seed))
        return run_here(function, *arguments, **limited)

    monkeypatch.setattr(method_plan, "run_measured", run)
    return made
