"""Whole trainings as they are, in bf16 and by ``torch.compile``, start-up counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch

from benchmarks.context import Context
from benchmarks.guard import guarded
from benchmarks.row import Row
from benchmarks.side import Run, run_once
from benchmarks.training import load
from igsd.baselines.registry import configure
from igsd.estimators import IGSD
from igsd.training import fit as fitting
from igsd.training import loop

EPOCHS = {"MUTAG": 60, "NCI1": 20}
VARIANTS = {
    "bf16-mixed": {"precision": "bf16-mixed"},
    "torch.compile": {"is_compiled": True},
}
NAME = "whole training as it is / {}"


def rows(context: Context) -> list[Row]:
    """Return a row for each data set and variant, CPU seconds on one thread; none has a bar."""
    return [row for data in EPOCHS for row in guarded(NAME, data, _rows, context, data)]


def _rows(context: Context, data: str) -> list[Row]:
    context.require(data)
    plain = run_once("benchmarks.variants:fit_side", data=data)
    found = []
    for name, changes in VARIANTS.items():
        title = NAME.format(name)
        found += guarded(title, data, _row, title, data, plain, changes)
    return found


def _row(title: str, data: str, plain: Run, changes: dict[str, object]) -> list[Row]:
    other = run_once("benchmarks.variants:fit_side", data=data, **changes)
    has = "has" if has_bf16() else "does not have"
    note = (
        f"recipe molecules, {EPOCHS[data]} epochs; above 1 the variant is faster; last loss "
        f"{plain.result:.3f} and {other.result:.3f}; this processor {has} instructions for bf16"
    )
    return [Row(title, data, plain.cpu, other.cpu, plain.cpu / other.cpu, None, "s", note)]


def has_bf16() -> bool:
    """Return whether the processor says that it has instructions for bf16."""
    try:
        return "bf16" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def fit_side(
    data: str, precision: str = "32-true", is_compiled: bool = False
) -> Callable[[], float]:
    """Return the work of a whole training; its result: the loss of the last epoch."""
    graphs, changes = load(data), {"epochs": EPOCHS[data], "cache_views": False}
    config = configure("igsd", "molecules", changes | {"precision": precision})

    def work() -> float:
        if is_compiled:
            fitting.loop.set_up = _set_up_compiled  # type: ignore[assignment]
        return float(IGSD.from_config(config).fit(graphs).history_[-1]["total"])

    return work


def _set_up_compiled(*arguments: object) -> tuple[object, object]:
    forward, optimizer = _SET_UP(*arguments)  # type: ignore[arg-type]
    return torch.compile(forward, dynamic=True), optimizer


_SET_UP = loop.set_up
