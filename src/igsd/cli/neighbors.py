"""``igsd neighbors``: the graphs most similar to given ones."""

import json
from argparse import Namespace
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from igsd.cli.options import (
    REPEATED,
    add_command,
    add_model_and_data,
    add_spreadsheet_argument,
    prepare_output,
)
from igsd.cli.output import open_for_model, open_graphs, open_model, say_note, say_result
from igsd.errors import ConfigError, DataError, StorageError, counted, enumerated, shortened
from igsd.evaluation.index import Index
from igsd.evaluation.neighbors import nearest
from igsd.files.atomic import known_suffix
from igsd.files.columns import check_spreadsheet, write_columns
from igsd.graphs.graphset import GraphSet
from igsd.graphs.molecule import are_smiles
from igsd.graphs.open import open_data
from igsd.graphs.readers.file_labels import file_and_stem, names_by_stem
from igsd.graphs.readers.text_table import is_table, read_text_table
from igsd.report.aligned import print_rows

_DESCRIPTION = """\
Lists the graphs of DATA whose vectors are closest to that of each query, nearest first. GRAPH is a
number counted from 0, an id from the table (a column such as id, name or mol_id), a name (for
molecules the SMILES as written in DATA), or the SMILES of any other molecule. --query-file reads
queries from a file of any kind that DATA can be, such as a table of molecules. A query by number,
id or name is left out of its own neighbours.

With --index, the graphs are those of a file made by `igsd index`. There is no DATA then, and MODEL
need not be given: the file remembers it. Search in more than 100,000 vectors is approximate unless
--exact is given.

The distance is Euclidean, with every column of the embedding scaled to unit variance over DATA,
divided by the square root of the number of columns: 0 for graphs that the model cannot tell apart,
about 1.4 for two random graphs.

With -o, FILE (.csv, .parquet, or - for standard output) has a row for each pair: query (from 0),
query_line, query_id and query_name where available, rank (from 1), then the neighbour. With
--json there is an entry {query, neighbors}, of several queries a list of them under `queries`."""

_EXAMPLES = """\
examples:
  igsd neighbors runs/first MUTAG --query 0
  igsd neighbors runs/first molecules.csv --query CHEMBL25 -k 3 --json
  igsd neighbors molecules table.csv --query "CC(=O)Oc1ccccc1C(=O)O" --query-file mine.csv -k 10
  igsd neighbors molecules table.csv --query-file mine.smi -o neighbors.csv
  igsd neighbors --index table.index --query-file mine.smi -o neighbors.csv"""

_APART = 1.4  # what two random graphs are from each other, see docs/exploring.md
_MOST_DIGITS = 20  # Python refuses to read a number of thousands


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "neighbors", run, _DESCRIPTION, _EXAMPLES)
    add_model_and_data(parser, nargs="?")
    text = "search a file made by `igsd index` instead of DATA"
    parser.add_argument("--index", metavar="FILE", help=text)
    text = "compare with every vector of the index, also where there are more than 100,000"
    parser.add_argument("--exact", action="store_true", help=text)
    text = "number from 0, id, name or SMILES; can be repeated"
    parser.add_argument("--query", metavar="GRAPH", help=text, **REPEATED)
    parser.add_argument("--query-file", metavar="FILE", help="a table, or other DATA, of queries")
    parser.add_argument(
        "-k", type=int, default=10, metavar="K", help="how many neighbours to list (default: 10)"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    text = "write .csv or .parquet instead; - for standard output"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)
    add_spreadsheet_argument(parser)
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    parser.set_defaults(takes_url=True)


def run(args: Namespace) -> int:
    """Print or write the neighbours and return the exit code."""
    _check_options(args)
    inputs = [path for path in (args.model, args.data, args.index, args.query_file) if path]
    written = prepare_output(args.output, *inputs) if args.output else lambda: None
    searched = _searched(args)
    graphs, queries = searched.graphs, _queries(args, searched)
    rows = [
        [{"graph": int(i), "distance": float(d)} | _description(graphs, int(i)) for i, d in pairs]
        for pairs in _found(searched, queries, args)
    ]
    described = [query for query, _ in queries]
    _say_far(queries, rows)
    if args.output:
        write_columns(args.output, _columns(described, rows), spreadsheet=args.spreadsheet)
        written()
        count = counted(len(described), "query", "queries")
        say_result(f"neighbours of {count}: {args.output}", args.output)
    elif args.json:
        pairs = zip(described, rows, strict=True)
        entries = [{"query": query, "neighbors": found} for query, found in pairs]
        content = entries[0] if len(entries) == 1 else {"queries": entries}
        print(json.dumps({"data": graphs.name} | content, indent=2))
    else:
        _print(described, rows)
    return 0


