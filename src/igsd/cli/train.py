"""``igsd train``: from graphs to a run folder with a model, embeddings, history and a picture."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import METHODS, defaults, method_names
from igsd.cli import options
from igsd.cli.train_job import TrainJob, early_task, find_job
from igsd.errors import ConfigError, counted
from igsd.files.models import RunMetrics, resume_command

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder
    from igsd.experiments.trained import Trained
    from igsd.graphs.graphset import GraphSet
    from igsd.graphs.labels import GraphLabels

_DESCRIPTION = """\
Trains IGSD on the graphs of DATA, or any other method with --method. Classes and targets are read
only with --labels, which trains a model that predicts them, from as few labels as there are.

The run folder holds config.toml (every setting), model.safetensors, embeddings.npy (one row per
graph), history.csv (losses per epoch), metrics.json and embedding.png; with --labels also
pretraining.csv (losses of self-supervised pretraining) and pseudo_labels.csv if there are any.
During training it also holds a checkpoint: Ctrl-C and SIGTERM save it and stop, and --resume
continues from there to the same result as if nothing had happened. --config overrides the recipe,
--set overrides both."""

_EXAMPLES = """\
examples:
  igsd train MUTAG
  igsd train molecules.csv -o runs/mine --recipe molecules --set epochs=40 --set seed=1
  igsd train molecules.csv -o runs/mine --resume
  igsd train MUTAG --method wl --set iterations=4
  igsd train molecules.csv --labels active -o runs/active

"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = options.add_command(
        commands,
        "train",
        _DESCRIPTION,
        f"{_EXAMPLES}{options.methods_text()}\n\n{_label_methods()}\n\n{options.settings_table()}",
        add_help=False,
    )
    parser.add_argument(
        "-h",
        "--help",
        action=options.MethodHelp,
        help="show this help, or the settings of a method, and exit",
    )
    options.add_data_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="RUN",
        help="run folder, created if needed (default: a new folder runs/DATA-RECIPE-N)",
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="another method than igsd, see below. `igsd train --method NAME --help` lists its "
        "settings",
    )
    options.add_settings_arguments(parser)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="continue the run in RUN (without -o: the latest of this data and recipe); start from "
        "the beginning if there is none, do nothing if it is finished",
    )
    parser.add_argument("--force", action="store_true", help="replace the run in RUN")
    _add_label_arguments(parser)
    parser.add_argument("--log-dir", metavar="DIR", help="write TensorBoard curves there")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run=run)


def _label_methods() -> str:
    names = textwrap.wrap(", ".join(method_names("classes")), 90, break_on_hyphens=False)
    return "\n  ".join(["methods with --labels:", *names])


def _add_label_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("to learn from labels, however few")
    group.add_argument(
        "--labels",
        metavar="COLUMN|FILE",
        help="a column of the table DATA, a target of the data set, `class` for its classes, or a "
        "file with one label per line, for each graph or each row of the table. Empty cells, ?, -, "
        "NA, N/A, #N/A, nan, none and null mean no label; so does -1 beside two or more other "
        "classes that are all whole numbers >= 0. The model is for `igsd predict`",
    )
    group.add_argument(
        "--label-rate",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="show only this share of the labels of each class, e.g. 0.05 (default: all)",
    )
    group.add_argument(
        "--task",
        choices=("auto", "classes", "numbers"),
        default="auto",
        help="what the labels are (default: numbers if most are numbers and one has a fraction or "
        "there are more than 20 different ones, else classes; classes of the data set are classes)",
    )


def run(args: argparse.Namespace) -> int:
    """Train, or continue a training, and return the exit code."""
    _check_options(args)
    job = find_job(args)
    if not isinstance(job, TrainJob):
        print(f"{job.path} is finished: nothing to do.")
    elif job.folder is not None:
        _train(args, job, job.folder)
    else:
        from igsd.experiments.trained import fit_model

        fit_model(job.graphs, job.config, job.method, job.used, checkpoint=job.checkpoint)
    return 0


def _check_options(args: argparse.Namespace) -> None:
    """Reject invalid combinations of options and a method that does not suit them."""
    from igsd.experiments.environment import num_processes
    from igsd.experiments.run_folder import RunFolder

    if args.resume and args.force:
        raise ConfigError("--resume continues a run and --force replaces it: give one of them.")
    if args.output is not None:
        RunFolder(args.output).check()
    if args.labels is None and (args.label_rate != 1 or args.task != "auto"):
        raise ConfigError("--label-rate and --task are for training with labels: give --labels.")
    if args.method is None:
        return
    task = early_task(args)
    if args.method in METHODS and not METHODS[args.method].does(task):
        names = ", ".join(name for name, known in METHODS.items() if known.does(task))
        if task == "vectors":
            raise ConfigError(f"The method {args.method!r} learns from labels: give --labels.")
        raise ConfigError(
            f"The method {args.method!r} does not learn {task} from --labels. Those that do: "
            f"{names}."
        )
    trains = "checkpoint" in defaults(args.method, task).besides
    if not trains and num_processes() > 1:
        raise ConfigError(f"The method {args.method!r} runs in one process, without torchrun.")
    if not trains and args.log_dir:
        raise ConfigError(
            f"The method {args.method!r} has no training steps, so there are no curves for "
            "--log-dir."
        )
    if task == "vectors":
        options.check_recipe(args.recipe, [args.method])


