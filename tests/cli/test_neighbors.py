from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from igsd.evaluation.neighbors import nearest_graphs
from tests.cli.conftest import Run
from tests.small_graphs import make_graphs


def test_neighbours_as_json_and_as_a_table(igsd: Run, trained: Path, toy: Path) -> None:
    code, out, _ = igsd("neighbors", trained, toy, "--query", 2, "-k", 3, "--json")
    found = json.loads(out)
    vectors = np.load(trained / "embeddings.npy", allow_pickle=False)
    indices, distances = nearest_graphs(vectors, 2, 3)
    assert code == 0
    assert [n["graph"] for n in found["neighbors"]] == indices.tolist()
    np.testing.assert_allclose([n["distance"] for n in found["neighbors"]], distances)
    assert found["query"] == {"graph": 2, "class": -1}
    out = igsd("neighbors", trained, toy, "--query", 2)[1]
    assert out.splitlines()[1].split() == ["graph", "distance", "class"]
    assert len(out.splitlines()) == 2 + 7


def test_text_stands_flush_left(igsd: Run, trained: Path, tmp_path: Path) -> None:
    names = ("a", "long name", "b", "c")
    make_graphs(4, node_label_names=(0, 1, 2), graph_names=names).save(tmp_path / "g")
    lines = igsd("neighbors", trained, "g", "--query", 0)[1].splitlines()
    start = lines[1].index("name")
    assert sorted(line[start:] for line in lines[2:]) == ["b", "c", "long name"]
    assert all(line[: start - 2] == line[: start - 2].rjust(start - 2) for line in lines[2:])


@pytest.mark.parametrize("query", [-1, 8])
def test_a_query_that_is_not_there(igsd: Run, trained: Path, toy: Path, query: int) -> None:
    code, _, err = igsd("neighbors", trained, toy, f"--query={query}")
    assert (code, "from 0 to 7" in err) == (2, True)
