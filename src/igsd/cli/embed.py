"""``igsd embed``: vectors of graphs, seen in training or not."""

from __future__ import annotations

import argparse
from typing import Any

from igsd.cli.arguments import add_command, add_model_and_data, prepare_output
from igsd.cli.notes import say_note
from igsd.cli.open_graphs import open_graphs
from igsd.wording import counted

_DESCRIPTION = """\
Writes one vector per graph of DATA, in the order of DATA, to FILE. The graphs need not be those of
the training, and need no classes.

The suffix of FILE decides: .npy (float32, rows only), .csv or .parquet. The columns of these are
  graph            its number in DATA, from 0
  line             of the table that it was read from, where DATA is or was a table
  id               what that table calls it in a column such as id, name or mol_id
  name             where graphs have names; of molecules it is the SMILES
  igsd0, igsd1...  the vector; other methods have their own name there (wl0, infograph0), histogram
                   and graphlet the name of what they count

Rows of a table that are no molecules are left out, and a note says which. FILE is written whole or
not at all; one that exists is replaced, a folder that does not is made."""

_EXAMPLES = """\
examples:
  igsd embed runs/first MUTAG -o vectors.npy
  igsd embed runs/first molecules.csv -o vectors.parquet"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "embed", "write the vectors of graphs to a file", _DESCRIPTION, _EXAMPLES
    )
    add_model_and_data(parser)
    parser.add_argument(
        "-o", "--output", metavar="FILE", required=True, help=".npy, .csv or .parquet"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Write the vectors and return the exit code."""
    from igsd.evaluation.vector_file import check_suffix, write_vectors

    check_suffix(args.output)
    written = prepare_output(args.output, args.model, args.data)
    from igsd.baselines.load_model import load_model, note_on_vectors

    model, graphs = load_model(args.model), open_graphs(args.data, quiet=args.quiet)
    columns = [str(name) for name in model.get_feature_names_out()]
    shape = (len(graphs), len(columns))
    if (note := note_on_vectors(model)) is not None:
        say_note(note)
    if hasattr(model, "transform_chunks"):
        chunks = model.set_params(verbose=not args.quiet).transform_chunks(graphs)
    else:
        chunks = iter([model.transform(graphs)])
    about = (graphs.graph_names, graphs.lines, graphs.ids)
    write_vectors(args.output, chunks, shape, columns, *about)
    written()
    print(f"{counted(shape[0], 'vector')} of {counted(shape[1], 'number')}: {args.output}")
    return 0
