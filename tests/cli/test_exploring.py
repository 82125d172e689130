"""`igsd map`, `igsd cluster` and `igsd outliers`."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import igsd as package
from tests.cli.conftest import Run
from tests.small_graphs import make_graphs

COMMANDS = ("map", "cluster", "outliers")


@pytest.fixture
def blobs(tmp_path: Path) -> np.ndarray:
    rng = np.random.default_rng(0)
    vectors = np.concatenate([rng.normal(size=(8, 3)), rng.normal(size=(12, 3)) + 30])
    np.save(tmp_path / "v.npy", vectors)
    make_graphs(20, ids=tuple(f"g{i}" for i in range(20))).save(tmp_path / "g")
    return vectors


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_model_and_its_graphs(igsd: Run, trained: Path, toy: Path, tmp_path: Path) -> None:
    for command in COMMANDS:
        more = ["-k", 2] if command == "outliers" else []
        code, out, err = igsd(command, trained, toy, "-o", "t.csv", "--plot", "p.svg", *more)
        assert (code, "picture: p.svg" in out) == (0, True), err
        assert command == "map" or out.splitlines()[1].split()[0] in ("cluster", "rank")
        rows = rows_of(tmp_path / "t.csv")
        assert sorted(int(row["graph"]) for row in rows) == list(range(8))
        assert (tmp_path / "p.svg").read_text().startswith("<?xml")


def test_tables_of_vectors_have_ids(igsd: Run, blobs: np.ndarray, tmp_path: Path) -> None:
    assert igsd("map", "g", "--vectors", "v.npy", "-o", "m.csv")[0] == 0
    first = rows_of(tmp_path / "m.csv")[0]
    assert (first["graph"], first["id"]) == ("0", "g0")
    points = package.map(blobs).points
    assert float(first["x"]) == pytest.approx(points[0, 0])
    assert igsd("cluster", "g", "--vectors", "v.npy", "-o", "c.csv")[0] == 0
    found = [row["cluster"] for row in rows_of(tmp_path / "c.csv")]
    assert found == [str(label) for label in package.cluster(blobs).labels]
    assert igsd("outliers", "g", "--vectors", "v.npy", "-o", "o.csv")[0] == 0
    ranked = [int(row["graph"]) for row in rows_of(tmp_path / "o.csv")]
    assert ranked == package.outliers(blobs).graphs.tolist()


def test_printed_tables(igsd: Run, blobs: np.ndarray) -> None:
    out = igsd("cluster", "g", "--vectors", "v.npy")[1].splitlines()
    assert out[1].split()[:2] == ["cluster", "graphs"]
    assert out[2].split()[:2] == ["0", str(package.cluster(blobs).sizes[0])]
    out = igsd("outliers", "--vectors", "v.npy", "--top", 3)[1].splitlines()
    assert out[1].split() == ["rank", "distance", "graph"]
    assert len(out) == 2 + 3
    assert igsd("map", "--vectors", "v.npy", "-o", "-")[1].startswith("graph,x,y\n0,")


@pytest.mark.usefixtures("blobs")
def test_labels_are_classes_or_numbers(igsd: Run, tmp_path: Path) -> None:
    kinds = ["small"] * 8 + ["large"] * 11 + [""]
    (tmp_path / "kinds.txt").write_text("\n".join(kinds) + "\n")
    (tmp_path / "size.txt").write_text("\n".join(f"{i}.5" for i in range(20)) + "\n")
    given, drawn = ("g", "--vectors", "v.npy", "-o", "t.csv"), ("--plot", "p.svg")
    code, out, err = igsd("cluster", *given, "--labels", "kinds.txt")
    assert (code, err) == (0, "")
    assert out.splitlines()[2].split()[:4] == ["0", "12", "large", "(100"]
    assert "agreement of clusters and classes: 1.00" in out
    assert [row["class"] for row in rows_of(tmp_path / "t.csv")] == kinds
    out = igsd("cluster", *given, "--labels", "size.txt")[1]
    assert "mean size" in out.splitlines()[1]
    assert out.splitlines()[2].split()[:3] == ["0", "12", "14"]
    assert "agreement" not in out
    assert igsd("outliers", *given, *drawn, "--labels", "size.txt")[0] == 0
    row = rows_of(tmp_path / "t.csv")[0]
    assert float(row["size"]) == int(row["graph"]) + 0.5
    written = (tmp_path / "kinds.txt").read_text()
    (tmp_path / "kinds.csv").write_text(written)
    for command in ("map", "cluster", "outliers"):
        code, _, err = igsd(command, *given, "--labels", "kinds.csv", "-o", "kinds.csv")
        assert (code, "-o kinds.csv is the input" in err) == (2, True)
    assert (tmp_path / "kinds.csv").read_text() == written
    for labels, word in (("kinds.txt", "class large (11)"), ("size.txt", "size")):
        assert igsd("map", *given, *drawn, "--labels", labels)[0] == 0
        assert word in (tmp_path / "p.svg").read_text()


@pytest.mark.usefixtures("blobs")
def test_the_same_seed_gives_the_same_picture(igsd: Run, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        options = ("--map", "tsne", "--seed", 3, "--plot", name)
        assert igsd("map", "--vectors", "v.npy", *options)[0] == 0
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.usefixtures("blobs")
def test_wrong_options(igsd: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "equal.npy", np.ones((9, 2)))
    np.save(tmp_path / "one.npy", np.ones((1, 2)))
    for words, message in (
        (["map", "--vectors", "v.npy"], "Specify --plot FILE"),
        (["cluster"], "Specify MODEL and DATA, or --vectors"),
        (["cluster", "a", "b", "--vectors", "v.npy"], "only DATA can stand beside it"),
        (["cluster", "--vectors", "v.npy", "--map", "pca"], "name it with --plot"),
        (["cluster", "--vectors", "v.npy", "--min-size", 1], "at least 2 graphs"),
        (["cluster", "--vectors", "equal.npy"], "All 9 vectors are equal"),
        (["outliers", "--vectors", "one.npy"], "needs at least 11 graphs. Got 1 graph"),
        (["outliers", "--vectors", "v.npy", "-k", 20], "needs at least 21 graphs"),
        (["outliers", "--vectors", "v.npy", "--top", 0], "--top must be at least 1"),
        (["outliers", "--vectors", "v.npy", "--seed", -1], "--seed must be from 0"),
        (
            ["map", "MUTAG", "--vectors", "v.npy", "-o", "x.csv"],
            "holds 20 vectors, but 'MUTAG' has 188",
        ),
        (["map", "--vectors", "v.npy", "-o", "x.txt"], ".csv"),
        (["cluster", "--vectors", "v.npy", "--labels", "kind"], "give DATA as well"),
        (["cluster", "g", "--vectors", "v.npy", "--labels", "kind"], "has no labels of that name"),
        (["map", "--vectors", "v.npy", "--plot", "x.gif"], ".png"),
    ):
        code, _, err = igsd(*words)
        assert (code, message in err) == (2, True), (words, err)


def test_vectors_are_matched_with_graphs_by_id(
    igsd: Run, blobs: np.ndarray, tmp_path: Path
) -> None:
    """Rows were paired with graphs by their order, whatever ids and names the table had."""
    make_graphs(20, ids=tuple(f"g{i}" for i in reversed(range(20)))).save(tmp_path / "turned")
    text = "".join(f"{i},g{i},{a},{b},{c}\n" for i, (a, b, c) in enumerate(blobs))
    (tmp_path / "v.csv").write_text("graph,id,x,y,z\n" + text)
    for data in ("g", "turned"):
        assert igsd("outliers", data, "--vectors", "v.csv", "-o", f"{data}.csv")[0] == 0
    given, turned = (rows_of(tmp_path / f"{data}.csv") for data in ("g", "turned"))
    assert [row["id"] for row in given] == [row["id"] for row in turned]
    assert [row["distance"] for row in given] == [row["distance"] for row in turned]
