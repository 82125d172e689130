"""``igsd compare``: several methods on one data set, under the same folds: a table, a picture."""

import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from igsd.baselines.registry import configure, takes_recipe
from igsd.cli import compare_splits, options, running
from igsd.cli.output import say_note
from igsd.errors import ConfigError
from igsd.evaluation import PROTOCOLS
from igsd.experiments.records import Record, plain_name
from igsd.experiments.run import Run, changed_settings
from igsd.files.atomic import check_writable
from igsd.graphs.graphset import GraphSet
from igsd.graphs.summary import fitting_recipe
from igsd.report.plots import Plot, comparison_plot, picture_suffix
from igsd.report.scores import Comparison, compare_records
from igsd.settings.groups import warn_without_effect

DEFAULT_METHODS = "igsd,infograph,graph2vec,wl,untrained,histogram"

_DESCRIPTION = f"""\
Runs methods on the graphs of DATA and scores all of them on the same folds: vectors by an RBF SVM,
kernels by an SVM on their own matrix, C from the same grid. Prints one table with accuracy, the
seconds to fit a method and represent the graphs, the processor seconds of that, and the peak memory
of its process (about 400 MiB of it are Python and its libraries), and draws it as a picture.

Each method runs in its own process. If it exceeds its time the table says '> limit', if it exceeds
its memory 'OMR' (out of memory), and the others continue. Every finished run leaves a
record, DIR/PROTOCOL/DATA/METHOD/seed-N.json (for igsd RECIPE instead of METHOD; DATA+COLUMN with
--labels), and is skipped when the same command is given again, so Ctrl-C loses no more than the run
under way.

A setting KEY applies to every method that has it, METHOD.KEY to one; `igsd train --method METHOD
--help` lists them. A method with changed settings is called METHOD+KEY-VALUE in the table (METHOD+
and eight characters if much is changed) and has its own records under that name; so has one with
another --recipe than the one that suits the graphs (METHOD+recipe-NAME).

protocols:
{running.PROTOCOLS_HELP}

With --splits, methods are scored on test parts instead: vectors are made without labels, a linear
model learns from the labels of the training part (--train-labels) and predicts the test part. One
record holds all splits of a method; asking for more splits or numbers of labels adds to it."""

_EXAMPLES = """\
examples:
  igsd compare MUTAG
  igsd compare MUTAG --methods igsd,untrained,histogram,majority
  igsd compare MUTAG --methods all --seeds 1 --records results/
  igsd compare MUTAG --methods igsd,my_package.my_module:MyMethod
  igsd compare MUTAG --methods igsd,wl --vectors mine.npy
  igsd compare molecules.csv --labels active --methods igsd,morgan,descriptors --splits scaffold
  igsd compare NCI1 --methods igsd,wl,wl-oa --set wl.iterations=4 --limit-seconds 3600"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    description = f"{_DESCRIPTION}\n\n{options.methods_text()}"
    parser = options.add_command(commands, "compare", run, description, _EXAMPLES)
    options.add_data_argument(parser)
    text = f"the methods to compare, or all (default: {DEFAULT_METHODS}; with --splits "
    text += f"{compare_splits.DEFAULT_METHODS})"
    parser.add_argument("--methods", metavar="NAME,NAME,...", help=text)
    text = "vectors made elsewhere (.npy, .csv, .parquet), one row per graph, or matched by a "
    text += "column id, name or file; a row named after the file. Can be repeated"
    parser.add_argument("--vectors", metavar="FILE", help=text, **options.REPEATED)
    running.add_scoring_arguments(parser, PROTOCOLS)
    running.add_running_arguments(parser, jobs="one run at a time, its folds on all cores")
    folder = f"{options.RUNS}/records"
    text = f"folder of the records (default: {folder})"
    parser.add_argument("--records", metavar="DIR", default=folder, help=text)
    text = f"the picture: .png, .svg or .pdf (default: {options.RUNS}/compare-DATA.png)"
    parser.add_argument("--plot", metavar="FILE", help=text)
    text = "replace broken records and those of other runs"
    parser.add_argument("--force", action="store_true", help=text)
    options.add_settings_arguments(parser)


def run(args: Namespace) -> int:
    """Compare the methods and return the exit code."""
    # The default name depends on the data, which are not read yet; its folder is known.
    place = args.plot or Path(options.RUNS) / "compare.png"
    check_writable(place)
    picture_suffix(place)
    running.check_running(args)
    if args.json is not None and Path(args.json).absolute() == Path(place).absolute():
        raise ConfigError(f"--json and --plot would write the same file, {place}.")
    compare_splits.check_options(args)
    if args.splits is not None:
        usual = compare_splits.DEFAULT_METHODS
        names = compare_splits.parse_methods(usual if args.methods is None else args.methods)
        plot, failed = compare_splits.compare_splits(args, names)
        _draw(args, plot, f"{plain_name(running.open_graphs(args.data, args).name)}-{args.splits}")
        return int(failed)
    args.methods = DEFAULT_METHODS if args.methods is None else args.methods
    comparison = compare(args, running.parse_methods(args.methods))
    plot = comparison_plot(comparison) if comparison.has_scores() else None
    _draw(args, plot, plain_name(comparison.data))
    return int(comparison.failed())


def compare(args: Namespace, names: list[str]) -> Comparison:
    """Run methods on DATA, print their table or its JSON, and return the comparison."""
    changes = running.shared_out(running.written_changes(args), names)
    options.check_recipe(args.recipe, names)
    graphs = running.open_graphs(args.data, args)
    firsts = [_run(args, graphs, name, changes[name]) for name in names]
    firsts += running.vector_runs(args, graphs, references=False)
    runs = running.all_seeds(args, firsts)
    records = running.records_of(args, runs, graphs, *running.plan(args, runs, graphs))
    by_title: dict[str, list[Record]] = {run.title: [] for run in firsts}
    for run, record in records.items():
        by_title[run.title].append(record)
    comparison = compare_records(graphs, running.scoring_of(args, graphs), by_title)
    running.report(args, comparison.to_dict(), comparison.table())
    for note in comparison.notes() if args.json != "-" else ():
        say_note(note)
    return comparison


def _run(args: Namespace, graphs: GraphSet, name: str, changes: running.Changes) -> Run:
    """Return the run of a method; changed settings are part of the place of its records."""
    recipe = options.choose_recipe(args.recipe, graphs)
    config, usual = configure(name, recipe, changes), configure(name, recipe)
    warn_without_effect(config, changes)
    changed = list(changed_settings(config, usual).items())
    if takes_recipe(name) and recipe != fitting_recipe(graphs):
        changed.insert(0, ("recipe", recipe))
    return running.first_run(args, graphs, name, recipe, changes=tuple(changed), references=False)


def _draw(args: Namespace, plot: Plot | None, data: str) -> None:
    """Save the plot, if any method has a score, and say where it and the records are."""
    path = Path(args.plot or Path(options.RUNS) / f"compare-{data}.png")
    if plot is not None:
        plot.save(path)
        said = f"picture: {path}"
    else:
        older = f" ({path} is of an earlier run)" if path.exists() else ""
        said = f"no picture, since no method has a score{older}"
    print(f"{said}, records: {args.records}", file=sys.stderr)
