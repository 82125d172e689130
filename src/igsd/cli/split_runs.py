"""What the protocols that train inside splits share on the command line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from igsd.cli.settings import refuse_seed, written_settings
from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.split_plan import SplitPlan

P = TypeVar("P", bound="SplitPlan")
Records = list[dict[str, Any]]


def changes_for_splits(args: argparse.Namespace) -> dict[str, Any]:
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
    changes = written_settings(args)
    refuse_seed(changes)
    return changes


def plan_fields(args: argparse.Namespace) -> dict[str, Any]:
    """Return the fields of a plan that are options of the command."""
    return {
        "num_seeds": args.seeds,
        "records": None if args.records is None else Path(args.records),
        "force": args.force,
        "verbose": not args.quiet,
    }


def run_plan(
    plan: P, outcome: Callable[[dict[str, Any]], str], report: Callable[[P, Records], None]
) -> int:
    """Run a plan and return the exit code; ``outcome`` of a split in words, ``report`` of all.

    How each split went is said on standard error, so that a long command can be followed.
    """
    from igsd.experiments.plan import finished_runs, run_seeds

    finished, records = finished_runs(plan), []
    try:
        for record in run_seeds(plan, finished):
            records.append(record)
            seed = record["seed"]
            if seed in finished:
                print(
                    f"split {seed}: has a record, skipped ({plan.path_of(seed)})", file=sys.stderr
                )
            elif record["status"] == "ok":
                print(f"split {seed}: {outcome(record)}", file=sys.stderr)
    except KeyboardInterrupt as stop:
        again = "with --records it goes on where it was"
        raise KeyboardInterrupt(f"Stopped. Give the same command again; {again}.") from stop
    good = [record for record in records if record["status"] == "ok"]
    if good:
        report(plan, good)
    return 0 if len(good) == len(records) else 1


def deliver(
    args: argparse.Namespace, plan: SplitPlan, found: dict[str, Any], show: Callable[[], None]
) -> None:
    """``show`` the table, or print its JSON, and write the JSON where it is asked for."""
    from igsd.atomic_file import write_json
    from igsd.experiments.records import data_summary

    table: dict[str, Any] = {"data": data_summary(plan.graphs), "settings": plan.protocol()}
    table |= {"method": plan.method, "recipe": plan.recipe, "config": plan.config.to_json()}
    table |= found
    if args.json == "-":
        print(json.dumps(table, indent=2, allow_nan=False))
        return
    show()
    if args.json is not None:
        write_json(str(args.json), table)
