"""``igsd neighbors``: the graphs most similar to one."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from igsd.cli.arguments import add_command, add_model_and_data
from igsd.cli.notes import say_note
from igsd.cli.open_graphs import open_graphs
from igsd.errors import DataError

if TYPE_CHECKING:
    from igsd.graphs.graphset import GraphSet

_DESCRIPTION = """\
Lists the graphs of DATA whose vectors are closest to that of one, nearest first. GRAPH is a number
counted from 0, or what its table calls it in a column such as id, name or mol_id, or its name
(of molecules: the SMILES as it stands in DATA).

The distance is Euclidean after every column of the embedding was brought to unit variance over
DATA, divided by the square root of the number of columns: 0 for graphs that the model cannot tell
apart, about 1.4 for two drawn at random."""

_EXAMPLES = """\
examples:
  igsd neighbors runs/first MUTAG --query 0
  igsd neighbors runs/first molecules.csv --query CHEMBL25 -k 3 --json
  igsd neighbors runs/first molecules.csv --query "CC(=O)Oc1ccccc1C(=O)O\""""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(
        commands, "neighbors", "list the graphs most similar to one", _DESCRIPTION, _EXAMPLES
    )
    add_model_and_data(parser)
    parser.add_argument(
        "--query", required=True, metavar="GRAPH", help="its number from 0, its id or its name"
    )
    parser.add_argument("-k", type=int, default=10, metavar="K", help="how many (default: 10)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the neighbours and return the exit code."""
    import json

    from igsd.baselines.load_model import load_model, note_on_vectors
    from igsd.evaluation.neighbors import nearest_graphs
    from igsd.report.table import print_table

    model, graphs = load_model(args.model), open_graphs(args.data)
    place = _place(args.query, graphs)
    if (note := note_on_vectors(model)) is not None:
        say_note(note)
    indices, distances = nearest_graphs(model.transform(graphs), place, args.k)
    found = [
        {"graph": int(index), "distance": float(distance)} | _described(graphs, int(index))
        for index, distance in zip(indices, distances, strict=True)
    ]
    query = {"graph": place} | _described(graphs, place)
    if args.json:
        print(json.dumps({"data": graphs.name, "query": query, "neighbors": found}, indent=2))
        return 0
    columns = list(found[0]) if found else ["graph"]
    title = "nearest to " + ", ".join(f"{key} {value}" for key, value in query.items())
    lines = [[_cell(entry[key]) for key in columns] for entry in found]
    left = [i for i, key in enumerate(columns) if key in ("class", "id", "name")]
    print_table(columns, lines, title, left)
    return 0


def _place(query: str, graphs: GraphSet) -> int:
    """Return the number of the graph that is asked for; of several with that name the first."""
    if query.isdecimal() and int(query) < len(graphs):
        return int(query)
    for names in (graphs.ids, graphs.graph_names):
        if names is not None and query in names:
            return names.index(query)
    called = [] if graphs.ids is None else ["an id of the table"]
    called += [] if graphs.graph_names is None else ["the name of a graph (of molecules: SMILES)"]
    others = "".join(f", or {what}" for what in called)
    raise DataError(
        f"--query {query} is no graph of {graphs.name!r}. It must be a number from 0 to "
        f"{len(graphs) - 1}{others}."
    )


def _described(graphs: GraphSet, index: int) -> dict[str, Any]:
    """Return the line, the id, the class and the name of a graph, those that there are."""
    values: dict[str, Any] = {}
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


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3f}"
    return "-" if value is None else str(value)
