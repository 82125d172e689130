"""``igsd compare``: several methods on one data set, under the same folds: a table, a picture."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from igsd.cli.arguments import add_command, add_data_argument
from igsd.cli.method_options import (
    add_limit_arguments,
    make_plans,
    methods_text,
    parse_methods,
)
from igsd.cli.notes import say_note
from igsd.cli.run_place import RUNS
from igsd.cli.scoring_arguments import (
    PROTOCOLS_HELP,
    add_scoring_arguments,
    check_scoring_arguments,
    write_table_json,
)
from igsd.cli.settings import add_settings_arguments
from igsd.evaluation import PROTOCOLS

if TYPE_CHECKING:
    from igsd.experiments.method_plan import MethodPlan
    from igsd.experiments.records import Record
    from igsd.report.comparison import Comparison

DEFAULT_METHODS = "igsd,infograph,graph2vec,wl,untrained,histogram"

_DESCRIPTION = f"""\
Runs methods on the graphs of DATA and scores all of them by the same folds: vectors by an RBF SVM,
kernels by an SVM on their own matrix, C from the same grid. Prints one table with accuracy, the
seconds to fit and represent the graphs, and the most memory its process held, of which Python and
its libraries take some 400 MiB, and draws it as a picture.

Each method runs in a process of its own. One that exceeds its time says '> limit', one that exceeds
its memory 'OMR' (out of memory), and the others go on. Every finished run leaves a record,
DIR/PROTOCOL/DATA/METHOD/seed-N.json (DATA+COLUMN with --labels), and is skipped when the same
command is given again, so Ctrl-C loses no more than the run under way.

A setting KEY goes to every method that has it, METHOD.KEY to one; `igsd train --method METHOD
--help` lists them. A method with other settings is called METHOD+KEY-VALUE in the table (METHOD+
and eight characters where much is set) and has records of its own under that name; another
--recipe than the one that fits the graphs is part of it (METHOD+recipe-NAME).

protocols:
{PROTOCOLS_HELP}

{methods_text()}"""

_EXAMPLES = """\
examples:
  igsd compare MUTAG
  igsd compare MUTAG --methods all --seeds 1 --records results/
  igsd compare NCI1 --methods igsd,wl,wl-oa --set wl.iterations=4 --limit-seconds 3600"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "compare", "score several methods on the same folds", _DESCRIPTION, _EXAMPLES
    )
    add_data_argument(parser)
    parser.add_argument(
        "--methods",
        metavar="NAME,NAME,...",
        default=DEFAULT_METHODS,
        help=f"what is compared, or all (default: {DEFAULT_METHODS})",
    )
    add_scoring_arguments(parser, PROTOCOLS)
    add_limit_arguments(parser)
    parser.add_argument(
        "--records",
        metavar="DIR",
        default=f"{RUNS}/records",
        help=f"where the records are kept (default: {RUNS}/records)",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        help=f"the picture: .png, .svg or .pdf (default: {RUNS}/compare-DATA.png)",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace records of other runs, and broken ones"
    )
    add_settings_arguments(parser)
    parser.add_argument("--quiet", action="store_true", help="do not say how far it is")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compare the methods and return the exit code."""
    from igsd.atomic_file import check_writable
    from igsd.report.comparison_plot import picture_suffix

    # The usual name follows from the data, which are not read yet; its folder is known.
    place = args.plot or Path(RUNS) / "compare.png"
    check_writable(place)
    picture_suffix(place)
    comparison, code = run_and_report(args, args.data, parse_methods(args.methods))
    print(f"{_draw(args.plot, comparison)}, records: {args.records}", file=sys.stderr)
    return code


def _draw(plot: str | None, comparison: Comparison) -> str:
    """Draw the comparison where there is something to draw, and return what is said of that."""
    from igsd.experiments.records import plain_name
    from igsd.report.comparison_plot import save_comparison_plot

    usual = Path(RUNS) / f"compare-{plain_name(comparison.data)}.png"
    path = usual if plot is None else Path(plot)
    if comparison.has_scores():
        save_comparison_plot(path, comparison)
        return f"picture: {path}"
    older = f" ({path} is of an earlier run)" if path.exists() else ""
    return f"no picture, since no method has a score{older}"


def run_and_report(args: argparse.Namespace, data: str, names: list[str]) -> tuple[Comparison, int]:
    """Run methods, print their table or its JSON, and return it with the exit code.

    The code is 1 where a method failed; one that only exceeded its limits has an answer, so that
    is 0.
    """
    check_scoring_arguments(args)
    plans = make_plans(args, data, names)
    from igsd.report.comparison import compare_records, print_comparison

    try:
        records = _run(plans, quiet=args.quiet)
    except KeyboardInterrupt as stop:
        kept = f"Finished runs are in {args.records}; " if args.records else ""
        raise KeyboardInterrupt(f"Stopped. {kept}the same command goes on.") from stop
    comparison = compare_records(plans[0].graphs, plans[0].scoring, records)
    print_comparison(comparison, as_json=args.json == "-")
    for note in comparison.notes() if args.json != "-" else ():
        say_note(note)
    write_table_json(args.json, comparison.to_dict())
    return comparison, 1 if any(line.word == "failed" for line in comparison.lines) else 0


def _run(plans: list[MethodPlan], *, quiet: bool) -> dict[str, list[Record]]:
    """Return the records of each method, and say on standard error how far it is."""
    from igsd.experiments.method_runs import run_methods

    records: dict[str, list[Record]] = {plan.name: [] for plan in plans}
    num_seeds = plans[0].num_seeds
    total = len(plans) * num_seeds

    def place(plan: MethodPlan, seed: int) -> str:
        return f"{plans.index(plan) * num_seeds + seed + 1}/{total} {plan.name}, seed {seed}"

    def on_start(plan: MethodPlan, seed: int) -> None:
        if not quiet:
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"{place(plan, seed)} ...", end=end, file=sys.stderr, flush=True)

    for plan, record, is_there in run_methods(plans, on_start):
        records[plan.name].append(record)
        outcome = _outcome(record) + (" (has a record, skipped)" if is_there else "")
        if not quiet or record["status"] == "failed":
            print(f"{place(plan, record['seed'])}: {outcome}", file=sys.stderr, flush=True)
    return records


def _outcome(record: Record) -> str:
    """Return how a run ended, in a few words; a note below the table says more of a limit."""
    from igsd.experiments.records import fit_seconds

    if record["status"] != "ok":
        return str(record.get("word") or record["error"])
    own = [row for row in record["rows"] if row["method"] == record.get("method", "igsd")]
    took = fit_seconds(record)
    return f"{100 * own[-1]['mean']:.1f} %, {took:.1f} s, {record['peak_memory_mib']:.0f} MiB"
