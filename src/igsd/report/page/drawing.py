"""``draw_graphs``: small pictures of graphs, molecules as RDKit draws them."""

import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any
from xml.etree import ElementTree

import numpy as np

from igsd.graphs.graphset import GraphSet

MOST_CHARACTERS = 4_000_000
"""What all drawings of a run may take in the page."""

_MOST_NODES, _MOST_EDGES = 150, 1500
_WIDTH, _HEIGHT = 200, 150

Drawing = dict[str, Any]
"""``lines``, ``areas`` and ``letters`` of a molecule; ``n``, ``e``, ``l``: nodes, edges, labels."""


def draw_graphs(graphs: GraphSet, indices: Sequence[int]) -> list[Drawing | None]:
    """Return a drawing of each chosen graph; None where it is too large or the room is used up.

    A graph whose name is the SMILES of its own atoms is drawn by RDKit where that is installed.
    The others are laid out by the page's script when they are looked at.
    """
    found: list[Drawing | None] = []
    left = MOST_CHARACTERS
    for index in indices:
        drawing = draw_molecule(graphs, index) or outline(graphs, index)
        size = len(json.dumps(drawing))
        found.append(drawing if size <= left else None)
        left -= min(size, left)
    return found


def draw_molecule(graphs: GraphSet, index: int) -> Drawing | None:
    """Return RDKit's drawing of a molecule, None for what is none or without RDKit."""
    if graphs.graph_names is None or graphs.node_labels is None:
        return None
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem.Draw import rdMolDraw2D
    except ImportError:
        return None
    with rdBase.BlockLogs():
        molecule = Chem.MolFromSmiles(graphs.graph_names[index])
        if molecule is None or _symbols(molecule) != _labels(graphs, index):
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
    """Return lines, areas and letters of RDKit's SVG: nothing else of it comes into the page."""
    lines: dict[str, list[str]] = {}
    areas, letters = [], []
    for element in ElementTree.fromstring(text).iter():
        kind, style = element.tag.split("}")[-1], element.get("style", "")
        if kind == "path":
            path = _path(element.get("d", ""))
            if (fill := _property(style, "fill")) == "none":
                lines.setdefault(_property(style, "stroke"), []).append(path)
            else:
                areas.append([fill, path])
        elif kind == "text":
            place = [float(element.get(key, "0")) for key in ("x", "y")]
            size = float(_property(style, "font-size").removesuffix("px") or 12)
            letters.append([_property(style, "fill"), size, *place, element.text or ""])
    joined = [[colour, "".join(paths)] for colour, paths in lines.items()]
    return {"lines": joined, "areas": areas, "letters": letters}


def outline(graphs: GraphSet, index: int) -> Drawing | None:
    """Return nodes, edges (each pair once, one after the other) and labels of a graph."""
    graph = graphs.take([index])
    if graph.num_nodes > _MOST_NODES or graph.num_edges > _MOST_EDGES:
        return None
    rows, cols = graph.adjacency.rows(), np.asarray(graph.adjacency.col)
    once = rows < cols
    drawing: Drawing = {"n": graph.num_nodes}
    drawing["e"] = np.stack([rows[once], cols[once]], axis=1).ravel().tolist()
    if graph.node_labels is not None:
        drawing["l"] = _labels(graph, 0)
    return drawing


def _symbols(molecule: Any) -> list[str]:
    return [atom.GetSymbol() for atom in molecule.GetAtoms()]


def _labels(graphs: GraphSet, index: int) -> list[str]:
    """Return the names of the node labels of a graph, empty where unknown."""
    if graphs.node_labels is None:
        return []
    codes = graphs.node_labels[graphs.node_ptr[index] : graphs.node_ptr[index + 1]]
    return ["" if code < 0 else str(graphs.node_label_names[code]) for code in codes]


@cache
def _property(style: str, key: str) -> str:
    """Return one property of a style, empty where it has none."""
    found = re.search(rf"(?:^|;)\s*{key}\s*:\s*([#\w.]+)", style)
    return found[1] if found else ""


def _path(text: str) -> str:
    """Return path data without the spaces that it does not need."""
    return re.sub(r" ?([A-Z]) ?", r"\1", text.replace(",", " ")).strip()
