"""``igsd evaluate --recipe NAME``: a model of IGSD per seed, each trained and scored here."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.cli.open_graphs import open_graphs
from igsd.cli.score_table import report_scores
from igsd.cli.scoring_arguments import scoring_of, write_table_json
from igsd.cli.settings import choose_recipe, given_changes, refuse_seed
from igsd.config import load_recipe
from igsd.errors import ConfigError, StorageError

if TYPE_CHECKING:
    from igsd.cli.seed_folders import SeedFolders
    from igsd.experiments.recipe_plan import RecipePlan
    from igsd.experiments.records import Record


def run(args: argparse.Namespace) -> int:
    """Train and score one model per seed, print the table, and return the exit code."""
    if len(args.inputs) != 1:
        raise ConfigError(
            "With --recipe, igsd evaluate takes DATA alone and trains its own models. "
            f"Got {' '.join(args.inputs)!r}."
        )
    plan = _plan(args)
    from igsd.cli.seed_folders import SeedFolders
    from igsd.experiments.plan import finished_runs

    finished = finished_runs(plan)
    output = SeedFolders(args.output, plan) if len(finished) < plan.num_seeds else None
    records = _run_seeds(plan, finished, output)
    good = [record for record in records if record["status"] == "ok"]
    if good:
        table = _report(args, plan, good, [r["seed"] for r in records if r["status"] != "ok"])
        if output is not None:
            output.finish(table)
        write_table_json(args.json, table)
    elif output is not None:
        output.discard()
    return 0 if len(good) == len(records) else 1


def _run_seeds(
    plan: RecipePlan, finished: dict[int, Record], output: SeedFolders | None
) -> list[Record]:
    """Return the records of all seeds; what stops them leaves no run folder."""
    from igsd.experiments.plan import run_seeds

    told = plan if output is None else replace(plan, on_trained=output)
    records = []
    try:
        for record in run_seeds(told, finished):
            _say_seed(plan, record, record["seed"] in finished)
            records.append(record)
    except (OSError, StorageError, KeyboardInterrupt) as stop:
        if output is not None:
            output.discard()
        if not isinstance(stop, KeyboardInterrupt):
            raise
        again = "with --records, finished seeds are skipped"
        raise KeyboardInterrupt(f"Stopped. Give the same command again; {again}.") from stop
    return records


def _report(
    args: argparse.Namespace, plan: RecipePlan, good: list[Record], failed: list[int]
) -> dict[str, Any]:
    """Print the table of the seeds that went well, and return it as a JSON object."""
    from igsd.experiments.records import scored_of

    about = {"recipe": plan.recipe, "config": plan.config.to_json(), "failed_seeds": failed}
    per_seed = [scored_of(record) for record in good]
    return report_scores(plan.graphs, plan.scoring, per_seed, about, as_json=args.json == "-")


def _plan(args: argparse.Namespace) -> RecipePlan:
    """Return what is to be run, everything checked that can be checked without training."""
    from igsd.experiments.environment import num_processes
    from igsd.experiments.recipe_plan import RecipePlan
    from igsd.training.fit import check_trainable

    changes = given_changes(args)
    refuse_seed(changes)
    graphs = open_graphs(args.inputs[0], args.labels, quiet=args.quiet)
    recipe = choose_recipe(args.recipe, graphs)
    config = load_recipe(recipe).updated(changes | {"seed": 0})
    check_trainable(graphs, config)
    if config.devices > 1 or num_processes() > 1:
        raise ConfigError(
            "igsd evaluate --recipe trains its models one after the other in a single process. Use "
            "devices=1 here, or train with `igsd train` and score with `igsd evaluate MODEL DATA`."
        )
    return RecipePlan(
        graphs,
        recipe,
        config,
        scoring_of(args, graphs),
        args.seeds,
        None if args.records is None else Path(args.records),
        args.force,
        not args.quiet,
    )


def _say_seed(plan: RecipePlan, record: dict[str, Any], skipped: bool) -> None:
    """Say how a seed went, on standard error, so that a long command can be followed."""
    seed = record["seed"]
    if skipped:
        print(f"seed {seed}: has a record, skipped ({plan.path_of(seed)})", file=sys.stderr)
    elif record["status"] == "ok":
        mean = next(row["mean"] for row in reversed(record["rows"]) if row["method"] == "igsd")
        print(f"seed {seed}: accuracy {100 * mean:.1f} %", file=sys.stderr)
