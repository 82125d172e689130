"""``igsd compare``: several methods on one data set, under the same folds: a table, a picture."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.baselines.registry import configure, takes_recipe
from igsd.cli.options import (
    RUNS,
    add_command,
    add_data_argument,
    add_settings_arguments,
    check_recipe,
    choose_recipe,
    methods_text,
)
from igsd.cli.output import open_graphs, say_note
from igsd.cli.running import (
    PROTOCOLS_HELP,
    Changes,
    add_running_arguments,
    add_scoring_arguments,
    check_running,
    make_runs,
    options_of,
    parse_methods,
    say_skipped,
    shared_out,
    spread_out,
    write_json_table,
    written_changes,
)
from igsd.evaluation import PROTOCOLS

if TYPE_CHECKING:
    from igsd.experiments.run import Run
    from igsd.graphs.graphset import GraphSet
    from igsd.report.scores import Comparison

DEFAULT_METHODS = "igsd,infograph,graph2vec,wl,untrained,histogram"

_DESCRIPTION = f"""\
Runs methods on the graphs of DATA and scores all of them on the same folds: vectors by an RBF SVM,
kernels by an SVM on their own matrix, C from the same grid. Prints one table with accuracy, the
seconds to fit a method and represent the graphs, the processor seconds of that, and the peak memory
of its process (about 400 MiB of it are Python and its libraries), and draws it as a picture.

Each method runs in its own process. If it exceeds its time the table says '> limit', if it exceeds
its memory 'OMR' (out of memory), and the others go on. Every finished run leaves a record,
DIR/PROTOCOL/DATA/METHOD/seed-N.json (DATA+COLUMN with --labels), and is skipped when the same
command is given again, so Ctrl-C loses no more than the run under way.

A setting KEY applies to every method that has it, METHOD.KEY to one; `igsd train --method METHOD
--help` lists them. A method with changed settings is called METHOD+KEY-VALUE in the table (METHOD+
and eight characters if much is changed) and has its own records under that name; so has one with
another --recipe than the one that suits the graphs (METHOD+recipe-NAME).

protocols:
{PROTOCOLS_HELP}

{methods_text()}"""

_EXAMPLES = """\
examples:
  igsd compare MUTAG
  igsd compare MUTAG --methods igsd,untrained,histogram,majority
  igsd compare MUTAG --methods all --seeds 1 --records results/
  igsd compare NCI1 --methods igsd,wl,wl-oa --set wl.iterations=4 --limit-seconds 3600"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "compare", _DESCRIPTION, _EXAMPLES)
    add_data_argument(parser)
    parser.add_argument(
        "--methods",
        metavar="NAME,NAME,...",
        default=DEFAULT_METHODS,
        help=f"the methods to compare, or all (default: {DEFAULT_METHODS})",
    )
    add_scoring_arguments(parser, PROTOCOLS)
    add_running_arguments(parser, jobs="one run at a time, its folds on all cores")
    parser.add_argument(
        "--records",
        metavar="DIR",
        default=f"{RUNS}/records",
        help=f"folder of the records (default: {RUNS}/records)",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help=f"the picture: .png, .svg or .pdf (default: {RUNS}/compare-DATA.png)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace broken records and those of other runs"
    )
    add_settings_arguments(parser)
    parser.add_argument("--quiet", action="store_true", help="do not show progress")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare the methods and return the exit code."""
    from igsd.files.atomic import check_writable
    from igsd.report.plots import picture_suffix

    # The default name depends on the data, which are not read yet; its folder is known.
    place = args.plot or Path(RUNS) / "compare.png"
    check_writable(place)
    picture_suffix(place)
    comparison, code = compare(args, args.data, parse_methods(args.methods))
    print(f"{_draw(args.plot, comparison)}, records: {args.records}", file=sys.stderr)
    return code


def compare(args: argparse.Namespace, data: str, names: list[str]) -> tuple[Comparison, int]:
    """Run methods, print their table or its JSON, and return it with the exit code.

    The code is 1 if a run failed; a run that only exceeded its limits has an answer.
    """
    check_running(args)
    changes = shared_out(written_changes(args), names)
    check_recipe(args.recipe, names)
    from igsd.experiments.scoring import Scoring
    from igsd.experiments.work import plan_runs
    from igsd.report.render import show
    from igsd.report.scores import compare_records

    graphs = open_graphs(data, args.labels, quiet=args.quiet)
    runs = [run for name in names for run in _runs(args, data, graphs, name, changes[name])]
    options = options_of(args)
    work = plan_runs(runs, graphs, options)
    say_skipped(work, quiet=args.quiet)
    workers, more = spread_out(args, len(work.batches), graphs)
    made = make_runs(work, replace(options, **more), workers, args)
    titles = dict.fromkeys(run.title for run in runs)
    records = {t: made.records([run for run in runs if run.title == t]) for t in titles}
    standardise, twins = args.standardise or "yes", runs[0].uses_twins(graphs)
    scoring = Scoring(args.protocol, standardise, twins)
    comparison = compare_records(graphs, scoring, records)
    if args.json == "-":
        print(json.dumps(comparison.to_dict(), indent=2, allow_nan=False))
        return comparison, int(comparison.failed())
    show(comparison.table())
    for note in comparison.notes():
        say_note(note)
    write_json_table(args, comparison.to_dict())
    return comparison, int(comparison.failed())


def _runs(
    args: argparse.Namespace, data: str, graphs: GraphSet, name: str, changes: Changes
) -> list[Run]:
    """Return the runs of a method; changed settings are part of the place of their records."""
    from igsd.experiments.run import Run, changed_settings
    from igsd.experiments.trained import fitting_recipe

    recipe = choose_recipe(args.recipe, graphs)
    config, usual = configure(name, recipe, changes), configure(name, recipe)
    changed = list(changed_settings(config, usual).items())
    if takes_recipe(name) and recipe != fitting_recipe(graphs):
        changed.insert(0, ("recipe", recipe))
    return [
        Run(
            args.protocol,
            graphs.name,
            name,
            recipe,
            seed,
            changes=tuple(changed),
            standardise=args.standardise or "yes",
            twins=args.without_twins,
            references=False,
            source=data,
            labels=args.labels or "",
        )
        for seed in range(args.seeds)
    ]


def _draw(plot: str | None, comparison: Comparison) -> str:
    """Draw the comparison if any method has a score; return what is said about it."""
    from igsd.experiments.records import plain_name
    from igsd.report.plots import comparison_plot

    usual = Path(RUNS) / f"compare-{plain_name(comparison.data)}.png"
    path = usual if plot is None else Path(plot)
    if comparison.has_scores():
        comparison_plot(comparison).save(path)
        return f"picture: {path}"
    older = f" ({path} is of an earlier run)" if path.exists() else ""
    return f"no picture, since no method has a score{older}"
