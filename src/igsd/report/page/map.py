"""``map_section``: the embedding of a run as a map, with its graphs and their neighbours.

The one plot that is not Matplotlib's: the page's script answers pointer and keyboard on it.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
from scipy.stats import rankdata

from igsd.errors import counted
from igsd.evaluation.neighbors import nearest
from igsd.graphs.datasets import shown_names
from igsd.graphs.graphset import GraphSet
from igsd.report.page.html import Html, json_block, tag
from igsd.report.projection import Projection, framed, project, spread_evenly

MOST_GRAPHS = 1500
"""Larger sets are shown by as many of their graphs, evenly spread."""

MOST_CHARACTERS = 4_000_000
"""What all drawings of a run may take in the page."""

NUM_STYLES, NUM_STEPS = 8, 9
"""How many colours there are for classes and on the scale of numbers, as in the style sheet."""

_NEIGHBOURS, _LONGEST, _MOST_CLASSES = 8, 300, 20
_SIDE, _MARGIN = 520.0, 16.0
_MOST_NODES, _MOST_EDGES = 150, 1500
_WIDTH, _HEIGHT = 200, 150

Drawing = dict[str, Any]
"""``lines``, ``areas`` and ``letters`` of a molecule; ``n``, ``e``, ``l``: nodes, edges, labels."""

_LENGTHS = dict(zip("abcdefghij", (1, 2, 1.25, 2.1, 2.5, 0.85, 1.7, 0.42, 0.84, 0.83), strict=True))
# Shapes that differ in a print without colours: around the origin, of about equal area, as relative
# moves, so that one path element draws a mark anywhere.
_SHAPES = (
    "m-{a} 0a{a} {a} 0 1 0 {b} 0a{a} {a} 0 1 0-{b} 0z",
    "m0-{c}l{c} {d}h-{e}z",
    "m-{f}-{f}h{g}v{g}h-{g}z",
    "m0-{c}l{c} {c}l-{c} {c}l-{c}-{c}z",
    "m0 {c}l{c}-{d}h-{e}z",
    "m-{h}-{c}h{i}v{j}h{j}v{i}h-{j}v{j}h-{i}v-{j}h-{j}v-{i}h{j}z",
    "m-{c} 0l{f}-{c}h{f}l{f} {c}l-{f} {c}h-{f}z",
    "m-{c}-{f}h{e}v{g}h-{e}z",
)


class Style(NamedTuple):
    """How a mark looks: the number of its shape, and the class that has its colour."""

    shape: int
    css: str


UNKNOWN = Style(0, "unknown hollow")
"""The mark of a graph whose class or number is not known; it hides no other."""


@dataclass(frozen=True, eq=False)
class MapClasses:
    """Marks by class: ``codes`` [G] into ``names``, -1 where unknown.

    ``is_given`` [G]: whether the class is a label, and not a prediction, which is hollow; None if
    all are.
    """

    codes: np.ndarray
    names: Sequence[str]
    note: str = ""
    is_given: np.ndarray | None = None

    def style(self, graph: int) -> Style:
        """Return shape and class of a graph's mark."""
        return _seen(_class_style(int(self.codes[graph])), self.is_given, graph)

    def text(self, graph: int) -> str:
        """Return the class of a graph in words, empty where it is unknown."""
        code = int(self.codes[graph])
        kind = "class" if self.is_given is None or self.is_given[graph] else "predicted"
        return f"{kind} {self.names[code]}" if code >= 0 else ""

    def legend(self, shown: np.ndarray) -> Html | None:
        """Return the marks of the classes with how many of the graphs ``shown`` each has."""
        codes = np.asarray(self.codes)[shown]
        present = [code for code in range(len(self.names)) if (codes == code).any()]
        if not present:
            return None
        entries = []
        for code in [*present[:_MOST_CLASSES], *([-1] if (codes < 0).any() else [])]:
            name = "unknown" if code < 0 else f"class {self.names[code]}"
            count = int((codes == code).sum())
            if self.is_given is None or code < 0:
                entries.append(tag("li", sample(_class_style(code)), f"{name} ({count})"))
                continue
            given = int((self.is_given[shown] & (codes == code)).sum())
            text = f"label {self.names[code]} ({given})"
            entries.append(tag("li", sample(_class_style(code)), text))
            if count > given:
                hollow = _seen(_class_style(code), np.array([False]), 0)
                text = f"predicted {self.names[code]} ({count - given})"
                entries.append(tag("li", sample(hollow), text))
        more = len(present) - _MOST_CLASSES
        if more > 0:
            entries.append(tag("li", f"and {counted(more, 'more class', 'more classes')}"))
        return tag("ul", *entries, class_="legend")


