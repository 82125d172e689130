"""``igsd index``: vectors of graphs in a file that `igsd neighbors --index` searches."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from igsd.cli.options import add_command, add_model_and_data, prepare_output
from igsd.cli.output import open_for_model, open_model
from igsd.errors import ConfigError, counted
from igsd.evaluation.index import EXACT, Index
from igsd.files.locks import only_writer

_DESCRIPTION = f"""\
Writes the vectors of the graphs of DATA to FILE, ready to be searched by `igsd neighbors --index
FILE`, without DATA and without embedding it again. FILE also holds the lines, ids, classes and
names of the graphs, and remembers MODEL for queries that have to be embedded.

Up to {EXACT:,} vectors the search is exact. Beyond, it is approximate: a navigable graph (HNSW),
which needs pip install "igsd[search]", finds about 99 of 100 nearest graphs in a small part of the
time; their distances are exact. FILE is written whole or not at all, holds no pickle, and is mapped
into memory when it is searched."""

_EXAMPLES = """\
examples:
  igsd index molecules table.csv -o table.index
  igsd neighbors --index table.index --query "CC(=O)Oc1ccccc1C(=O)O" -k 10
  igsd neighbors --index table.index --query-file mine.smi -o neighbors.csv"""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "index", run, _DESCRIPTION, _EXAMPLES)
    add_model_and_data(parser)
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the index")
    text = "threads that build an approximate index (default: 1); with several, the same input "
    text += "does not give quite the same index each time"
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help=text)
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")


def run(args: Namespace) -> int:
    """Write the index and return the exit code."""
    if args.jobs < 1:
        raise ConfigError(f"--jobs must be at least 1. Got {args.jobs}.")
    written = prepare_output(args.output, args.model, args.data)
    with only_writer(Path(args.output), may_replace=args.force):
        model = open_model(args.model)
        graphs = open_for_model(args, model, quiet=args.quiet)
        kwargs = {"source": args.model, "jobs": args.jobs, "verbose": not args.quiet}
        index = Index.build(graphs, args.output, model=model, **kwargs)
    written()
    vectors = f"{counted(len(index), 'vector')} of {counted(index.vectors.shape[1], 'number')}"
    print(f"{vectors}, {'exact' if index.is_exact else 'approximate'} search: {args.output}")
    return 0
