from __future__ import annotations

import csv
import io
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.cli.neighbors import _find
from igsd.errors import DataError
from igsd.evaluation.neighbors import nearest
from tests.cli.conftest import Run
from tests.small_graphs import make_graphs


def test_neighbours_as_json_and_as_a_table(igsd: Run, trained: Path, toy: Path) -> None:
    code, out, _ = igsd("neighbors", trained, toy, "--query", 2, "-k", 3, "--json")
    found = json.loads(out)
    vectors = np.load(trained / "embeddings.npy", allow_pickle=False)
    (indices,), (distances,) = nearest(vectors, [2], 3)
    assert code == 0
    assert [n["graph"] for n in found["neighbors"]] == indices.tolist()
    apart = [n["distance"] for n in found["neighbors"]]
    np.testing.assert_allclose(apart, distances, atol=2e-6)
    assert found["query"] == {"graph": 2, "class": -1}
    out = igsd("neighbors", trained, toy, "--query", 2)[1]
    assert out.splitlines()[1].split() == ["graph", "distance", "class"]
    assert len(out.splitlines()) == 2 + 7


def test_quiet_is_accepted_as_by_the_other_commands(igsd: Run, trained: Path, toy: Path) -> None:
    """It was an unknown argument, which stopped scripts that give it to every command."""
    asked = {"neighbors": ("--query-file", toy), "map": (), "cluster": (), "outliers": ("-k", 2)}
    for name, more in asked.items():
        code, _, err = igsd(name, trained, toy, *more, "-o", f"{name}.csv", "--quiet")
        assert code == 0, err
    assert igsd("index", trained, toy, "-o", "t.index", "--quiet")[0] == 0
    code, out, _ = igsd("neighbors", "--index", "t.index", "--query", 0, "--quiet")
    assert (code, out.startswith("nearest to graph 0")) == (0, True)


def test_a_query_without_a_class(igsd: Run, trained: Path) -> None:
    """It was called ``class None``."""
    graphs = make_graphs(4, node_label_names=(0, 1, 2), classes=True)
    replace(graphs, classes=np.array([-1, 0, 1, 0])).save("g")
    out = igsd("neighbors", trained, "g", "--query", 0)[1]
    assert out.startswith("nearest to graph 0 (no class)\n")


def test_text_stands_flush_left(igsd: Run, trained: Path, tmp_path: Path) -> None:
    names = ("a", "long name", "b", "c")
    make_graphs(4, node_label_names=(0, 1, 2), graph_names=names).save(tmp_path / "g")
    lines = igsd("neighbors", trained, "g", "--query", 0)[1].splitlines()
    start = lines[1].index("name")
    assert sorted(line[start:] for line in lines[2:]) == ["b", "c", "long name"]
    assert all(line[: start - 2] == line[: start - 2].rjust(start - 2) for line in lines[2:])


@pytest.mark.parametrize("query", [-1, 8, "m3"])
def test_a_query_that_is_not_there(igsd: Run, trained: Path, toy: Path, query: object) -> None:
    code, _, err = igsd("neighbors", trained, toy, f"--query={query}")
    assert (code, "a number from 0 to 7. --query-file" in err) == (2, True)


