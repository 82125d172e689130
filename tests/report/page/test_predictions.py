from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from igsd import load_dataset
from igsd.cli.main import main
from igsd.errors import IGSDWarning
from igsd.graphs.datasets import shown_names
from igsd.report.holdout import calibration_plot
from igsd.report.page import map as map_file
from igsd.report.page import predictions as file
from igsd.report.page.document import make_page
from igsd.report.page.map import shown_graphs
from igsd.report.page.predictions import CROSS, HIDDEN, predictions_section
from igsd.report.page.run import RunData, graph_labels, graph_texts, read_run

TRAINING = ("--quiet", "--set", "epochs=1", "--set", "pretraining_epochs=0")
SETTINGS = ("--set", "hidden_dim=8", "--set", "self_training=false")


def train(data: str, folder: Path, *more: str) -> Path:
    """Train on the classes of a data set and return the run folder."""
    arguments = ["train", data, "-o", str(folder), "--labels", "class", *TRAINING, *SETTINGS]
    assert main([*arguments, *more]) == 0
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run on MUTAG that was shown a third of the labels and cross-validated inside of these."""
    return train("MUTAG", tmp_path_factory.mktemp("runs") / "run", "--label-rate", "0.3")


@pytest.fixture
def copied(run: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "copy"
    folder.mkdir()
    for path in run.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def section_of(data: RunData) -> str:
    assert data.predictions is not None
    return predictions_section(data.predictions, "run-1")


def test_predictions_reliability_and_names(run: Path) -> None:
    data = read_run(run)
    made = section_of(data)
    assert data.predictions is not None
    used = int(data.predictions.is_used.sum())
    assert 50 < used < 60
    assert {name: len(p) for name, (p, _) in data.predictions.judged().items()} == {
        HIDDEN: 188 - used,
        CROSS: used,
    }
    for text in ("mutagenic (hidden)", "not mutagenic", "<svg", "probability of mutagenic"):
        assert text in made
    assert "look a little better here than on new graphs" in made
    assert "class -1" not in make_page(None, [run])


def test_held_out_predictions_are_of_the_labels_that_were_shown(run: Path) -> None:
    data = read_run(run)
    assert data.predictions is not None
    with open(run / "held_out.csv", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [int(row["graph"]) for row in rows] == np.flatnonzero(data.predictions.is_used).tolist()
    graphs = load_dataset("MUTAG")
    assert graphs.classes is not None
    assert [row["given"] for row in rows] == [
        str(graphs.class_names[graphs.classes[int(row["graph"])]]) for row in rows
    ]
    assert all(float(row["p_-1"]) + float(row["p_1"]) == pytest.approx(1) for row in rows)


# Fitted values of labels that training saw stood among the predictions.
def test_labels_that_were_seen_have_held_out_predictions(run: Path, copied: Path) -> None:
    data = read_run(run)
    assert data.predictions is not None
    columns, remarks = data.predictions.table()
    used = data.predictions.is_used[data.predictions.shown]
    assert {*np.array(remarks["class"])[used]} == {" (held out)"}
    assert {*np.array(remarks["class"])[~used]} == {""}
    with open(run / "held_out.csv", newline="") as stream:
        held = {int(row["graph"]): row["predicted"] for row in csv.DictReader(stream)}
    places = [data.predictions.shown.tolist().index(graph) for graph in held]
    assert [str(columns["class"][place]) for place in places] == list(held.values())
    assert "mutagenic (held out)" in section_of(data)
    assert "(fitted)" not in section_of(data)
    (copied / "held_out.csv").unlink()
    assert "mutagenic (fitted)" in section_of(read_run(copied))


def test_labelled_graphs_lie_on_top_and_the_others_are_hollow(run: Path) -> None:
    data = read_run(run)
    labels = graph_labels(data)
    assert data.predictions is not None
    used = data.predictions.is_used
    shown = shown_graphs(188, used)
    assert sorted(shown.tolist()) == list(range(188))
    assert used[shown].tolist() == sorted(used.tolist())
    assert {("hollow" in labels.style(graph).css) for graph in np.flatnonzero(used)} == {False}
    assert {("hollow" in labels.style(graph).css) for graph in np.flatnonzero(~used)} == {True}
    texts = graph_texts(data, labels, 188)
    first, other = int(np.flatnonzero(used)[0]), int(np.flatnonzero(~used)[0])
    assert re.search(r"class (not )?mutagenic", texts[first])
    assert re.search(r"predicted .*probability 0\.\d\d, hidden label", texts[other])


def test_atoms_have_their_symbols(run: Path) -> None:
    graphs = read_run(run).graphs
    assert graphs is not None
    drawing = map_file.outline(graphs, 0, shown_names(graphs, "nodes"))
    assert drawing is not None
    assert set(drawing["l"]) <= {"C", "N", "O", "F", "I", "Cl", "Br"}
    assert drawing["l"].count("C") == 14


def test_a_large_set_keeps_its_labelled_graphs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(map_file, "MOST_GRAPHS", 10)
    is_given = np.zeros(100, bool)
    is_given[[3, 50, 99]] = True
    shown = shown_graphs(100, is_given)
    assert len(shown) == 10
    assert shown[-3:].tolist() == [3, 50, 99]
    assert len(shown_graphs(100, ~is_given)) == 10
    assert (~is_given[shown_graphs(100, ~is_given)]).sum() == 7


def test_without_unseen_labels_that_is_said(tmp_path: Path) -> None:
    made = section_of(read_run(train("MUTAG", tmp_path / "run", "--calibration", "0")))
    assert not (tmp_path / "run" / "held_out.csv").exists()
    assert "It is not known how reliable" in made
    assert "<svg" not in made


def test_a_damaged_model_leaves_the_rest(copied: Path) -> None:
    (copied / "model.safetensors").write_bytes(b"nothing")
    with pytest.warns(IGSDWarning, match="There are no predictions"):
        made = make_page(None, [copied])
    assert "There are no predictions. " in made
    # Labels that were hidden from training are labels all the same.
    assert "label mutagenic (125)" in made
    assert "predicted mutagenic" not in made
    (copied / "model.safetensors").unlink()
    with pytest.warns(IGSDWarning, match="There are no predictions"):
        assert "There are no predictions. " in make_page(None, [copied])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "graph\n1\n",
        "graph,target,given,predicted,p_-1,p_1\n0,class,1,1,much,0.5\n1,class,2,1,0.5,0.5\n",
        "graph,target,given,predicted,p_-1,p_1\n0,class,1,1,nan,inf\n0,class\n",
    ],
)
def test_held_out_predictions_that_are_damaged(copied: Path, text: str) -> None:
    (copied / "held_out.csv").write_text(text)
    data = read_run(copied)
    assert data.predictions is not None
    assert [*data.predictions.judged()] == [HIDDEN]
    assert "Reliability" in section_of(data)


def test_labels_that_are_gone(copied: Path) -> None:
    path = copied / "metrics.json"
    metrics = json.loads(path.read_text())
    metrics["labels"]["source"] = "gone.csv"
    path.write_text(json.dumps(metrics))
    with pytest.warns(IGSDWarning, match="Its labels are not shown"):
        made = make_page(None, [copied])
    assert "Its labels are not shown" in made
    assert 'class="plot"' in made


def test_a_model_of_something_else(copied: Path) -> None:
    """A run folder whose model was replaced by one without labels."""
    other = copied.parent / "other"
    assert main(["train", "MUTAG", "-o", str(other), "--method", "wl", "--quiet"]) == 0
    (copied / "model.safetensors").write_bytes((other / "model.safetensors").read_bytes())
    with pytest.warns(IGSDWarning, match="There are no predictions"):
        assert "which gives vectors and no predictions" in make_page(None, [copied])


def test_few_predictions_are_shown_and_the_rest_is_named(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file, "MOST_ROWS", 5)
    made = section_of(read_run(run))
    assert "5 of 188 graphs are shown; igsd predict" in made


def test_bins_of_a_diagram() -> None:
    p = np.linspace(0, 1, 80)
    events = (np.arange(80) % 2).astype(float)
    kwargs = {"x_title": "x", "y_title": "y"}
    assert calibration_plot({"a": (p[:15], events[:15])}, **kwargs, are_events=True) is None
    assert calibration_plot({"a": (p[:3], events[:3])}, **kwargs, are_events=True) is None
    assert calibration_plot({}, **kwargs, are_events=True) is None
    for are_events in (True, False):
        plot = calibration_plot({"a": (p, events)}, **kwargs, are_events=are_events)
        assert plot is not None
        assert len(plot.titles) == 8
    ones = calibration_plot({"a": (p, np.ones(80))}, **kwargs, are_events=True)
    assert ones is not None
    assert all("±" in text for text in ones.titles.values())


def test_probabilities_of_several_columns_are_events(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    rows = [f"{'C' * n}{end},{k % 2},{n % 2}" for n in range(1, 17) for k, end in enumerate("ON")]
    (tmp_path / "t.csv").write_text("\n".join(["smiles,p_acid,odd", *rows]) + "\n")
    arguments = ["train", str(tmp_path / "t.csv"), "--labels", "p_acid,odd", "--quiet"]
    assert main([*arguments, "-o", str(tmp_path / "run")]) == 0
    made = section_of(read_run(tmp_path / "run"))
    assert "probability of p_acid = 1" in made
    assert "accuracy %" in made
