"""``igsd train``: from graphs to a run folder with a model, embeddings, history and a picture."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from igsd.cli.arguments import add_command, add_data_argument
from igsd.cli.method_options import methods_text
from igsd.cli.run_end import RunEnd
from igsd.cli.run_place import RUNS
from igsd.cli.settings import (
    AUTO,
    OURS,
    add_settings_arguments,
    check_recipe,
    given_changes,
)
from igsd.cli.settings_help import MethodHelp, settings_table
from igsd.cli.train_job import TrainJob, fresh_job, resumed_job, run_to_resume
from igsd.errors import ConfigError
from igsd.run_metrics import resume_command

if TYPE_CHECKING:
    from igsd.experiments.run_folder import RunFolder

_DESCRIPTION = """\
Trains IGSD on the graphs of DATA, or with --method any other method. Classes and targets are read
only with --labels, which trains a model that predicts them, from as few as there are.

The run folder holds config.toml (every setting), model.safetensors, embeddings.npy (one row per
graph), history.csv (losses per epoch), metrics.json and embedding.png; with --labels also
pretraining.csv (losses of self-distillation before the labels) where there was some. While training
runs it holds a checkpoint too: Ctrl-C and SIGTERM save one more and stop, and --resume goes on from
there to the same result as if nothing had happened. Settings: recipe, then --config over it, then
--set over both."""

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
    parser = add_command(
        commands,
        "train",
        "train a model on graphs, without labels or with few",
        _DESCRIPTION,
        f"{_EXAMPLES}{methods_text()}\n\n{settings_table()}",
        add_help=False,
    )
    parser.add_argument(
        "-h", "--help", action=MethodHelp, help="show this, or the settings of a method, and end"
    )
    add_data_argument(parser)
    parser.add_argument(
        "-o",
        "--output",
        metavar="RUN",
        help="run folder, made with those above it (default: runs/DATA-RECIPE-N, a new one)",
    )
    parser.add_argument(
        "--method",
        metavar="NAME",
        help="another method than igsd; see below for the names. Its own settings are listed by "
        "`igsd train --method NAME --help`",
    )
    add_settings_arguments(parser)
    parser.add_argument(
        "--resume",
        action="store_true",
        help="go on with the run in RUN (without -o: the latest of this data and recipe); starts "
        "from the beginning where there is none, does nothing where it is finished",
    )
    parser.add_argument("--force", action="store_true", help="replace the run that is in RUN")
    _add_label_arguments(parser)
    parser.add_argument("--log-dir", metavar="DIR", help="write TensorBoard curves there")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")
    parser.set_defaults(run=run)


def _add_label_arguments(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("to learn from labels, however few")
    group.add_argument(
        "--labels",
        metavar="COLUMN|FILE",
        help="a column of the table DATA, a target of the set, `class` for its classes, or a file "
        "with one label per line, for each graph or each row of the table. Unknown is what is "
        "empty, ?, -, NA, N/A, #N/A, nan, none or null, and -1 beside two or more other classes "
        "that are all whole numbers from 0 on. Leaves a model for `igsd predict`",
    )
    group.add_argument(
        "--label-rate",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="show only this share of the labels, of each class alike, e.g. 0.05 (default: all)",
    )
    group.add_argument(
        "--task",
        choices=("auto", "classes", "numbers"),
        default="auto",
        help="what the labels are (default: numbers where most are numbers and one has a fraction "
        "or more than 20 are different, else classes; those of the set itself are classes)",
    )


def run(args: argparse.Namespace) -> int:
    """Train, or go on training, and return the exit code."""
    if args.resume and args.force:
        raise ConfigError("--resume goes on with a run and --force replaces it: give one of them.")
    if args.output is not None:
        from igsd.experiments.run_folder import check_place

        check_place(args.output)
    if args.labels is not None:
        if args.method is not None:
            raise ConfigError(
                "--labels trains IGSD with labels, so --method cannot be given. Other methods that "
                "learn from labels are compared by `igsd evaluate --protocol semi --method NAME`."
            )
        from igsd.cli.train_labels import run as run_with_labels

        return run_with_labels(args)
    if args.label_rate != 1 or args.task != "auto":
        raise ConfigError("--label-rate and --task are for training with labels: give --labels.")
    changes = given_changes(args)
    _check_method(args)
    old = run_to_resume(args)
    job = fresh_job(args, changes) if old is None else resumed_job(args, old, changes)
    if job is None:
        print(f"{old.path if old else ''} is finished: nothing to do.")
        return 0
    if job.folder is None:
        return _assist(job)
    return _train(args, job, job.folder)


def _check_method(args: argparse.Namespace) -> None:
    """Raise for options that the method has no use for."""
    from igsd.baselines.registry import defaults
    from igsd.experiments.environment import num_processes

    if args.method in (None, OURS):
        return
    check_recipe(args.recipe, [args.method])
    if num_processes() > 1:
        raise ConfigError(
            f"The method {args.method!r} is trained in one process, without torchrun."
        )
    if args.log_dir and "log_dir" not in defaults(args.method).besides:
        raise ConfigError(
            f"The method {args.method!r} has no training steps, so there are no curves for "
            "--log-dir."
        )


def _train(args: argparse.Namespace, job: TrainJob, folder: RunFolder) -> int:
    """Train in the process that writes, and leave the finished run folder."""
    from igsd.cli.run_files import training_metrics, write_run_files
    from igsd.experiments.records import data_summary
    from igsd.experiments.trained import train_model

    about: dict[str, Any] = {"recipe": job.recipe, "method": job.method}
    about |= {"data": data_summary(job.graphs) | {"source": args.data}}
    parent = RUNS if args.output is None else None
    end = RunEnd(folder, resume_command(folder.path, about), job.is_new, parent)
    with end.while_training():
        folder.create(about, job.config)
        if not args.quiet:
            _say_start(args, job, folder)
        trained = train_model(
            job.graphs,
            job.config,
            method=job.method,
            checkpoint=job.checkpoint,
            log_dir=args.log_dir,
            verbose=not args.quiet,
        )
    with end.while_writing():
        write_run_files(folder, trained, job.graphs)
        folder.finish(about | training_metrics(trained))
    did = f"trained in {trained.seconds['train']:.1f} s"
    if job.config.to_json().get("epochs") == 0:
        did = "not trained, since epochs is 0: the encoder is as it was drawn"
    print(f"{did}: {folder.path}")
    return 0


def _say_start(args: argparse.Namespace, job: TrainJob, folder: RunFolder) -> None:
    chosen = " (chosen by the data)" if args.recipe in (None, AUTO) and job.is_new else ""
    what = "" if job.method == OURS else f"method {job.method}, "
    print(f"{job.graphs.name}: {what}recipe {job.recipe}{chosen}, run folder {folder.path}")


def _assist(job: TrainJob) -> int:
    """Train in one of the other processes, which write nothing."""
    from igsd.estimators import IGSD

    IGSD.from_config(job.config, checkpoint=job.checkpoint).fit(job.graphs)
    return 0
