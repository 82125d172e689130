from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from igsd.batches.features import FeatureMap
from igsd.errors import IGSDWarning, StorageError
from igsd.files.models import write_model
from igsd.report.page.map import MapClasses, MapNumbers
from igsd.report.page.run import graph_labels, graph_texts, read_run, run_section
from tests.report.page.made_up_run import EVIL, evil_graphs, write_run

GRAPHS = evil_graphs()


def test_everything_in_the_folder_is_read(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, GRAPHS))
    assert run.graphs == GRAPHS
    assert run.missing == ""
    assert run.histories == {"seed 0": [{"epoch": 0, "total": 2}, {"epoch": 1, "total": 1.5},
                                        {"epoch": 2}]}  # fmt: skip
    assert run.pseudo_labels == {
        "rounds": [1, 2], "given": [2, 1], "checked": [2, 0], "right": [1, 0],
    }  # fmt: skip
    assert run.vectors is not None
    assert run.vectors.shape == (12, 4)


def test_seeds_have_curves_of_their_own(tmp_path: Path) -> None:
    folder = write_run(tmp_path, GRAPHS)
    write_run(tmp_path / "other", GRAPHS, seed=1).rename(folder / "seed-1")
    assert list(read_run(folder).histories) == ["seed 0", "seed 1"]


def test_graphs_that_are_gone_or_have_changed(tmp_path: Path) -> None:
    folder = write_run(tmp_path, GRAPHS)
    evil_graphs(11).save(tmp_path / "data.graphs")
    with pytest.warns(IGSDWarning, match="has changed since the run"):
        run = read_run(folder)
    assert run.graphs is None
    assert "has changed since the run" in run.missing
    (tmp_path / "data.graphs").unlink()
    with pytest.warns(IGSDWarning, match="Run .*: The graphs are not shown"):
        assert "The graphs are not shown" in read_run(folder).missing


def test_files_that_are_not_there_yet(tmp_path: Path) -> None:
    folder = write_run(tmp_path, GRAPHS)
    for name in ("embeddings.npy", "history.csv", "pseudo_labels.csv"):
        (folder / name).unlink()
    run = read_run(folder)
    assert run.vectors is None
    assert run.histories == {"seed 0": []}


def test_damaged_files_cost_their_own_part(tmp_path: Path) -> None:
    """Each of them had ended the whole page."""
    folder = write_run(tmp_path, GRAPHS)
    (folder / "model.safetensors").touch()
    with open(folder / "embeddings.npy", "r+b") as file:
        file.truncate(200)
    (folder / "config.toml").write_bytes(b"\xff")
    (folder / "history.csv").write_bytes(b"epoch,total\n0,\xff\n")
    (folder / "pretraining.csv").write_text("epoch,total\n0\n1,x,y,z\n2,1e999\n")
    (folder / "pseudo_labels.csv").write_text("class\n1\n")
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        run = read_run(folder)
        page = run_section(run, "run-1", "pca")
    notes = " ".join(str(warning.message) for warning in warned)
    for name in ("embeddings.npy", "history.csv is not shown", "config.toml is not"):
        assert name in notes
    assert run.histories == {"seed 0": []}
    assert run.pretraining == {"seed 0": [{"epoch": 0}, {"epoch": 1}, {"epoch": 2}]}
    assert run.pseudo_labels["rounds"] == []
    assert "There is no map." in page
    (folder / "metrics.json").write_bytes(b"\xff")
    with pytest.warns(IGSDWarning, match=r"metrics\.json is not the description of a run"):
        assert run_section(read_run(folder), "run-1", "pca")


def test_another_folder(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="is not a run folder of igsd"):
        read_run(tmp_path)


def test_classes_of_the_data(tmp_path: Path) -> None:
    run = read_run(write_run(tmp_path, GRAPHS))
    labels = graph_labels(run)
    assert isinstance(labels, MapClasses)
    assert labels.codes.tolist() == [0, 1] * 6
    assert labels.names == [EVIL, "b & c"]
    assert graph_texts(run, labels, 12)[1] == f"graph 1, class b & c, {_size(1)} nodes"


