"""``igsd predict``: a table with the class or value that a model predicts for each graph."""

from argparse import Namespace
from typing import Any

from igsd.baselines.registry import load_model
from igsd.cli.options import add_command, add_computing_arguments, prepare_output, workers_of
from igsd.cli.output import open_for_model, say_result
from igsd.errors import counted
from igsd.experiments.run_folder import RunFolder
from igsd.files.atomic import known_suffix
from igsd.files.columns import check_spreadsheet, write_columns

_DESCRIPTION = """\
Writes the predictions of a model trained with `igsd train --labels`, one row per graph in the order
of DATA: the class, its probability and that of every class; or the value in the units of the
labels, one column per target. If DATA has the labels that the model of a run folder was trained
on, the last column, given, repeats them; it is empty if there is only a prediction.

The suffix of FILE decides the format: .csv or .parquet; - writes CSV to standard output. The first
columns are graph, line, id and name, where available: see `igsd embed --help`. FILE is
written whole or not at all; an existing file is replaced. --jobs and --backend are as in `igsd
embed`."""

_EXAMPLES = """\
examples:
  igsd train molecules.csv --labels active -o runs/active
  igsd predict runs/active molecules.csv -o predictions.csv"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "predict", run, _DESCRIPTION, _EXAMPLES)
    add_computing_arguments(parser, ".csv or .parquet", "predictions")


def run(args: Namespace) -> int:
    """Write the predictions and return the exit code."""
    known_suffix(args.output, (".csv", ".parquet"), "predictions")
    if args.spreadsheet:
        check_spreadsheet(args.output)
    workers = workers_of(args)
    written = prepare_output(args.output, args.model, args.data)
    from igsd.estimators.predictions import given_columns
    from igsd.experiments.shards import predictions_by_shards

    model = load_model(args.model)
    graphs = open_for_model(args, model, quiet=args.quiet)
    verbose = not args.quiet
    columns = predictions_by_shards(
        model, args.model, graphs, workers, data=args.data, verbose=verbose
    )
    metrics = RunFolder(args.model).metrics() or {}
    columns = {**columns, **given_columns(metrics, graphs, args.data)}
    write_columns(args.output, columns, spreadsheet=args.spreadsheet)
    written()
    say_result(f"{counted(len(graphs), 'prediction')}: {args.output}", args.output)
    return 0
