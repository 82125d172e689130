from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from igsd.errors import StorageError, TrainingError
from igsd.estimators import IGSD
from igsd.experiments.run_folder import RunFolder
from igsd.settings.igsd import Config
from igsd.settings.text import read_settings
from igsd.training import loop
from tests.cli.conftest import SETTINGS, Run
from tests.small_graphs import TINY, make_graphs

FINISHED = {
    "config.toml",
    "embedding.png",
    "embeddings.npy",
    "history.csv",
    "metrics.json",
    "model.safetensors",
}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def model_bytes(folder: Path) -> bytes:
    return (folder / "model.safetensors").read_bytes()


def test_what_a_run_leaves(trained: Path) -> None:
    assert names(trained) == FINISHED
    config = Config().updated(read_settings(trained / "config.toml"))
    assert config.updated(TINY) == config
    metrics = json.loads((trained / "metrics.json").read_text())
    assert metrics["status"] == "finished"
    assert metrics["recipe"] == "molecules"
    assert metrics["data"]["graphs"] == 8
    assert metrics["final_loss"] > 0
    vectors = np.load(trained / "embeddings.npy", allow_pickle=False)
    assert vectors.shape == (8, metrics["embedding_dim"])


def test_default_folders_are_numbered(igsd: Run, toy: Path, tmp_path: Path) -> None:
    for number in (1, 2):
        code, out, _ = igsd("train", toy, *SETTINGS, "--set", "epochs=0")
        assert code == 0
        assert "molecules (chosen for the data)" in out
        assert "not trained, since epochs is 0" in out
        assert names(tmp_path / "runs" / f"TOY-molecules-{number}") == FINISHED
    code, out, _ = igsd("train", toy, "--resume")
    assert (code, "TOY-molecules-2 is finished" in out) == (0, True)


def test_graphs_without_labels_get_the_social_recipe(igsd: Run, tmp_path: Path) -> None:
    make_graphs(6, labels=False, name="net").save(tmp_path / "net.graphs")
    assert igsd("train", "net.graphs", *SETTINGS, "--set", "epochs=0", "--quiet")[0] == 0
    assert (tmp_path / "runs" / "net-social-1").is_dir()


def test_config_goes_over_recipe_and_set_over_both(igsd: Run, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "c.toml").write_text("hidden_dim = 5\ntemperature = 0.7\n")
    options = ["--recipe", "paper", "--config", "c.toml", "--set", "hidden_dim=6"]
    assert igsd("train", toy, "-o", "r", *options, "--set", "epochs=0", "--quiet")[0] == 0
    config = read_settings(tmp_path / "r" / "config.toml")
    assert (config["encoder"], config["hidden_dim"], config["temperature"]) == ("gcn", 6, 0.7)


def test_an_existing_run_is_kept(igsd: Run, toy: Path, tmp_path: Path) -> None:
    run = ["train", toy, "-o", "r", "--quiet", *SETTINGS]
    assert igsd(*run, "--set", "epochs=0")[0] == 0
    before = model_bytes(tmp_path / "r")
    code, _, err = igsd(*run)
    assert code == 2
    assert "--resume" in err
    assert "--force" in err
    assert model_bytes(tmp_path / "r") == before
    assert igsd(*run, "--force")[0] == 0
    assert model_bytes(tmp_path / "r") != before


def test_a_folder_that_is_no_run_is_never_touched(igsd: Run, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "a.tex").write_text("x")
    for option in ("--force", "--resume"):
        code, _, err = igsd("train", toy, "-o", "thesis", option, *SETTINGS)
        assert (code, "not a run folder" in err) == (2, True)
    assert names(tmp_path / "thesis") == {"a.tex"}


@pytest.mark.parametrize("options", [[], ["--resume"], ["--labels", "class"]])
def test_a_folder_below_a_file_is_refused_before_the_data_are_read(
    igsd: Run, tmp_path: Path, options: list[str]
) -> None:
    (tmp_path / "afile").touch()
    code, out, err = igsd("train", "no-such-data", "-o", "afile/x", *options)
    assert (code, out) == (2, "")
    assert "The run folder afile/x cannot be created: afile is not a folder" in err


