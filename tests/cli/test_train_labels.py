"""Training with labels and predicting, from the command line."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from igsd import IGSDClassifier
from igsd.errors import StorageError
from igsd.experiments.run_folder import RunFolder
from igsd.graphs.graphset import GraphSet
from igsd.settings.text import read_settings
from tests.cli.conftest import SETTINGS, Run, write_toy
from tests.interrupted import after_label_steps, after_steps

LABELS = ["--labels", "class", "--quiet", *SETTINGS]


def rows_of(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def test_from_labels_to_predictions(igsd: Run, toy: Path, tmp_path: Path) -> None:
    settings = ["--set=self_training_start=1", "--set=self_training_threshold=0.5"]
    settings += ["--set=self_training_share=1"]
    code, out, err = igsd("train", toy, *LABELS, *settings, "-o", "run", "--label-rate", 0.5)
    assert code == 0, err
    assert "4 graphs with hidden labels predicted correctly" in out
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
    # It was accepted and ignored.
    code, _, err = igsd("train", toy, *LABELS, "-o", "cut", "--resume", "--calibration", 0)
    assert (code, "is a run with --calibration 3, and 0 was given" in err) == (2, True)
    code, _, err = igsd("train", toy, *LABELS, "-o", "cut", "--resume", "--calibration", 3)
    assert code == 0, err
    whole, cut = (tmp_path / n / "model.safetensors" for n in ("whole", "cut"))
    assert whole.read_bytes() == cut.read_bytes()
    code, out, _ = igsd("train", toy, *LABELS, "-o", "cut", "--resume")
    assert code == 0
    assert "nothing to do" in out
    code, _, err = igsd("train", toy, *LABELS, "-o", "cut", "--resume", "--calibration", 2)
    assert (code, "is a run with --calibration 3, and 2 was given" in err) == (2, True)
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
    assert (code, "The disk is full. The checkpoint is kept. To continue:" in err) == (2, True)
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
    assert [list(row) for row in found] == [["epoch", "infonce", "subtrees", "total"]] * 3
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
        after_steps(patch, 1)
        assert igsd(*command)[0] == 130
    assert (tmp_path / "r" / "checkpoint.safetensors.pretraining").exists()
    code, _, err = igsd(*command, "--set=learning_rate=0.02", "--force")
    assert (code, err) == (0, "")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (["--labels", "sizes.txt"], "a run with --labels 'class', and 'sizes.txt' was given"),
        (["--labels", "class", "--label-rate", "0.5"], "--label-rate 1.0, and 0.5 was given"),
        (["--labels", "class", "--recipe", "social"], "recipe 'molecules', and 'social' was given"),
    ],
)
def test_a_run_goes_on_with_its_own_labels_alone(
    igsd: Run, toy: Path, toy_graphs: GraphSet, tmp_path: Path, changed: list[str], message: str
) -> None:
    numbers = [f"{n + 0.5}" for n in toy_graphs.node_counts()]
    (tmp_path / "sizes.txt").write_text("\n".join(numbers) + "\n")
    assert igsd("train", toy, *LABELS, "-o", "run")[0] == 0
    code, _, err = igsd("train", toy, *changed, "-o", "run", "--resume")
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--labels", "clas"], "has no labels of that name"),
        (["--labels", "class", "--label-rate", "0"], "must be between 0 and 1"),
        (["--labels", "class", "--set", "epoch=3"], "no setting 'epoch'"),
        (["--labels", "class", "--recipe", "socail"], "no recipe 'socail'"),
        (["--label-rate", "0.5"], "give --labels"),
        (["--labels", "short.txt"], "holds 2 labels for 8 graphs"),
        (["--labels", "one.txt"], "at least two classes"),
        (["--labels", "none.txt"], "'none' holds no label"),
        (["--labels", "class", "--set", "epochs=-1"], "epochs"),
    ],
)
def test_bad_input_leaves_no_folder(
    igsd: Run, toy: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    (tmp_path / "short.txt").write_text("a\nb\n")
    (tmp_path / "one.txt").write_text("a\n" * 8)
    (tmp_path / "none.txt").write_text("\n" * 8)
    code, _, err = igsd("train", toy, *options, "-o", "run")
    assert code == 2
    assert message in err
    assert "y holds" not in err  # a word of Python's
    assert not (tmp_path / "run").exists()


def test_going_on_without_the_labels(igsd: Run, tmp_path: Path, trained: Path) -> None:
    toy = write_toy(tmp_path)
    code, _, err = igsd("train", toy, *LABELS, "-o", trained, "--resume")
    assert code == 2
    assert "without --labels" in err


def test_leaving_out_the_labels(igsd: Run, toy: Path) -> None:
    assert igsd("train", toy, *LABELS, "-o", "run")[0] == 0
    code, _, err = igsd("train", toy, "-o", "run", "--resume")
    assert (code, "--labels 'class', and 'no file or column' was given" in err) == (2, True)


def test_the_rest_of_a_run_keeps_its_recipe(
    igsd: Run, toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # It once became, in metrics.json, a run of the recipe that fits the data.
    with monkeypatch.context() as patch:
        after_label_steps(patch, 1)
        assert igsd("train", toy, *LABELS, "--recipe", "social", "-o", "r")[0] == 130
    code, _, err = igsd("train", toy, *LABELS, "--set=checkpoint_every=9", "-o", "r", "--resume")
    assert code == 0, err
    assert json.loads((tmp_path / "r" / "metrics.json").read_text())["recipe"] == "social"
    assert read_settings(tmp_path / "r" / "config.toml")["checkpoint_every"] == 9


@pytest.mark.slow
def test_two_processes(toy: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "igsd", "train", str(toy), *LABELS, "-o", str(tmp_path / "r")]
    done = subprocess.run(
        [*command, "--set=devices=2", "--label-rate=0.5"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("trained in") == 1
    assert done.stderr.count("Self-training never begins") == 1
    assert done.stderr.count("are not calibrated") == 1
    assert RunFolder(tmp_path / "r").state == "finished"


def test_molecules_start_from_the_encoder_in_the_package(igsd: Run, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    ends = ("O", "N", "Cl", "Br")
    rows = [
        f"m{n}{end},{'C' * n}{end},{'yes' if end in 'ON' else 'no'}"
        for n in range(2, 8)
        for end in ends
    ]
    (tmp_path / "m.csv").write_text("mol_id,smiles,active\n" + "\n".join(rows) + "\n")
    code, out, _ = igsd("train", "m.csv", "--labels", "active", "-o", "r", "--quiet")
    assert code == 0
    assert "cross-validation inside the labels" in out
    assert "all, by their weights" in out
    (tmp_path / "new.smi").write_text("CCCCCCCCCO nonanol\n")
    out = igsd("predict", "r", "new.smi", "-o", "-", "--quiet")[1]
    (row,) = csv.DictReader(io.StringIO(out))
    assert (row["class"], row["id"]) == ("yes", "nonanol")
    assert float(row["probability"]) > 0.5
    assert row["nearest"].startswith("m")
    assert row["nearest_label"] in ("yes", "no")
    code, out, _ = igsd("train", "m.csv", "--labels", "active", "-o", "n", "--set", "epochs=1")
    assert "method igsd-molecules" not in out
    assert igsd("train", "m.csv", "--labels", "active", "-o", "r", "--resume")[1].count("finished")


def test_options_of_labels_without_labels(igsd: Run, toy: Path) -> None:
    """--calibration was accepted and ignored."""
    for option in (("--label-rate", 0.5), ("--task", "numbers"), ("--calibration", 3)):
        code, _, err = igsd("train", toy, *option)
        assert (code, "are for training with labels: give --labels" in err) == (2, True)


def test_a_finished_run_whose_labels_or_reading_are_others(igsd: Run, tmp_path: Path) -> None:
    """It was called finished without a word, whatever the labels were by then."""
    pytest.importorskip("rdkit")
    rows = [f"{'C' * n}{'ON'[n % 2]},{'C' * n}F" for n in range(1, 17)]
    (tmp_path / "t.csv").write_text("\n".join(["smiles,other", *rows]) + "\n")
    (tmp_path / "labels.txt").write_text("a\nb\n" * 8)
    train = ("train", "t.csv", "--labels", "labels.txt", "-o", "r", "--resume", "--quiet")
    assert igsd(*train, "--standardise")[0] == 0
    named = (("--standardise",), (), ("--smiles-column", "smiles"))
    for options in named:
        assert igsd(*train, *options) == (0, "r is finished: nothing to do.\n", "")
    for options, text in (
        (("--standardise", "tautomer"), "--standardise 'neutral', and 'tautomer' was given"),
        (("--smiles-column", "other"), "other graphs than t.csv read from the column 'other'"),
        (("--calibration", 3), "--calibration 0, and 3 was given"),
    ):
        code, _, err = igsd(*train, *options)
        assert (code, text in err) == (2, True), err
    (tmp_path / "labels.txt").write_text("b\na\n" * 8)
    os.utime(tmp_path / "labels.txt", (2e9, 2e9))
    assert "labels.txt was changed after that; --force trains again" in igsd(*train)[2]


def test_calibration_is_refused_where_it_would_change_nothing(igsd: Run, tmp_path: Path) -> None:
    """It was accepted and ignored by the small models for molecules, and for numbers."""
    pytest.importorskip("rdkit")
    rows = [f"{'C' * n}{'O' if n % 2 else 'N'},{'ab'[n % 2]},{n + 0.5}" for n in range(1, 17)]
    table = tmp_path / "table.csv"
    table.write_text("\n".join(["smiles,kind,size", *rows]) + "\n")
    for column, reason in (("kind", "is for networks"), ("size", "is for networks")):
        code, _, err = igsd("train", table, "--labels", column, "--calibration", 2)
        assert (code, reason in err) == (2, True)
    options = ("--method", "igsd", "--set", "epochs=1", "--set", "pretraining_epochs=0")
    code, _, err = igsd("train", table, "--labels", "size", "--calibration", 2, *options)
    assert (code, "is for the probabilities of classes" in err) == (2, True)


def test_a_column_whose_name_looks_like_a_path(igsd: Run, tmp_path: Path) -> None:
    """The name was taken for a path relative to the run, and predictions had no given labels."""
    pytest.importorskip("rdkit")
    rows = [f"{'C' * n}{'O' if n % 2 else 'N'},{'ab'[n % 2]}" for n in range(1, 17)]
    table, out = tmp_path / "table.csv", tmp_path / "predictions.csv"
    table.write_text("\n".join(["smiles,act/inact", *rows]) + "\n")
    run = tmp_path / "runs" / "mine"
    assert igsd("train", table, "--labels", "act/inact", "-o", run, "--quiet")[0] == 0
    assert igsd("predict", run, table, "-o", out, "--quiet")[0] == 0
    assert "given" in out.read_text().splitlines()[0].split(",")
