from __future__ import annotations

import argparse
import json
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from igsd.baselines.kernels.wl import WLConfig, WLKernel
from igsd.cli.train import TrainJob, find_job
from igsd.errors import ConfigError, StorageError
from igsd.estimators import IGSDClassifier
from igsd.experiments.records import Identity
from igsd.experiments.run_folder import RunFolder
from igsd.files.models import read_model, write_model
from igsd.graphs.graphset import GraphSet
from igsd.settings.fields import RENAMED
from igsd.settings.igsd import Config
from igsd.settings.text import load_recipe


def arguments(data: Path, **others: Any) -> argparse.Namespace:
    options = {"data": str(data), "output": None, "recipe": None, "resume": False, "force": False}
    options |= {"method": None, "quiet": True, "config": None, "settings": []}
    options |= {"labels": None, "label_rate": 1.0, "task": "auto", "calibration": None}
    options |= {"smiles_column": None, "standardise": "", "log_dir": None}
    return argparse.Namespace(**(options | others))


def job_of(data: Path, *settings: str, **others: Any) -> TrainJob:
    with ExitStack() as held:
        job = find_job(arguments(data, settings=list(settings), **others), held)
    assert isinstance(job, TrainJob)
    return job


def test_a_fresh_job(toy: Path, tmp_path: Path) -> None:
    job = job_of(toy, "epochs=3", output=str(tmp_path / "r"))
    assert job.folder is not None
    assert (job.recipe, job.is_new, job.folder.path) == ("molecules", True, tmp_path / "r")
    assert job.config == load_recipe("molecules", Config).updated({"epochs": 3})
    assert job.checkpoint == tmp_path / "r" / "checkpoint.safetensors"
    assert (job.method, job.labels, job.used) == ("igsd", None, None)


def test_jobs_of_other_methods(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = job_of(toy, "iterations=2", method="wl")
    assert job.folder is not None
    assert str(job.folder.path) == "runs/TOY-wl-1"
    job.folder.create({"method": "wl", "recipe": "molecules"}, job.config)
    resume = {"output": "runs/TOY-wl-1", "resume": True}
    rest = job_of(toy, **resume)
    assert (rest.method, rest.config) == ("wl", job.config)
    with pytest.raises(ConfigError, match="method 'wl', and 'mlg' was given"):
        job_of(toy, method="mlg", **resume)
    with pytest.raises(ConfigError, match="iterations 2, and 3 was given"):
        job_of(toy, "iterations=3", **resume)


def test_a_run_a_record_and_a_kernel_from_before_a_setting_was_renamed(
    toy: Path, toy_graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(RENAMED, "rounds", "iterations")
    config = WLConfig(iterations=2)
    RunFolder("run").create({"method": "wl", "recipe": "molecules"}, config)
    written = Path("run/config.toml").read_text()
    Path("run/config.toml").write_text(written.replace("iterations =", "rounds ="))
    assert job_of(toy, output="run", resume=True).config == config

    stored = {"rounds" if key == "iterations" else key: v for key, v in config.to_json().items()}
    record = {"config": stored, "data": {"checksum": "abc"}, "algorithm": 1, "protocol": {}}
    assert Identity(config, "abc", {}, algorithm=1).differences(record) == []

    WLKernel(iterations=2).fit(toy_graphs).save("kernel")
    tensors, header = read_model("kernel", "WLKernel")
    header["settings"]["rounds"] = header["settings"].pop("iterations")
    write_model("kernel", tensors, header)
    assert WLKernel.load("kernel").iterations == 2


@pytest.mark.parametrize(
    ("settings", "others", "message"),
    [
        (["seed=x"], {}, "whole number"),
        (["iterations=2"], {}, "'igsd' has no setting 'iterations'"),
        (["iterations=two"], {"method": "wl"}, "WLKernel must be a whole number"),
        (["epochs=2"], {"method": "untrained"}, "'untrained' has no setting 'epochs'"),
        ([], {"method": "infograf"}, "no method 'infograf'.*'infograph'"),
        ([], {"method": "wl", "recipe": "sociable"}, "no recipe 'sociable'"),
        (["epoch=2"], {"labels": "class"}, "no setting 'epoch'"),
    ],
)
def test_settings_are_checked_before_the_data_are_read(
    settings: list[str], others: dict[str, str], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        job_of(Path("no-such-data"), *settings, **others)


def test_a_job_with_labels(toy: Path, tmp_path: Path) -> None:
    job = job_of(toy, output=str(tmp_path / "r"), labels="class", label_rate=0.5)
    assert job.labels is not None
    assert job.used is not None
    assert (job.labels.is_known.sum(), job.used.is_known.sum()) == (8, 4)
    assert job.config == load_recipe("molecules", IGSDClassifier.config_class)


def test_a_folder_in_use(toy: Path, tmp_path: Path) -> None:
    RunFolder(tmp_path / "r").create({}, Config())
    with pytest.raises(StorageError, match=r"--resume continues it, --force"):
        job_of(toy, output=str(tmp_path / "r"))
    assert job_of(toy, output=str(tmp_path / "r"), force=True).is_new


def test_nothing_to_resume(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert job_of(toy, resume=True).is_new
    assert job_of(toy, resume=True, output="r").is_new


@pytest.fixture
def stopped(tmp_path: Path, toy: Path) -> RunFolder:
    """A run of recipe ``social`` that was stopped."""
    folder = RunFolder(tmp_path / "r")
    data: Any = {"source": str(toy), "name": "TOY"}
    folder.create(
        {"recipe": "social", "data": data}, load_recipe("social", Config).updated({"epochs": 7})
    )
    return folder


def test_the_rest_of_a_run(toy: Path, stopped: RunFolder) -> None:
    resume = {"output": str(stopped.path), "resume": True}
    job = job_of(toy, "checkpoint_every=9", **resume)
    assert (job.recipe, job.is_new) == ("social", False)
    assert (job.config.to_json()["epochs"], job.config.to_json()["checkpoint_every"]) == (7, 9)
    assert job_of(toy, recipe="auto", **resume).recipe == "social"
    with pytest.raises(ConfigError, match="epochs 7, and 8 was given"):
        job_of(toy, "epochs=8", **resume)
    with pytest.raises(ConfigError, match="recipe 'social', and 'paper'"):
        job_of(toy, recipe="paper", **resume)
    stopped.finish({"recipe": "social", "data": {"source": str(toy)}})
    finished = find_job(arguments(toy, **resume), ExitStack())
    assert isinstance(finished, RunFolder)
    assert finished.path == stopped.path


def test_a_run_without_settings_asks_for_its_recipe(toy: Path, stopped: RunFolder) -> None:
    # It once became a run of recipe molecules without a word.
    resume = {"output": str(stopped.path), "resume": True}
    (stopped / "config.toml").unlink()
    assert job_of(toy, **resume).config == load_recipe("social", Config)
    metrics = stopped.metrics() or {}
    del metrics["recipe"]
    (stopped / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(ConfigError, match=r"recipe is not known. Give it with --recipe"):
        job_of(toy, recipe="auto", **resume)
    job = job_of(toy, recipe="paper", **resume)
    assert (job.recipe, job.config) == ("paper", load_recipe("paper", Config))
