"""``run_methods``: several methods over several seeds, none more often than it must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from igsd.baselines.measured import Measured
from igsd.baselines.registry import method
from igsd.experiments.method_plan import Measure, MethodPlan, measure
from igsd.experiments.records import Record


def run_methods(
    plans: list[MethodPlan],
    on_start: Callable[[MethodPlan, int], None] = lambda plan, seed: None,
) -> Iterator[tuple[MethodPlan, Record, bool]]:
    """Yield (plan, record, whether it was there already) for each method and seed 0..N-1.

    A method that exceeds its limits with one seed is not tried with the next; one that draws
    nothing is run once and scored under the folds of every seed. ``on_start`` is called before each
    run that is made. Raises ``ConfigError`` for a record of another run before anything is run.
    """
    found = {(p.name, s): p.finished(s) for p in plans for s in range(p.num_seeds)}
    for plan in plans:
        measured = measure if method(plan.method).draws else measure_once()
        for seed in range(plan.num_seeds):
            record = found[plan.name, seed]
            if record is None:
                on_start(plan, seed)
                record = plan.run(seed, measured)
                yield plan, record, False
            else:
                yield plan, record, True
            if record["status"] == "limit":
                break


def measure_once() -> Measure:
    """Return a ``measure`` that runs once and remembers, for a method that draws nothing."""
    kept: list[Measured] = []

    def remembered(plan: MethodPlan, seed: int) -> Measured:
        if not kept:
            kept.append(measure(plan, seed))
        return kept[0]

    return remembered
