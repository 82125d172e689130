"""``igsd train``: from graphs to a run folder with a model, embeddings, history and a picture."""

import textwrap
from argparse import Namespace
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from igsd.baselines.registry import METHODS, configure, defaults, method_names
from igsd.cli import options
from igsd.cli.options import OURS, PRETRAINED, RUNS, choose_recipe, is_auto
from igsd.cli.output import (
    open_graphs,
    print_hidden,
    print_quality,
    reading_of,
    say_note,
    seen_line,
    write_run,
)
from igsd.errors import ConfigError, counted, warn_user
from igsd.experiments import trained as training
from igsd.experiments.environment import is_main_process, num_processes, num_threads
from igsd.experiments.records import data_summary
from igsd.experiments.run_folder import (
    CHECKPOINT,
    RunFolder,
    latest_run_folder,
    new_run_folder,
)
from igsd.files.models import RunMetrics, is_same_source, resume_command
from igsd.graphs.graphset import GraphSet
from igsd.graphs.labels import GraphLabels, check_enough
from igsd.settings.fields import Settings, Values
from igsd.settings.groups import warn_without_effect
from igsd.settings.text import read_settings, recipe_names

_DESCRIPTION = """\
Trains IGSD on the graphs of DATA, or any other method with --method. Classes and targets are read
only with --labels, which trains a model that predicts them, from as few labels as there are.

The run folder holds config.toml (every setting), model.safetensors, embeddings.npy (one row per
graph), history.csv (losses per epoch), metrics.json and embedding.png; with --labels also
pretraining.csv (losses of self-supervised pretraining), pseudo_labels.csv and held_out.csv (what
models that had not seen a label predict for it), where available.
During training it also holds a checkpoint: Ctrl-C and SIGTERM save it and stop, and --resume
continues from there to the same result as if nothing had happened. --config overrides the recipe,
--set overrides both."""

