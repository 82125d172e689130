from __future__ import annotations

import json

import numpy as np
import pytest

from igsd.graphs.build import from_edges
from igsd.report.page import map as map_file
from igsd.report.page.map import draw_graphs, draw_molecule, outline, parts_of_svg
from tests.small_graphs import make_graphs, odd_graphs


def test_outline_has_each_edge_once() -> None:
    graphs = odd_graphs()
    assert outline(graphs, 0) == {"n": 1, "e": []}
    assert outline(graphs, 3) == {"n": 3, "e": [0, 1, 0, 2, 1, 2]}
    labelled = outline(make_graphs(2), 1)
    assert labelled is not None
    assert len(labelled["l"]) == labelled["n"]


def test_large_graphs_are_not_drawn() -> None:
    assert draw_graphs(from_edges([500], np.array([0]), np.array([1])), [0]) == [None]


def test_the_room_for_drawings_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = make_graphs(6)
    whole = draw_graphs(graphs, range(6))
    room = sum(len(json.dumps(d)) for d in whole[:3])
    monkeypatch.setattr(map_file, "MOST_CHARACTERS", room)
    assert [d is not None for d in draw_graphs(graphs, range(4))] == [True] * 3 + [False]


def test_molecules_are_drawn_by_rdkit() -> None:
    pytest.importorskip("rdkit")
    from igsd.graphs.readers.smiles import from_smiles

    graphs = from_smiles(["CC(=O)O", "[Na+].[Cl-]", "C[C@H](N)O"])
    acid, salt, chiral = draw_graphs(graphs, range(3))
    assert acid is not None
    assert salt is not None
    assert chiral is not None
    assert {colour for colour, _ in acid["lines"]} == {"#000000", "#FF0000"}
    assert [letter[-1] for letter in acid["letters"]].count("O") == 2
    assert "".join(letter[-1] for letter in salt["letters"]).count("Cl") == 1
    assert chiral["areas"]  # the wedge


def test_a_name_that_is_another_molecule_is_not_drawn_as_one() -> None:
    pytest.importorskip("rdkit")
    graphs = from_edges(
        [2],
        np.array([0]),
        np.array([1]),
        node_labels=np.zeros(2, np.int32),
        node_label_names=("C",),
        graph_names=("CO",),
    )
    assert draw_molecule(graphs, 0) is None
    assert draw_graphs(graphs, [0]) == [{"n": 2, "e": [0, 1], "l": ["C", "C"]}]


def test_only_lines_areas_and_letters_come_through() -> None:
    svg = """<svg><script>x</script><image href="y"/><path d="M 1.0,2.0 L 3.0,4.0"
      style="fill:none;stroke:#FF0000"/><text x="1" y="2" style="font-size:9px;fill:#000000"
      >O</text></svg>"""
    assert parts_of_svg(svg) == {
        "lines": [["#FF0000", "M1.0 2.0L3.0 4.0"]],
        "areas": [],
        "letters": [["#000000", 9.0, 1.0, 2.0, "O"]],
    }