def _check_options(args: Namespace) -> None:
    """Reject invalid combinations of options."""
    if not args.query and not args.query_file:
        raise ConfigError("Say whose neighbours to list: --query GRAPH, or --query-file FILE.")
    if "" in (args.query or ()):
        raise ConfigError("--query is empty: give a number from 0, an id, a name or a SMILES.")
    if args.json and args.output:
        raise ConfigError("--json prints, and -o writes a table: give one of them.")
    if args.output:
        known_suffix(args.output, (".csv", ".parquet"), "neighbours")
    if args.spreadsheet:
        if not args.output:
            raise ConfigError("--spreadsheet is for the table that -o writes: give -o FILE.csv.")
        check_spreadsheet(args.output)
    if args.k < 1:
        raise ConfigError(f"-k must be at least 1. Got {args.k}.")
    if args.index is None:
        if args.data is None:
            raise ConfigError("Specify MODEL and DATA, or --index FILE.")
        if args.exact:
            raise ConfigError("--exact is for --index FILE: without one, search is always exact.")
        return
    if args.data is not None:
        raise ConfigError(
            f"--index takes the place of DATA, so only MODEL can stand beside it. Got {args.model} "
            f"and {args.data}."
        )
    if args.smiles_column or args.standardise:
        raise ConfigError(
            "The molecules of an index were read when it was made, and queries are standardised as "
            "they were. Give --smiles-column and --standardise to `igsd index`."
        )


class _Searched(NamedTuple):
    """What is searched: the graphs of DATA, or an index; and how to open the model."""

    graphs: GraphSet | Index
    model: Callable[[], Any]


def _searched(args: Namespace) -> _Searched:
    """Open DATA or the index. The model of an index is opened when a query has to be embedded."""
    if args.index is None:
        model = open_model(args.model)
        return _Searched(open_for_model(args, model, quiet=args.quiet), lambda: model)
    index = Index.load(args.index)
    if args.model is None:
        return _Searched(index, lambda: _model_of(index))
    model = open_model(args.model)
    index.check_model(model)
    return _Searched(index, lambda: model)


def _model_of(index: Index) -> Any:
    """Return the model that an index remembers; raises ``DataError`` if it is another by now."""
    if not index.model:
        raise ConfigError(
            f"{index.path} does not remember its model, which these queries need: `igsd neighbors "
            f"MODEL --index {index.path}`."
        )
    try:
        model = open_model(index.model)
    except StorageError as error:
        raise StorageError(
            f"The model of {index.path} cannot be opened. {error} If it was moved, name it: `igsd "
            f"neighbors MODEL --index {index.path}`."
        ) from error
    index.check_model(model)
    return model


Query = tuple[dict[str, Any], int | np.ndarray]
"""What is known of a query, and its number in DATA or its vector."""


def _queries(args: Namespace, searched: _Searched) -> list[Query]:
    """Return the queries; wrong ones are found before any is embedded."""
    graphs = searched.graphs
    places = [_find(query, graphs) for query in args.query]
    others = [query for query, place in zip(args.query, places, strict=True) if place is None]
    asked = open_data(others, standardise=graphs.standardised) if others else None
    listed = None
    if args.query_file:
        reading: Any = {"standardise": graphs.standardised} if graphs.standardised else {}
        column = args.smiles_column
        if column and is_table(args.query_file):
            found = column in read_text_table(args.query_file).places
            reading["smiles_column"] = column if found else None
        listed = open_graphs(args.query_file, quiet=args.quiet, **reading)
    model: Any = None if asked is None and listed is None else searched.model()
    rows = iter([] if asked is None else model.transform(asked))
    queries: list[Query] = []
    for query, place in zip(args.query, places, strict=True):
        if place is None:
            queries.append(({"name": query}, next(rows)))
        else:
            queries.append(({"graph": place} | _description(graphs, place), place))
    if listed is not None:
        pairs = enumerate(model.transform(listed))
        queries += [(_description(listed, place), row) for place, row in pairs]
    return queries


def _found(searched: _Searched, queries: list[Query], args: Namespace) -> list[list[Any]]:
    """Return the (index, distance) pairs of the neighbours of every query."""
    graphs, k = searched.graphs, args.k
    if isinstance(graphs, Index):
        search = partial(graphs.search, k=k, exact=args.exact)
    else:
        search = partial(nearest, np.asarray(searched.model().transform(graphs)), k=k)
    found: list[Any] = [None] * len(queries)
    inside = [n for n, (_, where) in enumerate(queries) if isinstance(where, int)]
    outside = [n for n, (_, where) in enumerate(queries) if not isinstance(where, int)]
    for chosen in (inside, outside):
        if not chosen:
            continue
        asked = [queries[n][1] for n in chosen]
        indices, distances = search(np.stack(asked) if chosen is outside else asked)
        for n, *pair in zip(chosen, indices, distances, strict=True):
            found[n] = list(zip(*pair, strict=True))
    return found


