"""``igsd embed``: vectors of graphs, seen in training or not."""

from argparse import Namespace
from typing import Any

from igsd.cli.options import add_command, add_computing_arguments, prepare_output, workers_of
from igsd.cli.output import open_for_model, open_model, say_result
from igsd.errors import counted
from igsd.files.columns import check_spreadsheet, check_suffix, write_vectors

_DESCRIPTION = """\
Writes one vector per graph of DATA, in the order of DATA, to FILE. The graphs need not be those
that the model was trained on, and need no classes.

The suffix of FILE decides the format: .npy (float32, rows only), .csv or .parquet; - writes CSV to
standard output. Columns:
  graph            number of the graph in DATA, from 0
  line             its line, if DATA is or was a table
  id               its id in that table (a column such as id, name or mol_id)
  name             its name, if graphs have names; for molecules the SMILES
  igsd0, igsd1...  the vector; other methods use their own name (wl0, infograph0), histogram and
                   graphlet the names of what they count

--jobs N computes the vectors in N processes, --backend dask on the workers of a Dask cluster, which
need igsd and one thread each. The result is the same, bit for bit. If a process is killed, only its
share of the work is done again.

Rows of a table that are not molecules are left out, and a note counts them and shows the first
five; `igsd data show` lists all. FILE is written whole or not at all; an existing file is replaced,
and its folder is created if needed."""

_EXAMPLES = """\
examples:
  igsd embed runs/first MUTAG -o vectors.npy
  igsd embed runs/first molecules.csv -o vectors.parquet
  igsd embed molecules table.sdf --standardise -o vectors.parquet
  echo "CCO ethanol" | igsd embed molecules - -o -"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "embed", run, _DESCRIPTION, _EXAMPLES)
    add_computing_arguments(parser, ".npy, .csv or .parquet", "vectors")


def run(args: Namespace) -> int:
    """Write the vectors and return the exit code."""
    check_suffix(args.output)
    if args.spreadsheet:
        check_spreadsheet(args.output)
    workers = workers_of(args)
    written = prepare_output(args.output, args.model, args.data)
    from igsd.experiments.shards import vectors_by_shards

    model = open_model(args.model)
    graphs = open_for_model(args, model, quiet=args.quiet)
    columns = [str(name) for name in model.get_feature_names_out()]
    shape = (len(graphs), len(columns))
    verbose = not args.quiet
    chunks = vectors_by_shards(model, args.model, graphs, workers, data=args.data, verbose=verbose)
    about = (graphs.graph_names, graphs.lines, graphs.ids)
    write_vectors(args.output, chunks, shape, columns, *about, spreadsheet=args.spreadsheet)
    written()
    vectors = f"{counted(shape[0], 'vector')} of {counted(shape[1], 'number')}"
    say_result(f"{vectors}: {args.output}", args.output)
    return 0
