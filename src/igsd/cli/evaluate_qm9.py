"""``igsd evaluate --protocol qm9``: properties of molecules from few labels, over splits."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from igsd.cli.arguments import names_in
from igsd.cli.open_graphs import open_graphs
from igsd.cli.settings import AUTO
from igsd.cli.split_runs import Records, changes_for_splits, deliver, plan_fields, run_plan
from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.qm9_plan import QM9Plan
    from igsd.experiments.qm9_table import QM9Cell

RECIPE = "qm9"
DEFAULT_METHOD = "igsd"


def run(args: argparse.Namespace) -> int:
    """Train and score the method on every split, print the table, return the exit code."""
    return run_plan(_plan(args), _outcome, lambda plan, good: _report(args, plan, good))


def _plan(args: argparse.Namespace) -> QM9Plan:
    """Return what is to be run, everything checked that can be checked without training."""
    changes = changes_for_splits(args)
    if args.label_rate is not None:
        raise ConfigError("--label-rate is for semi: protocol qm9 labels 5,000 molecules.")
    from igsd.experiments.qm9_plan import QM9Plan, check_targets, qm9_config
    from igsd.training.fit_labelled import check_labels_trainable

    method = args.method or DEFAULT_METHOD
    recipe = RECIPE if args.recipe in (None, AUTO) else args.recipe
    config = qm9_config(method, recipe, changes)
    graphs = open_graphs(args.inputs[0], quiet=args.quiet)
    targets = check_targets(tuple(names_in(args.targets or "")), graphs)
    check_labels_trainable(graphs, config)
    return QM9Plan(
        graphs=graphs,
        method=method,
        recipe=recipe,
        config=config,
        targets=targets,
        **plan_fields(args),
    )


def _report(args: argparse.Namespace, plan: QM9Plan, records: Records) -> None:
    """Print the table, or its JSON."""
    from igsd.experiments.qm9_table import qm9_cells

    cells = qm9_cells(plan, records)
    found = {"cells": [cell.to_dict() for cell in cells]}
    deliver(args, plan, found, lambda: _print(plan, cells, records))


def _print(plan: QM9Plan, cells: list[QM9Cell], records: Records) -> None:
    """Print a line for each target: its unit, and the error and ratio of every method."""
    from igsd.graphs.qm9 import QM9_UNITS
    from igsd.report.table import print_table
    from igsd.wording import counted

    methods = list(dict.fromkeys(cell.method for cell in cells))
    by_place = {(cell.method, cell.target): cell for cell in cells}
    header = ["target", "unit", *(_title(by_place[m, plan.targets[0]], plan) for m in methods)]
    lines = [
        [name, QM9_UNITS.get(name, ""), *(_text(by_place[method, name]) for method in methods)]
        for name in plan.targets
    ]
    splits, steps = counted(len(records), "split"), f"{records[0]['steps']:,} steps"
    print_table(header, lines, f"{plan.graphs.name}, {splits}, {steps}", left=(0, 1))
    print(f"note: mean absolute error on the test part{_remark(by_place, plan)}")


def _remark(cells: dict[tuple[str, str], QM9Cell], plan: QM9Plan) -> str:
    """Return what is to be said of the ratios, or of there being none."""
    from igsd.experiments.qm9_plan import SUPERVISED

    base = cells.get((SUPERVISED, plan.targets[0]))
    if base is None:
        fault = f"There is no record of --method {SUPERVISED} on these splits"
        return f". {fault}, so no ratio: run it with the same --records."
    if base.notes:
        fault = f"The records of --method {SUPERVISED} are not of this run ({base.notes[0]})"
        return f". {fault}, so no ratio: run it again with --force."
    return ", in brackets over the supervised one"


def _title(cell: QM9Cell, plan: QM9Plan) -> str:
    """Return the method of a column, with what is to be said of its records."""
    count = len(cell.errors)
    few = [] if count == plan.num_seeds else [f"{count} of {plan.num_seeds}"]
    notes = ", ".join([*cell.notes, *few])
    return f"{cell.method} ({notes})" if notes else cell.method


def _text(cell: QM9Cell) -> str:
    ratio = "" if cell.ratio is None else f" ({cell.ratio:.2f})"
    return f"{cell.mae:.4g}{ratio}"


def _outcome(record: dict[str, Any]) -> str:
    return ", ".join(f"{name} {error:.4g}" for name, error in record["rows"][0]["mae"].items())
