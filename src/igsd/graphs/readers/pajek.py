"""``read_pajek``: the networks of a Pajek file as NetworkX graphs.

Written by hand: NetworkX's reader takes the labels of vertices for the vertices, so that equal
labels merge them, reads ``*Arcslist`` as edges with weights and a second network as part of the
first, and adds vertices for numbers that the file does not have.
"""

import shlex
from typing import Any

from igsd.errors import DataError
from igsd.files.columns import parse_number

_MOST = 1_000_000
"""Vertices of a network: a line may declare any number of them."""


def read_pajek(content: bytes) -> list[Any]:
    """Return a graph for each ``*Network``; nodes have the attribute label, edges a weight.

    Coordinates and shapes are left out, as they say how a vertex is drawn. Raises ``DataError``,
    which names the line, for a vertex that the network does not have and for unknown sections.
    """
    networks: list[_Network] = []
    section = ""
    for number, line in enumerate(content.decode("utf-8-sig").splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("%"):
            continue
        try:
            cells = shlex.split(line) if '"' in line else line.split()
            if not line.lstrip().startswith("*"):
                networks[-1].read(section, cells)
                continue
            section = cells[0].lower()
            if section == "*network" or not networks:
                networks.append(_Network(" ".join(cells[1:]) if section == "*network" else ""))
            if section != "*network":
                networks[-1].begin(section, cells)
        except (DataError, ValueError, IndexError) as error:
            text = str(error) if isinstance(error, DataError) else "it cannot be understood."
            raise DataError(f"line {number}, {line.strip()[:60]!r}: {text}") from error
    return [network.graph() for network in networks]


class _Network:
    """A network while its lines are read."""

    def __init__(self, name: str) -> None:
        self._name, self._is_directed, self._row = name, False, 0
        self._nodes: dict[int, dict[str, Any]] = {}
        self._edges: list[tuple[int, int, dict[str, Any], bool]] = []

    def begin(self, section: str, cells: list[str]) -> None:
        """Begin a section."""
        if section == "*vertices":
            if self._nodes:
                raise DataError("the network has vertices already. Begin another with *Network.")
            if (count := int(cells[1])) > _MOST:
                raise DataError(f"a network may have {_MOST:,} vertices at most.")
            self._nodes = {vertex: {} for vertex in range(1, count + 1)}
        elif section not in ("*arcs", "*edges", "*arcslist", "*edgeslist", "*matrix"):
            raise DataError(
                "sections other than *Network, *Vertices, *Arcs, *Edges, *Arcslist, *Edgeslist and "
                "*Matrix are not read. Save the network alone, as .net."
            )

    def read(self, section: str, cells: list[str]) -> None:
        """Take a line of a section into account."""
        if section == "*vertices":
            vertex = self._vertex(cells[0])
            self._nodes[vertex] = {"label": cells[1]} if len(cells) > 1 else {}
        elif section in ("*arcs", "*edges"):
            data: dict[str, Any] = {"weight": parse_number(cells[2])} if len(cells) > 2 else {}
            data |= dict(zip(cells[3::2], cells[4::2], strict=False))
            self._add(cells[0], cells[1], data, is_arc=section == "*arcs")
        elif section in ("*arcslist", "*edgeslist"):
            for target in cells[1:]:
                self._add(cells[0], target, {}, is_arc=section == "*arcslist")
        elif section == "*matrix":
            self._row += 1
            if len(cells) != len(self._nodes) or self._row > len(self._nodes):
                raise DataError(f"*Matrix needs {len(self._nodes)} rows of as many numbers.")
            for column, cell in enumerate(cells, 1):
                if (weight := parse_number(cell)) != 0:
                    self._add(str(self._row), str(column), {"weight": weight}, is_arc=True)
        else:
            raise DataError("*Vertices must come before it.")

    def _vertex(self, cell: str) -> int:
        vertex = int(cell)
        if vertex not in self._nodes:
            raise DataError(f"there is no vertex {vertex}: there are {len(self._nodes)}, from 1.")
        return vertex

    def _add(self, source: str, target: str, data: dict[str, Any], *, is_arc: bool) -> None:
        self._is_directed |= is_arc
        self._edges.append((self._vertex(source), self._vertex(target), data, is_arc))

    def graph(self) -> Any:
        """Return the graph: directed if it has arcs, with an edge as two of them."""
        import networkx as nx

        graph = nx.MultiDiGraph(name=self._name) if self._is_directed else nx.MultiGraph()
        graph.graph["name"] = self._name
        graph.add_nodes_from(self._nodes.items())
        for source, target, data, is_arc in self._edges:
            graph.add_edge(source, target, **data)
            if self._is_directed and not is_arc and source != target:
                graph.add_edge(target, source, **data)
        return graph
