from __future__ import annotations

import json
import re

import numpy as np
import pytest

from igsd.graphs.build import from_edges
from igsd.graphs.datasets import shown_names
from igsd.report.page import map as map_file
from igsd.report.page.document import asset
from igsd.report.page.map import (
    NUM_STEPS,
    NUM_STYLES,
    MapClasses,
    MapNumbers,
    Style,
    draw_molecule,
    make_drawings,
    map_plot,
    map_section,
    mark,
    outline,
    parts_of_svg,
)
from igsd.report.projection import Projection
from tests.small_graphs import make_graphs, odd_graphs

NAN = float("nan")
GRAPHS = make_graphs(6)
VECTORS = np.random.default_rng(0).normal(size=(6, 3))
CLASSES = MapClasses(np.array([0, 1, 0, 1, -1, 0]), ["<a>", "b"])
TEXTS = [f"graph {i}" for i in range(6)]


def data_of(section: str) -> list[dict[str, object]]:
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', section)
    assert found is not None
    return json.loads(found[1])


def test_a_mark_and_an_entry_for_each_graph() -> None:
    made = map_section("run-1", VECTORS, CLASSES, TEXTS, GRAPHS, "pca")
    marks = made.split('<g class="marks">')[1].split("</g>")[0]
    assert marks.count("<path") == 6
    assert marks.count('class="unknown hollow"') == 1
    entries = data_of(made)
    assert [entry["g"] for entry in entries] == list(range(6))
    assert all(len(entry["k"]) == 5 for entry in entries)  # type: ignore[arg-type]
    assert all(entry["d"] is not None for entry in entries)
    assert "class &lt;a&gt; (3)" in made
    assert 'class="note"' not in made


def test_a_large_set_is_shown_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_file, "MOST_GRAPHS", 4)
    made = map_section("run-1", VECTORS, CLASSES, TEXTS, GRAPHS, "pca")
    assert "The map shows 4 of 6 graphs" in made
    assert [entry["g"] for entry in data_of(made)] == [0, 2, 3, 5]


def test_without_graphs_and_with_one_graph() -> None:
    unknown = MapClasses(np.array([-1]), [])
    made = map_section("run-1", VECTORS[:1], unknown, ["graph 0"], None, "pca")
    assert data_of(made) == [{"g": 0, "t": "graph 0", "s": None, "k": [], "r": [], "d": None}]
    assert "nan" not in made


def test_numbers_have_a_scale_and_a_note_of_the_others() -> None:
    numbers = MapNumbers(np.array([1.0, np.nan, 3, 2, 5, 4]), "<y>", "More <z>.")
    made = map_section("run-1", VECTORS, numbers, TEXTS, GRAPHS, "pca")
    marks = made.split('<g class="marks">')[1].split("</g>")[0]
    found = re.findall(r'class="([^"]+)"', marks)
    assert found == ["v0", "unknown hollow", "v4", "v2", "v8", "v6"]
    assert '<p class="note">More &lt;z&gt;.</p>' in made
    assert "&lt;y&gt;, by rank: least 1 " in made


def test_marks_lie_inside_the_frame_with_y_upwards() -> None:
    points = np.array([[0.0, 0.0], [1.0, 10.0]])
    drawn = map_plot(Projection(points, "<x>", "y"), [Style(0, "s0"), Style(1, "s1")])
    assert 'd="M16.0 504.0' in drawn
    assert 'd="M504.0 16.0' in drawn
    assert "&lt;x&gt;" in drawn


def test_marks_differ_repeat_and_begin_at_their_place() -> None:
    assert mark(0, 3, 4, 2).startswith("M3.0 4.0m-2 0a2 2")
    assert len({mark(style, 0, 0, 1) for style in range(NUM_STYLES)}) == NUM_STYLES
    assert mark(NUM_STYLES, 0, 0, 1) == mark(0, 0, 0, 1)
    for style in range(NUM_STYLES):
        assert re.fullmatch(r"[Mmlhvazc0-9. -]+", mark(style, 1, 2, 3.3))


def test_shapes_colours_and_words() -> None:
    classes = MapClasses(np.array([0, 9, -1]), [str(code) for code in range(10)])
    assert [classes.style(graph) for graph in range(3)] == [
        (0, "s0"),
        (9, "s1"),
        (0, "unknown hollow"),
    ]
    assert [classes.text(graph) for graph in range(3)] == ["class 0", "class 9", ""]


def test_the_legend_of_classes_counts_what_is_shown() -> None:
    legend = MapClasses(np.array([0, 1, 1, -1]), ["a", "b"]).legend(np.array([1, 2, 3]))
    assert legend is not None
    assert "class a" not in legend
    assert "class b (2)" in legend
    assert "unknown (1)" in legend


