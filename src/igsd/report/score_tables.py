"""The tables of one protocol: a row for each method, a column for each data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from igsd.experiments.published import PublishedRow
from igsd.experiments.scoring import TWINS_REMOVED
from igsd.report.result_cell import NOT_RUN, Record, mean_and_std, method_results, score_cell

PAPER_SETS = {
    "MUTAG": "molecules",
    "PTC": "molecules",
    "NCI1": "molecules",
    "IMDB-BINARY": "social",
    "IMDB-MULTI": "social",
    "COLLAB": "social",
}
"""The data sets of the paper, in the order of the columns, and our recipe for each."""

_METHODS = {
    "IGSD (ours)": "igsd",
    "untrained encoder": "untrained",
    "histogram": "histogram",
    "majority": "majority",
}

Recipes = Mapping[str, Sequence[Record]]
"""The records of one data set under one protocol, by recipe, seed after seed."""


def group_runs(records: Sequence[Record]) -> dict[str, dict[str, list[Record]]]:
    """Return the records of one protocol by data set, then by recipe."""
    runs: dict[str, dict[str, list[Record]]] = {}
    for record in records:
        recipes = runs.setdefault(record["data"]["name"], {})
        recipes.setdefault(record["recipe"], []).append(record)
    return runs


def _our_recipe(data: str, recipes: Recipes) -> str:
    """Return the recipe behind 'ours': the one for this kind of graphs.

    Records do not say whether graphs have node labels; for a set that is not of the paper, the
    recipe that was run tells.
    """
    if data in PAPER_SETS or "molecules" in recipes:
        return PAPER_SETS.get(data, "molecules")
    return "social"


def main_table(
    runs: Mapping[str, Recipes], protocol: str, published: Sequence[PublishedRow]
) -> str:
    """Return the table of all methods; recipes other than ours have rows of their own."""
    columns = [*PAPER_SETS, *sorted(runs.keys() - PAPER_SETS.keys())]
    ours = {data: _our_recipe(data, runs.get(data, {})) for data in columns}
    others = {r for data in runs for r in runs[data] if r != ours[data]} - {"paper"}
    lines = []
    for title, method in _METHODS.items():
        cells = [score_cell(_of(runs, data, ours[data]), method, protocol) for data in columns]
        lines.append([title, *cells])
    for recipe in [*sorted(others), "paper"]:
        cells = [
            score_cell(_of(runs, data, recipe), "igsd", protocol)
            if recipe != ours[data]
            else NOT_RUN
            for data in columns
        ]
        lines.append([f"IGSD, recipe {recipe}", *cells])
    for row in published:
        figures = [row.figures.get(data) for data in columns]
        lines.append([row.method, *(mean_and_std(*f) if f else NOT_RUN for f in figures)])
    return _markdown(["method", *columns], lines)


def twins_table(runs: Mapping[str, Recipes], protocol: str) -> str:
    """Return the scores without twins, on the data sets that have them; empty where none has."""
    ordered = [*PAPER_SETS, *sorted(runs.keys() - PAPER_SETS.keys())]
    ours = {data: _of(runs, data, _our_recipe(data, runs.get(data, {}))) for data in ordered}
    lines: dict[str, dict[str, str]] = {}
    for title, method in _METHODS.items():
        for data in ordered:
            name = method + TWINS_REMOVED
            if method_results(ours[data], name, protocol):
                cells = lines.setdefault(title, {})
                cells[data] = score_cell(ours[data], name, protocol)
    columns = [data for data in ordered if any(data in cells for cells in lines.values())]
    if not columns:
        return ""
    rows = [
        [title, *(cells.get(data, NOT_RUN) for data in columns)] for title, cells in lines.items()
    ]
    return _markdown(["twins of test graphs removed from training", *columns], rows)


def _of(runs: Mapping[str, Recipes], data: str, recipe: str) -> Sequence[Record]:
    return runs.get(data, {}).get(recipe, ())


def _markdown(header: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, the first column flush left and the others right."""
    rule = ["---", *["---:"] * (len(header) - 1)]
    # A bar in the name of a data set would start a new column.
    rows = [[cell.replace("|", "\\|") for cell in line] for line in (header, rule, *lines)]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