def test_resume_without_anything_to_continue_starts(igsd: Run, toy: Path, trained: Path) -> None:
    code, _, err = igsd("train", toy, "-o", "r", "--resume", "--quiet", *SETTINGS)
    assert (code, "no run to continue in r: training starts from the beginning" in err) == (0, True)
    assert model_bytes(Path("r")) == model_bytes(trained)
    begin = time.perf_counter()
    code, out, _ = igsd("train", toy, "-o", "r", "--resume")
    assert (code, "finished" in out) == (0, True)
    assert time.perf_counter() - begin < 2


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("metrics.json", '"labels": {"rate": null}, "kind"', "labels.rate must be a finite"),
        ("config.toml", "epochs = []\n", "config.toml: The 'epochs' parameter"),
        ("config.toml", "epochs = \xff\n", "config.toml is not a TOML file"),
    ],
)
def test_resume_names_the_file_that_is_damaged(
    igsd: Run, toy: Path, trained: Path, tmp_path: Path, name: str, content: str, reason: str
) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    text = (folder / name).read_text()
    text = text.replace('"kind"', content) if name == "metrics.json" else content
    (folder / name).write_bytes(text.encode("latin-1"))
    code, _, err = igsd("train", toy, "-o", folder, "--resume")
    assert (code, reason in err, "--force" in err) == (2, True, True)
    assert igsd("embed", folder, toy, "-o", "v.npy", "--quiet")[0] == 0
    assert igsd("train", toy, "-o", folder, "--force", "--quiet", *SETTINGS)[0] == 0


def test_resume_refuses_another_run(igsd: Run, toy: Path, unlabelled: Path, tmp_path: Path) -> None:
    assert igsd("train", toy, "-o", "r", "--quiet", *SETTINGS)[0] == 0
    resume = ["train", toy, "-o", "r", "--resume"]
    assert igsd(*resume, "--set", "epochs=2", "--recipe", "molecules")[0] == 0
    assert igsd(*resume, "--set", "checkpoint_every=5")[0] == 0
    for wrong, word in (
        (["--set", "epochs=9"], "epochs 2, and 9"),
        (["--recipe", "social"], "recipe 'molecules', and 'social'"),
        (["--force"], "one of them"),
    ):
        code, _, err = igsd(*resume, *wrong)
        assert (code, word in err) == (2, True)
    code, _, err = igsd("train", unlabelled, "-o", "r", "--resume")
    assert (code, "other graphs" in err) == (2, True)


def test_an_interrupted_run_resumes_to_the_same_model(
    igsd: Run, toy: Path, trained: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = loop._one_step

    def one_step(task: Any, optimizer: Any, fabric: Any, progress: Any, drawing: Any) -> None:
        real(task, optimizer, fabric, progress, drawing)
        if progress.epoch == 1:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(loop, "_one_step", one_step)
    code, _, err = igsd("train", toy, "-o", "r", "--quiet", *SETTINGS)
    assert code == 130
    assert "--resume" in err
    assert "checkpoint.safetensors" in names(tmp_path / "r")
    monkeypatch.undo()
    os.chdir(tmp_path)
    assert igsd("train", toy, "-o", tmp_path / "r", "--resume", "--quiet")[0] == 0
    assert model_bytes(tmp_path / "r") == model_bytes(trained)
    assert names(tmp_path / "r") == FINISHED


@pytest.mark.slow
def test_a_killed_run_resumes_to_the_same_model(igsd: Run, toy: Path, tmp_path: Path) -> None:
    options = [*SETTINGS, "--set=epochs=400", "--set=checkpoint_every=1", "--quiet"]
    assert igsd("train", toy, "-o", "whole", *options)[0] == 0
    command = [sys.executable, "-m", "igsd", "train", str(toy), "-o", str(tmp_path / "cut")]
    process = subprocess.Popen([*command, *options])
    checkpoint = tmp_path / "cut" / "checkpoint.safetensors"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    time.sleep(0.2)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert checkpoint.exists()
    subprocess.run([*command, "--resume", "--quiet"], check=True)
    assert model_bytes(tmp_path / "cut") == model_bytes(tmp_path / "whole")
    assert names(tmp_path / "cut") == FINISHED


def test_other_processes_write_nothing(
    igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fitted = []
    monkeypatch.setattr(IGSD, "fit", lambda self, graphs: fitted.append(len(graphs)))
    monkeypatch.setenv("RANK", "1")
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "metrics.json").write_text('{"kind": "igsd run", "status": "unfinished"}')
    assert igsd("train", toy, "-o", "r", *SETTINGS)[0] == 0
    assert igsd("train", toy, *SETTINGS)[0] == 0
    assert fitted == [8, 8]
    assert names(tmp_path / "r") == {"metrics.json"}
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--set", "epoch=3"], "Did you mean 'epochs'"),
        (["--set", "epochs"], "key=value"),
        (["--set", "epochs=-1"], "The setting 'epochs' must be at least 0 and at most"),
        (["--set", "teleport=1"], "The setting 'teleport' must be greater than 0 and less than 1"),
        (["--set", "seed=-1"], "The setting 'seed' must be at least 0"),
        (["--set", "node_features=x"], "The setting 'node_features' must be"),
        (["--recipe", "molecule"], "'molecules'"),
        (["--config", "missing.toml"], "missing.toml"),
        (["--set", "node_features=attributes"], "node attributes"),
        (["--set", "accelerator=abacus"], "abacus"),
    ],
)
def test_wrong_settings_leave_nothing_behind(
    igsd: Run, toy: Path, tmp_path: Path, options: list[str], text: str
) -> None:
    code, _, err = igsd("train", toy, *SETTINGS, *options)
    assert code == 2
    assert text in err
    assert err.startswith("igsd: ")
    assert names(tmp_path) == {"TOY"}