def test_many_classes_are_cut() -> None:
    codes = np.arange(30)
    legend = MapClasses(codes, [str(code) for code in codes]).legend(codes)
    assert legend is not None
    assert "and 10 more classes" in legend
    assert MapClasses(np.array([-1]), []).legend(np.array([0])) is None


@pytest.mark.parametrize(
    ("values", "steps"),
    [
        ([3.0, 1.0, 2.0], [8, 0, 4]),
        ([1.0, 2.0, 1e9], [0, 4, 8]),  # one outlier leaves the others their colours
        ([0.0, 0.0, 0.0, 5.0], [0, 0, 0, 8]),
        ([7.0, 7.0], [0, 0]),
        ([NAN, 1.0], [-1, 0]),
        ([NAN, NAN], [-1, -1]),
    ],
)
def test_steps(values: list[float], steps: list[int]) -> None:
    assert MapNumbers(np.array(values), "y").steps.tolist() == steps


def test_numbers_in_words() -> None:
    numbers = MapNumbers(np.array([0.123456, NAN]), "logBB")
    assert [numbers.text(graph) for graph in range(2)] == ["logBB 0.1235", ""]
    assert [numbers.style(graph).css for graph in range(2)] == ["v0", "unknown hollow"]


def test_the_legend_of_numbers_tells_least_median_most_and_unknown() -> None:
    numbers = MapNumbers(np.array([4.0, NAN, 1.0, NAN, 2.0, 9.0]), "<y>")
    legend = numbers.legend(np.array([0, 1]))
    assert legend is not None
    text = re.sub("<[^>]+>", "", legend)
    assert text == "&lt;y&gt;, by rank: least 1  most 9median 2unknown (1)"
    # The strip has all colours, the median the one of the graph that has it.
    strip = [f"v{step}" for step in range(NUM_STEPS)]
    assert re.findall(r'class="(v\d)"', legend) == [*strip, numbers.style(4).css]
    assert MapNumbers(np.array([NAN]), "y").legend(np.array([0])) is None


def test_the_scale_only_darkens_or_only_brightens() -> None:
    colours = re.findall(r"--v\d: (#\w{6});", asset("style.css"))
    light, dark = (np.array([_grey(c) for c in colours[i : i + NUM_STEPS]]) for i in (0, NUM_STEPS))
    assert len(colours) == 2 * NUM_STEPS
    assert (np.diff(light) < -4).all()
    assert (np.diff(dark) > 4).all()


def _grey(colour: str) -> float:
    """Return how bright a colour is on a grey print, 0 to 255."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return 0.299 * red + 0.587 * green + 0.114 * blue


def test_outline_has_each_edge_once() -> None:
    graphs = odd_graphs()
    assert outline(graphs, 0, ()) == {"n": 1, "e": []}
    assert outline(graphs, 3, ()) == {"n": 3, "e": [0, 1, 0, 2, 1, 2]}
    both = make_graphs(2)
    labelled = outline(both, 1, shown_names(both, "nodes"))
    assert labelled is not None
    assert len(labelled["l"]) == labelled["n"]


def test_large_graphs_are_not_drawn() -> None:
    assert make_drawings(from_edges([500], np.array([0]), np.array([1])), [0]) == [None]


def test_the_room_for_drawings_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = make_graphs(6)
    whole = make_drawings(graphs, range(6))
    room = sum(len(json.dumps(d)) for d in whole[:3])
    monkeypatch.setattr(map_file, "MOST_CHARACTERS", room)
    assert [d is not None for d in make_drawings(graphs, range(4))] == [True] * 3 + [False]


def test_molecules_are_drawn_by_rdkit() -> None:
    pytest.importorskip("rdkit")
    from igsd.graphs.readers.smiles import from_smiles

    graphs = from_smiles(["CC(=O)O", "[Na+].[Cl-]", "C[C@H](N)O"])
    acid, salt, chiral = make_drawings(graphs, range(3))
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
    assert draw_molecule(graphs, 0, shown_names(graphs, "nodes")) is None
    assert make_drawings(graphs, [0]) == [{"n": 2, "e": [0, 1], "l": ["C", "C"]}]


def test_only_lines_areas_and_letters_come_through() -> None:
    svg = """<svg><script>x</script><image href="y"/><path d="M 1.0,2.0 L 3.0,4.0"
      style="fill:none;stroke:#FF0000"/><text x="1" y="2" style="font-size:9px;fill:#000000"
      >O</text></svg>"""
    assert parts_of_svg(svg) == {
        "lines": [["#FF0000", "M1.0 2.0L3.0 4.0"]],
        "areas": [],
        "letters": [["#000000", 9.0, 1.0, 2.0, "O"]],
    }
