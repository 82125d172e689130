from __future__ import annotations

import csv
from pathlib import Path

import networkx as nx

from tests.cli.conftest import SETTINGS, Run


def test_a_model_without_labels_predicts_nothing(igsd: Run, trained: Path, toy: Path) -> None:
    code, _, err = igsd("predict", trained, toy, "-o", "p.csv")
    assert code == 2
    assert "no predictions" in err
    assert "igsd train DATA --labels COLUMN|FILE" in err  # it named columns only, to all
    code, _, err = igsd("predict", trained, toy, "-o", "p.txt")
    assert code == 2
    assert ".csv, .parquet" in err


def test_a_folder_of_networks_with_gaps_in_its_labels(igsd: Run, tmp_path: Path) -> None:
    """The way of the documents: labels.csv lies in the folder and names some of the files."""
    (tmp_path / "nets").mkdir()
    for n in range(12):
        graph = nx.star_graph(5 + n) if n % 2 else nx.cycle_graph(5 + n)
        nx.write_graphml(graph, tmp_path / "nets" / f"n{n}.graphml")
    rows = [f"n{n},{'star' if n % 2 else 'cycle'}\n" for n in range(8)]
    (tmp_path / "nets" / "labels.csv").write_text("file,label\n" + "".join(rows))
    options = ("--labels", "nets/labels.csv", "--calibration", 0, "--quiet", *SETTINGS)
    assert igsd("train", "nets", "-o", "r", *options)[0] == 0
    assert igsd("predict", "r", "nets", "-o", "p.csv", "--quiet")[0] == 0
    with open(tmp_path / "p.csv", newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["given"] for row in table] == ["cycle", "star"] * 4 + [""] * 4
    assert {row["class"] for row in table} <= {"cycle", "star"}
