"""Training with labels and predicting, from the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from igsd import IGSDClassifier
from igsd.errors import StorageError
from igsd.experiments.run_folder import RunFolder
from igsd.graphs.graphset import GraphSet
from igsd.training.self_supervised import SelfSupervisedTask
from tests.cli.conftest import SETTINGS, Run
from tests.interrupted import after_label_steps, after_task_steps, ctrl_c

LABELS = ["--labels", "class", "--quiet", *SETTINGS]


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_from_labels_to_predictions(igsd: Run, toy: Path, tmp_path: Path) -> None:
    settings = ["--set=self_training_start=1", "--set=self_training_threshold=0.5"]
    settings += ["--set=self_training_share=1"]
    code, out, err = igsd("train", toy, *LABELS, *settings, "-o", "run", "--label-rate", 0.5)
    assert code == 0, err
    assert "4 graphs whose label was hidden" in out
    run = tmp_path / "run"
    metrics = json.loads((run / "metrics.json").read_text())
    assert metrics["status"] == "finished"
    assert metrics["labels"]["used"] == 4
    assert metrics["hidden"]["graphs"] == 4
    assert metrics["pseudo_labels"] == 4
    pseudo = rows_of(run / "pseudo_labels.csv")
    assert len(pseudo) == 4
    assert set(pseudo[0]) == {"graph", "class", "confidence", "round", "true"}
    for name in ("model.safetensors", "embeddings.npy", "history.csv", "embedding.png"):
        assert (run / name).exists()
    assert (run / "pseudo_labels.png").exists()

    code, out, err = igsd("predict", "run", toy, "-o", "p.csv", "--quiet")
    assert code == 0, err
    assert "8 predictions" in out
    found = rows_of(tmp_path / "p.csv")
    assert list(found[0]) == ["graph", "class", "probability", "p_-1", "p_1", "given"]
    assert {row["given"] for row in found} == {"-1", "1"}
    assert {row["class"] for row in found} <= {"-1", "1"}
    assert igsd("predict", "run", toy, "-o", "p.parquet", "--quiet")[0] == 0
    assert igsd("embed", "run", toy, "-o", "v.npy", "--quiet")[0] == 0


def test_numbers(igsd: Run, toy_graphs: GraphSet, toy: Path, tmp_path: Path) -> None:
    sizes = toy_graphs.node_counts()
    lines = ["" if i % 3 == 0 else f"{n + 0.5}" for i, n in enumerate(sizes)]
    (tmp_path / "sizes.txt").write_text("\n".join(lines) + "\n")
    options = ["--labels", "sizes.txt", "--label-rate", 0.6, "--quiet", *SETTINGS, "-o", "run"]
    code, out, err = igsd("train", toy, *options)
    assert code == 0, err
    assert "mean absolute error where labels were hidden: sizes " in out
    assert igsd("predict", "run", toy, "-o", "p.csv", "--quiet")[0] == 0
    found = rows_of(tmp_path / "p.csv")
    assert list(found[0]) == ["graph", "sizes", "given"]
    assert [row["given"] for row in found] == lines


def test_stop_and_resume(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert igsd("train", toy, *LABELS, "-o", "whole")[0] == 0

    with monkeypatch.context() as patch:
        after_label_steps(patch, 1)
        code, _, err = igsd("train", toy, *LABELS, "--task", "classes", "-o", "cut")
    assert code == 130
    assert "--labels class --task classes -o cut --resume" in err
    code, _, err = igsd("predict", "cut", toy, "-o", "p.csv")
    assert code == 2
    assert "--labels class --task classes -o cut --resume` finishes it" in err
    assert igsd("train", toy, *LABELS, "-o", "cut")[0] == 2  # an unfinished run is in the way
    code, _, err = igsd("train", toy, *LABELS, "-o", "cut", "--resume")
    assert code == 0, err
    whole, cut = (tmp_path / n / "model.safetensors" for n in ("whole", "cut"))
    assert whole.read_bytes() == cut.read_bytes()
    code, out, _ = igsd("train", toy, *LABELS, "-o", "cut", "--resume")
    assert code == 0
    assert "nothing to do" in out
    code, _, err = igsd("train", toy, *LABELS, "--set=epochs=9", "-o", "cut", "--resume")
    assert code == 2
    assert "epochs 2" in err


def test_a_disk_that_is_full_at_the_end_keeps_the_training(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*args: object) -> None:
        raise StorageError("The disk is full.")

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write_model", full)
        code, _, err = igsd("train", toy, *LABELS, "-o", "r")
    assert (code, "The disk is full. The training is kept. To go on:" in err) == (2, True)
    assert igsd("train", toy, *LABELS, "-o", "r", "--resume")[0] == 0
    assert (tmp_path / "r" / "model.safetensors").exists()


def test_losses_before_the_labels(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They were in no file; here they outlast the checkpoint of their own."""
    command = ["train", toy, *LABELS, "--set=pretraining_epochs=3", "-o", "r"]
    with monkeypatch.context() as patch:
        after_label_steps(patch, 1)
        assert igsd(*command)[0] == 130
    assert igsd(*command, "--resume")[0] == 0
    found = rows_of(tmp_path / "r" / "pretraining.csv")
    assert [list(row) for row in found] == [["epoch", "total"]] * 3
    model = IGSDClassifier.load(tmp_path / "r" / "model.safetensors")
    assert [str(entry["total"]) for entry in model.pretraining_history_] == [
        row["total"] for row in found
    ]
    assert len(rows_of(tmp_path / "r" / "history.csv")) == 2
    assert igsd(*command, "--set=pretraining_epochs=0", "--force")[0] == 0
    assert not (tmp_path / "r" / "pretraining.csv").exists()


def test_a_run_stopped_before_its_labels_can_be_replaced(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint of pretraining stayed, and the new run said it was another's."""
    command = ["train", toy, *LABELS, "--set=pretraining_epochs=2", "-o", "r"]
    with monkeypatch.context() as patch:
        after_task_steps(patch, SelfSupervisedTask, 1, ctrl_c)
        assert igsd(*command)[0] == 130
    assert (tmp_path / "r" / "checkpoint.safetensors.pretraining").exists()
    code, _, err = igsd(*command, "--set=learning_rate=0.02", "--force")
    assert (code, err) == (0, "")