def _say_far(queries: list[Query], rows: list[list[dict[str, Any]]]) -> None:
    """Say if even the nearest graphs of a query from outside are far from it."""
    pairs = zip(queries, rows, strict=True)
    outside = [found[0]["distance"] for (_, where), found in pairs if not isinstance(where, int)]
    if far := [distance for distance in outside if distance > _APART]:
        subject = "one query is" if len(far) == 1 else f"{len(far)} queries are"
        say_note(
            f"{subject} farther from the nearest graph (up to {max(far):.1f}) than two random "
            f"graphs are from each other (about {_APART}): no similar graphs were found."
        )


def _columns(queries: list[dict[str, Any]], rows: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Return the columns of a table with a row for each query and neighbour."""
    flat = [
        ({"query": place} | {f"query_{key}": value for key, value in query.items()})
        | {"rank": rank}
        | neighbour
        for place, (query, found) in enumerate(zip(queries, rows, strict=True))
        for rank, neighbour in enumerate(found, 1)
    ]
    about = ("query_graph", "query_line", "query_id", "query_class", "query_name")
    mine = [key for key in about if any(key in row for row in flat)]
    theirs = [key for key in (rows[0][0] if rows and rows[0] else ())]
    names = ["query", *mine, "rank", *theirs]
    return {name: [row.get(name) for row in flat] for name in names}


def _print(queries: list[dict[str, Any]], rows: list[list[dict[str, Any]]]) -> None:
    """Print a table for each query."""
    for place, (query, found) in enumerate(zip(queries, rows, strict=True)):
        parts = [f"{key} {value}" for key, value in query.items() if value is not None]
        parts[0] += " (no class)" if query.get("class", "") is None else ""
        title = "nearest to " + ", ".join(parts)
        if place:
            print()
        print_rows(found, title)


def _find(query: str, graphs: GraphSet | Index) -> int | None:
    """Return the number of the graph with this number, id or name, the first if there are more.

    None for the SMILES of another molecule; raises ``DataError`` for anything else.
    """
    called = [place for place, name in enumerate(graphs.ids or ()) if name == query]
    if query.isdecimal() and len(query) < _MOST_DIGITS and int(query) < len(graphs):
        if called and int(query) not in called:
            say_note(
                f"--query {query} is taken as the number of a graph. The graph with the id {query} "
                f"is number {called[0]}: `--query {called[0]}` asks for it."
            )
        return int(query)
    if called:
        if len(called) > 1:
            say_note(
                f"{len(called)} graphs have the id {shortened(query)}, and the first of them is "
                f"taken. Their numbers, for --query: {enumerated(called)}."
            )
        return called[0]
    if graphs.graph_names is not None and query in graphs.graph_names:
        return graphs.graph_names.index(query)
    names, are_molecules = graphs.graph_names or (), are_smiles(graphs.graph_names)
    if are_molecules and are_smiles([query]):
        return None
    # A graph from a folder is called as its file, with the ending.
    asked = {query, *names_by_stem(names).get(query, ())}
    found = [place for place, name in enumerate(names) if file_and_stem(name)[0] in asked]
    if len(found) == 1:
        return found[0]
    if found:
        raise DataError(
            f"--query {shortened(query)} may be any of "
            f"{enumerated([names[place] for place in found])}. Give the whole name, or the number "
            "from 0."
        )
    others = "" if graphs.ids is None else ", or an id of the table"
    if graphs.graph_names is not None:
        others += ", or the name of a graph" + (" or any other SMILES" if are_molecules else "")
    hint = "" if are_molecules else " --query-file FILE takes other graphs as queries."
    raise DataError(
        f"--query {shortened(query)} is not a graph of {graphs.name!r}. It must be a number from 0 "
        f"to {len(graphs) - 1}{others}.{hint}"
    )


def _description(graphs: GraphSet | Index, index: int) -> dict[str, object]:
    """Return line, id, class and name of a graph, where available."""
    values: dict[str, object] = {}
    if graphs.lines is not None:
        values["line"] = int(graphs.lines[index])
    if graphs.ids is not None:
        values["id"] = graphs.ids[index]
    if graphs.classes is not None:
        code = int(graphs.classes[index])
        values["class"] = None if code < 0 else graphs.class_names[code]
    if graphs.graph_names is not None:
        values["name"] = graphs.graph_names[index]
    return values
