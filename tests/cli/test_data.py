from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from igsd.files.arrays import read_arrays
from igsd.files.locks import only_writer
from igsd.graphs import importing, joining
from igsd.graphs.graphset import GraphSet
from tests.cli.conftest import SETTINGS, Run


def test_list_names_the_data_sets(igsd: Run) -> None:
    code, out, _ = igsd("data", "list")
    assert code == 0
    assert all(name in out for name in ("MUTAG", "IMDB-MULTI", "B3DB", "REDDIT-M5K"))
    table, notes = (part.splitlines() for part in out.split("\n\n"))
    assert table[0].index("where") < 120  # the last column holds paths, as long as they are
    assert max(map(len, notes)) < 220


def test_show(igsd: Run, toy: Path) -> None:
    code, out, _ = igsd("data", "show", toy)
    assert code == 0
    for line in ("graphs               8", "classes              -1: 4, 1: 4", "1-WL ceiling"):
        assert line in out
    assert "isolated nodes" in out
    assert "twins" in out


def test_show_says_what_graphs_carry_and_draws_them(igsd: Run, tmp_path: Path) -> None:
    folder = tmp_path / "nets"
    folder.mkdir()
    for n in (5, 6, 7):
        graph = nx.cycle_graph(n, create_using=nx.DiGraph)
        nx.set_edge_attributes(
            graph, {edge: float(sum(edge)) + 1 for edge in graph.edges}, "weight"
        )
        nx.set_node_attributes(graph, {v: "xy"[v % 2] for v in graph}, "club")
        nx.set_node_attributes(graph, "2020-01-01", "born")
        nx.write_graphml(graph, folder / f"g{n}.graphml")
    code, out, _ = igsd("data", "show", folder, "--plot", tmp_path / "few.png")
    assert code == 0
    for line in (
        "degrees              2.0 on average, 2 to 2",
        "components           1.0 on average, 1 to 1",
        "edge weights         2 to 12",
        "direction            100.0 % of the edges go one way",
        "recipe               networks",
        "club (2 kinds); of edges: weight",
        "not seen             node attribute 'born' not used: dates",
        "not seen             edge direction not used",
    ):
        assert line in out
    assert (tmp_path / "few.png").read_bytes().startswith(b"\x89PNG")


def test_show_without_classes(igsd: Run, unlabelled: Path) -> None:
    out = igsd("data", "show", unlabelled)[1]
    assert "classes              none" in out
    assert "ceiling" not in out


def test_import_writes_one_file_and_keeps_an_old_one(
    igsd: Run, toy: Path, toy_graphs: GraphSet, tmp_path: Path
) -> None:
    target = tmp_path / "toy.any"
    assert igsd("data", "import", toy, "-o", target)[0] == 0
    assert GraphSet.load(target) == toy_graphs
    code, _, err = igsd("data", "import", toy, "-o", target)
    assert (code, "--force" in err) == (2, True)
    assert igsd("data", "import", toy, "-o", target, "--force")[0] == 0
    code, _, err = igsd("data", "import", target, "-o", target, "--force")
    assert (code, "is the input" in err) == (2, True)


