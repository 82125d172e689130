"""``igsd cluster``: groups of similar graphs."""

from argparse import Namespace
from typing import Any

import numpy as np

from igsd.cli import exploring
from igsd.cli.options import add_command
from igsd.cli.output import say_note
from igsd.errors import counted
from igsd.evaluation.clusters import Clusters, agreement, cluster
from igsd.files.atomic import STANDARD_OUTPUT
from igsd.report.aligned import print_table

_DESCRIPTION = f"""\
Finds groups of graphs whose vectors are close together, by HDBSCAN: it chooses how many there are,
and leaves out graphs that belong to none (noise, cluster -1). Cluster 0 is the largest. Prints the
size of each, its most frequent class or the mean of the numbers of --labels, and its most typical
graph; below it, how far clusters and classes agree. --plot draws the graphs, coloured by cluster.

{exploring.INPUT}

{exploring.TABLE}
cluster and strength, from 0 to 1: how firmly the graph belongs to its cluster."""

_EXAMPLES = """\
examples:
  igsd cluster runs/first MUTAG --plot clusters.png
  igsd cluster molecules table.csv --min-size 20 -o clusters.csv
  igsd cluster runs/networks networks/ --labels labels.csv
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
        say_note(
            f"no region of at least {args.min_size} graphs is dense enough for a cluster: try "
            "--min-size 2."
        )
    if args.output != STANDARD_OUTPUT:
        _print(clusters, columns, found)
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


def _print(clusters: Clusters, columns: dict[str, list[Any]], found: exploring.Vectors) -> None:
    """Print a line for each cluster, and one for the noise."""
    about = [key for key in ("line", "id", "name") if key in columns]
    has_classes, lines = "class" in columns, []
    for number, size in [*enumerate(clusters.sizes), (-1, clusters.num_noise)]:
        line = ["none" if number < 0 else str(number), str(size)]
        members = (clusters.labels == number).nonzero()[0]
        if has_classes:
            line.append(_commonest([columns["class"][graph] for graph in members]))
        for values in found.numbers.values():
            known = values[members][np.isfinite(values[members])]
            line.append(f"{known.mean():.4g}" if len(known) else "-")
        example = clusters.examples[number] if number >= 0 else None
        line += ["-" if example is None else str(example)]
        line += ["-" if example is None else str(columns[key][example]) for key in about]
        lines.append(line)
    labels = ["commonest class"] * has_classes + [f"mean {name}" for name in found.numbers]
    header = ["cluster", "graphs", *labels, "typical graph", *about]
    left = [i for i, key in enumerate(header) if key in ("commonest class", "id", "name")]
    print_table(header, lines, f"clusters of {found.name}", left)
    if has_classes and found.graphs is not None:
        share = agreement(clusters, found.graphs.classes)
        if share is not None:
            print(
                f"agreement of clusters and classes: {share:.2f} (adjusted Rand index of the "
                "graphs with both; 1: the same groups, 0: as by chance)"
            )


def _commonest(classes: list[Any]) -> str:
    """Return the most frequent of the known classes and its share."""
    known = [value for value in classes if value is not None]
    most = max(sorted(set(known), key=str), key=known.count, default=None)
    return f"{most} ({100 * known.count(most) / len(known):.0f} %)" if known else "-"
