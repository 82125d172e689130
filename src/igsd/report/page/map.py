"""``map_section``: the embedding of a run as a map, with its graphs and their neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from igsd.evaluation.neighbors import nearest_of_all
from igsd.graphs.graphset import GraphSet
from igsd.report.page.drawing import Drawing, draw_graphs
from igsd.report.page.html import Html, json_block, tag
from igsd.report.page.map_classes import MapClasses
from igsd.report.page.map_numbers import MapNumbers
from igsd.report.page.map_plot import map_plot
from igsd.report.page.projection import project
from igsd.wording import counted

MOST_GRAPHS = 1500
"""Larger sets are shown by as many of their graphs, evenly spread."""

_NEIGHBOURS = 8
_LONGEST = 300


@dataclass(frozen=True)
class MapInput:
    """What a map shows.

    ``labels``: what colours the marks; ``texts``: what is said of each graph; ``names``: their
    own, e.g. SMILES, None where they have none.
    ``graphs``: for the drawings, None where the data are not at hand.
    """

    vectors: np.ndarray
    labels: MapClasses | MapNumbers
    texts: Sequence[str]
    names: Sequence[str] | None
    graphs: GraphSet | None


def map_section(name: str, shown: MapInput, method: str) -> Html:
    """Return the map, its legend and a panel for the graph that is looked at.

    ``name`` makes identifiers unique in the page.
    """
    total = len(shown.vectors)
    chosen = spread_evenly(total, MOST_GRAPHS)
    vectors = shown.vectors[chosen]
    projection = project(vectors, method)
    styles = [shown.labels.style(graph) for graph in chosen.tolist()]
    drawings: list[Drawing | None] = [None] * len(chosen)
    if shown.graphs is not None:
        drawings = draw_graphs(shown.graphs, chosen.tolist())
    data = _data(shown, chosen, vectors, drawings)
    plot = tag("div", map_plot(projection, styles), shown.labels.legend(chosen))
    return tag(
        "div",
        _notes(shown, len(chosen), drawings),
        tag("div", plot, _panel(name, has_graphs=shown.graphs is not None), class_="map-and-panel"),
        json_block(data, f"{name}-data"),
        class_="map",
        id=f"{name}-map",
        data_source=f"{name}-data",
    )


def spread_evenly(total: int, most: int) -> np.ndarray:
    """Return at most ``most`` of the positions 0..total-1, evenly spread and always the same."""
    if total <= most:
        return np.arange(total)
    return np.linspace(0, total - 1, most).round().astype(np.int64)


def _data(
    shown: MapInput,
    chosen: np.ndarray,
    vectors: np.ndarray,
    drawings: Sequence[Drawing | None],
) -> list[dict[str, object]]:
    """Return what the script needs of each graph on the map."""
    indices, distances = nearest_of_all(vectors, _NEIGHBOURS)
    return [
        {
            "g": int(graph),
            "t": shown.texts[graph],
            "s": None if shown.names is None else shown.names[graph][:_LONGEST],
            "k": indices[place].tolist(),
            "r": [round(float(value), 3) for value in distances[place]],
            "d": drawings[place],
        }
        for place, graph in enumerate(chosen)
    ]


def _panel(name: str, *, has_graphs: bool) -> Html:
    """Return the panel that the script fills."""
    field = tag("input", type="number", min=0, value="", class_="choose", id=f"{name}-choose")
    label = tag("label", "Graph number ", field, for_=f"{name}-choose")
    hint = "Click a mark for its nearest neighbours."
    if has_graphs:
        hint = "Point at a mark to see its graph; click it for its nearest neighbours."
    looked = tag("div", tag("p", hint, class_="hint"), class_="looked", aria_live="polite")
    return tag("div", label, looked, tag("div", class_="near"), class_="panel")


def _notes(shown: MapInput, num_shown: int, drawings: Sequence[Drawing | None]) -> Html | None:
    """Return what the colours leave out, and what was left out to keep the page small."""
    said = [shown.labels.note] if shown.labels.note else []
    total = len(shown.vectors)
    if num_shown < total:
        said.append(
            f"The map shows {num_shown} of {total} graphs, evenly spread over the set; neighbours "
            "are sought among these."
        )
    missing = sum(drawing is None for drawing in drawings)
    if shown.graphs is not None and missing:
        said.append(
            f"{counted(missing, 'graph')} of these {'is' if missing == 1 else 'are'} not drawn, "
            "being too large or beyond the room that the page keeps for drawings."
        )
    return tag("p", " ".join(said), class_="note") if said else None
