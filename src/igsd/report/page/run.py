"""``run_section``: a run folder as a section: curves, scores, map, neighbours, pseudo-labels."""

from __future__ import annotations

from typing import Any

from igsd.report.page.curves import all_charts
from igsd.report.page.facts import fact_list, flat
from igsd.report.page.html import Html, joined, tag
from igsd.report.page.map import MapInput, map_section
from igsd.report.page.run_data import RunData
from igsd.report.page.run_graphs import graph_labels, graph_texts
from igsd.report.page.scroll import scroll_table
from igsd.report.result_cell import per_cent


def run_section(run: RunData, name: str, method: str) -> Html:
    """Return the section of a run; ``name`` is its identifier, ``method`` makes the map."""
    notes = [tag("p", f"Note: {note}") for note in run.metrics.get("notes") or ()]
    return tag(
        "section",
        tag("h2", _heading(run)),
        *notes,
        _scores(run.metrics.get("table")),
        _hidden(run.metrics.get("hidden")),
        _map(run, name, method),
        all_charts(run.pretraining, run.histories, {"this run": run.pseudo_labels}, level="h3"),
        tag("details", tag("summary", "About the run"), fact_list(_about(run))),
        tag("details", tag("summary", "Settings"), tag("pre", _settings(run))),
        id=name,
    )


def _heading(run: RunData) -> str:
    """Return the name of the folder, with that of the data where it is another."""
    name = run.path.name
    return f"Run {name}" if name == run.data else f"Run {name}: {run.data}"


def _about(run: RunData) -> dict[str, str]:
    """Return the facts of a run that have no place of their own."""
    apart = ("kind", "table", "notes", "hidden")
    return flat({key: value for key, value in run.metrics.items() if key not in apart})


def _settings(run: RunData) -> str:
    path = run.path / "config.toml"
    return path.read_text(encoding="utf-8") if path.exists() else "They were not written yet."


def _map(run: RunData, name: str, method: str) -> Html:
    if run.vectors is None:
        return tag("p", "The run has no embeddings yet: it is not finished.", class_="missing")
    labels = graph_labels(run)
    texts = graph_texts(run, labels, len(run.vectors))
    own = None if run.graphs is None else run.graphs.graph_names
    shown = MapInput(run.vectors, labels, texts, own, run.graphs)
    why = tag("p", run.missing, class_="missing") if run.missing else None
    return joined(tag("h3", "Map of the embedding"), why, map_section(name, shown, method))


def _scores(table: dict[str, Any] | None) -> Html | None:
    """Return the table that ``igsd evaluate`` left in the run folder."""
    if not table:
        return None
    header = ["method", "accuracy %", "std over seeds", "std over folds", "seeds"]
    keys = ("mean", "std_over_seeds", "std_over_folds")
    lines = [
        [row["method"], *(per_cent(row.get(key)) for key in keys), str(len(row["seeds"]))]
        for row in table["rows"]
    ]
    title = f"Scores, protocol {table['protocol']}"
    return joined(tag("h3", title), scroll_table(header, lines, title))


def _hidden(hidden: dict[str, Any] | None) -> Html | None:
    """Return how a model with labels does where they were hidden from it."""
    if not hidden:
        return None
    if "accuracy" in hidden:
        said = f"{100 * hidden['accuracy']:.1f} % right"
    else:
        said = "mean absolute error " + ", ".join(f"{v:.4g}" for v in hidden.get("mae", ()))
    return tag("p", f"Of the {hidden['graphs']} graphs whose label was hidden: {said}.")
