"""What ``igsd train`` is asked to do: a training from the beginning, or the rest of one."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import configure, defaults
from igsd.cli.open_graphs import open_graphs
from igsd.cli.run_place import RUNS, claimed_folder, conflict, run_in, stored_recipe
from igsd.cli.settings import OURS, choose_recipe
from igsd.config import Config
from igsd.errors import ConfigError
from igsd.run_metrics import is_same_source
from igsd.settings_text import read_settings

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder
    from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class TrainJob:
    """A training that has passed all checks. ``folder`` is None in all but the first process."""

    graphs: GraphSet
    method: str
    recipe: str
    config: Any
    folder: RunFolder | None
    checkpoint: Path | None
    is_new: bool


def run_to_resume(args: argparse.Namespace) -> RunFolder | None:
    """Return the folder of the run to go on with, None where there is nothing to continue."""
    if not args.resume:
        return None
    from igsd.experiments.run_folder import latest_run_folder

    if args.output is None:
        graphs = open_graphs(args.data, quiet=args.quiet)
        return latest_run_folder(RUNS, graphs.name, _stem(args, graphs))
    return run_in(args.output)


def fresh_job(args: argparse.Namespace, changes: dict[str, Any]) -> TrainJob:
    """Return a training from the beginning, its folder made; raises where it cannot be."""
    from igsd.experiments.environment import is_main_process

    graphs = open_graphs(args.data, quiet=args.quiet)
    method, recipe = args.method or OURS, choose_recipe(args.recipe, graphs)
    config = configure(method, recipe, changes)
    _check_trainable(graphs, config)
    if not is_main_process():
        return TrainJob(graphs, method, recipe, config, None, None, True)
    folder = claimed_folder(args, graphs, _stem(args, graphs))
    return TrainJob(graphs, method, recipe, config, folder, folder / "checkpoint.safetensors", True)


def resumed_job(
    args: argparse.Namespace, folder: RunFolder, changes: dict[str, Any]
) -> TrainJob | None:
    """Return the rest of the run in ``folder``, None where it is finished.

    Raises ``ConfigError`` where method, recipe, settings or data are not those of the run.
    """
    from igsd.experiments.environment import is_main_process

    metrics = folder.metrics() or {}
    method = metrics.get("method", OURS)
    if args.method not in (None, method):
        raise conflict(folder, "method", method, args.method)
    recipe, data = stored_recipe(args, folder), metrics.get("data", {})
    config = _stored_config(folder, method, recipe, changes)
    for key, value in changes.items():
        if config.learned().get(key, value) != value:
            raise conflict(folder, key, config.learned()[key], value)
    config = config.updated(changes)
    is_finished = folder.state == "finished"
    if is_finished and is_same_source(data.get("source", ""), args.data):
        return None
    graphs = open_graphs(args.data, quiet=args.quiet)
    if data.get("checksum") not in (None, graphs.checksum):
        raise ConfigError(
            f"{folder.path} is a run on other graphs than {args.data}: it was trained on "
            f"{data.get('name')!r}. Give the same data, or another folder with -o."
        )
    if is_finished:
        return None
    _check_trainable(graphs, config)
    checkpoint = folder / "checkpoint.safetensors"
    recipe = recipe or choose_recipe(args.recipe, graphs)
    place = folder if is_main_process() else None
    return TrainJob(graphs, method, recipe, config, place, checkpoint, False)


def _stem(args: argparse.Namespace, graphs: GraphSet) -> str:
    """Return what a run folder is named after besides its data: the recipe, or another method."""
    return choose_recipe(args.recipe, graphs) if args.method in (None, OURS) else args.method


def _check_trainable(graphs: GraphSet, config: Any) -> None:
    """Raise for whatever would end the training of a network at once."""
    from igsd.training.fit import check_trainable

    if isinstance(config, Config):
        check_trainable(graphs, config)


def _stored_config(
    folder: RunFolder, method: str, recipe: str | None, changes: dict[str, Any]
) -> Any:
    """Return the settings of a run; one that was killed before it wrote them gets those given.

    Raises ``ConfigError`` where neither the run nor the command line says which recipe it was.
    """
    path = folder / "config.toml"
    if path.exists():
        return defaults(method).updated(read_settings(path))
    if recipe is None:
        raise ConfigError(
            f"The run in {folder.path} was stopped before it had written its settings, and its "
            "recipe is not known. Give it with --recipe NAME, or begin anew with --force."
        )
    return configure(method, recipe, changes)
