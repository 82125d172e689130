"""Epochs of InfoGraph, CMC-Graph and GraphCL beside PyGCL's, with the same encoder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.pygcl import STEPS, VERSION, install, pygcl_side
from benchmarks.row import Row
from benchmarks.side import Side
from benchmarks.timing import alternate
from benchmarks.training import SETTINGS, epoch_of, load, recorded_training
from igsd.baselines.registry import make_method

DATA = "NCI1"


@dataclass(frozen=True)
class Case:
    """One row: a method by our name and by PyGCL's, its bar, and what makes the encoders alike."""

    name: str
    theirs: str
    bar: float
    repeats: int
    settings: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case("infograph", "InfoGraph", 3.0, 3),
    Case("mvgrl", "MVGRL", 15.0, 1, {"encoder": "gcn", "encoder_batch_norm": False}),
    Case("graphcl", "GraphCL", 1.5, 3),
)


def rows(context: Context) -> list[Row]:
    """Return a row for each method, CPU seconds on one thread."""
    folder = install()
    return [
        row for case in CASES for row in guarded(_title(case), DATA, _rows, context, folder, case)
    ]


def _title(case: Case) -> str:
    return f"epoch of {case.name} / PyGCL's"


def _rows(context: Context, folder: Path, case: Case) -> list[Row]:
    context.require(DATA)
    steps = STEPS.get((case.theirs, DATA))
    with (
        Side("benchmarks.learned:epoch_side", name=case.name, data=DATA, steps=steps) as ours,
        pygcl_side(folder, case.theirs, DATA, steps) as theirs,
    ):
        measured = alternate({"ours": ours, "theirs": theirs}, context.rounds(case.repeats))
    mine, other = measured["ours"].cpu, measured["theirs"].cpu
    part = f"; batches 0 to {len(steps) - 1} of an epoch" if steps else ""
    note = f"PyGCL {VERSION}, the same encoder (4 layers of 64), batches of 128{part}"
    return [Row(_title(case), DATA, mine, other, other / mine, case.bar, "s", note)]


def epoch_side(
    name: str, data: str, steps: Sequence[int] | None = None
) -> Callable[[], list[float]]:
    """Return the work of one epoch of a method, or of chosen steps; its result: the losses.

    Diffusions are computed beforehand, once, as ``fit`` does.
    """
    (case,) = (case for case in CASES if case.name == name)
    shape = {key: getattr(SETTINGS, key) for key in ("num_layers", "hidden_dim", "batch_size")}
    estimator = make_method(name, **shape, **case.settings)
    training = recorded_training(load(data), steps, estimator.network_class, estimator.config())
    return epoch_of(*training)
