from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from igsd.cli.train_job import fresh_job, resumed_job, run_to_resume
from igsd.config import Config, load_recipe
from igsd.errors import ConfigError, StorageError
from igsd.experiments.run_folder import RunFolder


def arguments(data: Path, **others: Any) -> argparse.Namespace:
    given = {"data": str(data), "output": None, "recipe": None, "resume": False, "force": False}
    given |= {"method": None, "quiet": True}
    return argparse.Namespace(**(given | others))


def test_a_fresh_job(toy: Path, tmp_path: Path) -> None:
    job = fresh_job(arguments(toy, output=str(tmp_path / "r")), {"epochs": 3})
    assert job.folder is not None
    assert (job.recipe, job.is_new, job.folder.path) == ("molecules", True, tmp_path / "r")
    assert job.config == load_recipe("molecules").updated({"epochs": 3})
    assert job.checkpoint == tmp_path / "r" / "checkpoint.safetensors"
    assert job.method == "igsd"


def test_jobs_of_other_methods(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    job = fresh_job(arguments(toy, method="wl"), {"iterations": 2})
    assert job.folder is not None
    assert str(job.folder.path) == "runs/TOY-wl-1"
    job.folder.create({"method": "wl", "recipe": "molecules"}, job.config)
    rest = resumed_job(arguments(toy, resume=True), job.folder, {})
    assert rest is not None
    assert (rest.method, rest.config) == ("wl", job.config)
    with pytest.raises(ConfigError, match="method 'wl', and 'mlg' was given"):
        resumed_job(arguments(toy, resume=True, method="mlg"), job.folder, {})
    with pytest.raises(ConfigError, match="iterations 2, and 3 was given"):
        resumed_job(arguments(toy, resume=True), job.folder, {"iterations": 3})


def test_a_folder_in_use(toy: Path, tmp_path: Path) -> None:
    RunFolder(tmp_path / "r").create({}, Config())
    with pytest.raises(StorageError, match=r"--resume goes on with it, --force"):
        fresh_job(arguments(toy, output=str(tmp_path / "r")), {})


def test_nothing_to_resume(toy: Path, tmp_path: Path) -> None:
    assert run_to_resume(arguments(toy)) is None
    assert run_to_resume(arguments(toy, resume=True, output=str(tmp_path / "r"))) is None


@pytest.fixture
def stopped(tmp_path: Path, toy: Path) -> RunFolder:
    """A run of recipe ``social`` that was stopped."""
    folder = RunFolder(tmp_path / "r")
    about = {"recipe": "social", "data": {"source": str(toy), "name": "TOY"}}
    folder.create(about, load_recipe("social").updated({"epochs": 7}))
    return folder


def test_the_rest_of_a_run(toy: Path, stopped: RunFolder) -> None:
    job = resumed_job(arguments(toy, resume=True), stopped, {"checkpoint_every": 9})
    assert job is not None
    assert (job.recipe, job.is_new) == ("social", False)
    assert (job.config.epochs, job.config.checkpoint_every) == (7, 9)
    with pytest.raises(ConfigError, match="epochs 7, and 8 was given"):
        resumed_job(arguments(toy, resume=True), stopped, {"epochs": 8})
    with pytest.raises(ConfigError, match="recipe 'social', and 'paper'"):
        resumed_job(arguments(toy, resume=True, recipe="paper"), stopped, {})
    stopped.finish({"recipe": "social", "data": {"source": str(toy)}})
    assert resumed_job(arguments(toy, resume=True), stopped, {}) is None


def test_a_run_without_settings_asks_for_its_recipe(toy: Path, stopped: RunFolder) -> None:
    # It once became a run of recipe molecules without a word.
    (stopped / "config.toml").unlink()
    job = resumed_job(arguments(toy, resume=True), stopped, {})
    assert job is not None
    assert job.config == load_recipe("social")
    metrics = stopped.metrics() or {}
    del metrics["recipe"]
    (stopped / "metrics.json").write_text(json.dumps(metrics))
    with pytest.raises(ConfigError, match=r"recipe is not known. Give it with --recipe"):
        resumed_job(arguments(toy, resume=True), stopped, {})
    job = resumed_job(arguments(toy, resume=True, recipe="paper"), stopped, {})
    assert job is not None
    assert (job.recipe, job.config) == ("paper", load_recipe("paper"))
