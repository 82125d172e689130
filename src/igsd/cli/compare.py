"""``igsd compare``: several methods on one data set, under the same folds: a table, a picture."""

import sys
from argparse import Namespace
from pathlib import Path

from igsd.baselines.registry import configure, takes_recipe
from igsd.cli import compare_holdout, options, running
from igsd.cli.output import say_note
from igsd.cli.run_parsers import DEFAULT_METHODS, HOLDOUT_METHODS
from igsd.errors import ConfigError
from igsd.experiments.records import Record, plain_name
from igsd.experiments.run import Run, changed_settings
from igsd.files.atomic import check_writable
from igsd.graphs.graphset import GraphSet
from igsd.graphs.summary import fitting_recipe
from igsd.report.plots import Plot, comparison_plot, picture_suffix
from igsd.report.scores import Comparison, compare_records
from igsd.settings.groups import warn_without_effect


def run(args: Namespace) -> int:
    """Compare the methods and return the exit code."""
    # The default name depends on the data, which are not read yet; its folder is known.
    place = args.plot or Path(options.RUNS) / "compare.png"
    check_writable(place)
    picture_suffix(place)
    running.check_running(args)
    if args.json is not None and Path(args.json).absolute() == Path(place).absolute():
        raise ConfigError(f"--json and --plot would write the same file, {place}.")
    compare_holdout.check_options(args)
    if args.splits is not None:
        usual = HOLDOUT_METHODS if args.methods is None else args.methods
        names = running.parse_methods(usual, holdout=True)
        plot, failed = compare_holdout.compare_holdout(args, names)
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
