"""``igsd train --labels``: from graphs and few labels to a run folder with a predicting model."""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from igsd.cli.open_graphs import open_graphs
from igsd.cli.settings import AUTO, choose_recipe
from igsd.cli.train_job import RUNS
from igsd.errors import ConfigError, IGSDError, IGSDWarning
from igsd.run_metrics import resume_command
from igsd.settings_text import parse_settings, read_settings
from igsd.wording import counted

if TYPE_CHECKING:
    from igsd.config_semi import SemiConfig
    from igsd.experiments.run_folder import RunFolder
    from igsd.graphs.graphset import GraphSet
    from igsd.graphs.label_column import GivenLabels


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


def run(args: argparse.Namespace) -> int:
    """Train, or go on training, and return the exit code."""
    job = _job(args)
    if job.folder.state == "finished":
        print(f"{job.folder.path} is finished: nothing to do.")
        return 0
    return _train(args, job)


def _job(args: argparse.Namespace) -> LabelJob:
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

    changes = read_settings(args.config) if args.config else {}
    changes |= parse_settings(args.settings)
    recipe = None if args.recipe in (None, AUTO) else args.recipe
    (SemiConfig() if recipe is None else load_semi_recipe(recipe, SemiConfig)).updated(changes)
    return changes


def _check_labels(used: GivenLabels, num_graphs: int) -> None:
    """Raise for labels that nothing can be learned from, before a folder is made for it."""
    from igsd.estimators.class_labels import encode_classes
    from igsd.estimators.target_values import read_targets
    from igsd.graphs.label_column import check_enough

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


def _train(args: argparse.Namespace, job: LabelJob) -> int:
    """Train and leave the finished run folder."""
    from igsd.experiments.label_runs import estimator_for, hidden_score
    from igsd.experiments.records import data_summary
    from igsd.experiments.run_folder import discard

    folder, num_used = job.folder, int(job.used.is_known.sum())
    about = {"recipe": job.recipe, "data": data_summary(job.graphs) | {"source": args.data}}
    about["labels"] = _about_labels(args, job)
    checkpoint = folder / "checkpoint.safetensors"
    verbose, begin = not args.quiet, time.perf_counter()
    model = estimator_for(job.given).from_config(
        job.config, checkpoint=checkpoint, log_dir=args.log_dir, verbose=verbose
    )
    try:
        folder.create(about, job.config)
        if verbose:
            task = "class" if job.given.are_classes else "number"
            labels = f"{num_used} of {counted(len(job.graphs), 'graph')} with a {task} to learn"
            print(f"{job.graphs.name}: {labels}, recipe {job.recipe}, run folder {folder.path}")
        model.fit(job.graphs, job.used.y, **_names(job))
    except KeyboardInterrupt as stop:
        again = resume_command(folder.path, about)
        raise KeyboardInterrupt(f"Stopped. To go on: {again}") from stop
    except IGSDError:
        if job.is_new and not checkpoint.exists():
            discard(folder, RUNS if args.output is None else None)
        raise
    seconds = time.perf_counter() - begin
    _write_files(model, job)
    figures: dict[str, Any] = {"hidden": hidden_score(model, job.graphs, job.given, job.used)}
    figures |= {"pseudo_labels": len(model.pseudo_labels_), "epochs": len(model.history_)}
    folder.finish(about | figures | {"seed": job.config.seed, "seconds": round(seconds, 3)})
    _say(figures["hidden"])
    print(f"trained in {seconds:.1f} s: {folder.path}")
    return 0


def _about_labels(args: argparse.Namespace, job: LabelJob) -> dict[str, Any]:
    """Return what the run folder says of its labels."""
    return {
        "source": args.labels,
        "names": list(job.given.names),
        "task": "classes" if job.given.are_classes else "numbers",
        "rate": args.label_rate,
        "used": int(job.used.is_known.sum()),
    }


def _names(job: LabelJob) -> dict[str, Any]:
    return {} if job.given.are_classes else {"target_names": job.given.names}


def _write_files(model: Any, job: LabelJob) -> None:
    """Write model, embeddings, history and pictures, and the pseudo-labels where there are any."""
    from igsd.column_file import write_columns
    from igsd.experiments.label_runs import pseudo_label_columns
    from igsd.report.embedding_plot import save_embedding_plot
    from igsd.report.pseudo_label_plot import save_pseudo_label_plot

    vectors, title = model.transform(job.graphs), f"{job.graphs.name}, with labels"
    job.folder.write_model(model, vectors)
    classes, names = None, ()
    if job.given.are_classes:
        from igsd.estimators.class_labels import codes_of

        names = tuple(model.classes_.tolist())
        known = [value if value in names else None for value in job.given.y]
        classes = codes_of(known, model.classes_, len(job.graphs))
    save_embedding_plot(job.folder / "embedding.png", vectors, classes, names, title)
    if len(model.pseudo_labels_):
        columns = pseudo_label_columns(model, job.graphs, job.given)
        write_columns(job.folder / "pseudo_labels.csv", columns)
        right = [
            None if true is None else true == guess
            for true, guess in zip(columns["true"], columns["class"], strict=True)
        ]
        plot = job.folder / "pseudo_labels.png"
        save_pseudo_label_plot(plot, columns["round"], right, f"{job.graphs.name}, self-training")


def _say(hidden: dict[str, Any]) -> None:
    """Say how the model does where its labels were hidden."""
    if "accuracy" in hidden:
        share = f"{100 * hidden['accuracy']:.1f} %"
        print(f"of the {counted(hidden['graphs'], 'graph')} whose label was hidden, {share} right")
    elif "mae" in hidden:
        errors = ", ".join(f"{value:.4g}" for value in hidden["mae"])
        print(f"mean absolute error where labels were hidden: {errors}")
