"""``igsd evaluate --protocol semi``: a method that learns from few labels, over several splits."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from igsd.cli.settings import choose_recipe
from igsd.config import parse_settings, read_settings
from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.rows import Row
    from igsd.experiments.semi_runner import SemiPlan
    from igsd.experiments.split_runner import SplitPlan

P = TypeVar("P", bound="SplitPlan")
Records = list[dict[str, Any]]
PROTOCOLS = ("semi", "semi-paper")
DEFAULT_METHOD = "igsd-supcon+self-training"
MORGAN = "morgan"
FLOORS = ("untrained", "histogram", "majority", MORGAN)


def run(args: argparse.Namespace) -> int:
    """Train and score the method on every split, print both protocols, return the exit code."""
    if args.targets is not None:
        from igsd.cli.evaluate_values import run as run_values

        return run_values(args)
    return run_plan(_plan(args), _say_split, lambda plan, good: _report(args, plan, good))


def run_plan(
    plan: P, say: Callable[[P, dict[str, Any], bool], None], report: Callable[[P, Records], None]
) -> int:
    """Run a plan and return the exit code; ``say`` how a split went, ``report`` the good ones."""
    from igsd.experiments.split_runner import finished_splits, run_splits

    finished, records = finished_splits(plan), []
    try:
        for record in run_splits(plan, finished):
            say(plan, record, record["seed"] in finished)
            records.append(record)
    except KeyboardInterrupt as stop:
        again = "with --records it goes on where it was"
        raise KeyboardInterrupt(f"Stopped. Give the same command again; {again}.") from stop
    good = [record for record in records if record["status"] == "ok"]
    if good:
        report(plan, good)
    return 0 if len(good) == len(records) else 1


def given_changes(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of ``--config`` and ``--set``; raises for what the protocol refuses."""
    if len(args.inputs) != 1:
        raise ConfigError(
            f"Protocol {args.protocol} takes DATA alone, with --method NAME: the methods train "
            "inside each split. A model trained elsewhere has seen other labels, and may have seen "
            "graphs of the test part, so its score would mean nothing here."
        )
    if args.output:
        raise ConfigError(
            f"Protocol {args.protocol} leaves records and no run folder: use --records."
        )
    changes = read_settings(args.config) if args.config else {}
    changes |= parse_settings(args.settings)
    if "seed" in changes:
        raise ConfigError("The seeds are 0..N-1 of --seeds N here, so seed cannot be set.")
    return changes


def _plan(args: argparse.Namespace) -> SemiPlan:
    """Return what is to be run, everything checked that can be checked without training."""
    from igsd.baselines.semi_methods import method_config
    from igsd.evaluation.semi import LABEL_RATE
    from igsd.experiments.semi_runner import SemiPlan
    from igsd.graphs.datasets import open_data
    from igsd.training.fit_labelled import check_labels_trainable

    changes = given_changes(args)
    method = args.method or DEFAULT_METHOD
    graphs = open_data(args.inputs[0])
    recipe = choose_recipe(args.recipe, graphs)
    config = method_config(method, recipe, changes)
    check_labels_trainable(graphs, config)
    return SemiPlan(
        graphs=graphs,
        method=method,
        recipe=recipe,
        config=config,
        num_splits=args.seeds,
        label_rate=LABEL_RATE if args.label_rate is None else args.label_rate,
        records=None if args.records is None else Path(args.records),
        force=args.force,
        verbose=not args.quiet,
    )


def _report(args: argparse.Namespace, plan: SemiPlan, records: list[dict[str, Any]]) -> None:
    """Print the table of both protocols, or its JSON, and write the JSON where it is asked for."""
    from igsd.experiments.records import data_summary
    from igsd.experiments.rows import rows_to_dict
    from igsd.storage import write_json

    honest, optimistic = (_rows(plan, records, protocol) for protocol in PROTOCOLS)
    first, beside = (honest, optimistic) if args.protocol == "semi" else (optimistic, honest)
    table: dict[str, Any] = {"data": data_summary(plan.graphs), "settings": plan.protocol()}
    table |= {"method": plan.method, "recipe": plan.recipe, "config": plan.config.to_json()}
    table |= rows_to_dict(first, beside)
    if args.json == "-":
        print(json.dumps(table, indent=2, allow_nan=False))
        return
    _print(plan, honest, optimistic)
    _print_areas(plan, records)
    if args.json is not None:
        write_json(str(args.json), table)


def _rows(plan: SemiPlan, records: list[dict[str, Any]], protocol: str) -> list[Row]:
    """Return the rows of one protocol: the method's, and under ``semi`` those it has to beat."""
    from igsd.experiments.records import scored_of
    from igsd.experiments.rows import Row

    scored = [pair for record in records for pair in scored_of(record)]
    names = (plan.method, *FLOORS)
    rows = [
        Row(name, protocol, tuple(r for n, r in scored if n == name and r.protocol == protocol))
        for name in names
    ]
    has_fingerprints = any(name == MORGAN for name, _ in scored)
    return [row for row in rows if has_fingerprints or row.method != MORGAN]


def _print(plan: SemiPlan, honest: list[Row], optimistic: list[Row]) -> None:
    from igsd.report.table import print_table
    from igsd.wording import counted

    header = ["method", "semi %", "std over splits", "best split"]
    header += ["semi-paper % (optimistic)", "std over splits", "best split"]
    lines = [
        [row.method, *_cells(row), *_cells(other)]
        for row, other in zip(honest, optimistic, strict=True)
    ]
    splits = counted(len(honest[0].results), "split")
    share = f"{100 * plan.label_rate:g} % of the training graphs labelled"
    print_table(
        header, lines, f"{plan.graphs.name}, {plan.config.epochs} epochs, {splits}, {share}"
    )
    print("note: semi is the last epoch; semi-paper the best epoch on the test part")
    if len(honest[0].results) < 5:
        print("note: the protocol asks for at least 5 splits")


def _print_areas(plan: SemiPlan, records: list[dict[str, Any]]) -> None:
    """Print the area under the ROC curve of each method that has one, after the last epoch."""
    import numpy as np

    for name in (plan.method, *FLOORS):
        rows = [row for record in records for row in record["rows"] if row["method"] == name]
        areas = [row["roc_auc"] for row in rows if row.get("roc_auc") is not None]
        if areas:
            print(f"ROC-AUC of {name}: {np.mean(areas):.3f}, std over splits {np.std(areas):.3f}")


def _cells(row: Row) -> list[str]:
    best = max((r.mean for r in row.results), default=None)
    figures = (row.mean, row.std_over_seeds, best)
    return ["-" if figure is None else f"{100 * figure:.1f}" for figure in figures]


def _say_split(plan: SemiPlan, record: dict[str, Any], skipped: bool) -> None:
    """Say how a split went, on standard error, so that a long command can be followed."""
    seed = record["seed"]
    if skipped:
        print(f"split {seed}: has a record, skipped ({plan.path_of(seed)})", file=sys.stderr)
    elif record["status"] == "ok":
        last, best = (100 * row["mean"] for row in record["rows"][:2])
        print(f"split {seed}: semi {last:.1f} %, semi-paper {best:.1f} %", file=sys.stderr)
