"""The training that ``igsd train`` is asked for: from the beginning, or the rest of a run."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import configure, defaults
from igsd.cli.options import OURS, RUNS, choose_recipe, is_auto, written_settings
from igsd.cli.output import open_graphs
from igsd.errors import ConfigError
from igsd.files.models import RunMetrics, is_same_source
from igsd.settings.text import read_settings, recipe_names

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder
    from igsd.graphs.graphset import GraphSet
    from igsd.graphs.labels import GraphLabels
    from igsd.settings.fields import Settings


@dataclass(frozen=True)
class TrainJob:
    """A training that has passed all checks.

    ``labels``: all known labels, ``used``: those that training is shown; None without labels.
    ``folder``: None in all processes but the first, which alone writes files.
    """

    graphs: GraphSet
    method: str
    recipe: str
    config: Settings
    labels: GraphLabels | None
    used: GraphLabels | None
    folder: RunFolder | None
    checkpoint: Path | None
    is_new: bool


def early_task(args: argparse.Namespace) -> str:
    """Return the task as far as it is known before the labels are read."""
    if args.labels is None:
        return "vectors"
    return "numbers" if args.task == "numbers" else "classes"


def find_job(args: argparse.Namespace) -> TrainJob | RunFolder:
    """Return the training to do, from the beginning or the rest of one; a finished run as it is.

    Raises an ``IGSDError`` if it cannot be done, as far as possible before the data are read.
    """
    from igsd.experiments.run_folder import RunFolder, latest_run_folder

    changes, method = written_settings(args), args.method or OURS
    if args.resume and args.output is not None and RunFolder(args.output).is_run:
        return _rest_of(args, RunFolder(args.output), changes)
    task, guess = early_task(args), recipe_names()[0] if is_auto(args.recipe) else args.recipe
    config = configure(method, guess, changes, task)  # checks the settings before data are read
    graphs = open_graphs(args.data, quiet=args.quiet)
    recipe = choose_recipe(args.recipe, graphs)
    stem = recipe if method == OURS else method
    stem = stem if args.labels is None else f"labels-{stem}"
    if args.resume and args.output is None:
        latest = latest_run_folder(RUNS, graphs.name, stem)
        if latest is not None:
            return _rest_of(args, latest, changes, graphs)
    labels = _read_labels(args, graphs, args.task)
    if (recipe, labels.task if labels else task) != (guess, task):
        config = configure(method, recipe, changes, labels.task if labels else task)
    return _checked_job(args, graphs, method, recipe, config, labels, stem)


def _rest_of(
    args: argparse.Namespace,
    folder: RunFolder,
    changes: Mapping[str, Any],
    graphs: GraphSet | None = None,
) -> TrainJob | RunFolder:
    """Return the rest of the run in ``folder``, or the folder itself if the run is finished.

    Raises ``ConfigError`` if method, recipe, settings, labels or data are not those of the run.
    """
    metrics = folder.metrics() or {}
    _check_same_run(args, folder, metrics)
    data, method = metrics.get("data", {}), metrics.get("method", OURS)
    recipe = metrics.get("recipe") or (None if is_auto(args.recipe) else args.recipe)
    task = metrics["labels"].get("task", "classes") if "labels" in metrics else "vectors"
    config = _stored_config(folder, method, task, recipe, changes)
    is_finished = folder.state == "finished"
    if is_finished and is_same_source(data.get("source", ""), args.data):
        return folder
    graphs = graphs or open_graphs(args.data, quiet=args.quiet)
    if data.get("checksum") not in (None, graphs.checksum):
        raise ConfigError(
            f"{folder.path} is a run on other graphs than {args.data}: it was trained on "
            f"{data.get('name')!r}. Give the same data, or another folder with -o."
        )
    if is_finished:
        return folder
    labels, recipe = _read_labels(args, graphs, task), recipe or choose_recipe(args.recipe, graphs)
    return _checked_job(args, graphs, method, recipe, config, labels, folder)


def _check_same_run(args: argparse.Namespace, folder: RunFolder, metrics: RunMetrics) -> None:
    """Raise ``ConfigError`` if method, recipe or labels are not those that a run started with."""
    labels = metrics.get("labels", {})
    if args.labels is not None and not labels:
        raise ConfigError(
            f"The run in {folder.path} was started without --labels. Leave it out to continue that "
            "run, or choose another folder with -o."
        )
    source, rate, task = labels.get("source"), labels.get("rate"), labels.get("task")
    is_same = args.labels == source or is_same_source(source or "", args.labels or "")
    pairs = {
        "method": (metrics.get("method", OURS), args.method),
        "recipe": (metrics.get("recipe"), None if is_auto(args.recipe) else args.recipe),
        "--labels": (source, source if is_same else args.labels or "no file or column"),
        "--label-rate": (rate, args.label_rate),
        "--task": (task, None if args.task == "auto" else args.task),
    }
    for key, (stored, requested) in pairs.items():
        if None not in (stored, requested) and stored != requested:
            raise _conflict(folder, key, stored, requested)


def _stored_config(
    folder: RunFolder, method: str, task: str, recipe: str | None, changes: Mapping[str, Any]
) -> Settings:
    """Return the settings of a run, with changes that do not affect what is learned.

    A run that was killed before it wrote its settings gets those of its recipe. Raises
    ``ConfigError`` if the recipe is not known, and for changes that affect what is learned.
    """
    path = folder / "config.toml"
    if not path.exists():
        if recipe is None:
            raise ConfigError(
                f"The run in {folder.path} was stopped before it had written its settings, and its "
                "recipe is not known. Give it with --recipe NAME, or start again with --force."
            )
        return configure(method, recipe, changes, task)
    config = defaults(method, task).updated(read_settings(path))
    changed = config.updated(changes)
    stored, requested = config.learned(), changed.learned()
    for key in changes:
        if stored.get(key) != requested.get(key):
            raise _conflict(folder, key, stored[key], requested[key])
    return changed


def _conflict(folder: RunFolder, key: str, stored: object, requested: object) -> ConfigError:
    return ConfigError(
        f"{folder.path} is a run with {key} {stored!r}, and {requested!r} was given. Give the same "
        "to continue that run, or choose another folder with -o."
    )


def _read_labels(args: argparse.Namespace, graphs: GraphSet, task: Any) -> GraphLabels | None:
    if args.labels is None:
        return None
    from igsd.graphs.label_source import find_labels

    return find_labels(graphs, args.data, args.labels, task)


def _checked_job(
    args: argparse.Namespace,
    graphs: GraphSet,
    method: str,
    recipe: str,
    config: Settings,
    labels: GraphLabels | None,
    place: str | RunFolder,
) -> TrainJob:
    """Return the job after the last checks.

    ``place``: the run to continue, or the name of a new one.

    An earlier run is cleared (``--force``) only when nothing stands in the way of the training.
    """
    from igsd.experiments.environment import is_main_process
    from igsd.experiments.run_folder import CHECKPOINT, RunFolder, new_run_folder
    from igsd.experiments.trained import hide_labels
    from igsd.graphs.labels import check_enough
    from igsd.training.fit import check_trainable

    used = None if labels is None else hide_labels(labels, args.label_rate, config.seed)
    if used is not None:
        check_enough(used)
    if "checkpoint" in config.besides:
        check_trainable(graphs, config)
    folder = place if isinstance(place, RunFolder) else None
    is_new = folder is None
    if folder is None and is_main_process():
        if args.output is None:
            folder = new_run_folder(RUNS, graphs.name, str(place))
        else:
            folder = RunFolder(args.output)
            folder.claim(force=args.force, way_out="--resume continues it, --force replaces it.")
    checkpoint = None if folder is None else folder / CHECKPOINT
    folder = folder if is_main_process() else None
    return TrainJob(graphs, method, recipe, config, labels, used, folder, checkpoint, is_new)