@pytest.mark.parametrize(
    "setting", ["readout=foo", "threshold=2", "accelerator=abacus", "node_features=attributes"]
)
@pytest.mark.parametrize("command", [["train"], ["evaluate", "--recipe", "molecules"]])
def test_a_wrong_setting_with_force_keeps_the_old_run(
    igsd: Run, toy: Path, command: list[str], setting: str
) -> None:
    # Once the folder was cleared before the settings were checked, and the old model was lost.
    code, _, _ = igsd("train", toy, *SETTINGS, "-o", "run")
    assert code == 0
    before = Path("run/model.safetensors").read_bytes()
    code, _, err = igsd(*command, toy, *SETTINGS, "-o", "run", "--force", "--set", setting)
    assert code == 2
    assert err.startswith("igsd: ")
    assert Path("run/model.safetensors").read_bytes() == before


def test_wrong_data(igsd: Run, tmp_path: Path) -> None:
    make_graphs(1).save(tmp_path / "one.graphs")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "model.pkl").write_bytes(b"\x80\x04]\x94.")
    before = names(tmp_path)
    for data, text in (
        ("one.graphs", "at least 2"),
        ("nowhere/x.zip", "neither a file"),
        ("./nosuch", "neither a file"),
        ("MUTAGG", "MUTAG"),
        ("empty.csv", "empty.csv"),
        ("model.pkl", "pickle"),
    ):
        code, _, err = igsd("train", data, *SETTINGS)
        assert (code, text in err) == (2, True), err
    assert names(tmp_path) == before


def test_an_output_that_cannot_be_made(igsd: Run, toy: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for output in ("file", "file/run"):
        code, _, err = igsd("train", toy, "-o", output, *SETTINGS)
        assert code == 2
        assert err.startswith("igsd: ")
    assert (tmp_path / "file").read_text() == "x"


def test_a_failure_after_a_checkpoint_keeps_it(
    igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    real = loop._one_step

    def one_step(task: Any, optimizer: Any, fabric: Any, progress: Any, drawing: Any) -> None:
        if progress.epoch == 1:
            raise TrainingError("The loss is no longer finite")
        real(task, optimizer, fabric, progress, drawing)

    monkeypatch.setattr(loop, "_one_step", one_step)
    code, _, err = igsd("train", toy, "-o", "r", "--set=checkpoint_every=1", *SETTINGS)
    assert (code, "no longer finite" in err) == (2, True)
    assert "checkpoint.safetensors" in names(tmp_path / "r")


@pytest.mark.parametrize("epochs", [0, 2])
def test_a_disk_that_is_full_at_the_end(
    igsd: Run, toy: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, epochs: int
) -> None:
    def full(*args: Any) -> None:
        raise StorageError("The disk is full.")

    run = ["train", toy, "-o", "r", "--quiet", *SETTINGS, "--set", f"epochs={epochs}"]
    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write_model", full)
        code, _, err = igsd(*run)
    assert (code, "The disk is full." in err) == (2, True)
    assert ("The checkpoint is kept. To continue: igsd train" in err) == (epochs > 0)
    assert (tmp_path / "r").exists() == (epochs > 0)
    assert igsd(*run, "--resume")[0] == 0
    assert names(tmp_path / "r") == FINISHED


def test_labels_are_not_needed(igsd: Run, unlabelled: Path, tmp_path: Path) -> None:
    assert igsd("train", unlabelled, "-o", "r", "--quiet", *SETTINGS)[0] == 0
    assert names(tmp_path / "r") == FINISHED


def test_resume_with_another_number_of_threads_is_said(
    igsd: Run, toy: Path, tmp_path: Path
) -> None:
    assert igsd("train", toy, "-o", "r", "--quiet", *SETTINGS)[0] == 0
    place = tmp_path / "r" / "metrics.json"
    metrics = json.loads(place.read_text())
    assert metrics["threads"] == torch.get_num_threads()
    place.write_text(json.dumps(metrics | {"status": "unfinished", "threads": 64}))
    code, _, err = igsd("train", toy, "-o", "r", "--resume", "--quiet")
    assert (code, "began with 64 threads" in err) == (0, True)
