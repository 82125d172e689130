"""``igsd outliers``: the graphs that are like no other."""

from argparse import Namespace
from typing import Any

import numpy as np

from igsd.cli import exploring
from igsd.cli.options import add_command
from igsd.errors import ConfigError, counted
from igsd.evaluation.clusters import outliers
from igsd.files.atomic import STANDARD_OUTPUT
from igsd.report.aligned import print_rows

_DESCRIPTION = f"""\
Ranks the graphs of DATA by the mean distance of their vector to the K nearest others, the most
unusual graph first. The distance is that of `igsd neighbors`. Prints the top of the list. --plot
draws the graphs, coloured by this distance, and names the first ones. --labels adds columns.

{exploring.INPUT}

{exploring.TABLE}
rank (from 1) and distance, in the order of rank."""

_EXAMPLES = """\
examples:
  igsd outliers runs/first MUTAG
  igsd outliers molecules table.csv -k 5 --top 50 --plot outliers.png -o outliers.csv
  igsd outliers --vectors vectors.npy"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "outliers", run, _DESCRIPTION, _EXAMPLES)
    exploring.add_vectors_arguments(parser, "write all graphs: .csv or .parquet; - prints CSV")
    parser.add_argument(
        "-k", type=int, default=10, metavar="K", help="how many nearest graphs count (default: 10)"
    )
    text = "how many to print, and to name in the picture (default: 10)"
    parser.add_argument("--top", type=int, default=10, metavar="N", help=text)


def run(args: Namespace) -> int:
    """Print or write the ranking and return the exit code."""
    exploring.check_options(args, "the ranking")
    if args.top < 1:
        raise ConfigError(f"--top must be at least 1. Got {args.top}.")
    found = exploring.open_vectors(args)
    ranking = outliers(found.vectors, args.k)
    about = {key: [v[g] for g in ranking.graphs] for key, v in found.columns().items()}
    ranks = list(range(1, len(ranking.graphs) + 1))
    columns = about | {"rank": ranks, "distance": ranking.distances.tolist()}
    if args.output != STANDARD_OUTPUT:
        header = ["rank", "distance", *about]
        ranked = zip(*(columns[key][: args.top] for key in header), strict=True)
        rows = [dict(zip(header, row, strict=True)) for row in ranked]
        print_rows(rows, f"farthest from the others in {found.name}")
    if args.output:
        exploring.write_table(args, columns, f"{counted(len(ranks), 'graph')} by their distance")
    if args.plot:
        from igsd.report.plots import number_plot

        values = np.empty(len(ranks))
        values[ranking.graphs] = ranking.distances
        names = about.get("id", about["graph"])
        marked = {int(g): str(names[i]) for i, g in enumerate(ranking.graphs[: args.top])}
        points = exploring.projected(found, args, args.map)
        title = f"mean distance to {args.k} neighbours"
        exploring.write_picture(args, number_plot(points, values, title, found.name, marked))
    return 0
