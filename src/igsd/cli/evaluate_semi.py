"""``igsd evaluate --protocol semi``: a method that learns from few labels, over several splits."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.cli.settings import choose_recipe
from igsd.config import parse_settings, read_settings
from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.rows import Row
    from igsd.experiments.semi_runner import SemiPlan

PROTOCOLS = ("semi", "semi-paper")
DEFAULT_METHOD = "igsd-supcon+self-training"
FLOORS = ("untrained", "histogram", "majority")


def run(args: argparse.Namespace) -> int:
    """Train and score the method on every split, print both protocols, return the exit code."""
    plan = _plan(args)
    from igsd.experiments.semi_runner import finished_splits, run_splits

    finished, records = finished_splits(plan), []
    try:
        for record in run_splits(plan, finished):
            _say_split(plan, record, record["seed"] in finished)
            records.append(record)
    except KeyboardInterrupt as stop:
        again = "with --records it goes on where it was"
        raise KeyboardInterrupt(f"Stopped. Give the same command again; {again}.") from stop
    good = [record for record in records if record["status"] == "ok"]
    if good:
        _report(args, plan, good)
    return 0 if len(good) == len(records) else 1


def _plan(args: argparse.Namespace) -> SemiPlan:
    """Return what is to be run, everything checked that can be checked without training."""
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
    from igsd.baselines.semi_methods import method_config
    from igsd.evaluation.semi import LABEL_RATE
    from igsd.experiments.semi_runner import SemiPlan
    from igsd.graphs.datasets import open_data
    from igsd.training.fit_labelled import check_labels_trainable

    changes = read_settings(args.config) if args.config else {}
    changes |= parse_settings(args.settings)
    if "seed" in changes:
        raise ConfigError("The seeds are 0..N-1 of --seeds N here, so seed cannot be set.")
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
    from igsd.experiments.rows import rows_to_dict
    from igsd.experiments.runner import data_summary
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
    if args.json is not None:
        write_json(str(args.json), table)


def _rows(plan: SemiPlan, records: list[dict[str, Any]], protocol: str) -> list[Row]:
    """Return the rows of one protocol: the method's, and under ``semi`` those it has to beat."""
    from igsd.experiments.records import scored_of
    from igsd.experiments.rows import Row

    scored = [pair for record in records for pair in scored_of(record)]
    names = (plan.method, *FLOORS)
    return [
        Row(name, protocol, tuple(r for n, r in scored if n == name and r.protocol == protocol))
        for name in names
    ]


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