def _train(args: argparse.Namespace, job: TrainJob, folder: RunFolder) -> None:
    """Train in the process that writes, and leave a finished run folder."""
    from igsd.experiments.trained import hidden_score, train_model

    header = _header(args, job)
    resume = resume_command(folder.path, header)
    parent = options.RUNS if args.output is None else None
    with folder.training(resume, is_new=job.is_new, parent=parent):
        folder.create(header, job.config)
        if not args.quiet:
            _announce(args, job, folder)
        trained = train_model(
            job.graphs,
            job.config,
            method=job.method,
            labels=job.used,
            checkpoint=job.checkpoint,
            log_dir=args.log_dir,
            verbose=not args.quiet,
        )
        write_run(folder, trained, job.graphs, job.labels)
        metrics: RunMetrics = header | trained.metrics()
        if job.labels is not None and job.used is not None:
            hidden = hidden_score(trained.model, job.graphs, job.labels, job.used)
            metrics["hidden"] = hidden
            _print_hidden(hidden, job.labels.names)
        folder.finish(metrics)
    result = f"trained in {trained.seconds['train']:.1f} s"
    if job.config.to_json().get("epochs") == 0:
        result = "not trained, since epochs is 0: the encoder keeps its random weights"
    print(f"{result}: {folder.path}")


def _header(args: argparse.Namespace, job: TrainJob) -> RunMetrics:
    """Return what ``metrics.json`` says about a run from the start."""
    from igsd.experiments.records import data_summary

    data: Any = data_summary(job.graphs) | {"source": args.data}
    header: RunMetrics = {"recipe": job.recipe, "method": job.method, "data": data}
    if job.labels is not None and job.used is not None:
        header["labels"] = {
            "source": args.labels,
            "names": list(job.labels.names),
            "task": job.labels.task,
            "rate": args.label_rate,
            "used": int(job.used.is_known.sum()),
        }
    return header


def _announce(args: argparse.Namespace, job: TrainJob, folder: RunFolder) -> None:
    parts = [] if job.method == options.OURS else [f"method {job.method}"]
    if job.used is not None:
        kind = "class" if job.used.are_classes else "number"
        graphs = counted(len(job.graphs), "graph")
        parts.append(f"{job.used.is_known.sum()} of {graphs} with a {kind} to learn from")
    chosen = " (chosen for the data)" if options.is_auto(args.recipe) and job.is_new else ""
    parts += [f"recipe {job.recipe}{chosen}", f"run folder {folder.path}"]
    print(f"{job.graphs.name}: {', '.join(parts)}")


def _print_hidden(score: Mapping[str, Any], names: tuple[str, ...]) -> None:
    """Print how well the model predicts the labels that were hidden from it."""
    if "accuracy" in score:
        graphs = counted(score["graphs"], "graph")
        print(f"of the {graphs} whose label was hidden, {100 * score['accuracy']:.1f} % right")
    elif "mae" in score:
        pairs = zip(names, score["mae"], strict=True)
        errors = ", ".join(f"{name} {value:.4g}" for name, value in pairs)
        print(f"mean absolute error where labels were hidden: {errors}")


def write_run(
    folder: RunFolder, trained: Trained, graphs: GraphSet, labels: GraphLabels | None = None
) -> None:
    """Write model, embeddings, history and pictures of a training, and its pseudo-labels if any."""
    from igsd.experiments.trained import pseudo_label_columns
    from igsd.files.columns import write_columns

    folder.write_model(trained.model, trained.vectors)
    _draw(folder / "embedding.png", trained, graphs, labels)
    if not len(getattr(trained.model, "pseudo_labels_", ())):
        return
    from igsd.report.plots import pseudo_label_plot

    columns = pseudo_label_columns(trained.model, graphs, labels)
    write_columns(folder / "pseudo_labels.csv", columns)
    pairs = zip(columns["true"], columns["class"], strict=True)
    right = [None if true is None else true == guess for true, guess in pairs]
    plot = pseudo_label_plot([*columns["round"]], right, f"{graphs.name}, self-training")
    plot.save(folder / "pseudo_labels.png")


def _draw(path: Path, trained: Trained, graphs: GraphSet, labels: GraphLabels | None) -> None:
    """Draw the embedding, coloured by class or by the (first) number where it is known."""
    import numpy as np

    from igsd.report.plots import embedding_plot, number_plot

    title = f"{graphs.name}, with labels"
    if labels is None:
        title = f"{graphs.name}: {counted(len(graphs), 'graph')}"
        plot = embedding_plot(trained.vectors, graphs.classes, graphs.class_names, title)
    elif labels.are_classes:
        names = tuple(trained.model.classes_.tolist())
        codes = [names.index(value) if value in names else -1 for value in labels.y]
        plot = embedding_plot(trained.vectors, np.array(codes), names, title)
    else:
        values = labels.y.reshape(len(graphs), -1)[:, 0]
        plot = number_plot(trained.vectors, values, labels.names[0], title)
    plot.save(path)
