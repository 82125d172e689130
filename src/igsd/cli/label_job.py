"""A training with labels by the command line: its labels and settings, and the folder it is in."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from igsd.cli.open_graphs import open_graphs
from igsd.cli.run_place import RUNS, claimed_folder, conflict, run_in, stored_recipe
from igsd.cli.settings import AUTO, choose_recipe, written_settings
from igsd.errors import ConfigError, IGSDWarning
from igsd.run_metrics import is_same_source
from igsd.settings_text import read_settings

if TYPE_CHECKING:
    from igsd.config_semi import SemiConfig
    from igsd.experiments.run_folder import RunFolder
    from igsd.graphs.given_labels import GivenLabels
    from igsd.graphs.graphset import GraphSet


@dataclass(frozen=True)
class LabelJob:
    """A training with labels that has passed all checks.

    ``given``: all labels that are known; ``used``: those that the training is shown.
    """

    graphs: GraphSet
    given: GivenLabels
    used: GivenLabels
    recipe: str
    config: SemiConfig
    folder: RunFolder
    is_new: bool


def label_job(args: argparse.Namespace) -> LabelJob:
    """Return the training, its folder found or made; raises where it cannot be."""
    from igsd.config_semi import load_semi_recipe
    from igsd.experiments.environment import num_processes
    from igsd.experiments.label_runs import estimator_for, hide_labels
    from igsd.graphs.label_column import find_labels
    from igsd.training.fit_labelled import check_labels_trainable

    if num_processes() > 1:
        raise ConfigError("Training with labels is done in one process, without torchrun.")
    changes = _given_changes(args)
    graphs = open_graphs(args.data, quiet=args.quiet)
    given = find_labels(graphs, args.data, args.labels, args.task)
    recipe = choose_recipe(args.recipe, graphs)
    old = _old_folder(args, graphs, recipe)
    if old is not None:
        _check_same_run(old, graphs, args, given)
        recipe = stored_recipe(args, old) or recipe
    config = load_semi_recipe(recipe, estimator_for(given).config_class).updated(changes)
    if old is not None:
        config = _stored_config(old, config, changes)
    check_labels_trainable(graphs, config)
    used = hide_labels(given, args.label_rate, config.seed)
    _check_labels(used, len(graphs))
    folder = old or claimed_folder(args, graphs, f"labels-{recipe}")
    return LabelJob(graphs, given, used, recipe, config, folder, old is None)


def _given_changes(args: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of ``--config`` and ``--set``; raises where nothing could follow them.

    Before a large table is read. What they are to a regressor is seen when its labels are.
    """
    from igsd.config_semi import SemiConfig, load_semi_recipe

    changes = written_settings(args)
    recipe = None if args.recipe in (None, AUTO) else args.recipe
    (SemiConfig() if recipe is None else load_semi_recipe(recipe, SemiConfig)).updated(changes)
    return changes


def _check_labels(used: GivenLabels, num_graphs: int) -> None:
    """Raise for labels that nothing can be learned from, before a folder is made for it."""
    from igsd.estimators.class_labels import encode_classes
    from igsd.estimators.target_values import read_targets
    from igsd.graphs.given_labels import check_enough

    check_enough(used)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IGSDWarning)  # fit says it again
        (encode_classes if used.are_classes else read_targets)(used.y, num_graphs)


def _old_folder(args: argparse.Namespace, graphs: GraphSet, recipe: str) -> RunFolder | None:
    """Return the folder of the run to go on with, None where there is nothing to continue."""
    from igsd.experiments.run_folder import latest_run_folder

    if not args.resume:
        return None
    if args.output is None:
        return latest_run_folder(RUNS, graphs.name, f"labels-{recipe}")
    return run_in(args.output)


def _check_same_run(
    folder: RunFolder, graphs: GraphSet, args: argparse.Namespace, given: GivenLabels
) -> None:
    """Raise ``ConfigError`` where a run was begun with other labels or on other graphs."""
    metrics = folder.metrics() or {}
    if "labels" not in metrics:
        raise ConfigError(
            f"The run in {folder.path} was made without --labels. Leave that out to go on with it, "
            "or give another folder with -o."
        )
    labels, data = metrics["labels"], metrics.get("data", {})
    task = "classes" if given.are_classes else "numbers"
    source = labels.get("source", "")
    pairs = {
        "--labels": (source, source if is_same_source(source, args.labels) else args.labels),
        "--label-rate": (labels.get("rate"), args.label_rate),
        "--task": (labels.get("task"), task),
        "graphs with checksum": (data.get("checksum"), graphs.checksum),
    }
    for what, (stored, wanted) in pairs.items():
        if stored is not None and stored != wanted:
            raise ConfigError(
                f"{folder.path} is a run with {what} {stored}, and now it is {wanted}. Give the "
                "same to go on with that run, or another folder with -o."
            )


def _stored_config(folder: RunFolder, config: SemiConfig, changes: dict[str, Any]) -> SemiConfig:
    """Return the settings of a run, with changes that do not touch what is learned.

    Raises ``ConfigError`` for those that do.
    """
    path = folder / "config.toml"
    if not path.exists():
        return config
    stored = type(config)().updated(read_settings(path))
    for key, value in changes.items():
        if key in stored.learned() and getattr(stored, key) != getattr(config, key):
            raise conflict(folder, key, getattr(stored, key), value)
    return stored.updated(changes)
