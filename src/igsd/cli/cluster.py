"""``igsd cluster``: groups of alike graphs."""

from argparse import Namespace
from typing import Any

from igsd.cli import exploring
from igsd.cli.options import add_command
from igsd.cli.output import say_note
from igsd.errors import counted
from igsd.evaluation.clusters import Clusters, cluster
from igsd.files.atomic import STANDARD_OUTPUT
from igsd.report.render import print_table

_DESCRIPTION = f"""\
Finds groups of graphs whose vectors are close together, by HDBSCAN: it chooses how many there are,
and leaves out graphs that belong to none (noise, cluster -1). Cluster 0 is the largest. Prints the
size of each, its most frequent class if there are classes, and its most typical graph. --plot draws
the graphs, coloured by cluster.

{exploring.INPUT}

{exploring.TABLE}
cluster and strength, from 0 to 1: how firmly the graph belongs to its cluster."""

_EXAMPLES = """\
examples:
  igsd cluster runs/first MUTAG --plot clusters.png
  igsd cluster molecules table.csv --min-size 20 -o clusters.csv
  igsd cluster --vectors vectors.npy"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "cluster", run, _DESCRIPTION, _EXAMPLES)
    exploring.add_vectors_arguments(parser, "write the clusters: .csv or .parquet; - prints CSV")
    text = "graphs that make a cluster (default: 5)"
    parser.add_argument("--min-size", type=int, default=5, metavar="N", help=text)


def run(args: Namespace) -> int:
    """Print or write the clusters and return the exit code."""
    exploring.check_options(args, "the clusters")
    found = exploring.open_vectors(args)
    clusters = cluster(found.vectors, args.min_size)
    columns = found.columns()
    if not clusters.sizes:
        say_note(f"no {args.min_size} graphs are dense enough to make a cluster: try --min-size 2.")
    if args.output != STANDARD_OUTPUT:
        _print(clusters, columns, found.name)
    if args.output:
        added = {"cluster": clusters.labels.tolist(), "strength": clusters.strengths.tolist()}
        what = f"{counted(len(clusters.sizes), 'cluster')}, {clusters.num_noise} graphs in none"
        exploring.write_table(args, columns | added, what)
    if args.plot:
        from igsd.report.plots import embedding_plot

        points, names = exploring.projected(found, args, args.map), range(len(clusters.sizes))
        words = ("cluster", "in no cluster")
        plot = embedding_plot(points, clusters.labels, names, found.name, words)
        exploring.write_picture(args, plot)
    return 0


def _print(clusters: Clusters, columns: dict[str, list[Any]], name: str) -> None:
    """Print a line for each cluster, and one for the noise."""
    about = [key for key in ("line", "id", "name") if key in columns]
    has_classes = "class" in columns
    lines = []
    for number, size in [*enumerate(clusters.sizes), (-1, clusters.num_noise)]:
        line = ["none" if number < 0 else str(number), str(size)]
        if has_classes:
            members = (clusters.labels == number).nonzero()[0]
            classes = [columns["class"][graph] for graph in members]
            known = [value for value in classes if value is not None]
            most = max(sorted(set(known), key=str), key=known.count, default=None)
            share = f"{most} ({100 * known.count(most) / len(known):.0f} %)" if known else "-"
            line.append(share)
        example = clusters.examples[number] if number >= 0 else None
        line += ["-" if example is None else str(example)]
        line += ["-" if example is None else str(columns[key][example]) for key in about]
        lines.append(line)
    header = ["cluster", "graphs", *["commonest class"] * has_classes, "typical graph", *about]
    left = [i for i, key in enumerate(header) if key in ("commonest class", "id", "name")]
    print_table(header, lines, f"clusters of {name}", left)
