"""``igsd neighbors``: the graphs most similar to a given one."""

import json
from argparse import Namespace
from typing import Any

from igsd.cli.options import add_command, add_model_and_data
from igsd.cli.output import open_graphs, open_model
from igsd.errors import DataError
from igsd.evaluation.neighbors import nearest_graphs
from igsd.graphs.graphset import GraphSet
from igsd.report.render import print_table

_DESCRIPTION = """\
Lists the graphs of DATA whose vectors are closest to that of GRAPH, nearest first. GRAPH is a
number counted from 0, an id of its table (a column such as id, name or mol_id), or a name (for
molecules the SMILES as written in DATA).

The distance is Euclidean, with every column of the embedding scaled to unit variance over DATA,
divided by the square root of the number of columns: 0 for graphs that the model cannot tell apart,
about 1.4 for two random graphs."""

_EXAMPLES = """\
examples:
  igsd neighbors runs/first MUTAG --query 0
  igsd neighbors runs/first molecules.csv --query CHEMBL25 -k 3 --json
  igsd neighbors runs/first molecules.csv --query "CC(=O)Oc1ccccc1C(=O)O\""""


def add_parser(commands: Any) -> None:
    """Add the command to the parser."""
    parser = add_command(commands, "neighbors", run, _DESCRIPTION, _EXAMPLES)
    add_model_and_data(parser)
    parser.add_argument("--query", required=True, metavar="GRAPH", help="number from 0, id or name")
    parser.add_argument("-k", type=int, default=10, metavar="K", help="how many (default: 10)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def run(args: Namespace) -> int:
    """Print the neighbours and return the exit code."""
    model, graphs = open_model(args.model), open_graphs(args.data)
    place = _find(args.query, graphs)
    indices, distances = nearest_graphs(model.transform(graphs), place, args.k)
    found = [
        {"graph": int(index), "distance": float(distance)} | _description(graphs, int(index))
        for index, distance in zip(indices, distances, strict=True)
    ]
    query = {"graph": place} | _description(graphs, place)
    if args.json:
        print(json.dumps({"data": graphs.name, "query": query, "neighbors": found}, indent=2))
        return 0
    columns = list(found[0]) if found else ["graph"]
    title = "nearest to " + ", ".join(f"{key} {value}" for key, value in query.items())
    lines = [
        [
            f"{v:.3f}" if isinstance(v, float) else "-" if v is None else str(v)
            for v in each.values()
        ]
        for each in found
    ]
    left = [i for i, key in enumerate(columns) if key in ("class", "id", "name")]
    print_table(columns, lines, title, left)
    return 0


def _find(query: str, graphs: GraphSet) -> int:
    """Return the number of the graph with this number, id or name, the first if there are more."""
    if query.isdecimal() and int(query) < len(graphs):
        return int(query)
    for names in (graphs.ids, graphs.graph_names):
        if names is not None and query in names:
            return names.index(query)
    others = "" if graphs.ids is None else ", or an id of the table"
    if graphs.graph_names is not None:
        others += ", or the name of a graph (for molecules SMILES)"
    raise DataError(
        f"--query {query} is not a graph of {graphs.name!r}. It must be a number from 0 to "
        f"{len(graphs) - 1}{others}."
    )


def _description(graphs: GraphSet, index: int) -> dict[str, object]:
    """Return line, id, class and name of a graph, as far as there are any."""
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