def test_the_classes_that_a_run_learned(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("\n".join(["x", "", "y"] * 4) + "\n")
    learned = {"source": str(tmp_path / "labels.txt"), "task": "classes"}
    labels = graph_labels(read_run(write_run(tmp_path, GRAPHS, labels=learned)))
    assert isinstance(labels, MapClasses)
    assert labels.codes.tolist() == [0, -1, 1] * 4
    assert labels.names == ["x", "y"]


def test_the_numbers_that_a_run_learned(tmp_path: Path) -> None:
    (tmp_path / "logBB.txt").write_text("\n".join(["0.5", "", "-1"] * 4) + "\n")
    learned = {"source": str(tmp_path / "logBB.txt"), "task": "numbers"}
    run = read_run(write_run(tmp_path, GRAPHS, labels=learned))
    labels = graph_labels(run)
    assert isinstance(labels, MapNumbers)
    assert (labels.name, labels.note) == ("logBB", "")
    np.testing.assert_array_equal(labels.values, [0.5, np.nan, -1] * 4)
    assert graph_texts(run, labels, 12)[2] == f"graph 2, logBB -1, {_size(2)} nodes"


def test_the_first_of_several_numbers(tmp_path: Path) -> None:
    values = np.arange(24.0).reshape(12, 2)
    graphs = replace(GRAPHS, targets=values, target_names=("mu", "gap"))
    learned = {"source": "gap,mu", "task": "numbers"}
    labels = graph_labels(read_run(write_run(tmp_path, graphs, labels=learned)))
    assert isinstance(labels, MapNumbers)
    assert labels.values.tolist() == values[:, 1].tolist()
    assert labels.note == "The colours show gap; also learned: mu."


def test_labels_that_are_gone(tmp_path: Path) -> None:
    for place, learned in enumerate([{"task": "numbers"}, {"task": "classes", "source": "gone"}]):
        run = read_run(write_run(tmp_path / str(place), GRAPHS, labels=learned))
        assert graph_labels(run).legend(np.arange(12)) is None


def test_no_graphs(tmp_path: Path) -> None:
    run = replace(read_run(write_run(tmp_path, GRAPHS)), graphs=None)
    assert graph_texts(run, graph_labels(run), 12)[3] == "graph 3"


def _size(index: int) -> int:
    return int(GRAPHS.node_counts()[index])


def test_a_run_with_everything(tmp_path: Path) -> None:
    row = {
        "method": "<m>",
        "mean": 0.5,
        "std_over_seeds": None,
        "std_over_folds": 0.1,
        "seeds": [1],
    }
    table = {"protocol": "nested", "rows": [row]}
    hidden = {"graphs": 3, "accuracy": 0.5}
    run = read_run(write_run(tmp_path, GRAPHS, table=table, hidden=hidden))
    made = run_section(run, "run-1", "pca")
    assert "Map of the embedding" in made
    assert "Losses and scores by epoch" in made
    assert "Self-training" in made
    assert '<td class="left">&lt;m&gt;</td><td>50.0</td><td>-</td><td>10.0</td>' in made
    assert "Of the 3 graphs with hidden labels: 50.0 % predicted correctly." in made
    assert "<img" not in made
    assert "<script>" not in made


def test_what_the_model_sees_and_what_it_does_not(tmp_path: Path) -> None:
    folder, title = write_run(tmp_path, GRAPHS), "What the model sees of the graphs"
    assert title not in run_section(read_run(folder), "run-1", "pca")
    not_used = "node attribute 'born' is not used: it is a date <2000"
    features = FeatureMap(("degree",), degree_cap=5, edge_weight="weight", unused=(not_used,))
    write_model(folder / "model.safetensors", {}, {"features": features.to_json()})
    made = run_section(read_run(folder), "run-1", "pca")
    assert f"<h3>{title}</h3>" in made
    assert "It sees of nodes: degree (0 to 5); of edges: weight. Besides" in made
    assert "<li>node attribute 'born' is not used: it is a date &lt;2000</li>" in made
    write_model(folder / "model.safetensors", {}, {"features": {"parts": 3, "odd": 1}})
    assert title not in run_section(read_run(folder), "run-1", "pca")


def test_self_distillation_before_the_labels(tmp_path: Path) -> None:
    """A page showed nothing of the epochs before the labels."""
    folder, title = write_run(tmp_path, GRAPHS), "Self-distillation before the labels"
    assert title not in run_section(read_run(folder), "run-1", "pca")
    (folder / "pretraining.csv").write_text("epoch,total\n0,4.25\n1,3.5\n")
    made = run_section(read_run(folder), "run-1", "pca")
    assert made.count("<h3>" + title) == 1
    assert "seed 0, 2: 3.5" in made


def test_a_run_that_has_just_begun(tmp_path: Path) -> None:
    run = replace(read_run(write_run(tmp_path, GRAPHS)), vectors=None)
    assert "has no embeddings yet" in run_section(run, "run-1", "pca")


def test_errors_of_numbers(tmp_path: Path) -> None:
    hidden = {"graphs": 2, "mae": [0.12345]}
    run = read_run(write_run(tmp_path, GRAPHS, hidden=hidden))
    assert "mean absolute error 0.1235" in run_section(run, "run-1", "pca")
