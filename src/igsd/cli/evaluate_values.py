"""``igsd evaluate --protocol semi --targets NAME``: a number predicted from few known values."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from igsd.cli.open_graphs import open_graphs
from igsd.cli.settings import choose_recipe
from igsd.cli.split_runs import Records, changes_for_splits, deliver, plan_fields, run_plan
from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.value_plan import ValuePlan

DEFAULT_METHOD = "igsd-self"


def run(args: argparse.Namespace) -> int:
    """Train and score the method on every split, print the errors, return the exit code."""
    return run_plan(_plan(args), _outcome, lambda plan, good: _report(args, plan, good))


def _plan(args: argparse.Namespace) -> ValuePlan:
    """Return what is to be run, everything checked that can be checked without training."""
    changes = changes_for_splits(args)
    if args.protocol != "semi":
        raise ConfigError("Numbers are scored by --protocol semi; semi-paper is for classes.")
    if "," in args.targets:
        raise ConfigError(f"--protocol semi takes one target at a time. Got {args.targets!r}.")
    from igsd.baselines.semi_methods import regression_config
    from igsd.evaluation.semi import LABEL_RATE
    from igsd.experiments.value_plan import ValuePlan
    from igsd.training.fit_labelled import check_labels_trainable

    method = args.method or DEFAULT_METHOD
    graphs = open_graphs(args.inputs[0], quiet=args.quiet)
    recipe = choose_recipe(args.recipe, graphs)
    config = regression_config(method, recipe, changes)
    check_labels_trainable(graphs, config)
    return ValuePlan(
        graphs=graphs,
        method=method,
        recipe=recipe,
        config=config,
        target=args.targets,
        label_rate=LABEL_RATE if args.label_rate is None else args.label_rate,
        **plan_fields(args),
    )


def _report(args: argparse.Namespace, plan: ValuePlan, records: Records) -> None:
    """Print the mean absolute errors, or their JSON."""
    rows = value_rows(records)
    deliver(args, plan, {"rows": rows}, lambda: _print(plan, rows, records))


def value_rows(records: Records) -> list[dict[str, Any]]:
    """Return for each method its mean absolute error over the splits: mean, std, and each.

    The std of one split is None.
    """
    import numpy as np

    errors: dict[str, list[float]] = {}
    for record in records:
        for row in record["rows"]:
            errors.setdefault(row["method"], []).append(row["mae"])
    return [
        {
            "method": name,
            "mae": float(np.mean(values)),
            "std": float(np.std(values)) if len(values) > 1 else None,
            "all": values,
        }
        for name, values in errors.items()
    ]


def _print(plan: ValuePlan, rows: list[dict[str, Any]], records: Records) -> None:
    from igsd.evaluation.semi_values import value_split
    from igsd.graphs.target_units import target_unit
    from igsd.report.table import print_table
    from igsd.wording import counted

    lines = [
        [row["method"], f"{row['mae']:.4g}", "-" if row["std"] is None else f"{row['std']:.2g}"]
        for row in rows
    ]
    title = f"{plan.graphs.name}, {plan.target}, {plan.config.epochs} epochs, "
    split = value_split(plan.values(), 0, label_rate=plan.label_rate)
    title += f"{counted(len(records), 'split')}, {counted(len(split.labelled), 'value')} shown and "
    title += f"{len(split.test)} tested in each"
    print_table(["method", "mean absolute error", "std over splits"], lines, title)
    unit = target_unit(plan.graphs.name, plan.target)
    print(f"note: errors are in the unit of {plan.target}" + (f": {unit}" if unit else ""))


def _outcome(record: dict[str, Any]) -> str:
    return f"mean absolute error {record['rows'][0]['mae']:.4g}"
