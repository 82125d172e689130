"""What ``igsd tune`` is asked to search: the settings, their grid, and how they are scored."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.cli.evaluate_semi import DEFAULT_METHOD
from igsd.cli.open_graphs import open_graphs
from igsd.cli.run_place import RUNS
from igsd.cli.settings import OURS, choose_recipe, written_settings
from igsd.errors import ConfigError
from igsd.settings_text import parse_settings

if TYPE_CHECKING:
    from igsd.config import Config
    from igsd.experiments.tuning import Search
    from igsd.experiments.tuning_score import TuningTask
    from igsd.graphs.graphset import GraphSet


def make_search(args: argparse.Namespace) -> Search:
    """Return the search, everything checked that can be checked without training."""
    from igsd.experiments.records import plain_name
    from igsd.experiments.tuning import Search
    from igsd.experiments.tuning_folder import TuningFolder
    from igsd.experiments.tuning_grid import make_grid, parse_grid

    fixed, given = parse_settings(args.settings), parse_grid(args.grid)
    changes = written_settings(args)
    if "seed" in changes:
        raise ConfigError("The seeds of a trial are 100 and on, so seed cannot be set.")
    graphs = open_graphs(args.data, quiet=args.quiet)
    config = _config(args, choose_recipe(args.recipe, graphs), changes)
    grid = make_grid(config, given, fixed)
    task = _task(args, graphs)
    task.check(config)
    tail = "" if args.protocol == "nested" else f"-{args.protocol}"
    folder = args.output or Path(RUNS) / f"tune-{plain_name(graphs.name)}{tail}"
    where = TuningFolder(folder)
    return Search(task, config, grid, args.trials, args.seed, where, frozenset(given))


def _config(args: argparse.Namespace, recipe: str, changes: dict[str, Any]) -> Config:
    """Return the settings that the search starts from."""
    from igsd.baselines.registry import configure
    from igsd.baselines.semi_methods import method_config

    if args.protocol == "semi":
        return method_config(args.method or DEFAULT_METHOD, recipe, changes)
    config: Any = configure(OURS, recipe, changes)
    return config


def _task(args: argparse.Namespace, graphs: GraphSet) -> TuningTask:
    from igsd.evaluation.semi import LABEL_RATE
    from igsd.experiments.scoring import default_jobs
    from igsd.experiments.tuning_score import NestedTask, SemiTask

    if args.protocol == "nested":
        jobs = default_jobs(graphs) if args.jobs is None else args.jobs
        return NestedTask(graphs, args.seeds or 1, jobs)
    rate = LABEL_RATE if args.label_rate is None else args.label_rate
    return SemiTask(graphs, args.seeds or 3, args.method or DEFAULT_METHOD, rate)