_EXAMPLES = """\
examples:
  igsd train MUTAG
  igsd train molecules.csv -o runs/mine --recipe molecules --set epochs=40 --set seed=1
  igsd train molecules.csv -o runs/mine --resume
  igsd train MUTAG --method wl --set iterations=4
  igsd train molecules.csv --labels active -o runs/active"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    names = textwrap.wrap(", ".join(method_names("classes")), 90, break_on_hyphens=False)
    with_labels = "\n  ".join(["methods with --labels:", *names])
    epilog = "\n\n".join([_EXAMPLES, options.methods_text(), with_labels, options.settings_table()])
    parser = options.add_command(commands, "train", run, _DESCRIPTION, epilog, add_help=False)
    text = "show this help, or the settings of a method, and exit"
    parser.add_argument("-h", "--help", action=options.MethodHelp, help=text)
    options.add_data_argument(parser)
    options.add_reading_arguments(parser)
    text = "run folder, created if needed (default: a new folder runs/DATA-RECIPE-N)"
    parser.add_argument("-o", "--output", metavar="RUN", help=text)
    text = "another method than igsd, see below. `igsd train --method NAME --help` lists its "
    parser.add_argument("--method", metavar="NAME", help=f"{text}settings")
    options.add_settings_arguments(parser)
    text = "continue the run in RUN (without -o: the latest of this data and recipe); start from "
    text += "the beginning if there is none, do nothing if it is finished"
    parser.add_argument("--resume", action="store_true", help=text)
    parser.add_argument("--force", action="store_true", help="replace the run in RUN")
    group = parser.add_argument_group("to learn from labels, however few")
    text = "a column of the table DATA, a target of the data set, `class` for its classes, or a "
    text += "file with one label per line, for each graph or each row of the table, or with the "
    text += "columns file and label, for graphs that come from files. Empty cells, "
    text += "?, -, NA, N/A, #N/A, nan, none and null mean no label; so does -1 beside two or more "
    text += "other classes that are all whole numbers >= 0. The model is for `igsd predict`"
    group.add_argument("--labels", metavar="COLUMN|FILE", help=text)
    text = "show only this share of the labels of each class, e.g. 0.05 (default: all)"
    group.add_argument("--label-rate", type=float, default=1.0, metavar="SHARE", help=text)
    text = "kind of labels (default: numbers if most cells are numbers and one has a fraction or "
    text += "more than 20 values differ, else classes; a data set's own classes stay classes)"
    kinds = ("auto", "classes", "numbers")
    group.add_argument("--task", choices=kinds, default="auto", help=text)
    text = "calibrate the probabilities of classes by this many more trainings, each without a "
    text += "part of the labels (default: 3; 0: do not)"
    group.add_argument("--calibration", type=int, metavar="FOLDS", help=text)
    parser.add_argument("--log-dir", metavar="DIR", help="write TensorBoard curves there")
    parser.add_argument("--quiet", action="store_true", help="no progress bars")


def run(args: Namespace) -> int:
    """Train, or continue a training, and return the exit code."""
    _check_options(args)
    with ExitStack() as held:
        job = find_job(args, held)
        if not isinstance(job, TrainJob):
            print(f"{job.path} is finished: nothing to do.")
            for source in (args.data, *([args.labels] if args.labels else [])):
                if (changed := job.older_than(source)) is not None:
                    say_note(f"{changed} was changed after that; --force trains again.")
        elif job.folder is not None:
            _train(args, job, job.folder)
        else:
            kwargs: Any = {"checkpoint": job.checkpoint}
            training.fit_model(job.graphs, job.config, job.method, job.used, **kwargs)
    return 0


def _check_options(args: Namespace) -> None:
    """Reject invalid combinations of options and a method that does not suit them."""
    if args.resume and args.force:
        raise ConfigError("--resume continues a run and --force replaces it: give one of them.")
    folder = None if args.output is None else RunFolder(args.output)
    if folder is not None and not (args.resume and folder.state == "finished"):
        folder.check()
    given = args.label_rate != 1 or args.task != "auto" or args.calibration is not None
    if args.labels is None and given:
        raise ConfigError(
            "--label-rate, --task and --calibration are for training with labels: give --labels."
        )
    if args.calibration is not None and (args.calibration < 0 or args.calibration == 1):
        raise ConfigError(f"--calibration must be 0, or 2 or more. Got {args.calibration}.")
    if args.method is None:
        return
    task, subject = _early_task(args), f"The method {args.method!r}"
    if args.method in METHODS and not METHODS[args.method].does(task):
        if task == "vectors":
            raise ConfigError(f"{subject} learns from labels: give --labels.")
        names = ", ".join(name for name, known in METHODS.items() if known.does(task))
        raise ConfigError(f"{subject} does not learn {task} from --labels. Those that do: {names}.")
    trains = "checkpoint" in defaults(args.method, task).besides
    if not trains and num_processes() > 1:
        raise ConfigError(f"{subject} runs in one process, without torchrun.")
    if not trains and args.log_dir:
        raise ConfigError(f"{subject} has no training steps, so there are no curves for --log-dir.")
    if task == "vectors":
        options.check_recipe(args.recipe, [args.method])


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


def _early_task(args: Namespace) -> str:
    """Return the task as far as it is known before the labels are read."""
    if args.labels is None:
        return "vectors"
    return "numbers" if args.task == "numbers" else "classes"


def find_job(args: Namespace, held: ExitStack) -> TrainJob | RunFolder:
    """Return the training to do, from the beginning or the rest of one; a finished run as it is.

    Its folder belongs to this process until ``held`` is closed. Raises an ``IGSDError`` if the
    training cannot be done, as far as possible before the data are read.
    """
    changes, method = options.written_settings(args), args.method or OURS
    named = None if args.output is None else RunFolder(args.output)
    if args.resume and named is not None and named.is_continued(held):
        return _rest_of(args, named, changes)
    task, guess = _early_task(args), recipe_names()[0] if is_auto(args.recipe) else args.recipe
    configure(method, guess, changes, task)  # checks the settings before data are read
    graphs = open_graphs(args.data, quiet=args.quiet, **reading_of(args))
    recipe, method = choose_recipe(args.recipe, graphs), _method_for(args, graphs)
    stem = recipe if method == OURS else method
    stem = stem if args.labels is None else f"labels-{stem}"
    if args.resume and args.output is None:
        latest = latest_run_folder(RUNS, graphs.name, stem)
        if latest is not None and latest.is_continued(held):
            return _rest_of(args, latest, changes, graphs)
    labels = _read_labels(args, graphs, args.task)
    config = configure(method, recipe, changes, labels.task if labels else task)
    warn_without_effect(config, changes)
    args.calibration = options.calibration_folds(args, method, config, labels)
    used = _shown_labels(args, graphs, config, labels)
    folder = _own_folder(args, held, graphs.name, stem) if is_main_process() else None
    if folder is not None and args.resume and folder.is_run:  # begun meanwhile by another process
        return _rest_of(args, folder, changes, graphs)
    if folder is not None:
        folder.claim(force=args.force, way_out="--resume continues it, --force replaces it.")
        if args.resume:
            say_note(f"no run to continue in {folder.path}: training starts from the beginning.")
    checkpoint = None if folder is None else folder / CHECKPOINT
    return TrainJob(graphs, method, recipe, config, labels, used, folder, checkpoint, is_new=True)


def _method_for(args: Namespace, graphs: GraphSet) -> str:
    """Return the requested method, or the default for this data.

    Labels of molecules are learned from the vectors of the encoder in the package, unless a recipe
    or a setting asks for a network to be trained.
    """
    if args.method is not None:
        return str(args.method)
    is_open = is_auto(args.recipe) and args.config is None and not args.settings
    is_open = is_open and args.labels is not None and not args.log_dir
    if not is_open:
        return OURS
    from igsd.graphs.molecule import are_smiles

    if not are_smiles(graphs.graph_names):
        return OURS
    if num_processes() > 1:
        raise ConfigError(
            f"Labels of molecules are learned by the method {PRETRAINED!r}, which runs in one "
            f"process, without torchrun. --method {OURS} trains a network in several."
        )
    return PRETRAINED


def _own_folder(args: Namespace, held: ExitStack, data: str, stem: str) -> RunFolder:
    """Return the folder of a new run, which belongs to this process from now on."""
    is_named = args.output is not None
    folder = RunFolder(args.output) if is_named else new_run_folder(RUNS, data, stem)
    held.enter_context(folder.owned(None if is_named else RUNS))
    return folder


def _rest_of(
    args: Namespace, folder: RunFolder, changes: Values, graphs: GraphSet | None = None
) -> TrainJob | RunFolder:
    """Return the rest of the run in ``folder``, or the folder itself if the run is finished.

    Raises ``ConfigError`` if method, recipe, settings, labels or data are not those of the run.
    """
    metrics = folder.metrics(needs_all=True) or {}
    _check_same_run(args, folder, metrics)
    data, method = metrics.get("data", {}), metrics.get("method", OURS)
    recipe = metrics.get("recipe") or (None if is_auto(args.recipe) else args.recipe)
    task = metrics["labels"].get("task", "classes") if "labels" in metrics else "vectors"
    config = _stored_config(folder, method, task, recipe, changes)
    if args.calibration is not None and not _is_shared(config):
        calibration = metrics.get("labels", {}).get("calibration", 0)
        if args.calibration != calibration:
            raise _conflict(folder, "--calibration", calibration, args.calibration)
    is_finished = folder.state == "finished"
    # The column that is named may be the one that was found before.
    is_named = args.smiles_column not in (None, data.get("smiles_column"))
    if is_finished and not is_named and is_same_source(data.get("source", ""), args.data):
        return folder
    graphs = graphs or open_graphs(args.data, quiet=args.quiet, **reading_of(args, data))
    if data.get("checksum") not in (None, graphs.checksum):
        column = f" read from the column {args.smiles_column!r}" if is_named else ""
        raise ConfigError(
            f"{folder.path} is a run on other graphs than {args.data}{column}: it was trained on "
            f"{data.get('name')!r}. Give the same data, or another folder with -o."
        )
    args.smiles_column = args.smiles_column or data.get("smiles_column")
    if is_finished:
        return folder
    labels, recipe = _read_labels(args, graphs, task), recipe or choose_recipe(args.recipe, graphs)
    threads = metrics.get("threads", num_threads())
    if threads != num_threads():
        warn_user(
            f"The run in {folder.path} began with {counted(threads, 'thread')} and continues with "
            f"{num_threads()}: sums are rounded in another order, so its result will differ from "
            f"that of an uninterrupted run. OMP_NUM_THREADS={threads} continues it as it began."
        )
    used, checkpoint = _shown_labels(args, graphs, config, labels), folder / CHECKPOINT
    ours = folder if is_main_process() else None
    return TrainJob(graphs, method, recipe, config, labels, used, ours, checkpoint, is_new=False)


def _check_same_run(args: Namespace, folder: RunFolder, metrics: RunMetrics) -> None:
    """Raise ``ConfigError`` if method, recipe, labels or how a table is read differ.

    A method ``module:Class`` must be given.
    """
    labels, method = metrics.get("labels", {}), metrics.get("method", OURS)
    data = metrics.get("data")
    if args.labels is not None and not labels:
        raise ConfigError(
            f"The run in {folder.path} was started without --labels. Leave it out to continue that "
            "run, or choose another folder with -o."
        )
    source, rate, task = labels.get("source"), labels.get("rate"), labels.get("task")
    is_same = args.labels == source or is_same_source(source or "", args.labels or "")
    pairs = {
        "method": (method, args.method or (OURS if ":" in method else None)),
        "recipe": (metrics.get("recipe"), None if is_auto(args.recipe) else args.recipe),
        "--labels": (source, source if is_same else args.labels or "no file or column"),
        "--label-rate": (rate, args.label_rate),
        "--task": (task, None if args.task == "auto" else args.task),
        "--smiles-column": ((data or {}).get("smiles_column"), args.smiles_column),
        "--standardise": (
            None if data is None else data.get("standardised", "none"),
            args.standardise or None,
        ),
    }
    for key, (stored, requested) in pairs.items():
        if None not in (stored, requested) and stored != requested:
            raise _conflict(folder, key, stored, requested)


def _stored_config(
    folder: RunFolder, method: str, task: str, recipe: str | None, changes: Values
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
    try:
        config = defaults(method, task).from_json(read_settings(path))
    except ConfigError as error:
        raise ConfigError(
            f"The settings of the run cannot be read from {path}: {error} Put them right, or start "
            "again with --force."
        ) from error
    changed = config.updated(changes)
    stored, requested = config.learned(), changed.learned()
    for key in changes.keys() - {"devices"}:  # the training says what another number changes
        if stored.get(key) != requested.get(key):
            raise _conflict(folder, key, stored[key], requested[key])
    return changed


def _conflict(folder: RunFolder, key: str, stored: object, requested: object) -> ConfigError:
    return ConfigError(
        f"{folder.path} is a run with {key} {stored!r}, and {requested!r} was given. Give the same "
        "to continue that run, or choose another folder with -o."
    )


def _read_labels(args: Namespace, graphs: GraphSet, task: Any) -> GraphLabels | None:
    if args.labels is None:
        return None
    from igsd.graphs.label_source import find_labels  # which imports the readers of tables

    return find_labels(graphs, args.data, args.labels, task)


def _shown_labels(
    args: Namespace, graphs: GraphSet, config: Settings, labels: GraphLabels | None
) -> GraphLabels | None:
    """Return the labels that training is shown, after the last checks before it begins."""
    from igsd.training.fit import check_trainable

    used = None if labels is None else training.hide_labels(labels, args.label_rate, config.seed)
    if used is not None:
        check_enough(used)
    if "checkpoint" in config.besides:
        check_trainable(graphs, config)
    return used


def _train(args: Namespace, job: TrainJob, folder: RunFolder) -> None:
    """Train in the process that writes, and leave a finished run folder."""
    if not job.is_new:  # a run goes on as it was started, also one that knew no calibration
        args.calibration = (folder.metrics() or {}).get("labels", {}).get("calibration", 0)
    if _is_shared(job.config):
        if job.labels is not None and job.labels.task == "classes" and args.calibration:
            say_note("several processes train one model: its probabilities are not calibrated.")
        args.calibration = 0
    header = _header(args, job)
    resume = resume_command(folder.path, header)
    with folder.training(resume, is_new=job.is_new):
        folder.create(header, job.config)
        if not args.quiet:
            _announce(args, job, folder)
        kwargs: Any = {"checkpoint": job.checkpoint, "log_dir": args.log_dir}
        kwargs |= {"method": job.method, "labels": job.used, "verbose": not args.quiet}
        kwargs["calibration"] = args.calibration
        trained = training.train_model(job.graphs, job.config, **kwargs)
        write_run(folder, trained, job.graphs, job.labels)
        metrics: RunMetrics = header | trained.metrics()
        print_quality(trained.model)
        print(trained.calibration_text(), end="")
        if job.labels is not None and job.used is not None:
            hidden: Any = training.hidden_score(trained.model, job.graphs, job.labels, job.used)
            metrics["hidden"] = hidden
            print_hidden(hidden, job.labels.names)
        folder.finish(metrics)
    result = f"trained in {trained.seconds['train']:.1f} s"
    if job.config.to_json().get("epochs") == 0:
        result = "not trained, since epochs is 0: the encoder keeps its random weights"
    print(f"{result}: {folder.path}")


def _is_shared(config: Settings) -> bool:
    """Return whether several processes train one model, which is then not calibrated."""
    return num_processes() > 1 or getattr(config, "devices", 1) != 1


def _header(args: Namespace, job: TrainJob) -> RunMetrics:
    """Return what ``metrics.json`` says about a run from the start."""
    data: Any = data_summary(job.graphs) | {"source": args.data}
    if args.smiles_column:
        data["smiles_column"] = args.smiles_column
    header: RunMetrics = {"recipe": job.recipe, "method": job.method, "data": data}
    header["threads"] = num_threads()
    if job.labels is not None and job.used is not None:
        header["labels"] = {"source": args.labels, "names": list(job.labels.names)}
        header["labels"] |= {"task": job.labels.task, "rate": args.label_rate}
        header["labels"] |= {"used": int(job.used.is_known.sum())}
        if training.is_calibrated_apart(job.config, job.labels):
            header["labels"] |= {"calibration": args.calibration}
    return header


def _announce(args: Namespace, job: TrainJob, folder: RunFolder) -> None:
    parts = [] if job.method == options.OURS else [f"method {job.method}"]
    if job.method == PRETRAINED and args.method is None:
        parts = [f"method {PRETRAINED} (chosen for molecules; --method {OURS} trains a network)"]
    if job.used is not None:
        kind = "class" if job.used.are_classes else "number"
        graphs = counted(len(job.graphs), "graph")
        parts.append(f"{job.used.is_known.sum()} of {graphs} with a {kind} to learn from")
    chosen = " (chosen for the data)" if options.is_auto(args.recipe) and job.is_new else ""
    parts += [f"recipe {job.recipe}{chosen}"] if job.config.recipes is not None else []
    parts.append(f"run folder {folder.path}")
    print(f"{job.graphs.name}: {', '.join(parts)}{seen_line(job.graphs, job.config)}")
