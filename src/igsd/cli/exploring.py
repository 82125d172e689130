"""What `igsd map`, `igsd cluster` and `igsd outliers` share: their input, tables and pictures."""

import argparse
from argparse import Namespace
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from igsd.cli.options import (
    add_model_and_data,
    add_spreadsheet_argument,
    input_paths,
    prepare_output,
)
from igsd.cli.output import (
    open_for_model,
    open_graphs,
    open_model,
    reading_of,
    say_note,
    say_result,
)
from igsd.errors import ConfigError
from igsd.files.atomic import known_suffix
from igsd.files.columns import check_spreadsheet, read_vectors, write_columns
from igsd.graphs.graphset import GraphSet
from igsd.graphs.label_source import with_labels
from igsd.report.projection import MAP_METHODS, Projection, project

_SLOW = 2000
"""A map of more graphs than this, other than pca, is announced."""

INPUT = """\
MODEL is a run folder or a model file, and DATA any graphs. With --vectors, the vectors are those of
a file instead (.npy, .csv or .parquet, as `igsd embed` writes them) and there is no MODEL; DATA, if
it is given, says which graph each row is."""

TABLE = """\
With -o, FILE (.csv, .parquet, or - for standard output) has a row for each graph: graph (from 0),
line, id, name and class (or the numbers that --labels names), where available, then"""

_TAKEN = {"graph", "line", "id", "name", "class"}
_TAKEN |= {"x", "y", "cluster", "strength", "rank", "distance"}
"""Names that columns of the tables have already."""


class Vectors(NamedTuple):
    """Vectors [G, d], and the graphs that they belong to if those are known.

    ``numbers``: the numbers that ``--labels`` names, [G] each, NaN where unknown, by their names.
    """

    vectors: np.ndarray
    graphs: GraphSet | None
    numbers: Mapping[str, np.ndarray] = MappingProxyType({})

    @property
    def name(self) -> str:
        """What the title of a picture says of the data."""
        count = f"{len(self.vectors)} graphs"
        return count if self.graphs is None else f"{self.graphs.name}, {count}"

    def columns(self) -> dict[str, list[Any]]:
        """Return the columns that identify each graph, and its class or numbers."""
        from igsd.estimators.predictions import about_graphs

        if self.graphs is None:
            return {"graph": list(range(len(self.vectors)))}
        columns = about_graphs(self.graphs)
        if self.graphs.classes is not None:
            names = [*self.graphs.class_names, None]  # the code of an unknown class is -1
            columns["class"] = [names[code] for code in self.graphs.classes]
        for name, values in self.numbers.items():
            key = f"label {name}" if name in _TAKEN else name
            columns[key] = [None if value != value else value for value in values.tolist()]
        return columns


def add_vectors_arguments(parser: argparse.ArgumentParser, table: str) -> None:
    """Add MODEL, DATA and ``--vectors``, and the options of tables and pictures."""
    add_model_and_data(parser, nargs="?")
    parser.add_argument("--vectors", metavar="FILE", help="use the vectors of a file, not MODEL")
    text = "classes or numbers, as in `igsd train --labels` (default: the classes of DATA)"
    parser.add_argument("--labels", metavar="COLUMN|FILE", help=text)
    parser.add_argument("-o", "--output", metavar="FILE", help=table)
    parser.set_defaults(takes_url=True)
    add_spreadsheet_argument(parser)
    parser.add_argument("--plot", metavar="FILE", help="write the picture: .png, .svg or .pdf")
    text = 'how the picture is made (default: pca; umap needs pip install "igsd[maps]")'
    parser.add_argument("--map", choices=MAP_METHODS, help=text)
    text = "seed of umap and tsne (default: 0)"
    parser.add_argument("--seed", type=int, default=0, metavar="N", help=text)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def check_options(args: Namespace, what: str) -> None:
    """Reject invalid combinations of options, and files that cannot be written."""
    if args.vectors is not None:
        if args.data is not None:
            raise ConfigError(
                f"--vectors takes the place of a model, so only DATA can stand beside it. Got "
                f"{args.model} and {args.data}."
            )
        args.model, args.data = None, args.model
    elif args.data is None:
        raise ConfigError("Specify MODEL and DATA, or --vectors FILE.")
    if args.labels is not None and args.data is None:
        raise ConfigError(f"--labels {args.labels} are labels of graphs: give DATA as well.")
    if not 0 <= args.seed < 2**32:
        raise ConfigError(f"--seed must be from 0 to {2**32 - 1}. Got {args.seed}.")
    inputs = input_paths(args)
    if args.output:
        known_suffix(args.output, (".csv", ".parquet"), what)
        if args.spreadsheet:
            check_spreadsheet(args.output)
        prepare_output(args.output, *inputs)()
    if args.plot:
        known_suffix(args.plot, (".png", ".svg", ".pdf"), "a picture")
        prepare_output(args.plot, *inputs)()
    elif args.map:
        raise ConfigError("--map says how a picture is made: name it with --plot FILE.")


def open_vectors(args: Namespace) -> Vectors:
    """Return the vectors that the options name; raises ``DataError`` if they do not fit DATA."""
    if args.vectors is None:
        model = open_model(args.model)
        graphs = open_for_model(args, model, quiet=args.quiet)
        graphs, numbers = _labelled(graphs, args)  # reports a wrong name before any work is done
        if "verbose" in model.get_params(deep=False):
            model.set_params(verbose=not args.quiet)
        return Vectors(model.transform(graphs), graphs, numbers)
    if args.data is None:
        return Vectors(read_vectors(args.vectors), None)
    from igsd.baselines.references.vectors import vectors_for

    graphs = open_graphs(args.data, quiet=args.quiet, **reading_of(args))
    graphs, numbers = _labelled(graphs, args)
    return Vectors(vectors_for(args.vectors, graphs), graphs, numbers)


def _labelled(graphs: GraphSet, args: Namespace) -> tuple[GraphSet, dict[str, np.ndarray]]:
    """Return (graphs, numbers): the classes, or numbers by name, that ``--labels`` asks for."""
    if args.labels is None:
        return graphs, {}
    graphs = with_labels(graphs, args.data, args.labels)
    if graphs.classes is not None or graphs.targets is None:
        return graphs, {}
    return graphs, dict(zip(graphs.target_names, graphs.targets.T, strict=True))


def projected(found: Vectors, args: Namespace, method: str | None) -> Projection:
    """Return the points of a picture; a note says when that takes long."""
    method = method or MAP_METHODS[0]
    if method != MAP_METHODS[0] and len(found.vectors) > _SLOW and not args.quiet:
        say_note(f"making a map of {len(found.vectors)} graphs by {method}; this takes a while.")
    return project(found.vectors, method, args.seed)


def write_table(args: Namespace, columns: Mapping[str, Any], what: str) -> None:
    """Write a table and say so."""
    write_columns(args.output, dict(columns), spreadsheet=args.spreadsheet)
    say_result(f"{what}: {args.output}", args.output)


def write_picture(args: Namespace, plot: Any) -> None:
    """Write a picture and say so."""
    plot.save(args.plot)
    say_result(f"picture: {args.plot}", args.output or "")