@dataclass(frozen=True, eq=False)
class MapNumbers:
    """Marks by number, on a scale that works in grey: ``values`` [G], NaN where unknown.

    ``is_given``: as of ``MapClasses``.
    """

    values: np.ndarray
    name: str
    note: str = ""
    is_given: np.ndarray | None = None

    @cached_property
    def steps(self) -> np.ndarray:
        """Steps on the scale [G], 0 for the smallest number, -1 where unknown.

        By rank, so that a few outliers do not leave one colour to all the others.
        """
        known, steps = ~np.isnan(self.values), np.full(len(self.values), -1)
        if known.any():
            ranks = rankdata(self.values[known])
            ranks -= ranks.min()
            shares = ranks / max(ranks.max(), 1.0)
            steps[known] = np.minimum(shares * NUM_STEPS, NUM_STEPS - 1)
        return steps

    def style(self, graph: int) -> Style:
        """Return shape and class of a graph's mark."""
        step = int(self.steps[graph])
        return UNKNOWN if step < 0 else _seen(Style(0, f"v{step}"), self.is_given, graph)

    def text(self, graph: int) -> str:
        """Return the number of a graph in words, empty where it is unknown."""
        value = float(self.values[graph])
        is_given = self.is_given is None or self.is_given[graph]
        kind = self.name if is_given else f"predicted {self.name}"
        return "" if np.isnan(value) else f"{kind} {value:.4g}"

    def legend(self, shown: np.ndarray) -> Html | None:
        """Return the scale from the smallest number to the largest, the median, and unknowns."""
        if np.isnan(self.values).all():
            return None
        least, most = np.nanmin(self.values), np.nanmax(self.values)
        colours = [
            tag("path", d=f"M{10 * i} 0h10v12h-10z", class_=f"v{i}") for i in range(NUM_STEPS)
        ]
        look = {"viewBox": f"0 0 {10 * NUM_STEPS} 12", "class_": "strip", "aria_hidden": "true"}
        strip = tag("svg", *colours, **look)
        ends = f"{self.name}, by rank: least {least:.4g} ", strip, f" most {most:.4g}"
        # The lower of the two in the middle: a number that some graph has, and so a colour.
        order = np.argsort(self.values)[: int((self.steps >= 0).sum())]
        median = int(order[(len(order) - 1) // 2])
        middle = sample(self.style(median)), f"median {self.values[median]:.4g}"
        entries = [tag("li", *ends), tag("li", *middle)]
        if self.is_given is not None:
            given = int((self.is_given[shown] & (self.steps[shown] >= 0)).sum())
            count = int((self.steps[shown] >= 0).sum()) - given
            entries.append(tag("li", sample(Style(0, "v4")), f"label ({given})"))
            if count:
                entries.append(tag("li", sample(Style(0, "v4 hollow")), f"predicted ({count})"))
        unknown = int((self.steps[shown] < 0).sum())
        if unknown:
            entries.append(tag("li", sample(UNKNOWN), f"unknown ({unknown})"))
        return tag("ul", *entries, class_="legend")


def _notes(labels: MapClasses | MapNumbers, shown: int, total: int, not_drawn: int) -> list[str]:
    """Return the text above a map: the labels, and which graphs are shown and drawn."""
    notes = [labels.note] if labels.note else []
    if shown < total:
        notes.append(
            f"The map shows {shown} of {total} graphs, evenly spread over the data "
            f"set{', labelled graphs first' if labels.is_given is not None else ''}; neighbours "
            "are found among these."
        )
    if not_drawn:
        notes.append(
            f"{counted(not_drawn, 'graph')} of these {'is' if not_drawn == 1 else 'are'} not "
            "drawn: too large, or beyond the space that the page keeps for drawings."
        )
    return notes


def map_section(
    name: str,
    vectors: np.ndarray,
    labels: MapClasses | MapNumbers,
    texts: Sequence[str],
    graphs: GraphSet | None,
    method: str,
) -> Html:
    """Return the map of ``vectors`` [G, d], its legend and a panel for the graph under the pointer.

    ``name`` makes identifiers unique. ``texts`` describe the graphs, which may be missing.
    """
    chosen = shown_graphs(len(vectors), labels.is_given)
    shown = vectors[chosen]
    drawings: list[Drawing | None] = [None] * len(chosen)
    if graphs is not None:
        drawings = make_drawings(graphs, chosen.tolist())
    names = None if graphs is None else graphs.graph_names
    indices, distances = nearest(shown, np.arange(len(shown)), _NEIGHBOURS)
    data = [
        {
            "g": int(graph),
            "t": texts[graph],
            "s": None if names is None else names[graph][:_LONGEST],
            "k": indices[place].tolist(),
            "r": [round(float(value), 3) for value in distances[place]],
            "d": drawings[place],
        }
        for place, graph in enumerate(chosen)
    ]
    missing = 0 if graphs is None else drawings.count(None)
    notes = _notes(labels, len(chosen), len(vectors), missing)
    made = project(shown, method)
    points, beyond = framed(made.points)
    notes += [f"{beyond}."] if beyond else []
    drawn = map_plot(
        made._replace(points=points), [labels.style(graph) for graph in chosen.tolist()]
    )
    plot = tag("div", drawn, labels.legend(chosen))
    # The panel that the script fills.
    field = tag("input", type="number", min=0, value="", class_="choose", id=f"{name}-choose")
    label = tag("label", "Graph number ", field, for_=f"{name}-choose")
    hint = "Click a mark for its nearest neighbours."
    if graphs is not None:
        hint = "Point at a mark to see its graph; click it for its nearest neighbours."
    looked = tag("div", tag("p", hint, class_="hint"), class_="looked", aria_live="polite")
    panel = tag("div", label, looked, tag("div", class_="near"), class_="panel")
    return tag(
        "div",
        tag("p", " ".join(notes), class_="note") if notes else None,
        tag("div", plot, panel, class_="map-and-panel"),
        json_block(data, f"{name}-data"),
        class_="map",
        id=f"{name}-map",
        data_source=f"{name}-data",
    )


def shown_graphs(count: int, is_given: np.ndarray | None) -> np.ndarray:
    """Return the graphs that a map shows, in the order in which their marks are drawn.

    Of a large set as many as fit, evenly spread; graphs with a label take up to half of the room
    first, or what the others leave, and are drawn last, on top.
    """
    if is_given is None:
        return spread_evenly(count, MOST_GRAPHS)
    given, others = np.flatnonzero(is_given), np.flatnonzero(~is_given)
    most = max(MOST_GRAPHS // 2, MOST_GRAPHS - len(others))
    given = given[spread_evenly(len(given), most)]
    others = others[spread_evenly(len(others), MOST_GRAPHS - len(given))]
    return np.concatenate([others, given])


def map_plot(projection: Projection, styles: Sequence[Style]) -> Html:
    """Return the map itself; the script finds a graph's mark by its place among the marks."""
    points = projection.points
    low, high = points.min(axis=0), points.max(axis=0)
    shares = np.where(high > low, (points - low) / np.where(high > low, high - low, 1.0), 0.5)
    room = _SIDE - 2 * _MARGIN
    xs, ys = _MARGIN + room * shares[:, 0], _SIDE - _MARGIN - room * shares[:, 1]
    size = float(np.clip(110 / np.sqrt(len(points)), 2.2, 5))
    marks = [
        tag("path", d=mark(style.shape, x, y, size), class_=style.css)
        for x, y, style in zip(xs, ys, styles, strict=True)
    ]
    label = "Map of the graphs. Arrow keys go from graph to graph, Enter shows the neighbours."
    side, middle = f"{_SIDE:.0f}", f"{_SIDE / 2:.0f}"
    turned = f"translate(-6 {middle}) rotate(-90)"
    return tag(
        "svg",
        tag("rect", width=side, height=side, class_="frame"),
        tag("text", projection.x_title, x=middle, y=f"{_SIDE + 16:.0f}", class_="middle"),
        tag("text", projection.y_title, transform=turned, class_="middle"),
        tag("g", class_="links"),
        tag("g", *marks, class_="marks"),
        viewBox=f"-22 -2 {_SIDE + 24:.0f} {_SIDE + 26:.0f}",
        class_="plot",
        tabindex=0,
        role="application",
        aria_label=label,
    )


def mark(style: int, x: float, y: float, size: float) -> str:
    """Return the path data of a mark at (x, y); ``size`` is the radius of the round one."""
    lengths = {key: f"{factor * size:.4g}" for key, factor in _LENGTHS.items()}
    return f"M{x:.1f} {y:.1f}" + _SHAPES[style % NUM_STYLES].format(**lengths)


def sample(style: Style) -> Html:
    """Return the mark of a style alone, for a legend."""
    drawn = tag("path", d=mark(style.shape, 8, 8, 4.5), class_=style.css)
    return tag("svg", drawn, viewBox="0 0 16 16", class_="sample")


def _seen(style: Style, is_given: np.ndarray | None, graph: int) -> Style:
    """Return the style of a mark, hollow if the class or number of the graph is predicted."""
    is_hollow = is_given is not None and not is_given[graph] and style is not UNKNOWN
    return style._replace(css=f"{style.css} hollow") if is_hollow else style


def _class_style(code: int) -> Style:
    return UNKNOWN if code < 0 else Style(code, f"s{code % NUM_STYLES}")


def make_drawings(graphs: GraphSet, indices: Sequence[int]) -> list[Drawing | None]:
    """Return a drawing of each chosen graph; None where it is too large or the room is used up.

    A graph whose name is the SMILES of its own atoms is drawn by RDKit where that is installed.
    The others are laid out by the page's script when they are looked at.
    """
    found: list[Drawing | None] = []
    left, names = MOST_CHARACTERS, shown_names(graphs, "nodes")
    for index in indices:
        drawing = draw_molecule(graphs, index, names) or outline(graphs, index, names)
        size = len(json.dumps(drawing))
        found.append(drawing if size <= left else None)
        left -= min(size, left)
    return found


def draw_molecule(graphs: GraphSet, index: int, names: Sequence[str]) -> Drawing | None:
    """Return RDKit's drawing of a molecule; None for other graphs, or without RDKit.

    ``names``: those of the node labels of the set.
    """
    if graphs.graph_names is None or graphs.node_labels is None:
        return None
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem.Draw import rdMolDraw2D
    except ImportError:
        return None
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(graphs.graph_names[index])
        symbols = [] if molecule is None else [atom.GetSymbol() for atom in molecule.GetAtoms()]
        if molecule is None or symbols != _labels(graphs, index, names):
            return None
        drawer = rdMolDraw2D.MolDraw2DSVG(_WIDTH, _HEIGHT, -1, -1, True)
        options: Any = drawer.drawOptions()
        options.clearBackground = False
        try:
            drawer.DrawMolecule(molecule)
        except (RuntimeError, ValueError):
            return None  # an odd molecule gets the drawing of a graph
        drawer.FinishDrawing()
    return parts_of_svg(drawer.GetDrawingText())


def parts_of_svg(text: str) -> Drawing:
    """Return lines, areas and letters of RDKit's SVG: nothing else reaches the page."""
    lines: dict[str, list[str]] = {}
    areas, letters = [], []
    for element in ElementTree.fromstring(text).iter():
        kind, style = element.tag.split("}")[-1], element.get("style", "")
        if kind == "path":
            # Without the spaces that path data do not need.
            path = re.sub(r" ?([A-Z]) ?", r"\1", element.get("d", "").replace(",", " ")).strip()
            if (fill := _property(style, "fill")) == "none":
                lines.setdefault(_property(style, "stroke"), []).append(path)
            else:
                areas.append([fill, path])
        elif kind == "text":
            place = [float(element.get(key, "0")) for key in ("x", "y")]
            size = float(_property(style, "font-size").removesuffix("px") or 12)
            letters.append([_property(style, "fill"), size, *place, element.text or ""])
    strokes = [[colour, "".join(paths)] for colour, paths in lines.items()]
    return {"lines": strokes, "areas": areas, "letters": letters}


def outline(graphs: GraphSet, index: int, names: Sequence[str]) -> Drawing | None:
    """Return nodes, edges (each pair once, one after the other) and labels of a graph.

    ``names``: those of the node labels of the set.
    """
    graph = graphs.take([index])
    if graph.num_nodes > _MOST_NODES or graph.num_edges > _MOST_EDGES:
        return None
    rows, cols = graph.adjacency.rows(), np.asarray(graph.adjacency.col)
    once = rows < cols
    drawing: Drawing = {"n": graph.num_nodes}
    drawing["e"] = np.stack([rows[once], cols[once]], axis=1).ravel().tolist()
    if graph.node_labels is not None:
        drawing["l"] = _labels(graph, 0, names)
    return drawing


def _labels(graphs: GraphSet, index: int, names: Sequence[str]) -> list[str]:
    """Return the names of the node labels of a graph, empty where unknown."""
    if graphs.node_labels is None:
        return []
    codes = graphs.node_labels[graphs.node_ptr[index] : graphs.node_ptr[index + 1]]
    return ["" if code < 0 else names[code] for code in codes]


@cache
def _property(style: str, key: str) -> str:
    """Return one property of a style, empty where it has none."""
    found = re.search(rf"(?:^|;)\s*{key}\s*:\s*([#\w.]+)", style)
    return found[1] if found else ""
