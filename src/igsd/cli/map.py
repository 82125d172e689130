"""``igsd map``: graphs as points in the plane."""

from argparse import Namespace
from typing import Any

from igsd.cli import exploring
from igsd.cli.options import add_command
from igsd.errors import ConfigError, counted
from igsd.evaluation.clusters import vectors_of

_DESCRIPTION = f"""\
Places the graphs of DATA in the plane so that those with close vectors are close, writes the points
as a table (-o) and draws them (--plot), coloured by class or by the first number of --labels. By
default the points are the two principal components of the vectors, each column scaled to unit
variance; --map umap or tsne shows groups that these hide, but says nothing about the distances
between groups.

{exploring.INPUT}

{exploring.TABLE}
x and y."""

_EXAMPLES = """\
examples:
  igsd map runs/first MUTAG --plot map.png
  igsd map runs/networks networks/ --labels labels.csv --plot map.png
  igsd map molecules table.csv --map umap --plot map.svg -o points.csv
  igsd map MUTAG --vectors vectors.npy -o points.parquet"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "map", run, _DESCRIPTION, _EXAMPLES)
    exploring.add_vectors_arguments(parser, "write the points: .csv or .parquet; - prints CSV")


def run(args: Namespace) -> int:
    """Write the points and the picture and return the exit code."""
    if not args.output and not args.plot:
        raise ConfigError("Specify --plot FILE for a picture, or -o FILE for the points.")
    method = args.map
    if args.output and not args.plot:
        args.map = None  # without a picture it says how the points are made
    exploring.check_options(args, "the points")
    found = exploring.open_vectors(args)
    vectors_of(found.vectors, None, "A map")
    points = exploring.projected(found, args, method)
    if args.output:
        x, y = points.points.T.tolist()
        count = counted(len(x), "point")
        exploring.write_table(args, found.columns() | {"x": x, "y": y}, count)
    if args.plot:
        from igsd.report.plots import embedding_plot, number_plot

        graphs = found.graphs
        if found.numbers:
            name, values = next(iter(found.numbers.items()))
            plot = number_plot(points, values, name, found.name)
        else:
            classes = None if graphs is None else graphs.classes
            names = () if graphs is None else graphs.class_names
            plot = embedding_plot(points, classes, names, found.name)
        exploring.write_picture(args, plot)
    return 0
