"""A training with labels by the command line: its labels and settings, and the folder it is in."""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from igsd.cli.open_graphs import open_graphs
from igsd.cli.settings import AUTO, choose_recipe, written_settings
from igsd.cli.train_job import RUNS
from igsd.errors import ConfigError, IGSDWarning
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
    from igsd.experiments.label_runs import estimator_for, hide_labels
    from igsd.graphs.label_column import find_labels
    from igsd.training.fit_labelled import check_labels_trainable

    changes = _given_changes(args)
    graphs = open_graphs(args.data, quiet=args.quiet)
    given = find_labels(graphs, args.data, args.labels, args.task)
    recipe = choose_recipe(args.recipe, graphs)
    kind = estimator_for(given)
    config = load_semi_recipe(recipe, kind.config_class).updated(changes)
    old = _old_folder(args, graphs, recipe)
    if old is not None:
        _check_same_run(old, graphs, args, given)
        config = _stored_config(old, config, changes)
    check_labels_trainable(graphs, config)
    used = hide_labels(given, args.label_rate, config.seed)
    _check_labels(used, len(graphs))
    folder = old or _new_folder(args, graphs, recipe)
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
    from igsd.experiments.run_folder import RunFolder, latest_run_folder

    if not args.resume:
        return None
    if args.output is None:
        return latest_run_folder(RUNS, graphs.name, f"labels-{recipe}")
    folder = RunFolder(args.output)
    return folder if folder.state in ("unfinished", "finished") else None


def _new_folder(args: argparse.Namespace, graphs: GraphSet, recipe: str) -> RunFolder:
    from igsd.experiments.run_folder import RunFolder, claim, new_run_folder

    if args.output is None:
        return new_run_folder(RUNS, graphs.name, f"labels-{recipe}")
    folder = RunFolder(args.output)
    claim(folder, force=args.force, way_out="--resume goes on with it, --force replaces it.")
    return folder


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
    pairs = {
        "--labels": (labels.get("source"), args.labels),
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
    """Return the settings of a run; raises ``ConfigError`` where others are given."""
    path = folder / "config.toml"
    if not path.exists():
        return config
    stored = type(config)().updated(read_settings(path))
    for key, value in changes.items():
        if key in stored.learned() and getattr(stored, key) != getattr(config, key):
            raise ConfigError(
                f"{folder.path} is a run with {key} {getattr(stored, key)!r}, and {value!r} was "
                "given. Leave it out to go on with that run, or give another folder with -o."
            )
    return stored
