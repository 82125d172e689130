from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

from igsd.report.page import map as map_file
from igsd.report.page.map import MapInput, map_section, spread_evenly
from igsd.report.page.map_classes import MapClasses
from igsd.report.page.map_numbers import MapNumbers
from tests.small_graphs import make_graphs

GRAPHS = make_graphs(6)
VECTORS = np.random.default_rng(0).normal(size=(6, 3))
SHOWN = MapInput(
    VECTORS,
    MapClasses(np.array([0, 1, 0, 1, -1, 0]), ["<a>", "b"]),
    [f"graph {i}" for i in range(6)],
    None,
    GRAPHS,
)


def data_of(section: str) -> list[dict[str, object]]:
    found = re.search(r'<script type="application/json"[^>]*>(.*?)</script>', section)
    assert found is not None
    return json.loads(found[1])


def test_a_mark_and_an_entry_for_each_graph() -> None:
    made = map_section("run-1", SHOWN, "pca")
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
    made = map_section("run-1", SHOWN, "pca")
    assert "The map shows 4 of 6 graphs" in made
    assert [entry["g"] for entry in data_of(made)] == [0, 2, 3, 5]


def test_without_graphs_and_with_one_graph() -> None:
    alone = MapInput(VECTORS[:1], MapClasses(np.array([-1]), []), ["graph 0"], None, None)
    made = map_section("run-1", alone, "pca")
    assert data_of(made) == [{"g": 0, "t": "graph 0", "s": None, "k": [], "r": [], "d": None}]
    assert "nan" not in made


def test_numbers_have_a_scale_and_a_note_of_the_others() -> None:
    numbers = MapNumbers(np.array([1.0, np.nan, 3, 2, 5, 4]), "<y>", "More <z>.")
    made = map_section("run-1", replace(SHOWN, labels=numbers), "pca")
    marks = made.split('<g class="marks">')[1].split("</g>")[0]
    found = re.findall(r'class="([^"]+)"', marks)
    assert found == ["v0", "unknown hollow", "v4", "v2", "v8", "v6"]
    assert '<p class="note">More &lt;z&gt;.</p>' in made
    assert "&lt;y&gt;, by rank: least 1 " in made


def test_spread_evenly() -> None:
    assert spread_evenly(3, 5).tolist() == [0, 1, 2]
    assert spread_evenly(101, 3).tolist() == [0, 50, 100]