def test_a_molecule_by_its_id_or_its_name(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("mol_id,smiles\nm1,CCO\n0,CCN\nm3,c1ccccc1\nm4,CC\n")
    assert igsd("train", "m.csv", "-o", "r", "--quiet", "--method", "histogram")[0] == 0
    for query, graph in (("m3", 2), ("c1ccccc1", 2), ("0", 0), ("CCN", 1)):
        found = json.loads(igsd("neighbors", "r", "m.csv", "--query", query, "--json")[1])
        assert found["query"]["graph"] == graph
    assert found["query"] == {"graph": 1, "line": 3, "id": "0", "name": "CCN"}
    code, _, err = igsd("neighbors", "r", "m.csv", "--query", "nothing")
    assert (code, "or an id of the table, or the name of a graph or any other" in err) == (2, True)


def test_queries_outside_the_set(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("mol_id,smiles\nm1,CCO\nm2,CCN\nm3,c1ccccc1\nm4,CCCCCC\n")
    (tmp_path / "mine.smi").write_text("CCCCC pentane\nOCC ethanol\n")
    assert igsd("train", "m.csv", "-o", "r", "--quiet", "--method", "histogram")[0] == 0
    asked = ("--query", "OCC", "--query", "m3", "--query-file", "mine.smi", "-k", 2)
    found = json.loads(igsd("neighbors", "r", "m.csv", *asked, "--json")[1])["queries"]
    assert [entry["query"].get("name") for entry in found] == ["OCC", "c1ccccc1", "CCCCC", "OCC"]
    assert found[2]["query"]["id"] == "pentane"
    assert [entry["neighbors"][0]["id"] for entry in found] == ["m1", "m4", "m4", "m1"]
    assert found[0]["neighbors"][0]["distance"] == 0
    code, out, err = igsd("neighbors", "r", "m.csv", *asked, "-o", "-")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert (code, len(rows)) == (0, 8)
    assert err.endswith("neighbours of 4 queries: -\n")
    assert [row["query"] for row in rows] == [*"00112233"]
    assert rows[4]["query_id"] == "pentane"
    assert (rows[4]["rank"], rows[4]["id"]) == ("1", "m4")
    out = igsd("neighbors", "r", "m.csv", *asked)[1]
    assert out.count("nearest to") == 4


def test_wrong_options(igsd: Run, trained: Path, toy: Path) -> None:
    assert "--query GRAPH, or --query-file" in igsd("neighbors", trained, toy)[2]
    assert "at least 1. Got 0" in igsd("neighbors", trained, toy, "--query", 0, "-k", 0)[2]
    both = ("--query", 0, "--json", "-o", "n.csv")
    assert "give one of them" in igsd("neighbors", trained, toy, *both)[2]


def test_a_file_without_its_ending() -> None:
    graphs = replace(make_graphs(3), graph_names=("ring_7.graphml", "a.b.graphml", "a.c.graphml"))
    assert _find("ring_7", graphs) == _find("ring_7.graphml", graphs) == 0
    assert (_find("a.b", graphs), _find("a.c", graphs)) == (1, 2)
    for query in ("a_b", "a", "CCO", "elsewhere/new.graphml"):
        with pytest.raises(
            DataError, match=f"--query {query} is not a graph.*--query-file"
        ) as info:
            _find(query, graphs)
        assert "SMILES" not in str(info.value)
    graphs = replace(graphs, graph_names=("a.gml", "b.gml", "a.graphml"))
    with pytest.raises(DataError, match=r"--query a may be any of a\.gml, a\.graphml"):
        _find("a", graphs)


def test_an_index_answers_as_the_data_do(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("mol_id,smiles\nm1,CCO\nm2,CCN\nm3,c1ccccc1\nm4,CCCCCC\n")
    (tmp_path / "mine.smi").write_text("CCCCC pentane\nOCC ethanol\n")
    assert igsd("train", "m.csv", "-o", "r", "--quiet", "--method", "histogram")[0] == 0
    code, out, _ = igsd("index", "r", "m.csv", "-o", "new/m.index", "--quiet")
    assert (code, out.endswith("exact search: new/m.index\n")) == (0, True)
    asked = ("--query", "OCC", "--query", "m3", "--query-file", "mine.smi", "-k", 2, "--json")
    expected = igsd("neighbors", "r", "m.csv", *asked)[1]
    assert igsd("neighbors", "--index", "new/m.index", *asked)[1] == expected
    assert igsd("neighbors", "r", "--index", "new/m.index", "--exact", *asked)[1] == expected
    assert "exists" in igsd("index", "r", "m.csv", "-o", "new/m.index")[2]
    assert igsd("index", "r", "m.csv", "-o", "new/m.index", "--force", "--quiet")[0] == 0


def test_an_index_without_its_model(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    own = Path(shutil.copytree(trained, tmp_path / "own"))
    assert igsd("index", own, toy, "-o", "t.index", "--quiet")[0] == 0
    own.rename(moved)
    assert igsd("neighbors", "--index", "t.index", "--query", 2)[0] == 0  # needs no model
    code, _, err = igsd("neighbors", "--index", "t.index", "--query-file", toy)
    assert (code, "If it was moved, name it" in err) == (2, True)
    assert igsd("neighbors", moved, "--index", "t.index", "--query-file", toy)[0] == 0
    other = ("train", toy, "-o", "other", "--quiet", "--method", "histogram")
    assert igsd(*other)[0] == 0
    code, _, err = igsd("neighbors", "other", "--index", "t.index", "--query", 2)
    assert (code, "index of vectors of another model" in err) == (2, True)


def test_a_number_of_thousands_of_digits(igsd: Run, trained: Path, toy: Path) -> None:
    code, _, err = igsd("neighbors", trained, toy, "--query", "9" * 5000)
    assert (code, "is not a graph of" in err, len(err) < 500) == (2, True, True)


def test_an_index_whose_model_is_a_pipe(
    igsd: Run, trained: Path, toy: Path, tmp_path: Path
) -> None:
    own = tmp_path / "own"
    own.write_bytes((trained / "model.safetensors").read_bytes())
    assert igsd("index", own, toy, "-o", "t.index", "--quiet")[0] == 0
    own.unlink()
    os.mkfifo(own)
    code, _, err = igsd("neighbors", "--index", "t.index", "--query-file", toy)
    assert (code, "not an ordinary file" in err) == (2, True)


def test_wrong_options_of_an_index(igsd: Run, trained: Path, toy: Path) -> None:
    index = ("--index", "t.index", "--query", 0)
    assert "MODEL and DATA, or --index" in igsd("neighbors", trained, "--query", 0)[2]
    assert "only MODEL can stand" in igsd("neighbors", trained, toy, *index)[2]
    assert "Give --smiles-column" in igsd("neighbors", *index, "--standardise")[2]
    assert "always exact" in igsd("neighbors", trained, toy, "--query", 0, "--exact")[2]
    assert "no vector index at t.index" in igsd("neighbors", *index)[2]
    assert "at least 1. Got 0" in igsd("index", trained, toy, "-o", "x", "--jobs", 0)[2]
    assert "is the input" in igsd("index", trained, toy, "-o", toy, "--force")[2]


def test_a_number_that_is_also_an_id(capsys: pytest.CaptureFixture[str]) -> None:
    """The graph with the id was not found, and nothing said so."""
    graphs = make_graphs(4, ids=("3", "2", "b", "b"))
    assert (_find("3", graphs), capsys.readouterr().err.count("`--query 0` asks for it")) == (3, 1)
    assert (_find("0", graphs), _find("1", graphs), capsys.readouterr().err) == (0, 1, "")
    assert _find("b", graphs) == 2
    assert "2 graphs have the id b, and the first of them is taken" in capsys.readouterr().err


def test_the_column_of_smiles_is_that_of_the_queries_too(igsd: Run, tmp_path: Path) -> None:
    """The error for a file of queries with two columns advised an option that did not reach it."""
    pytest.importorskip("rdkit")
    table, queries = tmp_path / "table.csv", tmp_path / "queries.csv"
    table.write_text("a_smiles,b_smiles\nCCO,CCN\nCCC,CCS\nCCCC,CO\n")
    queries.write_text("a_smiles,b_smiles\nCCO,CN\n")
    options = ("--query-file", queries, "-k", 1, "--smiles-column", "a_smiles")
    code, out, err = igsd("neighbors", "molecules", table, *options)
    assert (code, "CCO" in out) == (0, True), err


def test_a_query_unlike_all_graphs_is_said(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    table = tmp_path / "table.csv"
    table.write_text("smiles\n" + "\n".join("C" * n + "O" for n in range(2, 12)) + "\n")
    far = "OS(=O)(=O)c1ccc2[nH]c3ccccc3c2c1"
    code, _, err = igsd("neighbors", "molecules", table, "--query", far, "-k", 1)
    assert (code, "no similar graphs were found" in err) == (0, True)
    code, _, err = igsd("neighbors", "molecules", table, "--query", "CCCCO", "-k", 1)
    assert (code, "no similar graphs were found" in err) == (0, False)
