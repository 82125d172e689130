"""``igsd predict``: the class or the value that a model says for each graph, as a table."""

from __future__ import annotations

import argparse
from typing import Any

from igsd.atomic_file import known_suffix
from igsd.cli.arguments import add_command, add_model_and_data, prepare_output
from igsd.cli.open_graphs import open_graphs
from igsd.wording import counted

_DESCRIPTION = """\
Writes what a model trained with `igsd train --labels` says of the graphs of DATA, one row per graph
in the order of DATA: its class, the probability of that class and of every class; or its value in
the units of the labels, one column per target. Where DATA has the label that the model of a run
folder was trained on, or is what its file of labels belongs to, the last column, given, repeats it:
empty where there is only a prediction.

The suffix of FILE decides: .csv or .parquet. Before the predictions stand the columns graph, line,
id and name, as far as there are any: see `igsd embed --help`. FILE is written whole or
not at all; one that exists is replaced."""

_EXAMPLES = """\
examples:
  igsd train molecules.csv --labels active -o runs/active
  igsd predict runs/active molecules.csv -o predictions.csv"""

SUFFIXES = (".csv", ".parquet")


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands,
        "predict",
        "write the class or value of each graph to a file",
        _DESCRIPTION,
        _EXAMPLES,
    )
    add_model_and_data(parser)
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help=".csv or .parquet")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the predictions and return the exit code."""
    known_suffix(args.output, SUFFIXES, "predictions")
    written = prepare_output(args.output, args.model, args.data)
    from igsd.baselines.load_model import load_model
    from igsd.column_file import write_columns
    from igsd.estimators.predictions import given_columns, prediction_columns
    from igsd.experiments.run_folder import RunFolder

    model, graphs = load_model(args.model), open_graphs(args.data, quiet=args.quiet)
    columns = prediction_columns(model, graphs, args.model, verbose=not args.quiet)
    metrics = RunFolder(args.model).metrics() or {}
    write_columns(args.output, columns | given_columns(metrics, graphs, args.data))
    written()
    print(f"{counted(len(graphs), 'prediction')}: {args.output}")
    return 0
