"""The options of commands that score: protocol, seeds and how the folds are run."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from igsd.errors import ConfigError

if TYPE_CHECKING:
    from igsd.experiments.scoring import Scoring
    from igsd.graphs.graphset import GraphSet

PROTOCOLS_HELP = """\
  nested  stratified 10-fold; C is chosen inside each training part by 5-fold search (default)
  paper   the C with the best 10-fold mean; optimistic, so printed beside nested
  gckn    the published folds (gckn-folds.zip and gin-folds.zip in the folder IGSD_DATA)"""


def add_scoring_arguments(parser: argparse.ArgumentParser, protocols: tuple[str, ...]) -> None:
    """Add the options to a parser."""
    parser.add_argument(
        "--protocol",
        choices=protocols,
        default="nested",
        help="how it is scored (default: nested)",
    )
    parser.add_argument(
        "--seeds", type=int, default=5, metavar="N", help="seeds 0..N-1 (default: 5)"
    )
    parser.add_argument(
        "--labels",
        metavar="COLUMN|FILE",
        help="what becomes the classes, as in `igsd train --labels` (default: those of DATA; of a "
        "table the column called label, class or y)",
    )
    parser.add_argument(
        "--standardise",
        choices=("no", "yes", "search"),
        help="scale features inside each training part; search: chosen there, like C "
        "(default: yes)",
    )
    parser.add_argument(
        "--without-twins",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="also score with the twins of test graphs removed from training (default: where over "
        "a tenth of the graphs are repeats)",
    )
    parser.add_argument(
        "--jobs",
        type=int,
        metavar="N",
        help="processes for the folds, -1 for all cores; the numbers are the same (default: all "
        "cores, one for small sets)",
    )
    parser.add_argument("--json", metavar="FILE", help="also write the table as JSON; - prints it")


def check_scoring_arguments(args: argparse.Namespace) -> None:
    """Raise for a number of seeds that cannot be meant and a file that cannot be written."""
    if args.seeds < 1:
        raise ConfigError(f"--seeds must be at least 1. Got {args.seeds}.")
    if args.json not in (None, "-"):
        from igsd.atomic_file import check_writable

        check_writable(args.json)


def refuse_scoring_arguments(args: argparse.Namespace) -> None:
    """Raise for options that a protocol which trains inside each split has no use for."""
    given = {
        "--standardise": args.standardise,
        "--without-twins": args.without_twins,
        "--jobs": args.jobs,
        "--limit-seconds": args.limit_seconds,
        "--limit-memory": args.limit_memory,
    }
    for option, value in given.items():
        if value is not None:
            raise ConfigError(
                f"{option} is for the protocols nested, paper and gckn: protocol {args.protocol} "
                "trains inside each split, one after the other, and scores what that predicts. "
                "Leave it out."
            )


def scoring_of(args: argparse.Namespace, graphs: GraphSet) -> Scoring:
    """Return how these graphs are scored."""
    from igsd.experiments.scoring import Scoring, default_jobs, has_many_twins

    twins = args.without_twins
    return Scoring(
        protocol=args.protocol,
        standardise=args.standardise or "yes",
        twins=has_many_twins(graphs) if twins is None else twins,
        jobs=default_jobs(graphs) if args.jobs is None else args.jobs,
    )


def write_table_json(file: str | None, table: dict[str, Any]) -> None:
    """Write a table where ``--json`` asks for a file."""
    from igsd.atomic_file import write_json

    if file not in (None, "-"):
        write_json(str(file), table)