def test_import_lists_the_rows_that_are_no_molecules(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("drug,active,weight\nCCO,1,46\nnope,0,1\nc1ccccc1,0,78\n")
    columns = ["--smiles-column", "drug", "--label-column", "active", "--target-columns", "weight"]
    code, out, err = igsd("data", "import", "m.csv", "-o", "m.graphs", *columns)
    assert code == 0
    assert "2 graphs" in out
    assert "1 of 3 rows of m.csv is not a molecule and was left out" in err
    assert "line 3" in err
    assert "nope" in err
    graphs = GraphSet.load(tmp_path / "m.graphs")
    assert graphs.class_names == (0, 1)
    assert graphs.target_names == ("weight",)


# It listed five, as the notes do that refer to it.
def test_show_lists_all_rows_that_are_no_molecules(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("smiles\nCCO\n" + "nope\n" * 7)
    code, out, err = igsd("data", "show", "m.csv")
    assert (code, out.count("not a molecule: line"), "and 2 more" in err) == (0, 7, True)
    (tmp_path / "n.csv").write_text("smiles\n" + "nope\n" * 7)
    code, _, err = igsd("data", "show", "n.csv")
    assert (code, err.count("line"), "and 2 more" in err) == (2, 5, True)


def test_a_column_that_is_not_there(igsd: Run, tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("drug,active\nCCO,1\n")
    code, _, err = igsd("data", "import", "m.csv", "-o", "m.graphs", "--smiles-column", "smile")
    assert code == 2
    assert "drug, active" in err
    assert not (tmp_path / "m.graphs").exists()


def test_one_graph_is_no_plural(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_text("smiles\nCC\n")
    assert igsd("data", "import", "m.csv", "-o", "m.graphs")[1] == "1 graph: m.graphs\n"


@pytest.mark.parametrize(
    ("content", "options", "text"),
    [
        (b"CCO,1\nCC,0\n", [], "Put a line such as `smiles,label` before the first row"),
        (b"drug,a\nCCO,1\n", [], "--smiles-column NAME"),
        (b"smiles,n\nC,\x01\x02\n", [], "line 2: the file is not text (character 0x01)"),
        (b"smiles,my_smiles\nC,CC\n", [], "several columns of SMILES, which differ: smiles, my_"),
        (b"smiles,a\nC,1\n", ["--target-columns", "a,a"], "named twice"),
    ],
)
def test_tables_with_a_way_out(
    igsd: Run, tmp_path: Path, content: bytes, options: list[str], text: str
) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "m.csv").write_bytes(content)
    code, _, err = igsd("data", "import", "m.csv", "-o", "m.graphs", *options)
    assert (code, text in err) == (2, True), err


def test_columns_are_for_tables(igsd: Run, toy: Path) -> None:
    code, _, err = igsd("data", "import", toy, "-o", "x", "--label-column", "a")
    assert (code, "table only" in err) == (2, True)


def test_import_of_several_tables(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text("smiles\nCC\nCCO\n")
    code, out, err = igsd("data", "import", "?.csv", "-o", "all.graphs", "--jobs", "2", "--quiet")
    assert (code, out.splitlines()[:1]) == (0, ["4 graphs: all.graphs"]), err
    assert not (tmp_path / "all.graphs.parts").exists()
    code, out, _ = igsd("data", "import", "all.graphs", "all.graphs", "-o", "x")
    assert code == 2


def test_show_weights_that_are_negative_or_zero(igsd: Run, tmp_path: Path) -> None:
    for n in (4, 5):
        graph = nx.cycle_graph(n)
        nx.set_edge_attributes(graph, {(u, v): float(u) for u, v in graph.edges}, "weight")
        nx.write_graphml(graph, tmp_path / f"net_{n}.graphml")
    code, out, _ = igsd("data", "show", tmp_path)
    assert (code, "4 edges not used: a weight of 0 counts as no edge" in out) == (0, True)
    graph.edges[1, 2]["weight"] = -2.0
    nx.write_graphml(graph, tmp_path / "net_5.graphml")
    code, out, _ = igsd("data", "show", tmp_path)
    assert code == 0
    assert "net_5.graphml, has weight -2. Use absolute values" in out
    assert "edge weights" in out


def test_import_of_several_networks(igsd: Run, tmp_path: Path) -> None:
    for n in (4, 5, 6):
        graph = nx.cycle_graph(n)
        nx.set_node_attributes(graph, {v: f"club {n - v % 2}" for v in graph}, "club")
        nx.write_graphml(graph, tmp_path / f"net_{n}.graphml")
    code, out, _ = igsd("data", "import", tmp_path / "net_*.graphml", "-o", tmp_path / "all.graphs")
    assert (code, "3 graphs" in out) == (0, True)
    graphs = GraphSet.load(tmp_path / "all.graphs")
    assert graphs.name == "all"
    assert graphs.node_category_names == (("club 3", "club 4", "club 5", "club 6"),)


def test_import_of_several_sets(igsd: Run, toy: Path, tmp_path: Path) -> None:
    assert igsd("data", "import", toy, "-o", "again.graphs")[0] == 0
    code, out, _ = igsd("data", "import", toy, "again.graphs", "-o", "both.graphs")
    assert (code, out.startswith("16 graphs")) == (0, True)
    (tmp_path / "m.csv").write_text("smiles\nCC\n")
    for paths, message in (
        ((toy, "m.csv"), "only if all are tables or none is"),
        (("m.csv", "m.csv"), "is given twice"),
        (("*.nothing",), "No file matches '*.nothing'"),
        (("m.csv", "--jobs", "0"), "--jobs must be at least 1"),
        ((toy, "--jobs", "2"), "--jobs and --backend are for tables of molecules, and"),
    ):
        code, _, err = igsd("data", "import", *paths, "-o", "x.graphs")
        assert (code, message in err) == (2, True)


def test_mutag_has_names_of_classes_and_atoms(igsd: Run) -> None:
    _, out, _ = igsd("data", "show", "MUTAG")
    assert "-1 (not mutagenic): 63, 1 (mutagenic): 125" in out
    assert "0 (C): 2395" in out
    assert "0 (aromatic)" in out


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::igsd.errors.IGSDWarning")
def test_a_folder_of_shards_is_data_for_every_command(
    igsd: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("rdkit")
    rows = "".join(f"m{n},{'C' * (1 + n % 9)}{'ON'[n % 2]},{n % 2}\n" for n in range(40))
    (tmp_path / "m.csv").write_text("id,smiles,label\n" + rows)
    monkeypatch.setattr(importing, "PART", 5)
    monkeypatch.setattr(importing, "LONG", 0)
    assert igsd("data", "import", "m.csv", "-o", "one.graphs", "--quiet")[0] == 0
    monkeypatch.setattr(joining, "SHARD", 10)
    assert igsd("data", "import", "m.csv", "-o", "all.graphs", "--quiet")[0] == 0
    assert (tmp_path / "all.graphs" / "part-0004.graphs").is_file()
    code, _, err = igsd("data", "import", "m.csv", "-o", "all.graphs", "--quiet")
    assert (code, "all.graphs exists" in err) == (2, True)
    assert igsd("data", "import", "m.csv", "-o", "all.graphs", "--quiet", "--force")[0] == 0
    shown = [igsd("data", "show", name)[1] for name in ("one.graphs", "all.graphs")]
    assert shown[0] == shown[1]
    for name in ("one", "all"):
        assert igsd("train", f"{name}.graphs", "-o", f"r{name}", "--quiet", *SETTINGS)[0] == 0
        assert igsd("embed", "rone", f"{name}.graphs", "-o", f"{name}.parquet", "--quiet")[0] == 0
        assert igsd("neighbors", "rone", f"{name}.graphs", "--query", "m3")[0] == 0
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "all.parquet").read_bytes()
    weights = [
        read_arrays(tmp_path / f"r{n}" / "model.safetensors", "model")[0] for n in ("one", "all")
    ]
    assert all(np.array_equal(weights[0][key], weights[1][key]) for key in weights[0])
    (tmp_path / "all.graphs" / "part-0002.graphs").unlink()
    code, _, err = igsd("embed", "rone", "all.graphs", "-o", "x.npy")
    assert (code, "lacks 1 shard of its 4" in err) == (2, True)


@pytest.mark.parametrize("size", ["short", "long"])
def test_columns_that_a_set_does_not_keep_are_named(
    igsd: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: str
) -> None:
    """A column of text was dropped without a word, and training from the set could not find it."""
    pytest.importorskip("rdkit")
    if size == "long":
        monkeypatch.setattr(importing, "LONG", 1)
    (tmp_path / "m.csv").write_text("id,smiles,active,weight\n1,CCO,yes,46.1\n2,CCC,no,44.2\n")
    code, _, err = igsd("data", "import", "m.csv", "-o", "m.graphs", "--quiet")
    assert (code, "does not keep 1 column of the table: 'active'" in err) == (0, True)
    options = ("--label-column", "active", "--force", "--quiet")
    code, _, err = igsd("data", "import", "m.csv", "-o", "m.graphs", *options)
    assert (code, "does not keep" in err) == (0, False)


def test_an_import_is_refused_while_another_writes_there(igsd: Run, tmp_path: Path) -> None:
    """Two short imports to one name both ended well, and one of the two was lost."""
    with only_writer(tmp_path / "m.graphs", may_replace=False):
        code, _, err = igsd("data", "import", "MUTAG", "-o", "m.graphs")
    assert (code, "m.graphs is in use" in err) == (2, True)
    assert igsd("data", "import", "MUTAG", "-o", "m.graphs")[::2] == (0, "")
    assert igsd("data", "import", "MUTAG", "-o", "m.graphs")[0] == 2
